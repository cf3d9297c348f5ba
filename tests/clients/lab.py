"""One visit with the lab client `passbolt`: run with its own Python, the configuration as JSON.

Its last line is what the client returned, step by step, as JSON. Of the three clients of this
interface `pypassbolt-api` alone changes and deletes.
"""

import json
import sys

from passbolt import PassboltAPI

SECRET = {"password": "first", "description": "of the team"}
CHANGED = {"password": "second", "description": "of the team"}


def as_text(opened: object) -> str:
    """What was decrypted; GnuPG's wrapper and PGPy return it in three types."""
    return opened.decode() if isinstance(opened, bytearray) else str(opened)


def change(client: PassboltAPI, resource: dict[str, object], key: object) -> dict[str, object]:
    """What a change and a deletion of another resource came to, where the client makes them."""
    if not hasattr(client, "update_resource"):
        return {}
    made = client.create_resource({**resource, "name": "to be changed"}).json()["body"]["id"]
    secrets = [{"user_id": client.user_id, "data": client.encrypt(CHANGED, key)}]
    changed = client.update_resource({**resource, "name": "changed", "secrets": secrets}, made)
    return {
        "name": changed.json()["body"]["name"],
        "reopened": as_text(client.decrypt(client.get_resource_secret(made))),
        "deleted": client.delete_resource(made).json()["header"]["message"],
        "left": [each["name"] for each in client.get_resources()],
    }


def look_around(client: PassboltAPI) -> dict[str, object]:
    """What there is of people and groups."""
    client.create_group("crew")
    crew = client.get_group_by_name("crew")
    return {
        "users": [each["username"] for each in client.get_users()],
        "user": client.get_user_by_id(client.user_id)["username"],
        "groups": [each["name"] for each in client.get_groups()],
        "group": client.get_group_by_id(crew["id"])["name"],
        "membership": client.get_group_user_id(crew["id"], client.user_id),
    }


def visit(client: PassboltAPI) -> dict[str, object]:
    key = client.get_user_public_key(client.user_id)
    resource = {
        "name": "mail",
        "username": "ada",
        "uri": "https://mail.example.com",
        "resource_type_id": client.resource_types["password-and-description"],
        "secrets": [{"data": client.encrypt(SECRET, key)}],
    }
    answer = client.create_resource(resource).json()
    created = answer["body"]
    return {
        "authenticated": client.authenticated,
        "user_id": client.user_id,
        "token": client.token,
        "types": client.resource_types,
        "key": key["fingerprint"],
        "message": answer["header"]["message"],
        "created": created,
        "read": client.get_resource_per_uuid(created["id"]),
        "listed": [each["id"] for each in client.get_resources()],
        "opened": as_text(client.decrypt(client.get_resource_secret(created["id"]))),
        "found": client.get_user_by_email("ada@example.com")["id"],
        "around": look_around(client),
        "change": change(client, resource, key),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(visit(PassboltAPI(json.load(sys.stdin)))) + "\n")
