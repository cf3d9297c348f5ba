"""The server sweeps while it runs, and asks the directory: nothing waits for want of a worker."""

from __future__ import annotations

import asyncio

import pytest
import uvicorn

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.tables.logs.readings import Reading
from chalicelib.tables.users.users import User
from infra.local_server import serve, service
from infra.local_server.gateway import Gateway
from tests.support.company import settings as form
from tests.support.company import shared
from tests.support.faults.hooks import Failing
from tests.support.storage import Storage
from tests.support.world import make
from tests.support.world.directories import group_named
from tests.support.world.items.resources import actions
from tests.support.world.make import Somebody

NOBODY = Gateway(type("App", (), {"routes": {}})())


def ticks(server: uvicorn.Server, count: int = 3) -> None:
    for number in range(count):
        asyncio.run(server.on_tick(number * 10))


def test_what_was_read_is_spread_between_requests_and_once_in_five_minutes(
    store: Storage, ada: Somebody
) -> None:
    swept = []

    def sweep() -> None:
        swept.append(service.sweep())

    resource_id = make.resource(ada)
    ada.client.get(f"/secrets/resource/{resource_id}.json")

    ticks(serve.server(NOBODY, sweep))

    assert store.rows(Reading.stored_as()) == []
    assert actions(store, resource_id) == ["Resource.Secrets.read"]
    assert (len(swept), serve.SWEPT_EVERY) == (1, 300)


def test_what_cannot_be_ended_stops_no_server(
    store: Storage, ada: Somebody, capsys: pytest.CaptureFixture[str]
) -> None:
    ada.client.get(f"/secrets/resource/{make.resource(ada)}.json")
    for fault in (broken, unavailable):
        with Failing(fault, times=1_000, only={"BatchWriteItem"}):
            ticks(serve.server(NOBODY, service.sweep))
    assert len(store.rows(Reading.stored_as())) == 1
    assert "could not be ended" in capsys.readouterr().out


def test_once_an_hour_there_is_a_run_over_the_directory(store: Storage, ada: Somebody) -> None:
    form.saved(ada, shared.staffed())
    do = service.chores()
    for _ in range(service.SWEEPS_TO_A_RUN - 1):
        do()
    assert group_named("staff") is None
    do()

    assert group_named("staff") is not None
    assert service.SWEEPS_TO_A_RUN * serve.SWEPT_EVERY == 3_600


@pytest.mark.usefixtures("store")
def test_a_run_that_fails_stops_no_server(ada: Somebody, caplog: pytest.LogCaptureFixture) -> None:
    form.saved(ada, shared.staffed())
    ada.user.update([User.disabled.set(clock.now())])  # nobody is left to act for it
    service.synchronise()

    assert "DirectorySync.scheduled" in caplog.text
    assert group_named("staff") is None


def broken(*_: object) -> dict[str, object]:
    raise RuntimeError


def unavailable(*_: object) -> dict[str, object]:
    raise Unavailable
