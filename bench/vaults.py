"""What lists of a large vault cost by the number of its items: lines, if all is well.

Gus's vault grows from one size to the next; he shares every second resource with Greta.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from bench import surroundings, tenant
from bench.endpoints import answered, keep_to_one_core
from bench.measure import cpu_of
from bench.requests import Requests
from bench.tables import Table
from bench.tenant import Tenant
from chalicelib.settings import settings
from chalicelib.storage import writing
from chalicelib.storage.base import Table as Rows
from infra.local_server.events import Answer, Event
from tests.support.faults.hooks import Recorder
from tests.support.world import make
from tests.support.world.make import Somebody

SIZES = (12_500, 25_000, 50_000)
RUNS = 3
LISTS = {
    "plain": "",
    "with permissions": "contain[permissions]=1",
    "with secrets": "contain[secret]=1",
    "page 3 of 50": "limit=50&page=3",
    "page 3 of 50, with secrets": "limit=50&page=3&contain[secret]=1",
}


def main() -> None:
    keep_to_one_core()
    assert settings.key_folder is not None
    requests = Requests(Tenant.read(settings.key_folder))
    gus, greta = make.user("gus", key="ada"), make.user("greta", key="betty")
    heads = ("list", "items", "steps", "read", "CPU s", "µs each", "body MB", "peak MB")
    table = Table(heads)
    sizes = [size // 10 if "--quick" in sys.argv else size for size in SIZES]
    for before, size in pairwise((0, *sizes)):
        writing.put_all(_grown(gus, greta, size - before))
        for name, query in LISTS.items():
            event = requests.of(gus.id, "GET", f"/resources.json?{query}")
            table.row(name, size, *measure(event, size))


def measure(event: Event, size: int) -> Iterator[object]:
    """The cells of one list."""
    with Recorder() as seen:
        length = len(answered(event)["body"])
    cpu = median(_seconds(event) for _ in range(RUNS))
    yield from (seen.steps, seen.rows_read, f"{cpu:.2f}", f"{cpu / size * 1e6:.0f}")
    yield f"{length / 1e6:.1f}"
    env = {**os.environ, "ENDPOINT_GROUP": "resources"}
    yield surroundings.run("bench.once", env, told=json.dumps([event])).strip()


def _seconds(event: Event) -> float:
    answers: list[Answer] = []
    return cpu_of(lambda: answers.append(answered(event)))


def _grown(owner: Somebody, reader: Somebody, more: int) -> Iterator[Rows]:
    """Resources, every second of them shared, with their holdings and secrets."""
    for number in range(more):
        resource = tenant.named(owner, reader if number % 2 else None, number)
        yield resource
        yield from tenant.holdings([resource], owner, *([reader] if number % 2 else []))


if __name__ == "__main__":
    main()
