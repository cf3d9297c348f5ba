"""The real code, step by step beside the model: what lies in the tables is what the model says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from shutil import which

import pytest

from infra.model import tlc
from infra.model.configurations import SCHEDULED, Configuration
from infra.model.schedules import Graph, Schedule, explore
from tests.model_schedules import actors, calls, tables
from tests.support.environment import ENGINE
from tests.support.proving import PROVING, more
from tests.support.races.scheduler import Turns
from tests.support.storage import Contents, Storage

pytestmark = [
    pytest.mark.skipif(which("java") is None, reason="TLC, which makes the schedules, needs Java"),
    pytest.mark.skipif(not any(tlc.JARS.glob("*.jar")), reason="`make model` has not fetched TLC"),
]
SAMPLE = {"embedded": more(30, 1300), "moto": more(2, 70)}.get(ENGINE, more(2, 20))
"""Schedules of each configuration."""
TRIED = SCHEDULED if PROVING else [each for each in SCHEDULED if len(each.actors) == 2]

graph_of = cache(explore)


@pytest.fixture
def beginning_of(store: Storage) -> Contents:
    actors.start()
    return store.contents()


def schedules_of(graph: Graph) -> Iterator[Schedule]:
    """Up to two thirds of them cover as many steps as they can, the others are by chance."""
    covering = list(islice(graph.covering(), SAMPLE * 2 // 3))
    yield from covering
    yield from graph.sample(SAMPLE - len(covering), seed=1)


Made = tuple[str, ...]
"""Who has made which steps, one after the other: what lies in the tables depends on that alone."""


def run(
    schedule: Schedule,
    acting: tuple[str, ...],
    operation: str,
    store: Storage,
    compared: set[Made],
) -> None:
    """Let the actors make the calls of the schedule, and compare after each.

    What has been compared after the same steps is not compared again.
    """
    made: Made = ()
    with Turns(*(actors.ACTORS[each] for each in acting)) as turns:
        for step in schedule.steps:
            made = (*made, f"{step.actor}: {step.action}")
            number, call = acting.index(step.actor), calls.CALL_OF[step.action]
            assert called(turns, number) == call, made
            turns.take(number)
            while call in calls.OF_SEVERAL and called(turns, number) == call:
                turns.take(number)
            if made not in compared:
                assert tables.of_storage(store) == tables.of_model(step.state, operation), made
                assert actors.counted() == step.state.counts, made
                compared.add(made)
        assert ended(turns, acting) == schedule.ended, made
        assert_seen(turns, acting, schedule)


def called(turns: Turns, number: int) -> str | None:
    waiting = turns.waiting(number)
    return None if waiting is None else calls.name(waiting)


def ended(turns: Turns, acting: tuple[str, ...]) -> set[str]:
    outcomes = {name: turns.outcome(number) for number, name in enumerate(acting)}
    failed = [each.error for each in outcomes.values() if each and each.error]
    assert failed == []
    return {name for name, outcome in outcomes.items() if outcome}


def assert_seen(turns: Turns, acting: tuple[str, ...], schedule: Schedule) -> None:
    """A reader has seen what counted at one moment."""
    outcome = turns.outcome(acting.index("reader")) if "reader" in acting else None
    if outcome is not None:
        states = [schedule.start, *(step.state for step in schedule.steps)]
        assert outcome.value in [{name: each.counts[name] for name in "abp"} for each in states]


@pytest.mark.parametrize("configuration", TRIED, ids=lambda each: each.name)
def test_after_each_call_the_tables_are_as_the_model_says(
    configuration: Configuration, store: Storage, beginning_of: Contents
):
    [operation] = (*configuration.changers, *configuration.early)
    count = 0
    compared: set[Made] = set()
    for schedule in schedules_of(graph_of(configuration)):
        store.put_back(beginning_of)
        run(schedule, configuration.actors, operation, store, compared)
        count += 1
    assert count == SAMPLE
