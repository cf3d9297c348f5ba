"""One visit with passbolt-python-api: Ada shares, with a user and with a group.

Run with that client's own Python, the configuration as JSON. Its last line is what the client
returned, as JSON. This client shares by itself only what it puts into a shared folder; here it
does the same, with its own methods, for a resource that lies in none.
"""

import json
import sys

import passboltapi

READ = 1


def share(client: passboltapi.PassboltAPI, resource_id: str, aro: str, holder_id: str) -> list[str]:
    """Give somebody access, with a secret for each who gains it; return who that is."""
    row = {"is_new": True, "aro": aro, "aro_foreign_key": holder_id, "type": READ}
    simulated = client.post(f"/share/simulate/resource/{resource_id}.json", {"permissions": [row]})
    gained = {each["User"]["id"] for each in simulated["body"]["changes"]["added"]}
    receivers = [user for user in client.list_users() if user.id in gained]
    password = client.get_password(resource_id)
    secrets = [
        {"user_id": user.id, "data": client.encrypt(password, user.gpgkey.fingerprint)}
        for user in receivers
    ]
    client.put(f"/share/resource/{resource_id}.json", {"permissions": [row], "secrets": secrets})
    return [user.username for user in receivers]


def create_group(client: passboltapi.PassboltAPI, managers: list[str], members: list[str]) -> str:
    """The identifier of a new group."""
    entries = [
        *({"user_id": user_id, "is_admin": True} for user_id in managers),
        *({"user_id": user_id, "is_admin": False} for user_id in members),
    ]
    body = client.post("/groups.json", {"name": "crew", "groups_users": entries})["body"]
    return body["id"]


def visit(client: passboltapi.PassboltAPI) -> dict[str, object]:
    client.import_public_keys()
    users = {user.username: user.id for user in client.list_users()}
    own = client.create_resource(name="own", password="nobody else's")
    for_betty = client.create_resource(name="for betty", password="first")
    for_crew = client.create_resource(name="for the crew", password="of the crew")
    crew = create_group(client, [users["ada@example.com"]], [users["carol@example.com"]])
    betty_gains = share(client, for_betty.id, "User", users["betty@example.com"])
    crew_gains = share(client, for_crew.id, "Group", crew)
    client.update_resource(for_betty.id, password="second")
    group = client.describe_group(crew)
    return {
        "gained": {"for betty": betty_gains, "for the crew": crew_gains},
        "group": group.name,
        "members": [each["user_id"] for each in group.groups_users],
        "with_access": {
            resource.name: [user.username for user in client.list_users(resource.id)]
            for resource in (own, for_betty, for_crew)
        },
    }


with passboltapi.PassboltAPI(config=json.load(sys.stdin)) as client:
    sys.stdout.write(json.dumps(visit(client)) + "\n")
