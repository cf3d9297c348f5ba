"""How a company's directory is asked: which host, for which entries; which answers are refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from chalicelib.domain.directory.directory import Directory, Person, Team, Unreadable
from chalicelib.domain.directory.directory_filters import Malformed, all_of, equals, parsed
from chalicelib.domain.directory.directory_settings import (
    Connection,
    DirectorySettings,
    Kind,
    Search,
)
from chalicelib.domain.light import dataclass
from chalicelib.ldap.client import Session, connected
from chalicelib.ldap.sockets import Budget
from chalicelib.services.directory import entries, nesting

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


def read(settings: DirectorySettings) -> Directory:
    """Return all people and groups that the settings ask for, or raise `Unreadable`.

    An answer is whole: what cannot be reached, a base or path that does not exist, a parent group
    that is missing and a filter that a server refuses are each `Unreadable`, never an empty answer.
    """
    budget = Budget()
    people: dict[str, Person] = {}
    teams: dict[str, Team] = {}
    for connection in settings.connections:
        with _first_to_answer(connection, budget) as session:
            for team in _teams(settings, connection, session):
                teams.setdefault(team.id, team)
            for person in _people(settings, connection, session):
                people.setdefault(person.id, person)
    return nesting.within_parents(settings, tuple(people.values()), tuple(teams.values()))


def probe(settings: DirectorySettings) -> None:
    """Raise `Unreadable` where a host cannot be signed in to, or where `read` would fail of a
    base, a path or a filter: what is saved has worked once.
    """
    budget = Budget()
    for connection in settings.connections:
        with ExitStack() as held:
            sessions = [
                held.enter_context(connected(connection, host, budget)) for host in connection.hosts
            ]
            _probe_places(settings, connection, sessions[0])


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


def _people(
    settings: DirectorySettings, connection: Connection, session: Session
) -> Iterator[Person]:
    reader = entries.Reader(settings, connection.kind)
    asked = _about_people(settings, connection, connection.base_dn or session.own_base())
    for found in session.entries(asked.base, asked.filter, reader.user_attributes):
        yield reader.person(found.name, found.values)


def _teams(settings: DirectorySettings, connection: Connection, session: Session) -> Iterator[Team]:
    reader = entries.Reader(settings, connection.kind)
    asked = _about_teams(settings, connection, connection.base_dn or session.own_base())
    for found in session.entries(asked.base, asked.filter, reader.group_attributes):
        yield reader.team(found.name, found.values)


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
