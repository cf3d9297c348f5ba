"""What the first page of an action log costs by the number of its lines: steps, if all is well.

The page is the one that the browser extension asks for. Lines tell of readings, those of which
there are most; two users are named in turn.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from statistics import median

from bench.endpoints import answered, keep_to_one_core
from bench.measure import cpu_of
from bench.requests import Requests
from bench.tables import Table
from bench.tenant import Tenant
from chalicelib.domain import clock
from chalicelib.domain.ids import ResourceId, new_id
from chalicelib.settings import settings
from chalicelib.storage import writing
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.logs.action_logs import GIVEN, ActionLog
from infra.local_server.events import Answer, Event
from tests.support.faults.hooks import Recorder
from tests.support.world import make
from tests.support.world.make import Somebody

SIZES = (100, 1_000, 10_000)
RUNS = 5
PAGES = {
    "first page of 5": "page=1&limit=5",
    "first page of 20": "page=1&limit=20",
    "first page, oldest first": "page=1&limit=5&sort=ActionLogs.created&direction=asc",
}


def main() -> None:
    keep_to_one_core()
    assert settings.key_folder is not None
    requests = Requests(Tenant.read(settings.key_folder))
    gus, greta = make.user("gus", key="ada"), make.user("greta", key="betty")
    resource_id = make.resource(gus, {greta: 1})
    table = Table(("page", "lines", "steps", "read", "CPU ms"))
    sizes = [size // 10 if "--quick" in sys.argv else size for size in SIZES]
    for before, size in pairwise((0, *sizes)):
        writing.put_all(_lines(resource_id, (gus, greta), range(before, size)))
        for name, query in PAGES.items():
            event = requests.of(gus.id, "GET", f"/actionlog/resource/{resource_id}.json?{query}")
            table.row(name, size, *measure(event, size))


def measure(event: Event, size: int) -> Iterator[object]:
    """The cells of one page."""
    answered(event)  # what is read once and kept is not a request's
    with Recorder() as seen:
        told = json.loads(answered(event)["body"])
    assert told["header"]["pagination"]["count"] == size
    yield from (seen.steps, seen.rows_read)
    yield f"{1000 * median(_seconds(event) for _ in range(RUNS)):.1f}"


def _seconds(event: Event) -> float:
    answers: list[Answer] = []
    return cpu_of(lambda: answers.append(answered(event)))


def _lines(
    subject: ResourceId, readers: tuple[Somebody, ...], numbers: range
) -> Iterator[ActionLog]:
    for number in numbers:
        moment = clock.now() - timedelta(hours=1) + timedelta(milliseconds=number)
        yield ActionLog(
            *(subject, f"{timestamp_text(moment)}#{new_id()}#{GIVEN}"),
            action=GIVEN,
            actor=readers[number % len(readers)].id,
            created=moment,
        )


if __name__ == "__main__":
    main()
