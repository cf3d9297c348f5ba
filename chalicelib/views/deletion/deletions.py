"""How a client sees what a deletion takes with it, and what stands in its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from chalicelib.services.deletion.departures import Obstacles
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import ROOT
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.resources import Resource
from chalicelib.views.groups import group_briefs
from chalicelib.views.groups import groups as group_views
from chalicelib.views.groups.group_briefs import GroupJson
from chalicelib.views.groups.groups import DetailedGroupJson
from chalicelib.views.items import folders as folder_views
from chalicelib.views.items import permissions as permission_views
from chalicelib.views.items import resources as resource_views
from chalicelib.views.items.folders import FolderJson
from chalicelib.views.items.holders import ShownHolders
from chalicelib.views.items.permissions import PermissionJson
from chalicelib.views.items.resources import PlainResourceJson, ResourceJson

_MEMBERS = (group_views.MEMBERS, group_views.MEMBER, group_views.MEMBER_PROFILE)


class UnownedJson(TypedDict):
    sole_owner: list[ResourceJson]


class UnmanagedJson(TypedDict):
    sole_manager: list[DetailedGroupJson]


class UnownedFoldersJson(TypedDict):
    sole_owner: list[FolderJson]


class CausesJson(TypedDict):
    groups: NotRequired[UnmanagedJson]
    resources: NotRequired[UnownedJson]
    folders: NotRequired[UnownedFoldersJson]


class BlockedJson(TypedDict):
    errors: CausesJson
    groups_to_delete: NotRequired[list[GroupJson]]


def resources(reached: Sequence[Item]) -> list[PlainResourceJson]:
    """Resources as they are, in nobody's tree."""
    return [resource_views.plain(row.row) for row in _resources(reached)]


def blocked(found: Obstacles) -> BlockedJson:
    """What stands in the way: clients let their users choose new owners and managers from it."""
    shown: BlockedJson = {"errors": _causes(found)}
    if found.lonely:
        shown["groups_to_delete"] = [group_briefs.brief(group) for group in found.lonely]
    return shown


def _causes(found: Obstacles) -> CausesJson:
    causes: CausesJson = {}
    if found.groups.groups:
        causes["groups"] = {"sole_manager": group_views.listed(found.groups, _MEMBERS)}
    holders = ShownHolders.of(found.holders.users, found.holders.groups)
    if folders := [item for item in found.items if isinstance(item, Folder)]:
        unowned = [folder_views.unowned(row) for row in folders]
        for each in unowned:
            each["personal"] = each["id"] in found.personal
            _add_holders(each["permissions"], holders)
        causes["folders"] = {"sole_owner": unowned}
    if resources := _resources(found.items):
        owned = [_owned(row, holders) for row in resources]
        for shown in owned:
            shown["personal"] = shown["id"] in found.personal
        causes["resources"] = {"sole_owner": owned}
    return causes


def _resources(found: Sequence[Item]) -> list[Resource]:
    return [item for item in found if isinstance(item, Resource)]


def _owned(row: Resource, holders: ShownHolders) -> ResourceJson:
    shown = resource_views.resource(_in_no_folder(row))
    resource_views.add_permissions(_in_no_folder(row), shown)
    _add_holders(shown["permissions"], holders)
    return shown


def _add_holders(permissions: list[PermissionJson], holders: ShownHolders) -> None:
    permission_views.add_users(permissions, holders.with_profile)
    permission_views.add_groups(permissions, holders.groups)


def _in_no_folder(row: Resource) -> SeenResource:
    """A resource as a user who does not hold it sees it: it has no place in their tree."""
    return SeenResource(row.row, {"place": {"S": ROOT}})
