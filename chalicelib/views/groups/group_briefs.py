"""How a group looks where it is named, without its members."""

from __future__ import annotations

from typing import TypedDict

from chalicelib.tables.groups.groups import Group, GroupRow
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
    return brief_of(group.row)


def brief_of(row: GroupRow) -> GroupJson:
    return {
        "id": row["id"]["S"],
        "name": row["name"]["S"],
        "deleted": row["deleted"]["BOOL"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "created_by": row["created_by"]["S"],
        "modified_by": row["modified_by"]["S"],
    }
