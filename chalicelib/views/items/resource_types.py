"""How resource types look to a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import orjson

from chalicelib.dialect import dialect
from chalicelib.domain.items.resource_types import ResourceType, Schema
from chalicelib.domain.users import roles
from chalicelib.services.items.resources.resource_types import Kind
from chalicelib.views.shapes import Moment, Uuid


class _ResourceTypeJson(TypedDict):
    id: Uuid
    slug: str
    name: str
    description: str
    deleted: Moment | None
    created: Moment
    modified: Moment
    resources_count: NotRequired[int]


class ResourceTypeJson(_ResourceTypeJson):
    definition: Schema


class SingleTypeJson(_ResourceTypeJson):
    definition: str
    """JSON as text."""


def described(
    kind: ResourceType, longest_name: int, deleted: str | None = None
) -> ResourceTypeJson:
    return {
        "id": kind.id,
        "slug": kind.slug,
        "name": kind.name,
        "description": kind.description,
        "definition": kind.definition(longest_name),
        "deleted": deleted,
        "created": roles.CREATED,
        "modified": roles.CREATED,
    }


def listed(kind: Kind) -> ResourceTypeJson:
    shown = described(kind.type, dialect.longest_name, kind.deleted)
    if kind.resources_count is not None:
        shown["resources_count"] = kind.resources_count
    return shown


def kinds(found: Sequence[Kind]) -> list[ResourceTypeJson]:
    return [listed(kind) for kind in found]


def single(kind: Kind) -> SingleTypeJson:
    """One type alone: deployed clients need its definition as text here, in lists as object."""
    shown = listed(kind)
    return {**shown, "definition": orjson.dumps(shown["definition"]).decode()}
