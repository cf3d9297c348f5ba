"""Fixtures for all tests: the storage, the clock, people and a client."""

from __future__ import annotations

import sys

from tests.support import environment, proving

environment.prepare()

from collections.abc import Callable, Iterator  # noqa: E402
from datetime import UTC, datetime, timedelta  # noqa: E402

import hypothesis  # noqa: E402
import pytest  # noqa: E402

from chalicelib.domain import clock, deadline  # noqa: E402
from chalicelib.services.sign_in import sessions  # noqa: E402
from chalicelib.settings import settings  # noqa: E402
from chalicelib.storage import pace  # noqa: E402
from chalicelib.storage.connection import connection  # noqa: E402
from tests import dynamodb_local  # noqa: E402
from tests.support import leaks, room, storage  # noqa: E402
from tests.support.faults import read_only  # noqa: E402
from tests.support.wire.client import Client  # noqa: E402
from tests.support.wire.endpoints import things_of  # noqa: E402
from tests.support.wire.valid_requests import Tenant, two_people  # noqa: E402
from tests.support.world.beginning import Beginning  # noqa: E402
from tests.support.world.make import Somebody  # noqa: E402

# How long an example takes depends on the machine, and no test asserts a time (ADR 5).
hypothesis.settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("untimed")

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def pytest_sessionstart() -> None:
    """End with a sentence where the engine that was asked for cannot run."""
    leaks.hear_logs()
    if environment.ENGINE == "dynamodb-local" and (problem := dynamodb_local.missing()):
        raise pytest.UsageError(problem)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not in the share that was asked for, but nothing another engine skips."""
    kept, left_out = [], []
    for item in items:
        is_tried = proving.in_share(item.nodeid) or item.get_closest_marker("skipif")
        (kept if is_tried else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if proving.SHARE > 1:
        terminalreporter.line(f"One test of {proving.SHARE} was tried, by SHARE.")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> object:
    """Let the plugin whose loop it is run all tests above a frame with room."""
    plugins = session.config.pluginmanager
    loop = plugins.subset_hook_caller("pytest_runtestloop", [sys.modules[__name__]])
    return room.with_room(loop, session=session)


@pytest.fixture(scope="session")
def cloud() -> Iterator[storage.Storage]:
    """The storage of this process; `store` is it, emptied."""
    with storage.opened() as opened:
        yield opened


@pytest.fixture(scope="session")
def beginning(cloud: storage.Storage) -> Beginning:
    assert settings.key_folder is not None
    return Beginning(cloud, settings.key_folder)


@pytest.fixture
def store(cloud: storage.Storage, beginning: Beginning) -> storage.Storage:
    """The tables, empty but for the tenant's public keys."""
    beginning.again()
    return cloud


@pytest.fixture(autouse=True)
def _nothing_leaks() -> Iterator[None]:
    """HD08: whatever else a test is about, it fails where a secret is said meanwhile."""
    yield
    leaks.watch.require_silence()


@pytest.fixture(autouse=True)
def _no_pauses() -> Iterator[None]:
    """Retries do not wait, chance is no chance, no deadline comes, rows read are not changed."""
    previous = pace.set_sources(lambda _: None, lambda: 0.5)
    previous_source = deadline.set_source(lambda: 0.0)
    connection.hooks[:] = [leaks.hear_rows, read_only.hand_out]
    yield
    pace.set_sources(*previous)
    deadline.set_source(previous_source)
    connection.hooks.clear()


class Time:
    """The clock of a test: stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **span: float) -> None:
        self.now += timedelta(**span)

    @property
    def timestamp(self) -> int:
        return int(self.now.timestamp())


@pytest.fixture(autouse=True)
def time() -> Iterator[Time]:
    """The clock of every test, so that none depends on the day it runs."""
    source = Time()
    previous = clock.set_source(source)
    yield source
    clock.set_source(previous)


@pytest.fixture
def present(time: Time) -> None:
    """The machine's clock instead, which served processes have."""
    clock.set_source(lambda: datetime.now(UTC))


@pytest.fixture
def api(store: storage.Storage) -> Client:
    """A client that is not signed in."""
    return Client()


@pytest.fixture
def ada(store: storage.Storage, beginning: Beginning) -> Somebody:
    """An administrator."""
    return beginning.joined_by("ada", admin=True)


@pytest.fixture
def betty(store: storage.Storage, beginning: Beginning) -> Somebody:
    """A user."""
    return beginning.joined_by("betty")


@pytest.fixture
def carol(store: storage.Storage, beginning: Beginning) -> Somebody:
    """Another user."""
    return beginning.joined_by("carol")


@pytest.fixture
def things(store: storage.Storage, beginning: Beginning) -> dict[str, str]:
    """Identifiers that lead to something Ada may see, by the name paths give them."""
    return beginning.with_added(
        "things of Ada", lambda: things_of(beginning.joined_by("ada", admin=True))
    )


@pytest.fixture
def tenant(store: storage.Storage, beginning: Beginning) -> Tenant:
    """Two people and what valid requests are about, in place of `ada` and `betty`."""
    tenant: Tenant = beginning.followed_by(two_people)
    tenant.warm()
    return tenant


@pytest.fixture
def digest(store: storage.Storage) -> Callable[[], str]:
    """All that is stored as one text, to be compared with a later one."""
    return lambda: storage.digest(store)


@pytest.fixture
def cookie_of(store: storage.Storage) -> Callable[[Somebody], str]:
    """Opens a session by cookie for somebody, and returns the cookie's value."""

    def opened(who: Somebody) -> str:
        row, value = sessions.open_cookie(who.user)
        row.save()
        return value

    return opened
