"""One visit with passbolt-python-api: Ada puts what she shares into a folder of a team.

Run with that client's own Python, the configuration as JSON. Its last line is what the client
returned, as JSON. The client has no method that makes a folder or shares one.
"""

import json
import sys

import passboltapi

UPDATE = 7


def create_folder(client: passboltapi.PassboltAPI, name: str, parent: str | None = None) -> str:
    """The identifier of a new folder."""
    return client.post("/folders.json", {"name": name, "folder_parent_id": parent})["body"]["id"]


def share_folder(client: passboltapi.PassboltAPI, folder_id: str, user_id: str) -> None:
    row = {"is_new": True, "aro": "User", "aro_foreign_key": user_id, "type": UPDATE}
    client.put(f"/share/folder/{folder_id}.json", {"permissions": [row]})


def visit(client: passboltapi.PassboltAPI) -> dict[str, object]:
    client.import_public_keys()
    users = {user.username: user.id for user in client.list_users()}
    work = create_folder(client, "work")
    drafts = create_folder(client, "drafts", work)
    share_folder(client, work, users["betty@example.com"])
    share_folder(client, drafts, users["betty@example.com"])
    inside = client.create_resource(name="in the folder", password="of two", folder_id=work)
    moved = client.create_resource(name="moved", password="of one")
    client.move_resource_to_folder(moved.id, drafts)
    described = client.describe_folder(work)
    return {
        "read": client.read_folder(drafts)._asdict() | {"permissions": None},
        "listed": [each.name for each in client.list_resources(work)],
        "drafts": [each.name for each in client.list_resources(drafts)],
        "parent": client.read_resource(inside.id).folder_parent_id == work,
        "users": sorted(user.username for user in client.list_users_with_folder_access(work)),
        "permissions": sorted(each.type for each in described.permissions),
    }


with passboltapi.PassboltAPI(config=json.load(sys.stdin)) as client:
    sys.stdout.write(json.dumps(visit(client)) + "\n")
