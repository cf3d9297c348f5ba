"""A storm on AWS's own engine leaves nothing half-done, nothing locked, and nothing lost."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from chalicelib.domain import clock
from chalicelib.services.operator import sweeper
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User
from chalicelib.workers import sweeper as worker
from tests.storm import people, staged, world
from tests.storm.fleet import Fleet
from tests.storm.ledger import Register, Value
from tests.storm.people import CHANGING, READING, Storm
from tests.support.environment import ENGINE
from tests.support.model.invariants import check_invariants
from tests.support.proving import more
from tests.support.storage import Storage

pytestmark = pytest.mark.skipif(ENGINE != "dynamodb-local", reason="is about several processes")

SECONDS = more(25, 300)
SERVERS = more(3, 4)
LEAVERS = more(3, 20)
SWEPT_EVERY = 10
"""Seconds, also after which something counts as left: requests that are at it may be undone."""
LONGEST = 10 * SECONDS
ENOUGH = {
    f"done {staged.COMMIT}": more(5, 100),
    "death": more(3, 30),
    "death within": more(1, 15),
    "fault": more(10, 200),
    **dict.fromkeys(("renew: done", "join: done", "leave: done"), more(1, 10)),
    **dict.fromkeys(("share: done", "create: done", "found: done"), more(1, 10)),
    "delete user: done": more(0, 1),
    **dict.fromkeys(("items read", "groups read"), more(20, 200)),
}
"""How often each has to happen: without this a storm has shown nothing."""


@pytest.fixture
def seed() -> int:
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
    print(f"SEED={seed}")  # noqa: T201 - shown where the test fails
    return seed


@pytest.fixture
def real_time() -> Iterator[None]:
    """The clock that the servers have."""
    previous = clock.set_source(lambda: datetime.now(UTC))
    yield
    clock.set_source(previous)


@pytest.mark.usefixtures("real_time")
def test_after_a_storm_all_is_whole_and_all_that_was_answered_is_there(
    store: Storage, tmp_path: Path, seed: int
):
    storm, fleet = _blow(store, tmp_path, seed)

    print(fleet.happened, fleet.killed, storm.counts, sep="\n")  # noqa: T201
    assert not storm.troubles, "\n".join(storm.troubles + fleet.accidents)
    assert set(fleet.ended) == {-9}, fleet.accidents
    check_invariants(store)
    _sweep_later()
    assert staged.left_behind(store) == []
    check_invariants(store)
    assert _contradictions(storm, store) == []
    assert _missing(storm, fleet) == []
    assert storm.counts["GET 409"] <= storm.counts["GET 200"] / 100, "readers had to go away"


def _blow(store: Storage, folder: Path, seed: int) -> tuple[Storm, Fleet]:
    tenant = world.made(LEAVERS)
    with Fleet(store, folder, seed, SERVERS) as fleet:
        storm = Storm(tenant, fleet.urls)
        readers = [tenant.reader] * 3 + [crowd.people[0] for crowd in tenant.crowds]
        changing = [(who, CHANGING) for who in tenant.keepers * 2]
        roles = changing + [(who, READING) for who in readers]
        threads = [
            threading.Thread(target=people.act, args=(storm, who, acts, f"{seed} {number}"))
            for number, (who, acts) in enumerate(roles)
        ]
        for thread in threads:
            thread.start()
        try:
            _wait(storm, fleet)
        finally:
            storm.over.set()
    for thread in threads:
        thread.join()
    return storm, fleet


def _wait(storm: Storm, fleet: Fleet) -> None:
    """Let the sweeper come by until it has blown for long enough."""
    began = time.monotonic()
    while not storm.troubles and not _is_over(storm, fleet, time.monotonic() - began):
        time.sleep(SWEPT_EVERY)
        sweeper.sweep(left_for=timedelta(seconds=SWEPT_EVERY))


def _sweep_later() -> None:
    """Let the sweeper come when all that was left is nobody's work any more."""
    previous = clock.set_source(lambda: datetime.now(UTC) + timedelta(minutes=10))
    worker.handler({}, None)
    clock.set_source(previous)


def _contradictions(storm: Storm, store: Storage) -> list[str]:
    """Where something is stored that nobody wrote, or not what was answered."""
    found = _stored(store)
    now = time.monotonic()
    wrong = []
    for kind in ("item", "may", "member", "user", "group"):
        for register in storm.ledger.registers(kind):
            possible = storm.ledger.possible(register, now, now)
            if found.get(register) not in possible:
                wrong.append(f"{register} is {found.get(register)}, not one of {possible}")
    for row in store.rows(Holding.stored_as()):
        item, user = row["item_id"]["S"], row["user_id"]["S"]
        tag = storm.tag_in(row["secret_data"]["S"])
        if tag != found["item", item] and tag not in storm.handed[item, user]:
            wrong.append(f"{user} holds secret {tag} of {item}, which is {found['item', item]}")
    return wrong


def _stored(store: Storage) -> dict[Register, Value]:
    """All registers as they are."""
    found: dict[Register, Value] = {}
    for row in map(Resource.from_raw, store.rows(Resource.stored_as())):
        if not row.deleted:
            found["item", row.id] = int(row.name.removeprefix("tag "))
            found |= {("may", row.id, who): int(each.type) for who, each in row.permissions.items()}
    for row in map(Membership.from_raw, store.rows(Membership.stored_as())):
        found["member", row.group_id, row.user_id] = row.is_admin
    found |= {
        ("group", row.id): row.name
        for row in map(Group.from_raw, store.rows(Group.stored_as()))
        if not row.deleted
    }
    return found | {
        ("user", row.id): True
        for row in map(User.from_raw, store.rows(User.stored_as()))
        if not row.deleted
    }


def _is_over(storm: Storm, fleet: Fleet, seconds: float) -> bool:
    """Whether it has blown for long enough: on a slow machine until enough has happened."""
    return seconds > SECONDS and (seconds > LONGEST or not _missing(storm, fleet))


def _missing(storm: Storm, fleet: Fleet) -> list[str]:
    """Of what has not happened often enough to have shown something."""
    happened = fleet.happened + storm.counts
    for kind in ("death", "fault"):
        happened[kind] = sum(n for line, n in happened.items() if line.startswith(f"{kind} "))
    happened["death within"] = sum(
        happened[f"death {moment} {when}"]
        for moment, when in product(staged.WITHIN, ("before", "after"))
    )
    return [what for what, often in ENOUGH.items() if happened[what] < often]
