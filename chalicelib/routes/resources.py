"""Resources: the passwords of the team, and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.resources import V4Creation, V4Update, V5Creation, V5Touch, V5Update
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import ResourceId
from chalicelib.services import resource_lists, resource_updates, resources
from chalicelib.services.resource_lists import Wanted
from chalicelib.services.resources import Seen
from chalicelib.views import resources as views
from chalicelib.web.endpoint import Endpoints, nothing
from chalicelib.web.filters import boolean, ids, one_id, one_of
from chalicelib.web.query import Options, Query, paginate
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)

CONTAINS = frozenset(
    {
        "creator",
        "favorite",
        "modifier",
        "secret",
        "resource-type",
        "permission",
        "permissions",
        "permissions.user.profile",
        "permissions.group",
    }
)
LIST = Options(
    contains=CONTAINS,
    filters={
        "is-favorite": boolean,
        "is-shared-with-group": one_id("group id"),
        "is-owned-by-me": boolean,
        "is-shared-with-me": boolean,
        "has-id": ids("resource id"),
        "has-parent": ids("parent id", allows_root=True),
        "metadata_key_type": one_of("user_key", "shared_key"),
    },
    sortable=("Resources.name", "Resources.username", "Resources.uri", "Resources.modified"),
    default_order=(("Resources.name", False),),
    is_paginated=True,
)
_MEMBERS: dict[str, views.Contained] = {
    "creator": views.add_creator,
    "modifier": views.add_modifier,
    "favorite": views.add_favorite,
    "secret": views.add_secrets,
    "resource-type": views.add_resource_type,
    "permissions": views.add_permissions,
    "permissions.user.profile": views.add_permission_users,
    "permissions.group": views.add_permission_groups,
}
"""What each contain option adds; `permissions` stands before what goes into it."""


@endpoints.get(
    "/resources.json",
    action="ResourcesIndex.index",
    access=Access.USER,
    query=LIST,
    shape=list[views.ResourceJson],
)
def index(actor: Actor, query: Query) -> Reply:
    """List the resources the caller may see."""
    found = resource_lists.search(actor, _wanted(query), with_secrets=query.contains("secret"))
    page, pagination = paginate(_sorted(found, query), query)
    return Reply(_shown(actor, page, query), pagination=pagination)


@endpoints.get(
    "/resources/{resource_id}.json",
    action="ResourcesView.view",
    access=Access.USER,
    query=Options(contains=CONTAINS),
)
def view(actor: Actor, resource_id: ResourceId, query: Query) -> views.ResourceJson:
    """Show a resource."""
    [shown] = _shown(actor, [resources.view(actor, resource_id)], query)
    return shown


@endpoints.post(
    "/resources.json",
    action="ResourcesAdd.add",
    access=Access.USER,
    body=V4Creation | V5Creation,
    message="The resource has been added successfully.",
)
def create(
    actor: Actor, body: Draft[Any], idempotency_key: str | None
) -> views.ChangedResourceJson:
    """Create a resource the caller owns."""
    return _changed(actor, resources.create(actor, body, idempotency_key))


@endpoints.put(
    "/resources/{resource_id}.json",
    action="ResourcesUpdate.update",
    access=Access.USER,
    body=V4Update | V5Touch | V5Update,
    message="The resource has been updated successfully.",
)
def update(actor: Actor, resource_id: ResourceId, body: Draft[Any]) -> views.ChangedResourceJson:
    """Change a resource; members that are not sent keep their values."""
    return _changed(actor, resource_updates.update(actor, resource_id, body))


@endpoints.delete(
    "/resources/{resource_id}.json",
    action="ResourcesDelete.delete",
    access=Access.USER,
    view=nothing,
    message="The resource has been deleted successfully.",
)
def delete(actor: Actor, resource_id: ResourceId) -> None:
    """Delete a resource."""
    resources.delete(actor, resource_id)


def _wanted(query: Query) -> Wanted:
    return Wanted(
        ids=query.filter("has-id"),
        parents=query.filter("has-parent"),
        is_favorite=query.filter("is-favorite"),
        is_owned_by_me=bool(query.filter("is-owned-by-me")),
        is_shared_with_me=bool(query.filter("is-shared-with-me")),
        group_id=query.filter("is-shared-with-group"),
        metadata_key_type=query.filter("metadata_key_type"),
    )


def _sorted(found: list[Seen], query: Query) -> list[Seen]:
    """The resources in the order asked for; what lacks a field comes before what has it.

    Those that are equal stand in the order of their identifiers, on every page the same.
    """
    found.sort(key=lambda seen: seen.row["id"]["S"])
    for name, descends in reversed(query.order):
        found.sort(key=_sort_key(name.partition(".")[2]), reverse=descends)
    return found


def _sort_key(column: str) -> Callable[[Seen], str]:
    return lambda seen: seen.row[column]["S"].casefold() if column in seen.row else ""


def _shown(actor: Actor, page: Collection[Seen], query: Query) -> list[views.ResourceJson]:
    """The resources with the members the client asked for, each kind of row read once."""
    if query.contains("secret"):
        resource_lists.log_secret_reads(actor, page)
    page = resources.with_users(page, _users_in(query))
    members = [add for name, add in _MEMBERS.items() if query.contains(name)]
    shown = [views.with_members(seen, members) for seen in page]
    if query.contains("permission"):
        for seen, each in zip(page, shown, strict=True):
            each["permission"] = views.permission_of(seen.row, *_strongest(actor, seen))
    return shown


def _users_in(query: Query) -> Callable[[Seen], list[str]]:
    """Which users' rows the members asked for need."""
    is_creator, is_modifier = query.contains("creator"), query.contains("modifier")
    has_holders = query.contains("permissions.user.profile")

    def users(seen: Seen) -> list[str]:
        row = seen.row
        wanted = [row["created_by"]["S"]] if is_creator else []
        wanted += [row["modified_by"]["S"]] if is_modifier else []
        return wanted + (list(row["permissions"]["M"]) if has_holders else [])

    return users


def _changed(actor: Actor, seen: Seen) -> views.ChangedResourceJson:
    return views.changed(seen, _strongest(actor, seen))


def _strongest(actor: Actor, seen: Seen) -> tuple[str, Any]:
    found = resource_lists.strongest(actor, seen.row)
    if found is None:
        raise NotFound(resources.MISSING)
    return found
