"""What takes steps is done as if it took none: for other changes, and for everybody who looks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import cycle, islice, product
from typing import Any

import pytest

from tests.support.environment import ENGINE
from tests.support.faults.deaths import after_commit, dying
from tests.support.faults.hooks import Late, kill_points
from tests.support.faults.large_changes import LARGE, READ, SMALL, VIEWS, Tenant, a_tenant, views
from tests.support.faults.trials import Trial
from tests.support.model.outlines import Outline
from tests.support.proving import PROVING, fewer
from tests.support.races.at_once import at_once
from tests.support.races.scheduler import Race, repeat
from tests.support.storage import Contents
from tests.support.wire.asks import removing, sharing
from tests.support.wire.client import Response
from tests.support.world import make
from tests.support.world.items.shares import add
from tests.support.world.make import Somebody

slow = pytest.mark.skipif(ENGINE != "embedded" and not PROVING, reason="takes minutes on moto")

Seen = tuple[int, Any]
EVERY_PAIR = [*product(LARGE, SMALL)]
SOME_PAIRS = EVERY_PAIR[:: fewer(37, 15)]
"""Each large change with a small one; some of them in a sample."""
pairs = pytest.mark.parametrize(("large", "small"), EVERY_PAIR if PROVING else SOME_PAIRS)

EVERYBODY = "/users.json?contain[groups_users]=1"

NTH = 6 if ENGINE == "embedded" else len(SMALL)
"""To prove, one change comes at each moment of so many, and the next one at the next of them."""


def some_of(moments: int, *names: str) -> list[int]:
    """One moment, which differs from case to case."""
    return random.Random(" ".join(names)).choices(range(moments))


def some_of_pair(moments: int, large: str, small: str) -> Iterable[int]:
    """Another moment for each pair; to prove many, so that a change meets others at each."""
    if PROVING:
        return range([*SMALL].index(small) % NTH, moments, NTH)
    return some_of(moments, large, small)


def interrupted(large: str, small: str) -> Callable[[], Iterator[Race]]:
    """Each of the requests comes whole, at moments of the other, which are those it has alone."""

    def orders() -> Iterator[Race]:
        for interrupted, other in ((0, 1), (1, 0)):
            alone = repeat([interrupted])
            yield alone
            for moment in some_of_pair(alone.calls[interrupted], large, small):
                yield repeat([interrupted] * moment + [other])

    return orders


@slow
@pairs
def test_another_change_comes_at_any_moment(store, time, large, small):
    """I1, I9, FT10"""
    tenant = a_tenant(LARGE[large].size)

    at_once(
        *(store, LARGE[large].ask(tenant), SMALL[small](tenant)), orders=interrupted(large, small)
    )


def test_what_a_group_of_forty_had_is_shared_anew_while_it_is_deleted(store, time):
    """I1, FT10: with somebody who belonged to it, at every moment"""
    ada, betty, dave = make.user("ada", admin=True), make.user("betty"), make.user("dave")
    team = make.group(betty, *make.crowd(40))
    item, *_ = [make.resource(betty, {team: READ}) for _ in range(3)]
    member = team.members[1]
    other = make.group(dave, member)

    def interrupted() -> Iterator[Race]:
        alone = repeat([0])
        yield alone
        usual = 1 if ENGINE == "embedded" or PROVING else 7
        moments = range(0, alone.calls[0], fewer(9, usual))
        yield from (repeat([0] * moment + [1]) for moment in moments)

    shared = sharing(betty, item, add(other), new=[dave, member])
    assert at_once(store, removing(ada, team), shared, orders=interrupted) == {(200, 200)}


@slow
@pairs
def test_another_change_comes_after_any_death(store, time, large, small):
    """I1, I9, FT02"""
    tenant = a_tenant(LARGE[large].size)
    then = SMALL[small](tenant)
    trial = Trial(store, time, LARGE[large].ask(tenant))

    def after(*requests: Callable[[], object]) -> tuple[int, Outline]:
        trial.restart()
        for request in requests:
            request()
        return then().status, trial.swept()

    expected = [after(), after(trial.ask)]
    deaths = [*kill_points(len(trial.calls))]
    for moment in some_of_pair(len(deaths), large, small):
        found = after(partial(dying, deaths[moment], trial.ask))
        assert found in expected, moment


@slow
@pytest.mark.parametrize("large", LARGE if PROVING else [*LARGE][::8])
def test_a_write_that_arrives_again_late_changes_nothing(store, time, large):
    """FT06: the first try of a call was answered with an error, and is carried out at last

    Of each change its first write, the header of the operation; to prove, every write.
    """
    tenant = a_tenant(LARGE[large].size)
    trial = Trial(store, time, LARGE[large].ask(tenant))
    expected = trial.sent().status, trial.swept()
    writes = [at for at, call in enumerate(trial.calls) if call.is_write]

    for number, at in enumerate(writes if PROVING else writes[:1]):
        for then in range(at + 2 + number % NTH, len(trial.calls) + 1, NTH if number else 1):
            trial.restart()
            with Late(at=at, then=then):
                status = trial.sent().status
            assert (status, trial.swept()) == expected, (at, then)


Look = tuple[Somebody, str]
LOOKS = 12
"""What is looked at after each death: other views, by others, from one to the next."""


def looks_at(tenant: Tenant, large: str) -> list[Look]:
    """Each view by one of those whom it concerns, by another for each change; to prove by all."""
    if PROVING:
        return [*product(tenant.people, views(tenant))]
    turn = [*LARGE].index(large)
    lookers = islice(cycle(tenant.concerned), turn, None)
    return [*zip(lookers, views(tenant), strict=False)][turn % 3 :: fewer(3, 1)]


@slow
@pytest.mark.parametrize("size", sorted({each.size for each in LARGE.values()}))
def test_every_view_shows_something_before(store, size):
    """What the next test looks at."""
    tenant = a_tenant(size)
    looks = product(tenant.concerned, views(tenant))

    shown = {path for who, path in looks if who.client.get(path).status == 200}

    assert shown == {*views(tenant)}


@slow
@pytest.mark.parametrize("large", LARGE)
def test_everybody_sees_what_is_committed(store, time, large):
    """I13: lists, filters and counts too, while the change is carried out and after a death"""
    tenant = a_tenant(LARGE[large].size)
    trial = Trial(store, time, LARGE[large].ask(tenant))
    looks = looks_at(tenant, large)

    def compared(die: Callable[[Callable[[], object]], None], looks: Iterable[Look]) -> None:
        trial.restart()
        die(trial.ask)
        left = store.contents()
        trial.swept()
        swept = store.contents()
        for who, path in looks:
            now, then = (_seen(trial, each, who, path) for each in (left, swept))
            assert now == then, (die, who.key.name, path)

    compared(after_commit, looks)
    turn = cycle(looks)
    for death in kill_points(len(trial.calls)) if PROVING else ():
        compared(partial(dying, death), islice(turn, LOOKS))


@slow
@pytest.mark.parametrize("at", range(0, len(VIEWS), 1 if PROVING else fewer(12, 3)))
def test_who_looks_meanwhile_sees_before_or_after(store, time, at):
    """I13: the whole change comes between any two reads of a view

    The list of everybody takes a call for each hundred: it has each of them as before or after
    (docs/adr/0001-claims-are-the-directory.md).
    """
    name = "all but its manager leave the large team"
    tenant = a_tenant(LARGE[name].size)
    path, change = views(tenant)[at], LARGE[name].ask(tenant)
    start = store.contents()

    def looked(race: Race) -> Seen:
        store.put_back(start)
        response, _ = [outcome.get() for outcome in race.run(look, change)]
        return response.status, response.body

    def look() -> Response:
        return tenant.betty.client.get(path)

    alone = repeat([0])
    before, after = looked(alone), looked(repeat([1]))
    for moment in range(alone.calls[0]) if PROVING else some_of(alone.calls[0], path):
        status, shown = looked(repeat([0] * moment + [1]))
        if path == EVERYBODY:
            assert status == 200
            assert len(shown) == len(before[1]) == len(after[1])
            assert all(each in both for each, *both in zip(shown, before[1], after[1], strict=True))
        else:
            assert (status, shown) in (before, after), moment


def _seen(trial: Trial, contents: Contents, who: Somebody, path: str) -> Seen:
    trial.restart(contents)
    response = who.client.get(path)
    return response.status, response.body
