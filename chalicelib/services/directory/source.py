"""How a company's directory is asked: which host, for which entries; which answers are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import TypeVar

from chalicelib.connections import ANSWER_SECONDS
from chalicelib.domain import deadline
from chalicelib.domain.directory.directory import (
    Directory,
    EntryId,
    Person,
    Team,
    Unreadable,
)
from chalicelib.domain.directory.directory_filters import Malformed, all_of, equals, parsed
from chalicelib.domain.directory.directory_settings import (
    Connection,
    DirectorySettings,
    Kind,
    Search,
)
from chalicelib.domain.light import dataclass
from chalicelib.ldap.client import RawEntry, Session, connected
from chalicelib.ldap.sockets import Budget
from chalicelib.services.directory import nesting
from chalicelib.services.directory.entries import Place, Reader

_PEOPLE = {
    Kind.ACTIVE_DIRECTORY: "(&(objectClass=user)(!(objectClass=computer)))",
    Kind.OPENLDAP: "(objectClass=inetOrgPerson)",
}
_TEAMS = {
    Kind.ACTIVE_DIRECTORY: "(objectClass=group)",
    Kind.OPENLDAP: "(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames))",
}
"""What is asked for where the settings name no class: in Active Directory, computers are users."""
_IS_SWITCHED_OFF = "1.2.840.113556.1.4.803:=2"
"""By the rule that compares bits: the account is disabled."""
MOST_TRIES = 3
"""How often a directory is read that is changed meanwhile; each time it is read twice."""

AnEntry = TypeVar("AnEntry", Person, Team, Place)


class NoSuchPlace(Unreadable):
    """A base or a path that the directory does not have; `field` names the setting."""

    def __init__(self, connection: str, field: str, name: str) -> None:
        super().__init__(f"The directory of {connection} has no {name}.")
        self.connection = connection
        self.field = field


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one connection about people or about teams."""

    base: str
    filter: str


About = Callable[[DirectorySettings, Connection, str], Question]


@dataclass(frozen=True, slots=True)
class _Connected:
    """A connection that is signed in to, and the settings by which its entries are read."""

    settings: DirectorySettings
    connection: Connection
    session: Session
    reader: Reader

    def people(self) -> Iterator[Person]:
        found = self._found(_about_people, self.reader.user_attributes)
        return (self.reader.person(each.name, each.values) for each in found)

    def teams(self) -> Iterator[Team]:
        found = self._found(_about_teams, self.reader.group_attributes)
        return (self.reader.team(each.name, each.values) for each in found)

    def places_of_people(self) -> Iterator[Place]:
        found = self._found(_about_people, self.reader.user_place_attributes)
        return (self.reader.person_place(each.name, each.values) for each in found)

    def places_of_teams(self) -> Iterator[Place]:
        found = self._found(_about_teams, self.reader.group_place_attributes)
        return (self.reader.team_place(each.name, each.values) for each in found)

    def _found(self, about: About, attributes: Sequence[str]) -> Iterator[RawEntry]:
        base = self.connection.base_dn or self.session.own_base()
        asked = about(self.settings, self.connection, base)
        return self.session.entries(asked.base, asked.filter, attributes)


def read(settings: DirectorySettings) -> Directory:
    """Return all people and groups that the settings ask for, or raise `Unreadable`.

    An answer is whole: what cannot be reached, a base or path that does not exist, a parent group
    that is missing and a filter that a server refuses are each `Unreadable`, never an empty answer.

    And it is of one moment: of an entry that is moved while it is read, groups may tell the old
    name and the entry the new one, and of two connections neither may have it. So all is read
    twice, by the same sessions, and counts once both readings agree.
    """
    _require_time()
    budget = Budget()
    with ExitStack() as held:
        connections = [
            held.enter_context(_connected(settings, each, budget)) for each in settings.connections
        ]
        for _ in range(MOST_TRIES):
            found = _read_twice(connections, budget)
            if found is not None:
                return nesting.within_parents(settings, *found)
    raise Unreadable("The directory was changed each time it was read.")


