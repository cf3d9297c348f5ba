"""Trees as tests draw them: who has what, and where; stored as requests leave it, and read again.

Capital letters are folders, those that begin with *r* resources, those that begin with *g* groups,
the others users.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Session
from chalicelib.domain.ids import GpgkeyId, RoleId, UserId, new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import FOLDER, RESOURCE, PermissionType
from chalicelib.services.items.trees import places
from chalicelib.storage import writing
from chalicelib.storage.base import Table
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import ROOT, Holding
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User
from tests.support.world import make
from tests.support.world.make import Somebody, Team

Drawn = Mapping[str, Mapping[str, str]]
"""Where each user has what, by names."""


@dataclass(frozen=True)
class Grove:
    """A drawing that is stored: identifiers by name, and names by identifier."""

    people: Mapping[str, Somebody]
    teams: Mapping[str, Team]
    ids: Mapping[str, str]

    @property
    def names(self) -> Mapping[str, str]:
        return {id_: name for name, id_ in self.ids.items()}

    def holder(self, name: str) -> Somebody | Team:
        return self.teams[name] if name in self.teams else self.people[name]

    def actor(self, name: str) -> Actor:
        """A user as their requests are, with the groups they are in now."""
        who = self.people[name]
        row = User.get(who.id)
        return Actor(
            who.id,
            RoleId(row.role_id),
            is_admin=row.is_admin,
            gpgkey_id=GpgkeyId(who.gpgkey_id),
            groups={id_: each.is_admin for id_, each in row.groups.items()},
            session=Session("none", is_bearer=True, expires=0),
        )

    def drawn(self) -> dict[str, dict[str, str]]:
        """Where each user has what now."""
        found: dict[str, dict[str, str]] = {}
        for name, who in self.people.items():
            settled = places.settled_whole(Holding.outlines(who.id))
            found[name] = {
                self.names[row["item_id"]["S"]]: self.names.get(row["place"]["S"], "root")
                for row in settled
            }
        return {name: held for name, held in found.items() if held}


def kind_of(name: str) -> str:
    return FOLDER if name[0].isupper() else RESOURCE


def grown(
    before: Drawn,
    permissions: Mapping[str, Mapping[str, int]],
    groups: Mapping[str, Iterable[str]],
    age: Mapping[str, Mapping[str, int]],
    also: Iterable[tuple[str, str]] = (),
) -> Grove:
    """Store a drawing. Who has an item in it has a permission for it, and so have those `also`
    named, user and item; nobody else has one but groups.
    """
    users = {*before, *(name for members in groups.values() for name in members)}
    users |= {name for name, _ in also}
    users |= {who for held in permissions.values() for who in held if who not in groups}
    people = dict(zip(sorted(users), make.crowd(len(users)), strict=True))
    teams = {name: make.group(*(people[each] for each in of)) for name, of in groups.items()}
    names = {*permissions, *(item for held in before.values() for item in held)}
    given = {name: _given(name, before, permissions, groups, {*also}) for name in names}
    grove = Grove(people, teams, {name: new_id() for name in names})
    writing.put_all(_rows(grove, before, given, age))
    return grove


def _given(
    name: str, before: Drawn, permissions: Any, groups: Any, also: set[tuple[str, str]]
) -> dict[str, int]:
    """Who has which permission for an item."""
    named = permissions.get(name, {})
    having = {user for user, held in before.items() if name in held}
    having |= {user for user, item in also if item == name}
    given = {who: type_ for who, type_ in named.items() if who in groups or who in having}
    reached = {user for who in given for user in groups.get(who, [who])}
    return given | dict.fromkeys(having - reached, int(PermissionType.READ))


def _rows(
    grove: Grove, before: Drawn, permissions: Mapping[str, Mapping[str, int]], age: Any
) -> list[Table]:
    rows: list[Table] = []
    parents: dict[str, set[str]] = defaultdict(set)
    for user, held in before.items():
        for name, parent in held.items():
            since = clock.now() + timedelta(days=age.get(user, {}).get(name, 0))
            place = ROOT if parent == "root" else grove.ids[parent]
            holding = Holding(grove.people[user].id, grove.ids[name], kind=kind_of(name))
            holding.place, holding.since = place, since
            if kind_of(name) == RESOURCE:
                for key, value in Holding.new_secret("s", holding.user_id, "first").items():
                    setattr(holding, key, value)
            rows.append(holding)
            parents[name] |= {parent} - {"root"}
    for name, item_id in grove.ids.items():
        given = {who: PermissionType(type_) for who, type_ in permissions[name].items()}
        item = _item(name, item_id, grove)
        item.permissions = {
            grove.holder(who).id: make.permission(grove.holder(who), type_)
            for who, type_ in given.items()
        }
        noted = {each for each in parents[name] if _is_noted(permissions[each])}
        item.above = {grove.ids[each] for each in noted} or None
        rows.append(item)
        kind = kind_of(name)
        rows += [FolderItem(grove.ids[each], item_id, kind=kind) for each in noted]
        rows += [MetadataUse(CLEAR, item_id, kind=kind)] if kind == Folder.kind else []
        rows += [
            GroupItem(grove.teams[g].id, item_id, kind=kind) for g in given if g in grove.teams
        ]
    return rows


def _is_noted(permissions: Mapping[str, int]) -> bool:
    return len(permissions) > 1 or next(iter(permissions))[0] == "g"


def _item(name: str, item_id: str, grove: Grove) -> Item:
    now, author = clock.now(), UserId(next(iter(grove.people.values())).id)
    stamps = {"created": now, "modified": now, "created_by": author, "modified_by": author}
    if kind_of(name) == FOLDER:
        return Folder(item_id, name=name, **stamps)
    type_id = resource_types.DEFAULT.id
    fields = {"resource_type_id": type_id, "live_type_id": type_id, "secret_revision": "first"}
    return Resource(item_id, name=name, **fields, **stamps)
