"""Cold starts: a fresh process of each group and its first request, against the floor's."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

from bench import surroundings
from bench.measure import Spread, paired
from bench.requests import STARTS, Case, Requests
from bench.tables import Table
from bench.tenant import Tenant
from chalicelib.endpoint_groups import WORKERS
from chalicelib.settings import settings
from chalicelib.tables.users.users import User

RUNS = 15
Start = Callable[[], tuple[float, float]]
"""Starts a process; returns its seconds of CPU and of time."""


def main() -> None:
    assert settings.key_folder is not None
    requests = Requests(Tenant.read(settings.key_folder))
    runs = RUNS // (4 if "--quick" in sys.argv else 1)
    table = Table(("group, first request", "CPU ms", "floor ms", "ratio", "wall ms", "ratio"))
    for case in STARTS:
        start = partial(_start, case, requests)
        measure(f"{case.group}, {case.name}", start, requests.tenant.ada, runs, table)
    for worker in WORKERS:
        if worker.is_scheduled and not worker.asks_versions:  # which asks the tenant's address
            start = partial(_worker_start, *worker.modules)
            measure(f"{worker.name}, with nothing to do", start, requests.tenant.ada, runs, table)


def measure(name: str, start: Start, user_id: str, runs: int, table: Table) -> None:
    ours, floors = [], []
    for _ in range(runs + 1):  # the first compiles and is not counted
        ours.append(start())
        floors.append(_bare_start(user_id))
    cpu, wall = zip(*ours[1:], strict=True)
    floor_cpu, floor_wall = zip(*floors[1:], strict=True)
    table.row(
        name,
        Spread.of(list(cpu)).times(1000),
        Spread.of(list(floor_cpu)).times(1000),
        f"{paired(list(cpu), list(floor_cpu)):.2f}",
        Spread.of(list(wall)).times(1000),
        f"{paired(list(wall), list(floor_wall)):.2f}",
    )


def _start(case: Case, requests: Requests) -> tuple[float, float]:
    event = json.dumps([case.make(requests)])
    return _timed("bench.once", {**os.environ, "ENDPOINT_GROUP": case.group}, told=event)


def _worker_start(module: str) -> tuple[float, float]:
    env = {**os.environ, "AVATAR_FOLDER": os.environ["KEY_FOLDER"]}
    return _timed("bench.worker", env, module)


def _bare_start(user_id: str) -> tuple[float, float]:
    return _timed("bench.bare", os.environ, User.stored_as(), user_id)


def _timed(
    module: str, env: Mapping[str, str], *arguments: str, told: str = ""
) -> tuple[float, float]:
    """Seconds of CPU and of time that a process takes."""
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    surroundings.run(module, env, *arguments, told=told)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - wall


if __name__ == "__main__":
    main()
