"""Folders as the Go command line asks for them: what it sends, and the types it takes answers in.

It knows members without regard to case, leaves empty texts out of bodies, and ends with a nil
pointer where a listed folder has no dates.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.support.world.items import resources
from tests.support.world.make import Somebody


def create_folder(who: Somebody, name: str, parent: str = "") -> str:
    sent = {"name": name} | ({"folder_parent_id": parent} if parent else {})
    return str(answered(who.client.post("/folders.json?api-version=v2", sent))["id"])


def answered(response: Any) -> Any:
    assert (response.status, response.header["status"]) == (200, "success"), response.json
    return response.body


def require_decoded(folder: Any) -> None:
    """Refuse what its struct for a folder does not take."""
    for name in ("id", "name", "created_by", "modified_by"):
        assert isinstance(folder[name], str)
    for name in ("created", "modified"):
        assert datetime.fromisoformat(folder[name]).tzinfo is not None
    assert folder["folder_parent_id"] is None or isinstance(folder["folder_parent_id"], str)
    assert isinstance(folder["personal"], bool)
    for each in folder.get("permissions", ()):
        assert isinstance(each["type"], int)


def test_create_folder_and_list_folder(ada):
    work = create_folder(ada, "work")
    drafts = create_folder(ada, "drafts", work)

    query = "api-version=v2&filter[has-parent][]=" + work
    contain = "&contain[children_resources]=1&contain[children_folders]=1"
    [found] = answered(ada.client.get(f"/folders.json?{query}{contain}"))
    require_decoded(found)
    assert (found["id"], found["folder_parent_id"]) == (drafts, work)
    for each in answered(ada.client.get("/folders.json?api-version=v2")):
        require_decoded(each)


def test_get_folder_and_get_folder_permission(ada, betty):
    work = create_folder(ada, "work")
    require_decoded(answered(ada.client.get(f"/folders/{work}.json?api-version=v2")))
    contain = "contain[permissions]=1&contain[permissions.user.profile]=1"
    [own] = answered(ada.client.get(f"/folders/{work}.json?{contain}"))["permissions"]
    assert own["created"]
    assert own["modified"]


def test_update_folder(ada):
    work = create_folder(ada, "work")
    answered(ada.client.put(f"/folders/{work}.json?api-version=v2", {"name": "new"}))
    assert answered(ada.client.get(f"/folders/{work}.json"))["name"] == "new"


def test_move_folder_and_move_resource(ada):
    work, drafts = create_folder(ada, "work"), create_folder(ada, "drafts")
    mail = resources.created(ada, resources.v4(resource_type={}))["id"]
    for kind, item_id in (("folder", drafts), ("resource", mail)):
        path = f"/move/{kind}/{item_id}.json?api-version=v2"
        assert answered(ada.client.put(path, {"folder_parent_id": work})) is None
        shown = answered(ada.client.get(f"/{kind}s/{item_id}.json"))
        assert shown["folder_parent_id"] == work


def test_a_move_to_the_root_leaves_the_parent_out_and_is_refused(ada):
    """As deployed servers answer it: a move says where to."""
    response = ada.client.put(f"/move/folder/{create_folder(ada, 'work')}.json", {})
    assert (response.status, set(response.body["folder_parent_id"])) == (400, {"_required"})


def test_share_folder(ada, betty):
    work = create_folder(ada, "work")
    row = {
        "is_new": True,
        "aco": "Folder",
        "aco_foreign_key": work,
        "aro": "User",
        "aro_foreign_key": betty.id,
        "type": 7,
    }
    answered(ada.client.put(f"/share/folder/{work}.json?api-version=v2", {"permissions": [row]}))
    assert answered(betty.client.get(f"/folders/{work}.json"))["personal"] is False


def test_delete_folder(ada):
    work = create_folder(ada, "work")
    assert answered(ada.client.delete(f"/folders/{work}.json?api-version=v2")) is None
