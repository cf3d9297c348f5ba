"""Folders: how each user's items are put in order, and who may see a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.folders import V4Folder, V4NewFolder, V5Folder, V5NewFolder
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import FolderId
from chalicelib.services.items.folders import folder_deletion, folder_lists, folders
from chalicelib.services.items.folders.folder_lists import WantedFolders
from chalicelib.services.items.folders.folders import SeenFolder
from chalicelib.services.items.resources import held, resource_lists
from chalicelib.services.items.resources.held import HeldPermission
from chalicelib.services.items.resources.resource_lists import WantedResources
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.services.items.sharing import permissions
from chalicelib.services.items.trees.own import OwnTrees
from chalicelib.tables.items.folders import FolderRow
from chalicelib.tables.items.holdings import HoldingRow
from chalicelib.views.items import folders as views
from chalicelib.views.items import items as item_views
from chalicelib.views.items.holders import ShownHolders
from chalicelib.views.items.permissions import permissions_of
from chalicelib.views.items.resources import ResourceJson
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import ids, search
from chalicelib.web.query import Options, Query, paginate
from chalicelib.web.reply import Reply
from chalicelib.web.route import nothing
from chalicelib.web.written import written

endpoints = Endpoints(__name__)

INVALID_ID = {"folder_id": "The folder id is not valid."}
CONTAINS = frozenset(
    {
        "children_folders",
        "children_resources",
        "creator",
        "creator.profile",
        "modifier",
        "modifier.profile",
        "permission",
        "permissions",
        "permissions.user.profile",
        "permissions.group",
    }
)
LIST = Options(
    contains=CONTAINS,
    filters={
        "has-id": ids("resource id"),
        "has-parent": ids("parent id", allows_root=True),
        "search": search,
    },
    sortable=("Folders.name", "Folders.created", "Folders.modified"),
    default_order=(("Folders.name", False),),
    is_paginated=True,
)
CHANGED = Options(contains=CONTAINS - {"creator.profile", "modifier.profile"})


@endpoints.get(
    "/folders.json",
    action="FoldersIndex.index",
    access=Access.USER,
    query=LIST,
    shape=list[views.FolderJson],
)
def index(actor: Actor, query: Query) -> Reply:
    """List the folders the caller may see."""
    trees = OwnTrees(actor)
    found = folder_lists.search(actor, _wanted(query), _shown(query, trees))
    page, pagination = paginate(item_views.in_order(found, query.order), query)
    return Reply(_completed(actor, page, query, trees), pagination=pagination)


@endpoints.get(
    "/folders/{folder_id}.json",
    action="FoldersView.view",
    access=Access.USER,
    query=Options(contains=CONTAINS, filters={"has-id": ids("resource id")}),
    ids=INVALID_ID,
)
def view(actor: Actor, folder_id: FolderId, query: Query) -> views.FolderJson:
    """Show a folder."""
    if folder_id not in (query.filter("has-id") or (folder_id,)):
        raise NotFound(folders.MISSING)
    return _whole(actor, folders.view(actor, folder_id), query)


def _created(actor: Actor, query: Query, made: str) -> views.FolderJson:
    return _whole(actor, folders.view(actor, FolderId(made)), query)


@endpoints.post(
    "/folders.json",
    action="FoldersCreate.create",
    access=Access.USER,
    body=V4NewFolder | V5NewFolder,
    query=CHANGED,
    again=_created,
    message="The folder has been added successfully.",
)
def create(actor: Actor, body: Draft[Any], query: Query) -> views.FolderJson:
    """Create a folder the caller owns."""
    seen = folders.create(actor, body)
    return written(lambda: _whole(actor, seen, query))


@endpoints.route(
    "/folders/{folder_id}.json",
    ("PUT", "POST"),
    action="FoldersUpdate.update",
    access=Access.USER,
    body=V4Folder | V5Folder,
    query=CHANGED,
    ids=INVALID_ID,
    message="The folder has been updated successfully.",
)
def update(actor: Actor, folder_id: FolderId, body: Draft[Any], query: Query) -> views.FolderJson:
    """Change what a folder is called."""
    seen = folders.update(actor, folder_id, body)
    return written(lambda: _whole(actor, seen, query))


@endpoints.delete(
    "/folders/{folder_id}.json",
    action="FoldersDelete.delete",
    access=Access.USER,
    query=Options(flags=frozenset({"cascade"})),
    view=nothing,
    ids=INVALID_ID,
    message="The folder has been deleted successfully.",
)
def delete(actor: Actor, folder_id: FolderId, query: Query) -> None:
    """Delete a folder, with what lies in it where that is asked for."""
    is_whole = "cascade" in query.flags
    (folder_deletion.delete_with_content if is_whole else folders.delete)(actor, folder_id)


def _wanted(query: Query) -> WantedFolders:
    return WantedFolders(
        ids=query.filter("has-id"),
        parents=query.filter("has-parent"),
        search=query.filter("search"),
    )


def _shown(
    query: Query, trees: OwnTrees
) -> Callable[[FolderRow, HoldingRow, HeldPermission], views.FolderJson]:
    """Makes a folder with the members the client asked for, but for holders and children."""
    has_permission, has_permissions = query.contains("permission"), query.contains("permissions")

    def shown(row: FolderRow, holding: HoldingRow, permission: HeldPermission) -> views.FolderJson:
        made = views.folder(row, holding)
        if not made["personal"]:
            trees.note(row)
        if has_permission:
            views.add_permission(made, permission)
        if has_permissions:
            made["permissions"] = permissions_of(row, "Folder")
        return made

    return shown


def _whole(actor: Actor, seen: SeenFolder, query: Query) -> views.FolderJson:
    """One folder with all that the client asked for."""
    permission = held.strongest(held.holders_of(actor), seen.row)
    if permission is None:
        raise NotFound(folders.MISSING)
    trees = OwnTrees(actor)
    shown = _shown(query, trees)(*seen, permission)
    return _completed(actor, [shown], query, trees)[0]


def _completed(
    actor: Actor, page: Sequence[views.FolderJson], query: Query, trees: OwnTrees
) -> Sequence[views.FolderJson]:
    """Folders with what takes more rows to know: their children, people, and whose they are."""
    shown: list[views.Marked] = [*page]
    if query.contains("children_folders"):
        children = _folders_in(actor, page, trees)
        views.add_child_folders(page, children)
        shown += children
    if query.contains("children_resources"):
        inside = _resources_in(actor, page, trees)
        views.add_child_resources(page, inside)
        shown += inside
    users = item_views.users_in(page, query.contains)
    found = permissions.read_holders(users, item_views.groups_in(page, query.contains))
    item_views.add_holders(page, query.contains, ShownHolders.of(found.users, found.groups))
    _mark(shown, trees)
    return page


def _folders_in(
    actor: Actor, page: Sequence[views.FolderJson], trees: OwnTrees
) -> list[views.ChildFolderJson]:
    def show(row: FolderRow, holding: HoldingRow, _: HeldPermission) -> views.ChildFolderJson:
        trees.note(row)
        return views.child(row, holding)

    return folder_lists.search(actor, WantedFolders(parents=_ids(page)), show)


def _resources_in(
    actor: Actor, page: Sequence[views.FolderJson], trees: OwnTrees
) -> list[ResourceJson]:
    def show(seen: SeenResource, _: HeldPermission) -> ResourceJson:
        trees.note(seen.row)
        return views.child_resource(seen)

    wanted = WantedResources(parents=_ids(page))
    return resource_lists.search(actor, wanted, show, are_whole=False)


def _ids(page: Sequence[views.FolderJson]) -> frozenset[str]:
    return frozenset(shown["id"] for shown in page)


def _mark(shown: Sequence[views.Marked], trees: OwnTrees) -> None:
    """Say of items that groups have whether they are in one tree all the same."""
    personal = trees.personal_among(each["id"] for each in shown)
    for each in shown if personal else ():
        if each["id"] in personal:
            each["personal"] = True
