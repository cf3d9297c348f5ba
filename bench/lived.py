"""Long lists of a tenant that has lived a while, and of the same after a restart.

Edith makes her resources through the API of the running server: identifiers are random, so no
row lies beside its neighbour by key. Meanwhile she shares them, in another order, marks some and
changes others. Then she lists them; the server is started anew, and she lists them again. The
floor is measured in turn with both.
"""

from __future__ import annotations

import json
import os
import random
from functools import cache
from pathlib import Path

from bench import sharing, surroundings
from bench.measure import Spread, paired
from bench.serving import Client, serving
from bench.tables import Table
from bench.tenant import SECRET
from tests.support.world.keys import KEYS, message

LISTED = 5000
WARM = 2
"""Runs before those that count."""
WAITING = 40
"""So many resources are not shared yet, of which the next to be shared is any."""
LISTS = (
    ("plain", "", 16),
    ("permission, favorite", "?contain[permission]=1&contain[favorite]=1", 16),
    ("with secrets", "?contain[secret]=1", 4),
)
"""What it has, how it is asked for, how often."""


def measure(data: Path, *, is_quick: bool) -> None:
    """Let Edith live on the tenant in `data`, and print what her lists take."""
    part = 4 if is_quick else 1
    table = Table((f"{LISTED // part:,} resources", "ms", "floor ms", "ratio"))
    with serving(data) as client:
        live(client, LISTED // part)
        print_lists("lived in", client, table, part)
    with serving(data) as client:
        print_lists("restarted", client, table, part)


def live(client: Client, count: int) -> None:
    """Make so many resources: all are shared with Betty, one in ten a favorite."""
    any_of = random.Random(1)  # the same life in each run
    made: list[str] = []
    waiting: list[str] = []
    for number in range(count):
        if number % 500 == 0:
            log_in(client)
        made.append(_create(client, number))
        waiting.append(made[-1])
        if number % 10 == 0:
            client.ask("POST", f"/favorites/resource/{made[-1]}.json", {})
        if number % 5 == 0:
            client.ask("PUT", f"/resources/{any_of.choice(made)}.json", {"username": "edith"})
        if len(waiting) == WAITING:
            _share(client, waiting.pop(any_of.randrange(WAITING)))
    for resource_id in waiting:
        _share(client, resource_id)


def print_lists(state: str, client: Client, table: Table, part: int) -> None:
    """A line for each list, measured in turn with the floor."""
    log_in(client)
    for name, query, runs in LISTS:
        path = f"/resources.json{query}"
        parts = json.dumps(client.ask("GET", path)[1])
        with surroundings.running("bench.plain", dict(os.environ), told=parts) as url:
            plain = Client(url, client.tenant)
            ours, floors = [], []
            for _ in range(max(runs // part, 2) + WARM):
                client.ask("GET", path)
                plain.ask("GET", "/")
                ours.append(client.seconds)
                floors.append(plain.seconds)
        ours, floors = ours[WARM:], floors[WARM:]
        spreads = (Spread.of(each).times(1000) for each in (ours, floors))
        table.row(f"{state}, {name}", *spreads, f"{paired(ours, floors):.2f}")


def log_in(client: Client) -> None:
    client.token = client.log_in(client.tenant.edith, KEYS["edith"])


def _create(client: Client, number: int) -> str:
    body = {
        "name": f"Mail {number}",
        "username": "edith@example.com",
        "uri": f"https://mail{number}.example.com/login",
        "secrets": [{"data": _secret()}],
    }
    return str(client.ask("POST", "/resources.json", body)[1]["id"])


def _share(client: Client, resource_id: str) -> None:
    client.ask("PUT", sharing.path(resource_id), sharing.with_users([client.tenant.betty]))


@cache
def _secret() -> str:
    return message(SECRET, KEYS["edith"].public)
