"""Tests a SCIM server from outside, and tells each check with what came of it.

It runs with the Python of the tester's own environment, and is told where the server is and by
which token it is asked.
"""

from __future__ import annotations

import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server


def main() -> None:
    asked = json.load(sys.stdin)
    headers = {"Authorization": f"Bearer {asked['token']}"}
    scim = SyncSCIMClient(Client(base_url=asked["url"], headers=headers))
    results = check_server(scim)
    told = [[each.title, each.status.name, each.reason or ""] for each in results]
    sys.stdout.write(json.dumps(told))


main()
