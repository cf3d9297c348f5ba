"""Resources: the passwords of the team, and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.resources import V4Creation, V4Update, V5Creation, V5Touch, V5Update
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import ResourceId
from chalicelib.services import people, resource_lists, resource_updates, resources
from chalicelib.services.resource_lists import Permission, Wanted
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
    "favorite": views.add_favorite,
    "secret": views.add_secrets,
    "resource-type": views.add_resource_type,
    "permissions": views.add_permissions,
    "permissions.group": views.add_permission_groups,
}
"""What each contain option adds; `permissions` stands before what goes into it."""
_USERS: dict[str, views.ContainedUsers] = {
    "creator": views.add_creator,
    "modifier": views.add_modifier,
    "permissions.user.profile": views.add_permission_users,
}
"""What each adds of users, who are read when it is known which."""


@endpoints.get(
    "/resources.json",
    action="ResourcesIndex.index",
    access=Access.USER,
    query=LIST,
    shape=list[views.ResourceJson],
)
def index(actor: Actor, query: Query) -> Reply:
    """List the resources the caller may see."""
    with_secrets = query.contains("secret")
    found = resource_lists.search(actor, _wanted(query), _shown(query), with_secrets=with_secrets)
    page, pagination = paginate(_sorted(found, query), query)
    if with_secrets:
        resource_lists.log_secret_reads(actor, [shown["id"] for shown in page])
    return Reply(_with_users(page, query), pagination=pagination)


@endpoints.get(
    "/resources/{resource_id}.json",
    action="ResourcesView.view",
    access=Access.USER,
    query=Options(contains=CONTAINS),
)
def view(actor: Actor, resource_id: ResourceId, query: Query) -> views.ResourceJson:
    """Show a resource."""
    seen = resources.view(actor, resource_id)
    shown = _shown(query)(seen, _strongest(actor, seen))
    if query.contains("secret"):
        resources.require_whole(seen)
        resource_lists.log_secret_reads(actor, [shown["id"]])
    return _with_users([shown], query)[0]


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


def _sorted(found: list[views.ResourceJson], query: Query) -> list[views.ResourceJson]:
    """The resources in the order asked for; what lacks a field comes before what has it.

    Those that are equal stand in the order of their identifiers, on every page the same.
    """
    found.sort(key=itemgetter("id"))
    for name, descends in reversed(query.order):
        found.sort(key=_sort_key(name.partition(".")[2]), reverse=descends)
    return found


def _sort_key(column: str) -> Callable[[Mapping[str, Any]], str]:
    def key(shown: Mapping[str, Any]) -> str:
        return (shown.get(column) or "").casefold()

    return key


def _shown(query: Query) -> Callable[[Seen, Permission], views.ResourceJson]:
    """Makes a resource with the members the client asked for, but for those of users."""
    members = [add for name, add in _MEMBERS.items() if query.contains(name)]
    has_permission = query.contains("permission")

    def shown(seen: Seen, permission: Permission) -> views.ResourceJson:
        made = views.with_members(seen, members)
        if has_permission:
            made["permission"] = views.permission_of(seen.row, *permission)
        return made

    return shown


def _with_users(page: Sequence[views.ResourceJson], query: Query) -> Sequence[views.ResourceJson]:
    """The resources with the users the client asked for, each read once."""
    members = [add for name, add in _USERS.items() if query.contains(name)]
    if not members:
        return page
    named = _users_in(query)
    users = views.Users.of(people.by_id(user for shown in page for user in named(shown)))
    for shown in page:
        for add in members:
            add(users, shown)
    return page


def _users_in(query: Query) -> Callable[[views.ResourceJson], list[str]]:
    """Which users the members asked for show."""
    is_creator, is_modifier = query.contains("creator"), query.contains("modifier")
    has_holders = query.contains("permissions.user.profile")

    def users(shown: views.ResourceJson) -> list[str]:
        named = [shown["created_by"]] if is_creator else []
        named += [shown["modified_by"]] if is_modifier else []
        holders = shown["permissions"] if has_holders else []
        return named + [each["aro_foreign_key"] for each in holders if each["aro"] == "User"]

    return users


def _changed(actor: Actor, seen: Seen) -> views.ChangedResourceJson:
    return views.changed(seen, _strongest(actor, seen))


def _strongest(actor: Actor, seen: Seen) -> Permission:
    found = resource_lists.strongest(actor, seen.row)
    if found is None:
        raise NotFound(resources.MISSING)
    return found
