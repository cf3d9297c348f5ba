"""Whoever reads a secret and loses it in the same moment lets it expire, or does not read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.operator import readings, sweeper
from tests.conftest import Time
from tests.support.faults.meanwhile import Meanwhile
from tests.support.storage import Storage
from tests.support.wire.asks import removing
from tests.support.world import groups, make
from tests.support.world.items.expiry import turned_on
from tests.support.world.items.resources import path, secrets, stored
from tests.support.world.items.shares import add, remove, share
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
Lose = Callable[[Somebody, Somebody, make.Team, str], Any]


def by_share(ada: Somebody, betty: Somebody, _: make.Team, item: str) -> Any:
    row = remove(item, betty)
    return lambda: share(ada, item, [row])


def by_group(ada: Somebody, betty: Somebody, team: make.Team, _: str) -> Any:
    row = groups.remove(team, betty)
    return lambda: groups.update(ada, team, row)


def by_suspension(ada: Somebody, betty: Somebody, *_: Any) -> Any:
    sent = {"disabled": "2026-11-21T12:00:00Z"}
    return lambda: ada.client.put(f"/users/{betty.id}.json", sent)


def by_deletion(ada: Somebody, betty: Somebody, *_: Any) -> Any:
    return removing(ada, betty)


LOSSES = {each.__name__: each for each in (by_share, by_group, by_suspension, by_deletion)}
READINGS = ("/secrets/resource/{}.json", "/resources.json?contain[secret]=1")


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_who_reads_what_they_lose_lets_it_expire(
    store: Storage, time: Time, ada: Somebody, betty: Somebody, loss: str, reading: str
) -> None:
    """Between the question who has read it and the write: by the round that spreads readings."""
    turned_on(ada)
    team = make.group(ada, betty)
    item = make.resource(ada, {team if loss == "by_group" else betty: READ})
    lose = LOSSES[loss](ada, betty, team, item)
    given: list[Any] = []

    with Meanwhile(lambda: given.append(betty.client.get(reading.format(item)))):
        assert lose().status == 200
    time.pass_by(minutes=6)
    sweeper.sweep()

    assert b"PGP MESSAGE" in given[0].content
    assert stored(item).expired is not None


def test_what_is_shared_while_a_reading_is_spread_expires_all_the_same(
    store: Storage, time: Time, ada: Somebody, betty: Somebody, carol: Somebody
) -> None:
    """It is decided again, and no accident: no alarm rings."""
    turned_on(ada)
    item = make.resource(ada, {betty: READ})
    lost, given = remove(item, betty), secrets(carol)
    with Meanwhile(lambda: betty.client.get(f"/secrets/resource/{item}.json")):
        assert share(ada, item, [lost]).status == 200
    time.pass_by(minutes=6)

    with Meanwhile(lambda: share(ada, item, [add(carol)], given)) as meanwhile:
        spread = readings.sweep(clock.now())

    assert meanwhile.happened
    assert spread == {"spread": 1}
    assert stored(item).expired is not None


def test_what_was_edited_since_it_was_lost_does_not_expire_again(
    store: Storage, time: Time, ada: Somebody, betty: Somebody
) -> None:
    turned_on(ada)
    item = make.resource(ada, {betty: READ})
    assert betty.client.get(f"/secrets/resource/{item}.json").status == 200
    share(ada, item, [remove(item, betty)])
    assert stored(item).expired is not None
    time.pass_by(minutes=1)
    assert ada.client.put(path(item), {"expired": None}).status == 200

    time.pass_by(minutes=6)
    sweeper.sweep()

    assert stored(item).expired is None


def test_what_is_still_held_does_not_expire(
    store: Storage, time: Time, ada: Somebody, betty: Somebody
) -> None:
    turned_on(ada)
    items = [make.resource(ada, {betty: READ}) for _ in range(60)]
    assert betty.client.get("/resources.json?contain[secret]=1").status == 200
    time.pass_by(minutes=6)
    sweeper.sweep()
    assert {stored(each).expired for each in items} == {None}
