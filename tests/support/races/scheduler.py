"""Races made repeatable: handlers that hand over the turn at each storage call.

Each handler is a thread, of which one runs at a time; before each of its storage calls it
stops, and the schedule says who goes on. What happens depends on the schedule alone.

    for race in races():
        item = make.resource(owner=ada)
        one, other = race.run(lambda: update(item), lambda: delete(item))
        ...

Schedules come in order of their switches, that is of turns taken away from a handler that
could have gone on: first without, then with one, with two. When there are more than `limit`,
those with more than two switches are not all run, but as many as `sampled` by chance. `make test`
leaves those with two to chance as well.

Who knows the order already, and looks at the tables after each call, has `Turns`.
"""

from __future__ import annotations

import heapq
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from itertools import pairwise
from math import factorial, prod
from types import TracebackType
from typing import Any, Self

from chalicelib.storage.connection import Json, Send, connection
from tests.support.proving import fewer

LIMIT = 1000
FEW_SWITCHES = 2
USUAL = fewer(1, FEW_SWITCHES)
SAMPLED = 500
_STUCK_SECONDS = 60

Handler = Callable[[], Any]


@dataclass
class Outcome:
    """What a handler returned, or what it raised."""

    value: Any = None
    error: BaseException | None = None

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


class Died(BaseException):
    """A handler goes no further: not an `Exception`, so that nobody answers for it."""


@dataclass(slots=True)
class Waiting:
    """The storage call that a handler makes when it has the turn."""

    operation: str
    parameters: Json
    is_refused: bool = False
    """Whether it was made and has changed nothing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One decision of a schedule: who could go on, and who did, with which call."""

    able: tuple[int, ...]
    taken: int
    call: Waiting


class _Runner:
    """One handler in its thread; it runs only between `resume` and its next storage call."""

    def __init__(self, handler: Handler, number: int) -> None:
        self.number = number
        self.outcome = Outcome()
        self.calls = 0
        self.pauses = 0
        self.done = False
        self.waiting: Waiting | None = None
        self._is_dead = False
        self._handler = handler
        self._go = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        context = copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)
        self._thread.start()

    def resume(self) -> None:
        """Let the handler run to its next storage call or its end."""
        self._go.release()
        assert self._stopped.acquire(timeout=_STUCK_SECONDS), "a handler waits for something else"

    def pause(self, waiting: Waiting) -> None:
        self.calls += 1
        self.waiting = waiting
        self._stopped.release()
        self._go.acquire()
        if self._is_dead:
            raise Died

    def die(self) -> None:
        """Let the handler make no further call."""
        self._is_dead = True
        if not self.done:
            self.resume()
        self.join()

    def join(self) -> None:
        self._thread.join(_STUCK_SECONDS)

    def _run(self) -> None:
        _running.set(self)
        self._go.acquire()
        try:
            self.outcome.value = self._handler()
        except BaseException as error:  # noqa: BLE001 - also a killed process is an outcome
            self.outcome.error = error
        self.waiting = None
        self.done = True
        self._stopped.release()


_running: ContextVar[_Runner | None] = ContextVar("_running", default=None)


def _hand_over(operation: str, parameters: Json, send: Send) -> Json:
    runner = _running.get()
    if runner is None:
        return send()
    waiting = Waiting(operation, parameters)
    runner.pause(waiting)
    try:
        return send()
    except BaseException:
        waiting.is_refused = True
        raise


def pause_at_most(times: Sequence[int]) -> Callable[[float], None]:
    """A pause for `pace.set_sources`: each handler makes so many, and dies instead of one more."""

    def pause(_seconds: float) -> None:
        runner = _running.get()
        if runner is None:
            return
        runner.pauses += 1
        if runner.pauses > times[runner.number]:
            raise Died

    return pause


Choose = Callable[[tuple[int, ...], int | None], int]


