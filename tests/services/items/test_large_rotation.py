"""A vault of thousands that is rotated page by page, while its people work."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import writing
from chalicelib.storage.base import Table
from chalicelib.tables.items.holdings import RESOURCE, Holding
from chalicelib.tables.items.metadata_uses import MetadataUse
from chalicelib.tables.items.resources import Resource
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import Killed, Killing, Recorder
from tests.support.model.invariants import check_invariants
from tests.support.proving import fewer, more
from tests.support.world import make
from tests.support.world.items.metadata import (
    SharedKey,
    allow_v5,
    described,
    expire,
    opened,
    shared,
    v5_resource,
)
from tests.support.world.items.resources import created, path, secrets, stored
from tests.support.world.items.shares import add, share
from tests.support.world.make import Somebody

ROTATE = "/metadata/rotate-key/resources.json"
COUNT = more(fewer(60, 400), 5_000)
PAGE = 20


def filled(who: Somebody, key: SharedKey, count: int) -> list[str]:
    """So many resources of a user that are encrypted to a key."""
    pattern = stored(created(who, v5_resource(key))["id"])
    ids = [pattern.id, *(new_id() for _ in range(count - 1))]
    rows: list[Table] = []
    for id_ in ids[1:]:
        row = Resource.from_raw(pattern.serialize())
        row.id, row.permissions = id_, {who.id: make.permission(who, PermissionType.OWNER)}
        secret = Holding.new_secret("secret", who.id, str(row.secret_revision))
        rows += [row, Holding(who.id, id_, **secret), MetadataUse(key.id, id_, kind=RESOURCE)]
    writing.put_all(rows)
    return ids


@pytest.fixture
def first(ada: Somebody, betty: Somebody) -> SharedKey:
    key = shared(ada, betty)
    allow_v5(ada)
    return key


def follow(ada: Somebody, betty: Somebody, first: SharedKey) -> SharedKey:
    second = shared(ada, betty, number=2)
    assert expire(ada, first).status == 200
    return second


def batch_of(rows: Any, key: SharedKey) -> list[Any]:
    """One message for all: to make thousands takes longer than to store them."""
    metadata = described(key, "rotated")
    return [{**row, **metadata} for row in rows]


def test_a_rotation_of_thousands_costs_the_same_for_each_page(
    ada: Somebody, betty: Somebody, first: SharedKey, store: Any
) -> None:
    ids = filled(betty, first, COUNT)
    second = follow(ada, betty, first)
    rows, costs = ada.client.get(ROTATE).body, []

    while rows:
        with Recorder() as seen:
            response = ada.client.post(ROTATE, batch_of(rows, second))
        assert response.status == 200, response.json
        costs.append((seen.steps, seen.rows_written))
        rows = response.body

    assert len(costs) == COUNT // PAGE
    assert len({written for _, written in costs}) == 1
    assert max(steps for steps, _ in costs) - min(steps for steps, _ in costs) <= 1
    assert {row["metadata_key_id"] for row in betty.client.get("/resources.json").body} == {
        second.id
    }
    assert opened(second, betty.client.get(path(ids[-1])).body["metadata"]) == "rotated"
    assert ada.client.delete(first.path).status == 200
    check_invariants(store)


def test_a_rotation_goes_on_after_a_death_at_any_page(
    ada: Somebody, betty: Somebody, first: SharedKey, store: Any
) -> None:
    """FT01: what a page had done stays, and the list says what is left; people work meanwhile."""
    filled(betty, first, 3 * PAGE)
    second = follow(ada, betty, first)
    rows, made = ada.client.get(ROTATE).body, []

    for death in (1, 3, 5, 7):
        with Killing(at=death), pytest.raises(Killed):
            ada.client.post(ROTATE, batch_of(rows, second))
        made.append(created(betty, v5_resource(second, "meanwhile"))["id"])
        left = ada.client.get(ROTATE)
        rows = left.body
        assert left.json["header"]["pagination"]["count"] % PAGE == 0
    while rows:
        response = ada.client.post(ROTATE, batch_of(rows, second))
        assert response.status == 200, response.json
        rows = response.body

    texts = {opened(second, betty.client.get(path(id_)).body["metadata"]) for id_ in made}
    assert texts == {"meanwhile"}
    assert ada.client.delete(first.path).status == 200
    check_invariants(store)


def test_a_page_that_was_written_is_answered_whatever_holds_the_next(
    ada: Somebody, betty: Somebody, first: SharedKey, store: Any
) -> None:
    mine, theirs = created(ada, v5_resource(first)), created(betty, v5_resource(first))
    second, crowd = follow(ada, betty, first), make.crowd(105)
    rows = [row for row in ada.client.get(ROTATE).body if row["id"] == mine["id"]]
    new = secrets(*crowd)
    after_commit(lambda: share(betty, theirs["id"], [add(make.group(*crowd))], new))

    response = ada.client.post(ROTATE, batch_of(rows, second))

    assert response.status == 200, response.json
    assert [row["id"] for row in response.body] == [theirs["id"]]
    assert stored(mine["id"]).version == 2
    check_invariants(store)
