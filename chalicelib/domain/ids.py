"""Identifiers. One type per thing, so that a user is never passed for a group."""

from __future__ import annotations

import re
from typing import NewType
from uuid import UUID, uuid4, uuid5

UserId = NewType("UserId", str)
GroupId = NewType("GroupId", str)
RoleId = NewType("RoleId", str)
RbacId = NewType("RbacId", str)
GpgkeyId = NewType("GpgkeyId", str)
AvatarId = NewType("AvatarId", str)
ItemId = NewType("ItemId", str)
"""Of an item of whatever kind."""
ResourceId = NewType("ResourceId", str)
ResourceTypeId = NewType("ResourceTypeId", str)
FolderId = NewType("FolderId", str)
FavoriteId = NewType("FavoriteId", str)
CommentId = NewType("CommentId", str)
TagId = NewType("TagId", str)
MetadataKeyId = NewType("MetadataKeyId", str)
MetadataPrivateKeyId = NewType("MetadataPrivateKeyId", str)
SessionKeyId = NewType("SessionKeyId", str)
"""Of an entry, which holds the session keys of many messages."""
TransferId = NewType("TransferId", str)
"""Of a mobile transfer."""
AcoId = ItemId | ResourceId | FolderId

NAMESPACE = UUID("d5447ca1-950f-459d-8b20-86ddfdd0f922")
"""Namespace of every identifier that is made from a name: actions, resource types, themes."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def new_id() -> str:
    return str(uuid4())


def named_id(name: str) -> str:
    return str(uuid5(NAMESPACE, name))


def find_uuid(value: object) -> str | None:
    """`value` as an identifier in its one canonical form, or `None` where it is none."""
    if isinstance(value, str) and _UUID.fullmatch(value):
        return value.lower()
    return None
