"""How tags look to a client: a slug, or metadata that only clients can read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict, cast

from chalicelib.tables.items.tags import Tag
from chalicelib.views.shapes import Uuid


class SlugTagJson(TypedDict):
    id: Uuid
    slug: str
    is_shared: bool


class V5TagJson(TypedDict):
    id: Uuid
    metadata: str
    metadata_key_id: Uuid
    metadata_key_type: Literal["user_key", "shared_key"]
    is_shared: bool


class UpgradedTagJson(SlugTagJson):
    user_id: Uuid | None


TagJson = SlugTagJson | V5TagJson
_METADATA = ("metadata", "metadata_key_id", "metadata_key_type")


def tag(tag: Tag) -> TagJson:
    members = _METADATA if tag.is_v5 else ("slug",)
    shown = {name: getattr(tag, name) for name in ("id", *members)}
    return cast(TagJson, {**shown, "is_shared": tag.is_shared})


def tags(found: Iterable[Tag]) -> list[TagJson]:
    """Tags in the order of their slugs; those that have none come first."""
    return [tag(each) for each in sorted(found, key=_order)]


def in_clear(tag: Tag) -> UpgradedTagJson:
    """A tag as administrators see it who are to encrypt it."""
    owner = None if tag.is_shared else tag.owner
    return {"id": tag.id, "slug": str(tag.slug), "is_shared": tag.is_shared, "user_id": owner}


def _order(tag: Tag) -> tuple[str, str, str]:
    slug = tag.slug or ""
    return slug.casefold(), slug, tag.id
