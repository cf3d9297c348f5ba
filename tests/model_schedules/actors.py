"""Who acts in the model, by the real code: each makes the calls that the model's steps name.

An operation of a transaction's size would be none. So a change has 98 further rows that follow,
and a deletion 99: with them it is in two pages, of which the first has what belongs to the
target and the second both versioned rows (`Together` in the model).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.errors import Refusal, Stale
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key
from chalicelib.storage.changes import decisions, operations, parts
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Locked, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.group_items import GroupItem

A, B = Group.by_id("a"), Group.by_id("b")
P, Q = Key(GroupItem, "a", "p"), Key(GroupItem, "b", "q")
FILLER = "filler"
"""The set of the rows that nobody else knows; in order it comes after what belongs to a or b."""
FILLERS = 98
LATER = datetime(2100, 1, 1, tzinfo=UTC)
NONE = "none"

Values = dict[str, frozenset[str]]
"""Who has changed each row."""


def start() -> None:
    """Store the rows as they are when the model begins."""
    for id_ in ("a", "b"):
        now = clock.now()
        group = Group(id_, name=NONE, created=now, modified=now, created_by="-", modified_by="-")
        group.save()


def changes_in(text: str) -> frozenset[str]:
    return frozenset() if text == NONE else frozenset(text.split("+"))


def _with(text: str, change: str) -> str:
    return "+".join(sorted(changes_in(text) | {change}))


def decided(decide: Callable[[decisions.Versions], Any]) -> Any:
    """Decide as requests do (`web/dispatch.py`), however often that takes."""
    met: decisions.Met = {}
    while True:
        try:
            with decisions.noting(met) as versions:
                return decide(versions)
        except Locked as refused:
            operations.end(refused.locks)
        except Stale:
            pass


def _rows() -> tuple[Group, Group, Rows]:
    rows = reading.read([A, B])
    a, b = rows.find(Group, "a"), rows.find(Group, "b")
    assert a is not None
    assert b is not None
    return a, b, rows


def _set(group: str) -> str:
    """Who has changed the one row that belongs to a group."""
    found = reading.query(GroupItem, group)
    return str(found[0]["kind"]["S"]) if found else NONE


def _changed(group: Group, change: str) -> Group:
    after = group.copy()
    after.name = _with(group.name, change)
    return after


def change() -> None:
    """Change a, b and what belongs to a; who is refused stops."""
    with suppress(Refusal), decisions.noting({}):
        a, b, _ = _rows()
        p = _set("a")
        with Change(a, _changed(a, "change")) as tx:
            for number in range(FILLERS):
                tx.then_put(GroupItem(FILLER, f"{number:03}"))
            tx.then_put(GroupItem(*P[1:], kind=_with(p, "change")))
            tx.then_update(b, Group.name.set(_with(b.name, "change")), Group.version.add(1))


def deletion() -> None:
    """Change b, rest on a, and remove what belongs to b; who is refused stops."""
    with suppress(Refusal), decisions.noting({}):
        a, b, _ = _rows()
        with operations.begun(b) as (held, operation):
            q = _set("b")
            with Change(held, _changed(held, "deletion"), within=operation) as tx:
                tx.rest_on(a)
                for number in range(FILLERS + 1):
                    tx.then_delete(Key(GroupItem, FILLER, f"{number:03}"))
                if q != NONE:
                    tx.then_delete(Q)


def writer() -> None:
    """Change a and what belongs to it."""

    def write(_: decisions.Versions) -> None:
        a, _, _ = _rows()
        p = _set("a")
        with Change(a, _changed(a, "writer")) as tx:
            tx.then_put(GroupItem(*P[1:], kind=_with(p, "writer")))

    decided(write)


def creator() -> None:
    """Add to what belongs to b, by a right that b gives as long as nobody has deleted it.

    As `User.belongs_to` and `services/access/grants.py` have it: the row says so as it stands,
    and an operation that held it when it was read is not committed.
    """

    def create(_: decisions.Versions) -> None:
        _, b, rows = _rows()
        lock = rows.lock(B)
        if "deletion" in changes_in(b.name):
            return
        beside = None if lock is None or lock.is_closed else lock.operation
        with Transaction() as tx:
            tx.require(Check(B, Group.name == b.name, unlocked=True, beside=beside))
            if lock is not None and not lock.is_committed:
                tx.require(parts.is_not_committed(lock.operation))
            tx.put(GroupItem(*Q[1:], kind="creator"))

    decided(create)


def reader() -> Values:
    """Read a, b and what belongs to a, as of one moment; a answers for what belongs to it."""

    def read(versions: decisions.Versions) -> Values:
        a, b, _ = _rows()
        p = _set("a")
        reading.require_unchanged({A: versions[A]})
        return {"a": changes_in(a.name), "b": changes_in(b.name), "p": changes_in(p)}

    found: Values = decided(read)
    return found


def sweeper() -> None:
    """Sweep for ever."""
    while True:
        found = operations.sweep(LATER)
        assert not found["failed"]


def counted() -> Values:
    """What each row counts as now."""

    def read(_: decisions.Versions) -> Values:
        rows = reading.read([A, B, P, Q])
        names = {key: (rows.raw(key) or {}).get("name", {"S": NONE})["S"] for key in (A, B)}
        kinds = {key: (rows.raw(key) or {}).get("kind", {"S": NONE})["S"] for key in (P, Q)}
        texts = {"a": names[A], "b": names[B], "p": kinds[P], "q": kinds[Q]}
        return {name: changes_in(text) for name, text in texts.items()}

    found: Values = decided(read)
    return found


ACTORS: dict[str, Callable[[], Any]] = {
    each.__name__: each for each in (change, deletion, writer, creator, reader, sweeper)
}
