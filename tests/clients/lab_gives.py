"""One visit with the lab client `passbolt`: Ada shares, with a user and with a group.

Run with that client's own Python, the configuration as JSON. Its last line is what the client
returned, as JSON. This client has methods for groups and for encryption; the request that shares
is sent through its session.
"""

import json
import sys

from lab import as_text
from passbolt import PassboltAPI

READ = 1


def create(client: PassboltAPI, name: str, secret: str) -> str:
    """The identifier of a new resource."""
    own_key = client.get_user_public_key(client.user_id)
    resource = {
        "name": name,
        "resource_type_id": client.resource_types["password-string"],
        "secrets": [{"data": client.encrypt(secret, own_key)}],
    }
    return client.create_resource(resource).json()["body"]["id"]


def share(client: PassboltAPI, resource_id: str, aro: str, holder: dict, *receivers: dict) -> str:
    """Give somebody access, with a secret for each of the receivers; return the message."""
    secret = as_text(client.decrypt(client.get_resource_secret(resource_id)))
    row = {"is_new": True, "aro": aro, "aro_foreign_key": holder["id"], "type": READ}
    secrets = [
        {
            "user_id": user["id"],
            "data": client.encrypt(secret, client.get_user_public_key(user["id"])),
        }
        for user in receivers
    ]
    url = f"{client.base_url}/share/resource/{resource_id}.json"
    answer = client.session.put(url, json={"permissions": [row], "secrets": secrets})
    return answer.json()["header"]["message"]


def visit(client: PassboltAPI) -> dict[str, object]:
    betty, carol = map(client.get_user_by_email, ("betty@example.com", "carol@example.com"))
    create(client, "own", "nobody else's")
    for_betty = create(client, "for betty", "of betty")
    for_crew = create(client, "for the crew", "of the crew")
    client.create_group("crew")
    crew = client.get_group_by_name("crew")
    return {
        "shared": [
            share(client, for_betty, "User", betty, betty),
            share(client, for_crew, "Group", crew),
        ],
        "joined": client.put_user_on_group(crew["id"], carol["id"]).json(),
        "promoted": client.update_user_to_group_admin(crew["id"], carol["id"]).json(),
        "membership": client.get_group_user_id(crew["id"], carol["id"]),
        "found": client.get_group_by_id(crew["id"]),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(visit(PassboltAPI(json.load(sys.stdin)))) + "\n")
