"""Schedules for tests, from the states that TLC finds: who calls, and what lies there then.

    graph = explore(Configuration("alone", changers=("change",), sweepers=("sweeper",)))
    for schedule in graph.covering():  # together every step of every state
        for step in schedule.steps:
            ...  # let step.actor make one call, compare the tables with step.state
    for schedule in graph.sample(1000, seed=1): ...  # by chance, also with deaths

A step is one storage call; `step.action` has the name of the model's action for it. An actor
that has not ended when a schedule does has died: `schedule.dead`.
"""

from __future__ import annotations

import random
import re
from ast import literal_eval
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from infra.model import tlc
from infra.model.configurations import Configuration

LONGEST = 200
"""Steps of a schedule: readers may read again as often as others write."""
_DEATH = 0.03
"""How likely it is at each step of a sample that somebody dies."""
_RESTING = frozenset({"end", "scan"})
_NODE = re.compile(r'^(-?\d+) \[label="(.*)"(,style = filled)?\];?$')
_EDGE = re.compile(r"^(-?\d+) -> (-?\d+) \[")
_SIGNS = (("[", "{"), ("]", "}"), ("TRUE", "True"), ("FALSE", "False"), ("<<", "("), (">>", ")"))


@dataclass(frozen=True, slots=True)
class Row:
    """A versioned row."""

    version: int
    changes: frozenset[str]
    """Who has changed it."""
    lock: str | None
    """The operation that locks it."""


@dataclass(frozen=True, slots=True)
class State:
    """What lies in the tables."""

    rows: Mapping[str, Row]
    plain: Mapping[str, frozenset[str]]
    """Who has changed each plain row; nobody, where there is none."""
    headers: Mapping[str, str]
    """none, pending, committed, gone"""
    applied: Mapping[str, int]
    """How many pages of lines of each operation are applied."""
    lines: Mapping[str, frozenset[str]]
    """The rows whose lines are stored."""
    counts: Mapping[str, frozenset[str]]
    """What each row counts as to whoever reads now."""


@dataclass(frozen=True, slots=True)
class Step:
    actor: str
    action: str
    state: State
    """Afterwards."""


@dataclass(frozen=True, slots=True)
class Schedule:
    start: State
    steps: tuple[Step, ...]
    dead: frozenset[str]
    """Who had begun something and does not go on."""
    ended: frozenset[str]
    """Who has done all they do."""

    def order(self, actors: tuple[str, ...]) -> list[int]:
        """Whose calls are made, as numbers: what the tests' scheduler repeats."""
        return [actors.index(step.actor) for step in self.steps]


@dataclass(frozen=True, slots=True)
class _Node:
    state: State
    at: Mapping[str, str]
    of: Mapping[str, Any]

    def step_to(self, after: _Node) -> Step:
        """The one step that leads from here to there: of whoever is elsewhere, or knows more."""
        moved = [
            actor
            for actor, place in self.at.items()
            if after.at[actor] != place or after.of[actor] != self.of[actor]
        ]
        [actor] = moved
        return Step(actor, self.at[actor], after.state)


