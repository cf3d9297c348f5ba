"""What administrators encrypt anew, or for the first time, of everybody's items."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import Rotation, TagRotation, TagUpgrade, Upgrade
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.items.batches import metadata_rotation, metadata_upgrades
from chalicelib.services.items.batches.metadata_batches import FOLDERS, RESOURCES
from chalicelib.services.items.batches.waiting import PAGE, Waiting, once_written
from chalicelib.services.items.tags import batches
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.tags import Tag
from chalicelib.views.items import metadata_batches as views
from chalicelib.views.items import tags as tag_views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import either
from chalicelib.web.query import Options, Pagination, Query
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)

ROTATION = Options(sortable=(), is_paginated=True, page_size=PAGE)
UPGRADE = Options(
    sortable=(),
    is_paginated=True,
    page_size=PAGE,
    contains=frozenset({"permissions"}),
    aliases={"permission": "permissions"},
    filters={"is-shared": either},
)
UPGRADE_OF_TAGS = Options(
    sortable=(), is_paginated=True, page_size=PAGE, filters={"is-shared": either}
)


@endpoints.get(
    "/metadata/rotate-key/resources.json",
    action="MetadataRotateKeyResourcesIndex.index",
    access=Access.ADMIN,
    query=ROTATION,
    shape=list[views.RotatedResourceJson],
)
def index_resources(query: Query) -> Reply:
    """List the resources that are encrypted to an expired metadata key, a page of them."""
    return _reply(metadata_rotation.waiting(RESOURCES), query)


@endpoints.post(
    "/metadata/rotate-key/resources.json",
    action="MetadataRotateKeyResourcesPost.post",
    access=Access.ADMIN,
    body=list[Rotation],
    query=ROTATION,
    shape=list[views.RotatedResourceJson],
)
def rotate_resources(actor: Actor, body: Draft[Any], query: Query) -> Reply:
    """Store resources that were encrypted to another metadata key; answer with the next page."""
    metadata_rotation.rotate(actor, RESOURCES, body)
    return once_written(partial(index_resources, query))


@endpoints.get(
    "/metadata/rotate-key/folders.json",
    action="MetadataRotateKeyFoldersIndex.index",
    access=Access.ADMIN,
    query=ROTATION,
    shape=list[views.RotatedFolderJson],
)
def index_folders(query: Query) -> Reply:
    """List the folders that are encrypted to an expired metadata key, a page of them."""
    return _reply(metadata_rotation.waiting(FOLDERS), query)


@endpoints.post(
    "/metadata/rotate-key/folders.json",
    action="MetadataRotateKeyFoldersPost.post",
    access=Access.ADMIN,
    body=list[Rotation],
    query=ROTATION,
    shape=list[views.RotatedFolderJson],
)
def rotate_folders(actor: Actor, body: Draft[Any], query: Query) -> Reply:
    """Store folders that were encrypted to another metadata key; answer with the next page."""
    metadata_rotation.rotate(actor, FOLDERS, body)
    return once_written(partial(index_folders, query))


@endpoints.get(
    "/metadata/upgrade/resources.json",
    action="MetadataUpgradeResourcesIndex.index",
    access=Access.ADMIN,
    query=UPGRADE,
    shape=list[views.UpgradedResourceJson],
)
def index_resources_in_clear(query: Query) -> Reply:
    """List the resources that are described in clear, a page of them."""
    return _reply(metadata_upgrades.waiting(RESOURCES, query.filter("is-shared")), query)


@endpoints.post(
    "/metadata/upgrade/resources.json",
    action="MetadataUpgradeResourcesPost.post",
    access=Access.ADMIN,
    body=list[Upgrade],
    query=UPGRADE,
    shape=list[views.UpgradedResourceJson],
)
def upgrade_resources(actor: Actor, body: Draft[Any], query: Query) -> Reply:
    """Store resources with metadata in place of their names; answer with the next page."""
    metadata_upgrades.upgrade(actor, RESOURCES, body)
    return once_written(partial(index_resources_in_clear, query))


@endpoints.get(
    "/metadata/upgrade/folders.json",
    action="MetadataUpgradeFoldersIndex.index",
    access=Access.ADMIN,
    query=UPGRADE,
    shape=list[views.UpgradedFolderJson],
)
def index_folders_in_clear(query: Query) -> Reply:
    """List the folders that are named in clear, a page of them."""
    return _reply(metadata_upgrades.waiting(FOLDERS, query.filter("is-shared")), query)


@endpoints.post(
    "/metadata/upgrade/folders.json",
    action="MetadataUpgradeFoldersPost.post",
    access=Access.ADMIN,
    body=list[Upgrade],
    query=UPGRADE,
    shape=list[views.UpgradedFolderJson],
)
def upgrade_folders(actor: Actor, body: Draft[Any], query: Query) -> Reply:
    """Store folders with metadata in place of their names; answer with the next page."""
    metadata_upgrades.upgrade(actor, FOLDERS, body)
    return once_written(partial(index_folders_in_clear, query))


@endpoints.get(
    "/metadata/rotate-key/tags.json",
    action="MetadataRotateKeyTagsIndex.index",
    access=Access.ADMIN,
    query=ROTATION,
    shape=list[tag_views.V5TagJson],
)
def index_tags(query: Query) -> Reply:
    """List the tags that are encrypted to an expired metadata key, a page of them."""
    return _tags(batches.to_rotate(), tag_views.tag, query)


@endpoints.post(
    "/metadata/rotate-key/tags.json",
    action="MetadataRotateKeyTagsPost.post",
    access=Access.ADMIN,
    body=list[TagRotation],
    query=ROTATION,
    shape=list[tag_views.V5TagJson],
)
def rotate_tags(actor: Actor, body: Draft[Any], query: Query) -> Reply:
    """Store tags that were encrypted to another metadata key; answer with the next page."""
    batches.rotate(actor, body)
    return once_written(partial(index_tags, query))


@endpoints.get(
    "/metadata/upgrade/tags.json",
    action="MetadataUpgradeTagsIndex.index",
    access=Access.ADMIN,
    query=UPGRADE_OF_TAGS,
    shape=list[tag_views.UpgradedTagJson],
)
def index_tags_in_clear(query: Query) -> Reply:
    """List the tags whose slugs are in clear, a page of them."""
    return _tags(batches.to_upgrade(query.filter("is-shared")), tag_views.in_clear, query)


@endpoints.post(
    "/metadata/upgrade/tags.json",
    action="MetadataUpgradeTagsPost.post",
    access=Access.ADMIN,
    body=list[TagUpgrade],
    query=UPGRADE_OF_TAGS,
    shape=list[tag_views.UpgradedTagJson],
)
def upgrade_tags(actor: Actor, body: Draft[Any], query: Query) -> Reply:
    """Store tags with metadata in place of their slugs; answer with the next page."""
    batches.upgrade(actor, body)
    return once_written(partial(index_tags_in_clear, query))


def _tags(waiting: Waiting[Tag], view: Callable[[Tag], Any], query: Query) -> Reply:
    pagination = Pagination(waiting.total, 1, query.limit)
    return Reply([view(tag) for tag in waiting.found], pagination=pagination)


def _reply(waiting: Waiting[Item], query: Query) -> Reply:
    """The first page of what is left, whichever page was asked for."""
    with_permissions = query.contains("permissions")
    shown = [views.shown(item, with_permissions=with_permissions) for item in waiting.found]
    return Reply(shown, pagination=Pagination(waiting.total, 1, query.limit))