class Turns:
    """Handlers of which one makes one call whenever it is told to; at the end the others die.

    with Turns(change, sweep) as turns:
        assert turns.waiting(0).operation == "BatchGetItem"
        turns.take(0)
    """

    def __init__(self, *handlers: Handler) -> None:
        self._handlers = handlers
        self._runners: list[_Runner] = []

    def __enter__(self) -> Self:
        connection.hooks.insert(0, _hand_over)
        self._runners = [_Runner(each, number) for number, each in enumerate(self._handlers)]
        for runner in self._runners:
            runner.resume()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for runner in self._runners:
            runner.die()
        connection.hooks.remove(_hand_over)

    def take(self, handler: int) -> None:
        """Let a handler make the call that it waits for, and run to the next."""
        self._runners[handler].resume()

    def waiting(self, handler: int) -> Waiting | None:
        """The call that a handler makes next; none when it has ended."""
        return self._runners[handler].waiting

    def outcome(self, handler: int) -> Outcome | None:
        """What became of a handler that has ended."""
        runner = self._runners[handler]
        return runner.outcome if runner.done else None


@dataclass
class Race:
    """One schedule, to be run once."""

    choose: Choose
    turns: list[Turn] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    waiting: list[Waiting | None] = field(default_factory=list)
    """What each makes next, while it is chosen who goes on."""

    def run(self, *handlers: Handler) -> list[Outcome]:
        """Run the handlers in the turns of this schedule; return what became of each."""
        assert not self.calls, "a schedule is run once"
        # The innermost hook: what others do around a call happens when the turn is over.
        connection.hooks.insert(0, _hand_over)
        try:
            runners = [_Runner(each, number) for number, each in enumerate(handlers)]
            self._take_turns(runners)
        finally:
            connection.hooks.remove(_hand_over)
        self.calls = [runner.calls for runner in runners]
        return [runner.outcome for runner in runners]

    def _take_turns(self, runners: Sequence[_Runner]) -> None:
        # Before its first call a handler knows nothing of the others: no need to choose there.
        for runner in runners:
            runner.resume()
        last: int | None = None
        while able := tuple(n for n, runner in enumerate(runners) if not runner.done):
            self.waiting = [runner.waiting for runner in runners]
            last = self.choose(able, last)
            call = self.waiting[last]
            assert call is not None
            self.turns.append(Turn(able, last, call))
            runners[last].resume()
        for runner in runners:
            runner.join()

    @property
    def order(self) -> list[int]:
        """Whose calls were made, one after the other: what to repeat by `repeat`."""
        return [turn.taken for turn in self.turns]

    @property
    def switches(self) -> int:
        """How often a turn was taken away from a handler that could have gone on."""
        return _switches(self.turns, self.order)


def races(
    *, limit: int = LIMIT, switches: int = USUAL, sampled: int = SAMPLED, seed: int = 1
) -> Iterator[Race]:
    """Yield every schedule if there are at most `limit`, else those with few switches and a sample.

    Each must be run before the next is asked for.
    """
    waiting: list[tuple[int, list[int]]] = [(0, [])]
    is_too_many = False
    run = 0
    while waiting and not (is_too_many and waiting[0][0] > switches):
        _, prefix = heapq.heappop(waiting)
        race = repeat(prefix)
        yield race
        run += 1
        assert race.calls, "a schedule was not run"
        is_too_many = is_too_many or run > limit or _count(race.calls) > limit
        for branch in _branches(race.turns, len(prefix)):
            heapq.heappush(waiting, (_switches(race.turns, branch), branch))
    if is_too_many:
        yield from by_chance(sampled, seed)


def by_chance(count: int, seed: int = 1) -> Iterator[Race]:
    """So many schedules of any kind, the same ones every time."""
    chance = random.Random(seed)
    return (Race(lambda able, _: chance.choice(able)) for _ in range(count))


def repeat(order: Sequence[int]) -> Race:
    """The schedule that begins in this order, and then switches only when it must."""
    left = list(order)

    def choose(able: tuple[int, ...], last: int | None) -> int:
        if left:
            return left.pop(0)
        return last if last in able else able[0]

    return Race(choose)


def _branches(turns: Sequence[Turn], start: int) -> Iterator[list[int]]:
    """The beginnings of all schedules that part from this one after its `start`."""
    taken = [turn.taken for turn in turns]
    for at in range(start, len(turns)):
        for other in turns[at].able:
            if other != taken[at]:
                yield [*taken[:at], other]


def _switches(turns: Sequence[Turn], order: Sequence[int]) -> int:
    """How often this order takes the turn from one who could have gone on."""
    pairs = pairwise(order)
    return sum(
        before != after and before in turns[at].able for at, (before, after) in enumerate(pairs, 1)
    )


def _count(calls: Sequence[int]) -> int:
    """In how many orders so many calls of each can be made."""
    return factorial(sum(calls)) // prod(factorial(count) for count in calls)