def _read_twice(
    connections: Sequence[_Connected], budget: Budget
) -> tuple[Sequence[Person], Sequence[Team]] | None:
    """All people and groups; None where the second reading does not find them as the first did.

    The second one is not kept, and ends with the first difference.
    """
    budget.renew()
    teams = _by_id(each.teams() for each in connections)
    people = _by_id(each.people() for each in connections)
    budget.renew()
    if not _agree(teams, _each_once(each.places_of_teams() for each in connections)):
        return None
    if not _agree(people, _each_once(each.places_of_people() for each in connections)):
        return None
    return tuple(people.values()), tuple(teams.values())


def _by_id(readings: Iterable[Iterable[AnEntry]]) -> dict[EntryId, AnEntry]:
    return {entry.id: entry for entry in _each_once(readings)}


def _each_once(readings: Iterable[Iterable[AnEntry]]) -> Iterator[AnEntry]:
    """Each entry as it is found first: several connections may have it."""
    seen = set[EntryId]()
    for entry in chain.from_iterable(readings):
        if entry.id not in seen:
            seen.add(entry.id)
            yield entry


def _agree(first: Mapping[EntryId, Person | Team], second: Iterable[Place]) -> bool:
    """Whether the second reading has the same entries, each at its place."""
    left = len(first)
    for place in second:
        before = first.get(place.id)
        if before is None or _place(before) != place:
            return False
        left -= 1
    return left == 0


def _place(entry: Person | Team) -> Place:
    members = entry.members if isinstance(entry, Team) else ()
    return Place(entry.id, entry.name, frozenset(members))


def probe(settings: DirectorySettings) -> None:
    """Raise `Unreadable` where a host cannot be signed in to, or where `read` would fail of a
    base, a path or a filter: what is saved has worked once.
    """
    _require_time()
    budget = Budget()
    for connection in settings.connections:
        with ExitStack() as held:
            sessions = [
                held.enter_context(connected(connection, host, budget)) for host in connection.hosts
            ]
            _probe_places(settings, connection, sessions[0])


def _require_time() -> None:
    """Raise `Unavailable` where the time is over before the directory is asked at all.

    Later on it is the directory that takes too long.
    """
    deadline.require(ANSWER_SECONDS)


def _probe_places(settings: DirectorySettings, connection: Connection, session: Session) -> None:
    base = connection.base_dn or session.own_base()
    _require(session, connection, "base_dn", base)
    for field, search in (("user_path", settings.people), ("group_path", settings.teams)):
        if search.path:
            _require(session, connection, field, f"{search.path},{base}")
    for question in (_about_people, _about_teams):
        asked = question(settings, connection, base)
        session.try_filter(asked.base, asked.filter)


def _require(session: Session, connection: Connection, field: str, name: str) -> None:
    if not session.has(name):
        raise NoSuchPlace(connection.name, field, name)


@contextmanager
def _connected(
    settings: DirectorySettings, connection: Connection, budget: Budget
) -> Iterator[_Connected]:
    with _first_to_answer(connection, budget) as session:
        yield _Connected(settings, connection, session, Reader(settings, connection.kind))


@contextmanager
def _first_to_answer(connection: Connection, budget: Budget) -> Iterator[Session]:
    """A session with the first host that gives one; the last one's refusal where none does."""
    *others, last = connection.hosts
    with ExitStack() as held:
        for host in others:
            try:
                session = held.enter_context(connected(connection, host, budget))
            except Unreadable:
                continue
            break
        else:
            session = held.enter_context(connected(connection, last, budget))
        yield session


def _about_people(settings: DirectorySettings, connection: Connection, base: str) -> Question:
    search = settings.people
    enabled = []
    if settings.enabled_users_only and connection.kind is Kind.ACTIVE_DIRECTORY:
        attribute = settings.fields[connection.kind].user["enabled"]
        enabled = [f"(!({attribute}:{_IS_SWITCHED_OFF}))"]
    return _question(search, base, _PEOPLE[connection.kind], enabled)


def _about_teams(settings: DirectorySettings, connection: Connection, base: str) -> Question:
    return _question(settings.teams, base, _TEAMS[connection.kind], [])


def _question(search: Search, base: str, of_class: str, further: Sequence[str]) -> Question:
    if search.object_class:
        of_class = equals("objectClass", search.object_class)
    own = []
    if search.filter:
        try:
            own = [parsed(search.filter).text]
        except Malformed as error:
            raise Unreadable("The custom filter is not well-formed.") from error
    place = f"{search.path},{base}" if search.path else base
    return Question(place, all_of(of_class, *own, *further))
