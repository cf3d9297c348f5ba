"""One visit with pybolt-client: run with that client's own Python, the configuration as JSON.

Its last line is what the client returned, step by step, as JSON. This client reads, and no more.
"""

import json
import sys

from passbolt_client import Client

configuration = json.load(sys.stdin)
client = Client(
    configuration["url"],
    gpg_path=configuration["keyring"],
    private_key_path=configuration["private_key_file"],
)
client.authenticate()
seen = {
    "server": client.server_finger_print,
    "authenticated": client.session.is_authenticated_with_token,
    "listed": [each["name"] for each in client.get_all_resources().json()["body"]],
    "opened": {name: client.get_password_by_name(name) for name in configuration["names"]},
}
sys.stdout.write(json.dumps(seen) + "\n")
