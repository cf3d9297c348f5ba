"""Which groups are in which, and who is left where a parent group is named."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from chalicelib.domain.directory.directory import Directory, EntryId, Person, Team, Unreadable
from chalicelib.domain.directory.directory_names import canonical
from chalicelib.domain.directory.directory_settings import DirectorySettings

Names = Mapping[str, str]
"""Names as they are compared, each with the one that its entry has."""


def within_parents(
    settings: DirectorySettings, people: Sequence[Person], teams: Sequence[Team]
) -> Directory:
    """What is in the parent groups, where there are any, and who is in which group of it."""
    members = {team.id: _keys(team.members) for team in teams}
    by_name = {key(team.name): team for team in teams}
    if settings.people.parent_group:
        inside = _inside(settings.people.parent_group, teams, by_name, members)
        people = [person for person in people if key(person.name) in inside]
    if settings.teams.parent_group:
        inside = _inside(settings.teams.parent_group, teams, by_name, members)
        teams = [team for team in teams if key(team.name) in inside]
    of_people = {key(person.name): person.name for person in people}
    of_teams = {key(team.name): team.name for team in teams}
    return Directory(
        tuple(people), tuple(_split(team, members[team.id], of_people, of_teams) for team in teams)
    )


def key(name: str) -> str:
    """A name as it is compared; a malformed one equals only itself."""
    return canonical(name) or f"?{name}"


def _keys(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(key, names)))


def _split(team: Team, members: Sequence[str], people: Names, teams: Names) -> Team:
    return replace(
        team,
        people=tuple(people[member] for member in members if member in people),
        teams=tuple(teams[member] for member in members if member in teams),
    )


def _inside(
    title: str,
    teams: Sequence[Team],
    by_name: Mapping[str, Team],
    members: Mapping[EntryId, Collection[str]],
) -> set[str]:
    """The names of all that is in groups of this title, or in groups that are in them."""
    wanted = title.casefold()
    waiting = [team for team in teams if (team.title or "").casefold() == wanted]
    if not waiting:
        raise Unreadable(f"The directory has no group {title} to be the parent group.")
    inside: set[str] = set()
    while waiting:
        new = [member for member in members[waiting.pop().id] if member not in inside]
        inside.update(new)
        waiting += [by_name[member] for member in new if member in by_name]
    return inside
