"""One visit with passbolt-python-api: run with that client's own Python, the configuration as JSON.

Its last line is what the client returned, step by step, as JSON.
"""

import json
import sys

import passboltapi

NAME, RENAMED = "mail", "mail of the team"


def visit(client: passboltapi.PassboltAPI) -> dict[str, object]:
    created = client.create_resource(
        name=NAME, password="first", username="ada", uri="https://mail.example.com"
    )
    listed = [each for each in client.iterate_resources() if each["id"] == created.id]
    opened = client.get_password_and_description(created.id)
    client.update_resource(created.id, name=RENAMED, password="second")
    changed = client.read_resource(created.id)
    reopened = client.get_password(created.id)
    described = client.get_description(created.id)
    kind = client.read_resource_type(created.resource_type_id)
    users = client.list_users(resource_or_folder_id=created.id)
    client.delete(f"/resources/{created.id}.json")
    return {
        "server": client.get_server_public_key()[0],
        "me": client.get("/users/me.json")["body"]["username"],
        "created": created._asdict(),
        "listed": listed,
        "opened": opened,
        "changed": changed._asdict(),
        "reopened": reopened,
        "described": described,
        "kind": kind.slug,
        "users": [user.username for user in users],
        "left": [each["id"] for each in client.iterate_resources()],
        "signed_out": client.post("/auth/logout.json", {})["header"]["message"],
    }


with passboltapi.PassboltAPI(config=json.load(sys.stdin), new_keys=True) as client:
    sys.stdout.write(json.dumps(visit(client)) + "\n")
