"""What requests about folders and moves are made of, and what is seen afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.ids import FolderId, new_id
from chalicelib.services.access import memberships
from chalicelib.storage import reading, writing
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse
from tests.support.wire.client import Response
from tests.support.world.items import resources
from tests.support.world.make import Somebody, Team

INVALID = "Could not validate folder data."
MISSING = "The folder does not exist."
INVALID_MOVE = "Could not validate move data."


def path(folder_id: str) -> str:
    return f"/folders/{folder_id}.json"


def create(who: Somebody, body: Any, query: str = "") -> Response:
    return who.client.post(f"/folders.json{query}", body)


def folder(who: Somebody, name: str = "work", parent: str | None = None) -> str:
    """A new folder of somebody's, at the root or in another."""
    response = create(who, {"name": name, "folder_parent_id": parent})
    assert response.status == 200, response.json
    return str(response.body["id"])


def like(resource_id: str, name: str = "work") -> str:
    """A new folder of those who have a resource, each with the permission they have for that."""
    source, now = resources.stored(resource_id), clock.now()
    row = Folder(new_id(), name=name, created=now, modified=now)
    row.created_by = row.modified_by = source.created_by
    row.permissions = {
        holder: replace(each, id=new_id()) for holder, each in source.permissions.items()
    }
    groups = memberships.group_holders(source.permissions)
    members, _ = memberships.read(groups)
    users = members.with_access(source.permissions)
    held = [Holding(user_id, FolderId(row.id), kind=Folder.kind) for user_id in users]
    items = [GroupItem(group_id, row.id, kind=Folder.kind) for group_id in groups]
    use = MetadataUse(CLEAR, row.id, kind=Folder.kind)
    writing.put_all([row, *held, *items, use])
    return str(row.id)


def shared(who: Somebody, other: Somebody, name: str = "work", type_: int = 7) -> str:
    """A new folder that somebody shares with another."""
    folder_id = folder(who, name)
    given = {"aro": "User", "aro_foreign_key": other.id, "type": type_}
    assert share(who, folder_id, given).status == 200
    return folder_id


def resource(who: Somebody, parent: str | None = None, name: str = "mail") -> str:
    """A new resource of somebody's, at the root or in a folder."""
    return str(resources.created(who, resources.v4(name=name, folder_parent_id=parent))["id"])


def move(who: Somebody, kind: str, item_id: str, to: str | None) -> Response:
    return who.client.put(f"/move/{kind}/{item_id}.json", {"folder_parent_id": to})


def parent(who: Somebody, kind: str, item_id: str) -> str | None:
    """Where somebody sees an item: in a folder, or at the root."""
    response = who.client.get(f"/{kind}s/{item_id}.json")
    assert response.status == 200, response.json
    found = response.body["folder_parent_id"]
    return None if found is None else str(found)


def share(who: Somebody, folder_id: str, *rows: dict[str, Any]) -> Response:
    return who.client.put(f"/share/folder/{folder_id}.json", {"permissions": list(rows)})


def taking(folder_id: str, holder: Somebody | Team) -> dict[str, Any]:
    """The row that takes a folder away."""
    return {"id": stored(folder_id).permissions[holder.id].id, "delete": True}


def stored(folder_id: str) -> Folder:
    found = reading.read([Folder.by_id(folder_id)]).find(Folder, folder_id)
    assert found is not None
    return found


def note(folder_id: str, resource_id: str) -> None:
    """Note that a resource lies in a folder, as it may be noted when that is so no more."""
    row = resources.stored(resource_id)
    row.above = {folder_id}
    row.save()
    FolderItem(folder_id, resource_id).save()
