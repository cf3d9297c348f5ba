"""What a share with a group costs by the number of its members: a line, if all is well."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from bench import sharing
from bench.endpoints import answered, keep_to_one_core
from bench.measure import Spread, cpu_of
from bench.requests import Requests
from bench.tables import Table
from bench.tenant import Tenant
from chalicelib.settings import settings
from infra.local_server.events import Event
from tests.support.faults.hooks import Recorder

RUNS = 8


class Costs:
    """What the same request costs, made several times."""

    def __init__(self) -> None:
        self.seen = Recorder()
        self.seconds: list[float] = []

    def add(self, event: Event) -> None:
        with Recorder() as self.seen:
            self.seconds.append(cpu_of(lambda: answered(event)))

    def show(self, name: str, members: int, table: Table) -> None:
        """A line of the table, without the first time, which opens connections."""
        cpu = Spread.of(self.seconds[1:]).times(1000)
        table.row(
            name,
            self.seen.steps,
            self.seen.rows_read,
            self.seen.rows_written - self.seen.rows_checked,
            self.seen.rows_checked,
            cpu,
            f"{cpu.middle / members:.3f}",
        )


def main() -> None:
    keep_to_one_core()
    assert settings.key_folder is not None
    requests = Requests(Tenant.read(settings.key_folder))
    runs = RUNS // (4 if "--quick" in sys.argv else 1)
    table = Table(("request", "steps", "read", "written", "checked", "CPU ms", "each"))
    for group_id, members in requests.tenant.members.items():
        shares, ends = measure(group_id, members, requests, runs)
        shares.show(f"share with {len(members)} members", len(members), table)
        ends.show(f"unshare from {len(members)} members", len(members), table)


def measure(
    group_id: str, members: Sequence[str], requests: Requests, runs: int
) -> tuple[Costs, Costs]:
    """Give resources to the group, and take each from it again."""
    shares, ends = Costs(), Costs()
    for _ in range(runs + 1):
        resource_id = requests.fresh()
        given = sharing.with_group(group_id, members)
        shares.add(_sent(requests, resource_id, given))
        taken = sharing.without(_permission(requests, resource_id, group_id))
        ends.add(_sent(requests, resource_id, taken))
    return shares, ends


def _sent(requests: Requests, resource_id: str, body: sharing.Body) -> Event:
    return requests.of(requests.tenant.carol, "PUT", sharing.path(resource_id), body)


def _permission(requests: Requests, resource_id: str, group_id: str) -> str:
    path = f"/permissions/resource/{resource_id}.json"
    answer = answered(requests.of(requests.tenant.carol, "GET", path))
    shown = json.loads(answer["body"])["body"]
    return str(next(each["id"] for each in shown if each["aro_foreign_key"] == group_id))


if __name__ == "__main__":
    main()
