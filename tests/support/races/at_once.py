"""Requests at once: in every order of their storage calls, as if one came after the other.

    assert at_once(store, share, add) == {(200, 400), (404, 200)}

Each order starts from the same rows. It has to end, in what was done and in what is stored,
like one of those in which nobody interrupts: so what is said to be done is so, and what was
refused has changed nothing. Why it was refused may differ: an interrupted caller may be told
that a membership is gone where they would otherwise be told that the whole group is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from chalicelib.storage.changes.parts import Part
from chalicelib.storage.connection import Json, Send
from tests.support.environment import ENGINE
from tests.support.faults.hooks import Around
from tests.support.model.invariants import check_invariants
from tests.support.model.outlines import Outline, Outlines, difference
from tests.support.proving import PROVING, SAMPLING, fewer, more
from tests.support.races.scheduler import FEW_SWITCHES, Race, by_chance, races, repeat
from tests.support.storage import Storage
from tests.support.wire.client import Response

Ask = Callable[[], Response]
Statuses = tuple[int, ...]

_REFUSALS = frozenset({400, 403, 404})
_DONE = range(200, 300)
_CONFLICT = 409
"""For who is interrupted again and again."""


def all_orders() -> Iterator[Race]:
    """Of more than a thousand all with at most two switches, and some of the others.

    On the slower storage those with at most one, and some of these in a sample there.
    """
    if SAMPLING:
        return _with_one_switch(step=1 if ENGINE == "embedded" else 3)
    if ENGINE != "embedded" and not PROVING:
        return races(limit=0, switches=1, sampled=2)
    return races(sampled=20 if ENGINE != "embedded" else more(20, 500))


def most_orders() -> Iterator[Race]:
    """All to prove; else one switch, on the slower storage and in a sample at some moments."""
    if PROVING:
        return all_orders()
    if SAMPLING:
        return _with_one_switch(step=3 if ENGINE == "embedded" else 9)
    return _with_one_switch(step=1, others=20) if ENGINE == "embedded" else _with_one_switch()


def some_orders() -> Iterator[Race]:
    """A few, of requests that make many calls."""
    if ENGINE != "embedded":
        return races(limit=0, switches=0, sampled=fewer(1, 4))
    return races(limit=0, switches=more(0, 1), sampled=more(fewer(1, 4), 100))


def fewest_orders() -> Iterator[Race]:
    """The fewest, in tenants that take long to make."""
    return some_orders() if PROVING else races(limit=0, switches=0, sampled=1)


class Crowd(Around):
    """Requests that arrive before each other's transaction is written."""

    def __init__(self, others: list[Ask]) -> None:
        self.others, self.seen = others, list[int]()

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        if operation == "TransactWriteItems" and self.others:
            self.seen.append(self.others.pop()().status)
        return send()


def _with_one_switch(step: int = 2, others: int = 2) -> Iterator[Race]:
    """Each of two comes whole at some moments of the other; and other orders by chance."""
    for interrupted, other in ((0, 1), (1, 0)):
        alone = repeat([interrupted])
        yield alone
        for moment in range(1, alone.calls[interrupted], step):
            yield repeat([interrupted] * moment + [other])
    yield from by_chance(others)


def at_once(
    store: Storage,
    *requests: Ask,
    then: Callable[[], None] = lambda: None,
    orders: Callable[[], Iterator[Race]] = most_orders,
) -> set[Statuses]:
    """Ask in these orders; return the statuses of those in which nobody interrupts.

    After each, `then` looks at what more has to be true.
    """
    start, outlines = store.contents(), _Outlines(store)

    def ended(race: Race) -> tuple[Statuses, Outline]:
        store.put_back(start)
        outcomes = race.run(*requests)
        check_invariants(store)
        assert store.rows(Part.stored_as()) == [], race.order
        outline = outlines.now()
        then()
        return tuple(each.get().status for each in outcomes), outline

    expected = [ended(repeat([first])) for first in range(len(requests))]
    if len(requests) > 2:  # each of these may come second
        expected += [ended(repeat(order)) for order in _other_orders(ended, len(requests))]
    known = _REFUSALS.union(*(statuses for statuses, _ in expected))
    for race in orders():
        statuses, outline = ended(race)
        same = [rows for answers, rows in expected if _done(answers) == _done(statuses)]
        assert same, f"{race.order} was answered {statuses}"
        allowed = known | {_CONFLICT} if race.switches > FEW_SWITCHES else known
        assert allowed.issuperset(statuses), f"{race.order} was answered {statuses}"
        assert outline in same, f"{race.order} {statuses}\n{difference(outline, same)}"
    return {statuses for statuses, _ in expected}


def statuses_of(
    store: Storage, *requests: Ask, orders: Callable[[], Iterator[Race]] = most_orders
) -> set[Statuses]:
    """The same of requests in which the server encrypts, so that no two runs store the same.

    After each order the invariants hold; returned are the statuses of all.
    """
    start, found = store.contents(), set()
    for race in orders():
        store.put_back(start)
        outcomes = race.run(*requests)
        check_invariants(store)
        found.add(tuple(each.get().status for each in outcomes))
    return found


def _other_orders(ended: Callable[[Race], object], count: int) -> Iterator[list[int]]:
    """The orders in which nobody interrupts, and the second is not the first that could go on."""
    for first in range(count):
        alone = repeat([first])
        ended(alone)
        _, *others = sorted(set(range(count)) - {first})
        for second in others:
            yield [first] * alone.calls[first] + [second]


def _done(statuses: Statuses) -> list[bool]:
    return [status in _DONE for status in statuses]


class _Outlines(Outlines):
    """Outlines that tell secrets apart: requests that are sent again bring the same ones."""

    def _kept(self, found: re.Match[str]) -> str:
        return found[0] if found[0].startswith("-----BEGIN PGP") else super()._kept(found)
