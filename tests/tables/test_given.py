"""Whoever is given something of an item is held meanwhile: nobody gives to who is being deleted."""

from __future__ import annotations

import pytest

from chalicelib.storage.changes.operations import MOST_HELD, Change
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User
from tests.support import storage
from tests.support.world import make

sizes = pytest.mark.parametrize("count", [0, 110, MOST_HELD - 1])
"""Rows that are written besides: in one transaction, in steps, and in pages."""


def changing(owner, count):
    """A change that rests on nobody, and the item it is of."""
    item = Resource.get(make.resource(owner))
    change = Change(item, item.copy())
    for number in range(count):
        change.then_put(GroupItem(str(number), item.id))
    return change, item


@sizes
def test_a_service_that_gives_without_holding_the_user_does_not_run(ada, betty, store, count):
    change, item = changing(ada, count)
    before = storage.digest(store)

    def give():
        change.then_put(Holding(betty.id, item.id))
        change.commit()

    with pytest.raises(AssertionError, match="given to who is not held"):
        give()

    assert storage.digest(store) == before


def test_a_service_that_only_looks_at_the_user_does_not_run_either(ada, betty, digest):
    before = digest()
    tx = Transaction()
    tx.require(User.is_active(betty.id))
    tx.create(Holding(betty.id, "item"))

    with pytest.raises(AssertionError, match="given to who is not held"):
        tx.commit()

    assert digest() == before


@sizes
@pytest.mark.parametrize("holds", ["the user", "a group"])
def test_a_service_that_holds_the_user_or_a_group_runs(ada, betty, store, count, holds):
    change, item = changing(ada, count)
    team = make.group(betty)
    change.rest_on(User.get(betty.id) if holds == "the user" else Group.get(team.id))

    change.then_put(Holding(betty.id, item.id))
    change.commit()

    assert item.id in {row["item_id"]["S"] for row in Holding.whole(betty.id)}
    assert store.rows("test-operations") == []
