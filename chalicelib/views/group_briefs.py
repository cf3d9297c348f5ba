"""How a group looks where it is named, without its members."""

from __future__ import annotations

from typing import TypedDict

from chalicelib.tables.base import timestamp_text
from chalicelib.tables.groups import Group
from chalicelib.views.shapes import Moment, Uuid


class GroupJson(TypedDict):
    id: Uuid
    name: str
    deleted: bool
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid


def brief(group: Group) -> GroupJson:
    return {
        "id": group.id,
        "name": group.name,
        "deleted": group.deleted,
        "created": timestamp_text(group.created),
        "modified": timestamp_text(group.modified),
        "created_by": group.created_by,
        "modified_by": group.modified_by,
    }
