"""A company's directory, a provisioner by SCIM and an administrator have one person in hand (RA14).

At the same moment each of them adds, renames or removes the person, in all 27 combinations. To
prove, every order of their storage calls that makes a difference is run
(`tests/support/races/reduction.py`). Where two remove the person, they undo each other's beginnings
again and again, in more orders each time; there, whoever has to begin anew ends instead, as by a
crash, and it has to be as if they had never come. So an order in which they do begin anew is one in
which they begin later, and these are run. Others are run by chance, and everybody begins anew as
often as they may.

So 10,505 orders are run, 92 of them alike to others: their calls have from 10^4 orders, where all
three add the person, to 10^20, where all three remove them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import pytest

from chalicelib.settings import settings
from chalicelib.storage import pace
from chalicelib.storage.deciding import DECISIONS
from tests.support.model.invariants import check_invariants
from tests.support.model.outlines import Outline, Outlines, difference
from tests.support.proving import PROVING, fewer
from tests.support.races.reduction import Reduction
from tests.support.races.scheduler import Died, Outcome, Race, by_chance, pause_at_most
from tests.support.storage import Storage
from tests.support.wire.client import Client
from tests.support.world import directories, make, people, scim
from tests.support.world.operator.posted import posted

ADD, RENAME, REMOVE = ACTS = ("add", "rename", "remove")
SAMPLED = fewer(2, 60)
ADDRESS = "betty@example.com"
HONEST = (
    {ADD: {201, 409}, RENAME: {200, 404, 409}, REMOVE: {204, 404, 409}},
    {ADD: {200, 400, 409}, RENAME: {200, 400, 409}, REMOVE: {200, 404, 409}},
)
"""What a provisioner and an administrator may be told: done, taken, not there, or try again."""
_LINK = re.compile(r"/setup/start/([0-9a-f-]+)/([0-9a-f-]+)")
Hand = Callable[[], Any]


@dataclass(frozen=True)
class Told:
    """What they were told: the reports of the run, and statuses; nothing of who was not heard."""

    run: tuple[tuple[str, str], ...] = ()
    statuses: tuple[int | None, int | None] = (None, None)

    @property
    def done(self) -> tuple[Any, ...]:
        """What is said to be done. Why something was refused may differ."""
        done = [each for each in self.run if each[1] != "error"]
        return (*done, *(status is not None and status < 400 for status in self.statuses))


def told(outcomes: Mapping[int, Outcome]) -> Told:
    run = directories.told(outcomes[0].get().reports) if 0 in outcomes else ()
    one, other = (outcomes[n].get().status if n in outcomes else None for n in (1, 2))
    return Told(tuple(run), (one, other))


def hands(acts: tuple[str, str, str]) -> list[Hand]:
    """The three, in a tenant with the person, unless all of them are to add them."""
    ada, carol, edith = (make.user(name, admin=True) for name in ("ada", "carol", "edith"))
    provisioner, stays = scim.directory(ada, carol), directories.person("dora")
    directories.run(edith, stays)
    betty = None if set(acts) == {ADD} else make.user("betty")
    path = "" if betty is None else f"/{betty.id}"
    entry = directories.person("betty")
    if acts[0] != ADD:
        directories.run(edith, entry, stays)
    if acts[1] != ADD:
        provisioner.made("betty")
    ada.client.get("/account/settings.json")  # its keys are read
    renamed = {"profile": {"first_name": "Bettina", "last_name": "Lovelace"}}
    by_directory: dict[str, Hand] = {
        ADD: lambda: directories.run(edith, entry, stays),
        RENAME: lambda: directories.run(edith, directories.person("betty", "Elisabeth"), stays),
        REMOVE: lambda: directories.run(edith, stays),
    }
    by_provisioner: dict[str, Hand] = {
        ADD: lambda: provisioner.post("/Users", scim.person("betty")),
        RENAME: lambda: provisioner.patch(f"/Users{path}", scim.replace("userName", "bet")),
        REMOVE: lambda: provisioner.delete(f"/Users{path}"),
    }
    by_administrator: dict[str, Hand] = {
        ADD: lambda: ada.client.post("/users.json", people.invitation("betty")),
        RENAME: lambda: ada.client.put(f"/users{path}.json", renamed),
        REMOVE: lambda: ada.client.delete(f"/users{path}.json"),
    }
    return [by_directory[acts[0]], by_provisioner[acts[1]], by_administrator[acts[2]]]


def restarts(acts: tuple[str, str, str]) -> int:
    """How often each may begin anew in the orders that are all run.

    As often as they do; but two removals undo each other again and again, in more orders each time.
    """
    return 0 if acts.count(REMOVE) > 1 else DECISIONS


def whole(order: tuple[int, ...]) -> Race:
    """Nobody is interrupted, and this is who comes first, second and so on."""
    return Race(lambda able, _: next(each for each in order if each in able))


@pytest.mark.parametrize("acts", list(product(ACTS, ACTS, ACTS)), ids="-".join)
def test_one_person_in_three_hands_stays_one_person(store, acts, record_property):
    """RA14, I10: in whatever order, it ends as if one had come after the other.

    So nobody was told that something is done which is not, and what was refused left nothing.
    """
    trial = Trial(store, acts, hands(acts))
    for race in by_chance(SAMPLED):
        trial.require_one_after_the_other(race)
    if PROVING:
        reduction = Reduction()
        with impatient(restarts(acts)):
            for race in reduction.representatives():
                trial.require_one_after_the_other(race)
        record_property("orders", reduction.run)
        record_property("alike", reduction.alike)


Heard = tuple[int, ...]
"""Those who were answered; who had to begin anew, and ended instead, was not."""
Ending = tuple[Told, Outline]
ALL: Heard = (0, 1, 2)


@dataclass
class Trial:
    """Orders that all start from the same rows."""

    store: Storage
    acts: tuple[str, str, str]
    handlers: list[Hand]

    def __post_init__(self) -> None:
        self.start, self.outlines = self.store.contents(), Outlines(self.store)
        self.expected: dict[Heard, list[Ending]] = {}

    def require_one_after_the_other(self, race: Race) -> None:
        """It ends as if those who were answered had come alone, in some order."""
        heard, (found, outline) = self.ended(race)
        if heard not in self.expected:
            self.expected[heard] = list(self.in_turn(heard))
        same = [each[1] for each in self.expected[heard] if each[0].done == found.done]
        assert same, f"{race.order} was told {found}"
        assert outline in same, f"{race.order} {found}\n{difference(outline, same)}"

    def in_turn(self, who: Heard) -> Iterator[Ending]:
        """How it ends when these come one after the other, in each order."""
        for order in permutations(range(len(who))):
            heard, ending = self.ended(whole(order), who)
            assert heard == who
            yield ending

    def ended(self, race: Race, who: Heard = ALL) -> tuple[Heard, Ending]:
        """Who of these was answered; what they were told, and what is stored."""
        self.store.put_back(self.start)
        outcomes = dict(zip(who, race.run(*(self.handlers[n] for n in who)), strict=True))
        check_invariants(self.store)
        heard = {n: each for n, each in outcomes.items() if not isinstance(each.error, Died)}
        found, outline = told(heard), self.outlines.now()
        require_one_person(self.store, race)
        for may_be, act, status in zip(HONEST, self.acts[1:], found.statuses, strict=True):
            assert status is None or status in may_be[act], f"{race.order} was told {found}"
        return tuple(heard), (found, outline)


@contextmanager
def impatient(times: int) -> Iterator[None]:
    """Whoever would begin anew more often dies of it, and leaves what they have begun to others."""
    previous = pace.set_sources(pause_at_most([times] * 3), lambda: 0.5)
    yield
    pace.set_sources(*previous)


def require_one_person(store: Storage, race: Race) -> None:
    """At most one, and no residue: whatever is told or noted of somebody is so."""
    users = {row["id"]["S"]: row for row in rows(store, "users")}
    here = [row for row in users.values() if not row["deleted"]["BOOL"]]
    assert sum(row["username"]["S"] == ADDRESS for row in here) <= 1, race.order
    lines = Counter((row["action"]["S"], row["subject"]["S"]) for row in rows(store, "action_logs"))
    said = {subject for action, subject in lines if action.startswith("Users.")}
    assert said <= users.keys(), race.order
    for id_, row in users.items():
        assert lines["Users.deleted", id_] == row["deleted"]["BOOL"], race.order
        assert lines["Users.created", id_] <= 1, race.order
    for mail in posted(store):
        for user_id, token in _LINK.findall(mail.text):
            assert mail.address == users[user_id]["username"]["S"], race.order
            assert Client().get(f"/setup/start/{user_id}/{token}.json").status == 200, race.order


def rows(store: Storage, table: str) -> list[dict[str, Any]]:
    return store.rows(f"{settings.table_prefix}{table}")
