"""What the model found of changes that lock more rows than one transaction holds."""

from __future__ import annotations

from contextlib import suppress

from chalicelib.domain import clock
from chalicelib.storage import reading
from chalicelib.storage.changes import operations
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.group_items import GroupItem
from tests.model_schedules.actors import LATER, decided
from tests.support.faults.hooks import Killed, Killing, Once, Recorder

GROUPS = [f"{number:03}" for number in range(150)]
FIRST, LAST = GROUPS[0], GROUPS[-1]


def many_groups() -> None:
    now = clock.now()
    for id_ in GROUPS:
        Group(id_, name="before", created=now, modified=now, created_by="-", modified_by="-").save()


def rename_all() -> None:
    """Change all groups, and what belongs to the first, which is the target."""
    rows = reading.read(Group.by_id(id_) for id_ in GROUPS)
    groups = [group for id_ in GROUPS if (group := rows.find(Group, id_))]
    after = groups[0].copy()
    after.name = "after"
    with Change(groups[0], after) as tx:
        for group in groups[1:]:
            tx.then_update(group, Group.name.set("after"), Group.version.add(1))
        tx.then_put(GroupItem(FIRST, "item", kind="by all"))


def add_to_first() -> None:
    rows = reading.read([Group.by_id(FIRST)])
    group = rows.find(Group, FIRST)
    assert group is not None
    after = group.copy()
    after.name = "by one"
    with Change(group, after) as tx:
        tx.then_put(GroupItem(FIRST, "item", kind="by one"))


def transactions_of(seen: Recorder) -> list[int]:
    """Which of the calls were transactions."""
    return [n for n, call in enumerate(seen.calls) if call.operation == "TransactWriteItems"]


def names_of(*ids: str) -> list[str]:
    rows = reading.read(Group.by_id(id_) for id_ in ids)
    return [row.name for id_ in ids if (row := rows.find(Group, id_))]


def test_lines_that_were_carried_out_are_not_laid_over_what_was_changed_since(store):
    many_groups()
    before = store.contents()
    with Recorder() as seen:
        rename_all()
    store.put_back(before)
    last_page = transactions_of(seen)[-1]
    with suppress(Killed), Killing(at=last_page):  # the first group is unlocked, the last is not
        rename_all()
    decided(lambda _: add_to_first())

    def read(_):
        return names_of(LAST), reading.query(GroupItem, FIRST)[0]["kind"]["S"]

    assert decided(read) == (["after"], "by one")
    operations.sweep(LATER)
    assert decided(read) == (["after"], "by one")


def test_rows_that_were_read_together_are_all_from_before_a_change_or_all_from_after(store):
    many_groups()
    before = store.contents()
    with Recorder() as seen:
        rename_all()
    store.put_back(before)
    commit = transactions_of(seen)[2]  # after two pieces of locks
    with suppress(Killed), Killing(at=commit):
        rename_all()
    left = store.contents()

    def go_on() -> None:
        """Let the owner, who was only slow, commit and carry out."""
        store.put_back(before)
        rename_all()

    store.put_back(left)
    with Once(1, go_on):  # after the rows, before the headers
        assert decided(lambda _: names_of(FIRST, LAST)) in (["before"] * 2, ["after"] * 2)