class _Nodes(dict[str, _Node]):
    """Nodes by name, each read from its label when it is asked for."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        super().__init__()
        self.labels = labels

    def __missing__(self, name: str) -> _Node:
        self[name] = _node(self.labels[name])
        return self[name]


class Graph:
    """Every state that can be reached, and the steps between them."""

    def __init__(
        self, labels: Mapping[str, str], edges: Mapping[str, list[str]], first: str
    ) -> None:
        self._labels = labels
        self._nodes = _Nodes(labels)
        self._edges = edges
        self._first = first
        self._ways = self._shortest()

    @property
    def states(self) -> int:
        return len(self._labels)

    @property
    def steps(self) -> int:
        return sum(map(len, self._edges.values()))

    def covering(self) -> Iterator[Schedule]:
        """Schedules that together take every step at least once."""
        left = {name: list(targets) for name, targets in self._edges.items()}
        for name in self._labels:
            while left.get(name):
                path = [*self._way_to(name)]
                while left.get(path[-1]) and len(path) <= LONGEST:
                    path.append(left[path[-1]].pop())
                yield self._schedule(path)

    def sample(self, count: int, *, seed: int) -> Iterator[Schedule]:
        """So many schedules by chance; in some of them actors die on the way."""
        chance = random.Random(seed)  # noqa: S311 - nothing secret
        for _ in range(count):
            yield self._schedule(self._walk(chance))

    def _walk(self, chance: random.Random) -> list[str]:
        path, dead = [self._first], set[str]()
        while len(path) <= LONGEST:
            here = self._nodes[path[-1]]
            if chance.random() < _DEATH:
                dead.add(chance.choice(list(here.at)))
            able = [
                name
                for name in self._edges.get(path[-1], ())
                if here.step_to(self._nodes[name]).actor not in dead
            ]
            if not able:
                break
            path.append(chance.choice(able))
        return path

    def _schedule(self, path: list[str]) -> Schedule:
        nodes = [self._nodes[name] for name in path]
        steps = tuple(before.step_to(after) for before, after in pairwise(nodes))
        started = {step.actor for step in steps}
        dead = {a for a, place in nodes[-1].at.items() if place not in _RESTING and a in started}
        ended = frozenset(actor for actor, place in nodes[-1].at.items() if place == "end")
        return Schedule(nodes[0].state, steps, frozenset(dead), ended)

    def _shortest(self) -> dict[str, str | None]:
        """From where one comes to each state by the fewest steps."""
        ways: dict[str, str | None] = {self._first: None}
        waiting = deque([self._first])
        while waiting:
            name = waiting.popleft()
            for target in self._edges.get(name, ()):
                if target not in ways:
                    ways[target] = name
                    waiting.append(target)
        return ways

    def _way_to(self, name: str) -> list[str]:
        way: list[str] = []
        here: str | None = name
        while here is not None:
            way.append(here)
            here = self._ways[here]
        return way[::-1]


def explore(configuration: Configuration) -> Graph:
    """Let TLC find all states of a small configuration: some thousands, better not more."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "states.dot"
        tlc.dump(configuration, path)
        return read(path.read_text())


def read(text: str) -> Graph:
    """The graph that TLC has written."""
    labels: dict[str, str] = {}
    edges: dict[str, list[str]] = {}
    first = ""
    for line in text.splitlines():
        if found := _NODE.match(line):
            labels[found[1]] = found[2]
            first = found[1] if found[3] else first
        elif (found := _EDGE.match(line)) and found[1] != found[2]:
            edges.setdefault(found[1], []).append(found[2])
    return Graph(labels, edges, first)


def _node(label: str) -> _Node:
    plain = label.replace("\\\\", "\\").replace("\\n", "\n").replace('\\"', '"')
    texts = dict(part.split(" = ", 1) for part in re.split(r"^/\\ ", plain, flags=re.MULTILINE)[1:])
    return _Node(_state(texts), _value(texts["at"]), _value(texts["of"]))


def _state(texts: Mapping[str, str]) -> State:
    return State(
        rows={name: _row(row) for name, row in _value(texts["row"]).items()},
        plain=_sets(texts["plain"]),
        headers=_value(texts["header"]),
        applied=_value(texts["done"]),
        lines=_sets(texts["lines"]),
        counts=_sets(texts["truth"]),
    )


def _row(row: Mapping[str, Any]) -> Row:
    lock = None if row["lock"] == "nobody" else row["lock"]
    return Row(row["ver"], frozenset(row["val"]), lock)


def _sets(text: str) -> dict[str, frozenset[str]]:
    return {name: _frozen(members) for name, members in _value(text).items()}


def _frozen(members: Collection[str]) -> frozenset[str]:
    return frozenset(members)


def _value(text: str) -> Any:
    """A value of TLA+ as one of Python: `[a |-> {}]` is a dictionary, `{}` has nothing in it."""
    for theirs, ours in _SIGNS:
        text = text.replace(theirs, ours)
    return literal_eval(re.sub(r"(\w+) \|->", r'"\1":', text).strip()) or {}
