"""What each endpoint costs: storage, CPU against the floor, memory. Runs as a function would."""

from __future__ import annotations

import argparse
import json
import os

from app import app
from bench import surroundings
from bench.floor import Call, Floor, Recorded, bare_botocore, signed_http
from bench.measure import Spread, cpu_of, paired
from bench.requests import CASES, WITH_RSA, Case, Requests
from bench.tables import Table
from bench.tenant import Tenant
from chalicelib.settings import settings
from infra.local_server.events import Answer, Event
from tests.support.faults.hooks import Recorder

RUNS = 60
LIST_RUNS = 11
WARM = 2
"""Runs before those that count."""


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("names", nargs="*")
    options = asked.parse_args()
    keep_to_one_core()
    assert settings.key_folder is not None
    requests = Requests(Tenant.read(settings.key_folder))
    floors = {True: signed_http(), False: bare_botocore()}
    table = Table(
        (
            *("endpoint", "steps", "read", "written", "checked"),
            *("CPU ms", "floor ms", "ratio", "goal", "MB"),
        )
    )
    chosen = [case for case in (*CASES, WITH_RSA) if case.name in options.names] or CASES
    for case in chosen:
        runs = (LIST_RUNS if case.is_list else RUNS) // (4 if options.quick else 1)
        measure(case, requests, floors[case.is_list], runs, table)


def keep_to_one_core() -> None:
    """As a function of 1,769 MB has it. On several, our threads would pay for changing cores."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def measure(case: Case, requests: Requests, floor: Floor, runs: int, table: Table) -> None:
    """One line of the table."""
    memory = _memory(case, requests)
    answered(case.make(requests))  # what is read once and kept is not a request's
    with Recorder() as seen:
        answered(case.make(requests))
    ours, floors = _in_pairs(case, requests, floor, runs)
    table.row(
        case.name,
        seen.steps,
        seen.rows_read,
        seen.rows_written - seen.rows_checked,
        seen.rows_checked,
        Spread.of(ours).times(1000),
        Spread.of(floors).times(1000),
        f"{paired(ours, floors):.2f}",
        case.goal,
        memory,
    )


def _in_pairs(
    case: Case, requests: Requests, floor: Floor, runs: int
) -> tuple[list[float], list[float]]:
    """The CPU of requests and of their floors, in turn, so that both meet the same noise."""
    ours, floors = [], []
    for _ in range(runs + WARM):
        event = case.make(requests)
        calls, cpu, body = _measured(event)
        ours.append(cpu)
        floors.append(cpu_of(lambda calls=calls, body=body: floor(calls, body)))  # type: ignore[misc]
    return ours[WARM:], floors[WARM:]


def _measured(event: Event) -> tuple[list[Call], float, object]:
    answers: list[Answer] = []
    with Recorded() as recorded:
        cpu = cpu_of(lambda: answers.append(answered(event)))
    return recorded.calls, cpu, json.loads(answers[0]["body"])


def answered(event: Event) -> Answer:
    answer: Answer = app(event, None)
    assert answer["statusCode"] == 200, answer["body"][:300]
    return answer


def _memory(case: Case, requests: Requests) -> int:
    """Most MB that a function of the group has had after three such requests."""
    events = json.dumps([case.make(requests) for _ in range(3)])
    env = {**os.environ, "ENDPOINT_GROUP": case.group}
    return int(surroundings.run("bench.once", env, told=events))


if __name__ == "__main__":
    main()
