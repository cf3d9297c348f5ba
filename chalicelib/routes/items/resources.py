"""Resources: the passwords of the team, and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.resources import V4Creation, V4Update, V5Creation, V5Touch, V5Update
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import NotFound, Stale
from chalicelib.domain.ids import ResourceId
from chalicelib.services.access.disclosure import SealedSecrets
from chalicelib.services.items.resources import held, resource_lists, resource_updates, resources
from chalicelib.services.items.resources.held import HeldPermission
from chalicelib.services.items.resources.resource_lists import WantedResources
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.services.items.sharing import permissions
from chalicelib.services.items.tags import known
from chalicelib.services.items.tags.known import Shown
from chalicelib.services.items.trees.own import OwnTrees
from chalicelib.views.items import items as item_views
from chalicelib.views.items import resources as views
from chalicelib.views.items import secrets as secret_views
from chalicelib.views.items import tags as tag_views
from chalicelib.views.items.holders import ShownHolders
from chalicelib.views.items.permissions import permission_of
from chalicelib.web.endpoint import Endpoints, Handler
from chalicelib.web.filters import either, flag, ids, one_id, one_of, text
from chalicelib.web.query import Options, Pagination, Query, paginate
from chalicelib.web.reply import Reply
from chalicelib.web.route import nothing
from chalicelib.web.written import written

endpoints = Endpoints(__name__)

Secrets = SealedSecrets[secret_views.SecretJson]
Show = Callable[[SeenResource, HeldPermission], views.ResourceJson]
"""Makes what is shown of a resource."""

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
        "tag",
    }
)
LIST = Options(
    contains=CONTAINS,
    filters={
        "is-favorite": either,
        "is-shared-with-group": one_id("group id"),
        "is-owned-by-me": flag,
        "is-shared-with-me": flag,
        "has-id": ids("resource id"),
        "has-parent": ids("parent id", allows_root=True),
        "has-tag": text,
        "metadata_key_type": one_of("user_key", "shared_key"),
    },
    sortable=("Resources.name", "Resources.username", "Resources.uri", "Resources.modified"),
    default_order=(("Resources.name", False),),
    is_paginated=True,
)
_MEMBERS: dict[str, views.Contained] = {
    "favorite": views.add_favorite,
    "secret": views.begin_secrets,
    "resource-type": views.add_resource_type,
    "permissions": views.add_permissions,
}
"""What each contain option adds."""


@endpoints.get(
    "/resources.json",
    action="ResourcesIndex.index",
    access=Access.USER,
    query=LIST,
    shape=list[views.ResourceJson],
)
def index(actor: Actor, query: Query) -> Reply:
    """List the resources the caller may see."""
    trees, tags = OwnTrees(actor), _tags(actor, query)
    secrets = _secrets(query)
    show = _shown(query, trees, secrets, tags)
    wanted = _wanted(query, tags)
    are_whole = query.contains("secret") or (tags is not None and tags.has_own)
    if are_whole and query.limit is not None and wanted.marks is None:
        page, pagination = _page(actor, wanted, show, query)
    else:
        found = resource_lists.search(actor, wanted, show, are_whole=are_whole)
        page, pagination = paginate(item_views.in_order(found, query.order), query)
    _count_trees(page, trees)
    _add_tags(page, tags)
    _disclose(actor, page, secrets)
    return Reply(_with_holders(page, query), pagination=pagination)


@endpoints.get(
    "/resources/{resource_id}.json",
    action="ResourcesView.view",
    access=Access.USER,
    query=Options(contains=CONTAINS),
)
def view(actor: Actor, resource_id: ResourceId, query: Query) -> views.ResourceJson:
    """Show a resource."""
    tags = _tags(actor, query)
    seen = resources.view(actor, resource_id)
    trees = OwnTrees(actor)
    secrets = _secrets(query)
    shown = _shown(query, trees, secrets, tags)(seen, _strongest(actor, seen))
    _count_trees([shown], trees)
    _add_tags([shown], tags)
    _disclose(actor, [shown], secrets)
    return _with_holders([shown], query)[0]


def _created(actor: Actor, made: str) -> views.ChangedResourceJson:
    return _changed(actor, resources.created(actor, ResourceId(made)))


def _create(path: str) -> Callable[[Handler], Handler]:
    return endpoints.post(
        path,
        action="ResourcesAdd.add",
        access=Access.USER,
        body=V4Creation | V5Creation,
        again=_created,
        message="The resource has been added successfully.",
    )


@_create("/resources.json")
@_create("/import/resources.json")
def create(actor: Actor, body: Draft[Any]) -> views.ChangedResourceJson:
    """Create a resource the caller owns."""
    return _changed(actor, resources.create(actor, body))


@endpoints.put(
    "/resources/{resource_id}.json",
    action="ResourcesUpdate.update",
    access=Access.USER,
    body=V4Update | V5Touch | V5Update,
    needs_object=True,
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


def _page(
    actor: Actor, wanted: WantedResources, show: Show, query: Query
) -> tuple[Sequence[views.ResourceJson], Pagination]:
    """A page whose secrets and tags are read once it is known what stands on it."""
    found = resource_lists.search(actor, wanted, _plain, are_whole=False)
    ordered, pagination = paginate(item_views.in_order(found, query.order), query)
    asked = replace(wanted, ids=[each["id"] for each in ordered])
    page = resource_lists.search(actor, asked, show, are_whole=True)
    if len(page) != len(ordered):
        raise Stale
    return item_views.in_order(page, query.order), pagination


def _plain(seen: SeenResource, _: HeldPermission) -> views.ResourceJson:
    return views.resource(seen)


def _shows_tags(query: Query) -> bool:
    """Whether the client speaks of tags: they are shown with the value 0 too."""
    return "tag" in query.spoken_of


def _tags(actor: Actor, query: Query) -> Shown | None:
    """The tags that the actor knows, where the client asks for any or by one."""
    is_wanted = _shows_tags(query) or query.filter("has-tag") is not None
    return Shown(actor) if is_wanted else None


def _wanted(query: Query, tags: Shown | None) -> WantedResources:
    slug = query.filter("has-tag")
    return WantedResources(
        ids=query.filter("has-id"),
        parents=query.filter("has-parent"),
        is_favorite=query.filter("is-favorite"),
        is_owned_by_me=bool(query.filter("is-owned-by-me")),
        is_shared_with_me=bool(query.filter("is-shared-with-me")),
        group_id=query.filter("is-shared-with-group"),
        metadata_key_type=query.filter("metadata_key_type"),
        marks=None if tags is None or slug is None else tags.having_slug(slug),
    )


def _secrets(query: Query) -> Secrets | None:
    """What keeps the secrets, where the client asks for them, until they may be shown."""
    return SealedSecrets(secret_views.secret) if query.contains("secret") else None


def _shown(query: Query, trees: OwnTrees, secrets: Secrets | None, tags: Shown | None) -> Show:
    """Makes a resource with the members the client asked for, but for those that follow."""
    members = [add for name, add in _MEMBERS.items() if query.contains(name)]
    has_permission = query.contains("permission")

    def shown(seen: SeenResource, permission: HeldPermission) -> views.ResourceJson:
        made = views.resource(seen)
        if not made["personal"]:
            trees.note(seen.row)
        for add in members:
            add(seen, made)
        if tags is not None and _shows_tags(query):
            tags.note(seen)
        if secrets is not None:
            secrets.seal(seen.row, seen.holding)
        if has_permission:
            made["permission"] = permission_of(made["id"], *permission)
        return made

    return shown


def _disclose(actor: Actor, page: Sequence[views.ResourceJson], secrets: Secrets | None) -> None:
    """Show the secrets of a page, if the client asked for any, once it is logged."""
    if secrets is not None:
        disclosed = secrets.disclose(actor, [shown["id"] for shown in page])
        for shown, secret in zip(page, disclosed, strict=True):
            if secret is not None:
                shown["secrets"].append(secret)


def _add_tags(page: Sequence[views.ResourceJson], tags: Shown | None) -> None:
    """Show the tags of a page, if the client asked for them."""
    found = {} if tags is None else tags.of_items(shown["id"] for shown in page)
    for shown in page:
        if shown["id"] in found:
            shown["tags"] = tag_views.tags(found[shown["id"]])


def _count_trees(page: Sequence[views.ResourceJson], trees: OwnTrees) -> None:
    """Say of resources that groups have whether they are in one tree all the same."""
    _mark(page, trees.personal_among(shown["id"] for shown in page))


def _mark(page: Sequence[views.ResourceJson], personal: Collection[str]) -> None:
    for shown in page:
        if shown["id"] in personal:
            shown["personal"] = True


def _with_holders(page: Sequence[views.ResourceJson], query: Query) -> Sequence[views.ResourceJson]:
    """The resources with the users and groups the client asked for, each read once."""
    users = item_views.users_in(page, query.contains)
    found = permissions.read_holders(users, item_views.groups_in(page, query.contains))
    item_views.add_holders(page, query.contains, ShownHolders.of(found.users, found.groups))
    return page


def _changed(actor: Actor, seen: SeenResource) -> views.ChangedResourceJson:
    shown, trees = views.changed(seen, _strongest(actor, seen)), OwnTrees(actor)
    trees.note(seen.row)
    _mark([shown], written(lambda: trees.personal_among([shown["id"]])))
    shown["tags"] = tag_views.tags(written(lambda: known.of_resource(actor, seen)))
    return shown


def _strongest(actor: Actor, seen: SeenResource) -> HeldPermission:
    found = held.strongest(held.holders_of(actor), seen.row)
    if found is None:
        raise NotFound(resources.MISSING)
    return found
