"""One visit with the lab client `passbolt`: run with its own Python, the configuration as JSON.

Its last line is what the client returned, step by step, as JSON. This client neither changes
nor deletes.
"""

import json
import sys

from passbolt import PassboltAPI

SECRET = {"password": "first", "description": "of the team"}


def as_text(opened: object) -> str:
    """What was decrypted; GnuPG's wrapper and PGPy return it in three types."""
    return opened.decode() if isinstance(opened, bytearray) else str(opened)


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
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(visit(PassboltAPI(json.load(sys.stdin)))) + "\n")
