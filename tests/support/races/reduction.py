"""Every order of storage calls that makes a difference, once or little more often.

Two orders are alike where one becomes the other by exchanging calls that follow each other and
touch no row in common that one of them writes: every caller reads the same in both, and what is
stored at the end is the same. So one order of each kind stands for all of them (Mazurkiewicz's
traces). It is found as it goes, by dynamic partial-order reduction with source sets and sleep sets
(Abdulla, Aronis, Jonsson and Sagonas, 2014): after each order, wherever two calls that touch
a row in common could have come the other way round, an order in which they do is asked for.

    for race in representatives():
        race.run(add, rename, remove)

Each must be run before the next is asked for, from the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from chalicelib.storage.base import every_table
from tests.support.faults.hooks import WRITES
from tests.support.races.scheduler import Race, Turn, Waiting

Where = tuple[str, ...]
"""A table, a partition of it, or a row."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What one call reads and writes; what is written counts with its partition and its table."""

    reads: frozenset[Where]
    writes: frozenset[Where]
    around: frozenset[Where]

    def meets(self, other: Touched) -> bool:
        """Whether it makes a difference which of the two comes first."""
        return bool(
            self.around & other.reads or other.around & self.reads or self.writes & other.writes
        )


def touched(call: Waiting) -> Touched:
    """What a call may touch; one that was made and refused has written nothing."""
    reads, writes = set(_read(call)), set(_written(call))
    if call.is_refused:
        reads, writes = reads | writes, set()
    around = {where[:length] for where in writes for length in range(1, len(where) + 1)}
    return Touched(frozenset(reads), frozenset(writes), frozenset(around))


def _read(call: Waiting) -> Iterator[Where]:
    sent = call.parameters
    if call.operation == "GetItem":
        yield _row(sent["TableName"], sent["Key"])
    elif call.operation == "BatchGetItem":
        for table, wanted in sent["RequestItems"].items():
            yield from (_row(table, key) for key in wanted["Keys"])
    elif call.operation == "Query":
        yield _partition(sent)
    elif call.operation == "TransactWriteItems":
        lines = (
            line["ConditionCheck"] for line in sent["TransactItems"] if "ConditionCheck" in line
        )
        yield from (_row(line["TableName"], line["Key"]) for line in lines)
    elif call.operation not in WRITES:
        raise LookupError(call.operation)


def _written(call: Waiting) -> Iterator[Where]:
    sent = call.parameters
    if call.operation == "TransactWriteItems":
        for line in sent["TransactItems"]:
            if "ConditionCheck" not in line:
                [each] = line.values()
                yield _row(each["TableName"], each.get("Item") or each["Key"])
    elif call.operation == "BatchWriteItem":
        for table, requests in sent["RequestItems"].items():
            for request in requests:
                [each] = request.values()
                yield _row(table, each.get("Item") or each["Key"])
    elif call.operation in WRITES:
        yield _row(sent["TableName"], sent.get("Item") or sent["Key"])


def _row(table: str, row: Mapping[str, Any]) -> Where:
    return (table, *(row[name]["S"] for name in _keys()[table]))


_PARTITION = re.compile(r"(#\w+) = (:\w+)")


def _partition(sent: Mapping[str, Any]) -> Where:
    """The partition that is asked for; by an index, the whole table may be in it."""
    table = sent["TableName"]
    for name, value in _PARTITION.findall(sent["KeyConditionExpression"]):
        if sent["ExpressionAttributeNames"][name] == _keys()[table][0]:
            return (table, sent["ExpressionAttributeValues"][value]["S"])
    return (table,)


@cache
def _keys() -> Mapping[str, Sequence[str]]:
    return {
        table.stored_as(): [name for name in table.key_names() if name is not None]
        for table in every_table()
    }


@dataclass
class _Choice:
    """One moment at which somebody goes on, in the order that was run last."""

    sleeping: set[int]
    """Whose next call is left out here: an order like any that begins with it was run."""
    taken: int
    wanted: set[int]
    """Who is to go on here, in one order or another."""


@dataclass
class Reduction:
    """How many orders were run, and how many of these turned out to be like others."""

    run: int = 0
    alike: int = 0

    def representatives(self) -> Iterator[Race]:
        choices: list[_Choice] = []
        is_another = True
        while is_another:
            attempt = _Attempt(choices)
            yield attempt.race
            assert attempt.race.calls, "a schedule was not run"
            self.run += 1
            self.alike += attempt.is_alike
            _want_others(choices, attempt.race.turns[: len(choices)])
            is_another = _go_back(choices)


def representatives() -> Iterator[Race]:
    return Reduction().representatives()


class _Attempt:
    """One order: it begins with the choices that are given, and adds its own to them."""

    def __init__(self, choices: list[_Choice]) -> None:
        self.is_alike = False
        self.race = Race(self._choose)
        self._choices = choices
        self._begun = len(choices)

    def _choose(self, able: tuple[int, ...], last: int | None) -> int:
        at = len(self.race.turns)
        if at < self._begun:
            return self._choices[at].taken
        if self.is_alike:
            return able[0]
        sleeping = self._still_sleeping(at)
        awake = [each for each in able if each not in sleeping]
        if not awake:  # whoever goes on now, an order like this one was run
            self.is_alike = True
            return able[0]
        taken = last if last in awake else awake[0]
        self._choices.append(_Choice(sleeping, taken, {taken}))
        return taken

    def _still_sleeping(self, at: int) -> set[int]:
        """Who slept before the last call, and whose own next call it did not touch.

        Their calls are looked at as they are now: identifiers are others in each run.
        """
        if at == 0:
            return set()
        made = touched(self.race.turns[-1].call)
        calls = {each: self.race.waiting[each] for each in self._choices[at - 1].sleeping}
        return {
            each
            for each, call in calls.items()
            if call is not None and not touched(call).meets(made)
        }


def _want_others(choices: Sequence[_Choice], turns: Sequence[Turn]) -> None:
    """Ask for the other order of each two calls that could have come the other way round."""
    calls = [touched(turn.call) for turn in turns]
    who = [turn.taken for turn in turns]
    before: list[set[int]] = []
    """Of each call, those that have to come before it for everybody to read the same."""
    latest: dict[int, int] = {}
    for at, call in enumerate(calls):
        mine = latest.get(who[at])
        past = set() if mine is None else before[mine] | {mine}
        for other in range(at - 1, -1, -1):
            if other not in past and calls[other].meets(call):
                choices[other].wanted |= _missing(choices[other], who, before, past, (other, at))
                past |= before[other] | {other}
        before.append(past)
        latest[who[at]] = at


def _missing(
    choice: _Choice,
    who: Sequence[int],
    before: Sequence[set[int]],
    past: set[int],
    calls: tuple[int, int],
) -> set[int]:
    """Who has to go on at the first of two calls, for the second to come before it.

    Nobody, if somebody is to go on there already who leads to it.
    """
    first, second = calls
    kept = {at for at in range(first + 1, second) if first not in before[at]}
    leading = {who[at] for at in kept if not before[at] & kept}
    if not past & kept:
        leading.add(who[second])
    return set() if leading & choice.wanted else {min(leading)}


def _go_back(choices: list[_Choice]) -> bool:
    """Return to the last moment at which somebody else is to go on, and let them."""
    while choices:
        choice = choices[-1]
        choice.sleeping.add(choice.taken)
        left = choice.wanted - choice.sleeping
        if left:
            choice.taken = min(left)
            return True
        choices.pop()
    return False
