"""How the settings of the directory look, and what it says by them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from chalicelib.bodies.servers import MASK
from chalicelib.domain.directory.directory import Directory, Entry, Person, Team
from chalicelib.services.directory.directory_settings import Form, Stored
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.times import text


class DomainJson(TypedDict):
    directory_type: str
    domain_name: str
    hosts: list[str]
    port: int
    connection_type: str
    authentication_type: str
    username: NotRequired[str]
    password: NotRequired[str]
    base_dn: NotRequired[str]
    ca_certificate: NotRequired[str]


class DirectorySettingsJson(TypedDict):
    enabled: bool
    domains: dict[str, DomainJson]
    default_user: Uuid
    default_group_admin_user: Uuid
    fields_mapping: dict[str, dict[str, dict[str, str]]]
    field_fallbacks: dict[str, dict[str, str]] | list[Any]
    sync_users_create: bool
    sync_users_update: bool
    sync_users_delete: bool
    sync_groups_create: bool
    sync_groups_update: bool
    sync_groups_delete: bool
    source: Literal["db"]
    group_object_class: NotRequired[str]
    user_object_class: NotRequired[str]
    group_path: NotRequired[str]
    user_path: NotRequired[str]
    group_custom_filters: NotRequired[str]
    user_custom_filters: NotRequired[str]
    use_email_prefix_suffix: NotRequired[bool]
    email_prefix: NotRequired[str]
    email_suffix: NotRequired[str]
    enabled_users_only: NotRequired[bool]
    users_parent_group: NotRequired[str]
    groups_parent_group: NotRequired[str]
    delete_user_behavior: NotRequired[str]
    removal_limit: NotRequired[int]


class DirectoryProfileJson(TypedDict):
    first_name: str | None
    last_name: str | None


class DirectoryUserJson(TypedDict):
    username: str | None
    profile: DirectoryProfileJson


class DirectoryGroupJson(TypedDict):
    name: str | None
    members: list[str]
    users: list[str] | dict[str, Any]
    groups: list[Any]


class _EntryJson(TypedDict):
    id: Uuid
    directory_name: str
    directory_created: Moment
    directory_modified: Moment
    errors: NotRequired[dict[str, list[str]]]


class DirectoryPersonJson(_EntryJson):
    type: Literal["user"]
    user: DirectoryUserJson


class DirectoryTeamJson(_EntryJson):
    type: Literal["group"]
    group: DirectoryGroupJson


class DirectoryTestJson(TypedDict):
    users: list[DirectoryPersonJson]
    groups: list[DirectoryTeamJson]
    tree: dict[str, DirectoryPersonJson | DirectoryTeamJson] | list[Any]
    errors: list[DirectoryPersonJson | DirectoryTeamJson]


def settings(stored: Stored | None) -> DirectorySettingsJson | list[Any]:
    """The form as it was saved, no password among it; an empty list while there is none."""
    return [] if stored is None else saved(stored)  # type: ignore[return-value]


def saved(stored: Stored | None) -> Form:
    """The same, an empty form while there is none."""
    if stored is None:
        return {}
    domains = {
        name: domain | ({"password": MASK} if name in stored.sealed else {})
        for name, domain in stored.form["domains"].items()
    }
    fallbacks = stored.form["field_fallbacks"] or []
    return {**stored.form, "domains": domains, "field_fallbacks": fallbacks, "source": "db"}


def tested(directory: Directory) -> DirectoryTestJson:
    """Everybody that was read, the groups by what is in them, and the entries with errors."""
    users = [person(each) for each in directory.people]
    groups = [team(each) for each in directory.teams]
    shown: list[DirectoryPersonJson | DirectoryTeamJson] = [*users, *groups]
    return {
        "users": users,
        "groups": groups,
        "tree": _Tree(directory).roots() or [],
        "errors": [each for each in shown if "errors" in each],
    }


def person(entry: Person) -> DirectoryPersonJson:
    profile: DirectoryProfileJson = {
        "first_name": entry.first_name,
        "last_name": entry.last_name,
    }
    user: DirectoryUserJson = {"username": entry.username, "profile": profile}
    return {**_entry(entry, entry.errors), "type": "user", "user": user}


def team(entry: Team) -> DirectoryTeamJson:
    group: DirectoryGroupJson = {
        "name": entry.title,
        "members": list(entry.members),
        "groups": list(entry.teams),
        "users": list(entry.people),
    }
    return {**_entry(entry, entry.errors), "type": "group", "group": group}


def _entry(entry: Entry, errors: dict[str, list[str]]) -> _EntryJson:
    shown: _EntryJson = {
        "id": entry.id,
        "directory_name": entry.name,
        "directory_created": _moment(entry.created),
        "directory_modified": _moment(entry.modified),
    }
    if errors:
        shown["errors"] = errors
    return shown


def _moment(moment: datetime) -> str:
    return text(moment) or ""


class _Tree:
    """Groups with what is in them, each entry as it is shown: people by names, groups as a list.

    Clients draw it so. A group that is in itself, over whatever others, is shown once on its way
    down; a group that is in several is shown in each, as long as there is room.
    """

    MOST_NODES = 20_000
    DEEPEST = 50

    def __init__(self, directory: Directory) -> None:
        self._people = {each.name: each for each in directory.people}
        self._teams = {each.name: each for each in directory.teams}
        self._left = self.MOST_NODES

    def roots(self) -> dict[str, DirectoryPersonJson | DirectoryTeamJson]:
        """The groups that are in no other one, and the people who are in none."""
        inside = {name for each in self._teams.values() for name in each.teams}
        grouped = {name for each in self._teams.values() for name in each.people}
        tops = [each for name, each in self._teams.items() if name not in inside]
        alone = [each for name, each in self._people.items() if name not in grouped]
        shown: dict[str, DirectoryPersonJson | DirectoryTeamJson] = {
            each.name: self._node(each, (each.name,)) for each in tops
        }
        return shown | {each.name: person(each) for each in alone}

    def _node(self, entry: Team, way: Sequence[str]) -> DirectoryTeamJson:
        below = [name for name in entry.teams if name not in way]
        self._left -= len(below) + len(entry.people)
        shown = team(entry)
        is_room = self._left > 0 and len(way) < self.DEEPEST
        shown["group"]["users"] = (
            {name: person(self._people[name]) for name in entry.people} if is_room else {}
        )
        shown["group"]["groups"] = (
            [self._node(self._teams[name], (*way, name)) for name in below] if is_room else []
        )
        return shown
