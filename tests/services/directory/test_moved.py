"""People and groups that are moved or renamed while a directory is read, in it or between two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Any

import pytest

from chalicelib.domain.directory.directory import Directory, Unreadable
from chalicelib.domain.directory.directory_settings import (
    DEFAULT_FIELDS,
    DirectorySettings,
    Search,
)
from chalicelib.domain.ids import UserId, named_id
from chalicelib.ldap import sockets
from chalicelib.services.directory import source
from tests.support.company.impostor import (
    BASE,
    DONE,
    SIGNED_IN,
    Answer,
    Request,
    entry,
    impostor,
)

NORTH, SOUTH = f"ou=north,{BASE}", f"ou=south,{BASE}"
BETTY, MOVED = f"uid=betty,{SOUTH}", f"uid=betty,{NORTH}"
CAROL = f"uid=carol,{SOUTH}"
ONE_READING = 2
"""Searches of a connection: for groups and for people."""
EVERY_MOMENT = range(2 * ONE_READING * 3)
MANY = 50
STAFF = Search(parent_group="Staff")


@dataclass(frozen=True)
class State:
    """What a directory holds: its people, and its groups with their members, by their names."""

    people: Sequence[str]
    teams: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def answer(self, request: Request, under: str) -> bytes:
        is_about_people = b"inetOrgPerson" in request.sent
        found = map(_person, self.people) if is_about_people else map(_team, *self._teams())
        names = self.people if is_about_people else self.teams
        told = [each for name, each in zip(names, found, strict=True) if name.endswith(under)]
        return request.answered(*told, DONE)

    def _teams(self) -> tuple[Iterable[str], Iterable[Sequence[str]]]:
        return self.teams.keys(), self.teams.values()


def _person(name: str) -> bytes:
    return entry(name, **_identified(name), mail=[b"x@example.org"])


def _team(name: str, members: Sequence[str]) -> bytes:
    title = name.partition(",")[0].removeprefix("cn=")
    return entry(
        name, **_identified(name), cn=[title.encode()], member=[each.encode() for each in members]
    )


def _identified(name: str) -> dict[str, list[bytes]]:
    """An entry is the same wherever it is moved."""
    return {"entryUUID": [named_id(name.partition(",")[0]).encode()]}


class Company:
    """A directory that is in another state at each search, and stays in the last."""

    def __init__(self, *states: State) -> None:
        self.states: Iterator[State] = chain(states, repeat(states[-1]))
        self.searches = 0

    def under(self, base: str) -> Answer:
        def answer(request: Request) -> bytes:
            if request.is_first:
                return request.answered(SIGNED_IN)
            self.searches += b"objectClass" in request.sent
            return next(self.states).answer(request, base)

        return answer

    def read(self, *bases: str, **further: Any) -> Directory:
        """What is read by a connection for each of these bases."""
        somebody = UserId("")
        with ExitStack() as held:
            connections = [
                replace(held.enter_context(impostor(self.under(base))), base_dn=base)
                for base in bases or [BASE]
            ]
            settings = DirectorySettings(connections, somebody, somebody, fields=DEFAULT_FIELDS)
            return source.read(replace(settings, **further))


def changing(before: State, after: State, at: int) -> Company:
    """A directory that is changed before a search."""
    return Company(*[before] * at, after)


@pytest.mark.parametrize("at", EVERY_MOMENT)
@pytest.mark.parametrize("further", [{}, {"people": STAFF}], ids=["", "of a parent group"])
def test_who_is_moved_meanwhile_stays_in_the_answer_and_in_their_group(
    at: int, further: dict[str, Any]
) -> None:
    """DS07: else a run would take them out of the group, or delete their account."""
    crew = f"cn=Staff,{BASE}"
    before, after = State([BETTY], {crew: [BETTY]}), State([MOVED], {crew: [MOVED]})
    directory = changing(before, after, at).read(**further)

    [person], [team] = directory.people, directory.teams
    assert team.people == (person.name,)


@pytest.mark.parametrize("at", EVERY_MOMENT)
def test_a_group_that_is_moved_meanwhile_stays_in_the_group_it_is_in(at: int) -> None:
    crew, moved, staff = f"cn=Crew,{SOUTH}", f"cn=Crew,{NORTH}", f"cn=Staff,{NORTH}"
    before = State([BETTY], {crew: [BETTY], staff: [crew]})
    after = State([BETTY], {staff: [moved], moved: [BETTY]})
    directory = changing(before, after, at).read(NORTH, SOUTH, people=STAFF, teams=STAFF)

    assert [person.name for person in directory.people] == [BETTY]
    assert [team.title for team in directory.teams] == ["Crew"]


@pytest.mark.parametrize("at", EVERY_MOMENT)
def test_who_is_moved_from_one_connection_to_another_meanwhile_is_there_once(at: int) -> None:
    """Also where no group has them, which would tell that they were moved."""
    for old, new in ((BETTY, MOVED), (MOVED, BETTY)):
        directory = changing(State([old, CAROL]), State([new, CAROL]), at).read(NORTH, SOUTH)

        assert len(directory.people) == 2


@pytest.mark.parametrize("at", EVERY_MOMENT)
def test_who_is_given_another_group_of_the_parent_group_meanwhile_stays(at: int) -> None:
    first, second, staff = f"cn=First,{NORTH}", f"cn=Second,{SOUTH}", f"cn=Staff,{NORTH}"
    groups = {staff: [first, second]}
    before = State([BETTY], {**groups, first: [], second: [BETTY]})
    after = State([BETTY], {**groups, first: [BETTY], second: []})
    directory = changing(before, after, at).read(NORTH, SOUTH, people=STAFF)

    assert len(directory.people) == 1


def test_a_directory_that_is_changed_each_time_it_is_read_is_no_answer() -> None:
    company = Company(*(State([f"uid=betty,ou={number},{BASE}"]) for number in range(MANY)))
    with pytest.raises(Unreadable, match="was changed each time it was read"):
        company.read()

    assert company.searches < MANY


def test_a_member_whom_both_readings_do_not_know_is_left_out_and_in_any_order() -> None:
    crew, stranger = f"cn=Crew,{BASE}", f"cn=nobody,{BASE}"
    first = State([BETTY, CAROL], {crew: [BETTY, stranger, CAROL]})
    again = State([CAROL, BETTY], {crew: [CAROL, BETTY, stranger]})
    company = changing(first, again, ONE_READING)
    [team] = company.read().teams

    assert team.people == (BETTY, CAROL)
    assert company.searches == 2 * ONE_READING


def test_what_two_connections_have_is_compared_once() -> None:
    company = Company(State([BETTY], {f"cn=Crew,{BASE}": [BETTY]}))
    directory = company.read(BASE, BASE)

    assert (len(directory.people), len(directory.teams)) == (1, 1)
    assert company.searches == 2 * 2 * ONE_READING


def test_each_reading_has_a_budget_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MOST_ENTRIES", 3)
    crew = f"cn=Crew,{BASE}"
    assert len(Company(State([BETTY, CAROL], {crew: [BETTY]})).read().people) == 2
    with pytest.raises(Unreadable, match="more than 3 entries"):
        Company(State([BETTY, MOVED, CAROL], {crew: [BETTY]})).read()
