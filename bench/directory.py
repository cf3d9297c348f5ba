"""What a run of the directory synchronisation costs: up to 2,000 users and 200 groups.

The company grows from one size to the next; after each, a run that finds nothing to change should
read, write nothing, and cost the same for each entry. What is written is told for each report: a
person invited or changed, a group or a membership. The run is the one of the service over tables
in another process; what the directory answers is a value. CPU is that of this process alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from bench.endpoints import keep_to_one_core
from bench.measure import cpu_of
from bench.tables import Table
from bench.tenant import Tenant
from chalicelib.domain.actor import Caller
from chalicelib.domain.directory.directory import Directory, EntryId, Person, Team
from chalicelib.domain.directory.directory_settings import DirectorySettings
from chalicelib.domain.ids import UserId, named_id
from chalicelib.services.directory import synchronisation
from chalicelib.services.directory.directory_settings import Standing
from chalicelib.services.directory.doing import acting
from chalicelib.services.directory.reports import Outcome, Status
from chalicelib.settings import settings
from chalicelib.storage import writing
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.users import people
from tests.support.faults.hooks import Recorder

SIZES = (500, 1_000, 2_000)
"""Users; there is a group for ten of them."""
IN_A_TEAM = 20
RENAMED, GONE = 100, 10
RUNS = 5
"""Runs that find nothing to change, by whose median their CPU is told."""
LONG_AGO = datetime(2026, 1, 5, tzinfo=UTC)

Run = Callable[[Directory], Outcome]


def main() -> None:
    keep_to_one_core()
    heads = ("run", "reports", "steps", "read", "written", "each", "checked", "CPU s", "µs each")
    table = Table(heads)
    sizes = [size // 4 if "--quick" in sys.argv else size for size in SIZES]
    for before, size in pairwise((0, *sizes)):
        crowd = [_person(number) for number in range(size)]
        teams = [_team(number, crowd) for number in range(size // 10)]
        known = teams[: before // 10]
        measure(f"{size - before:,} users are invited", Directory(crowd, known), table)
        _let_all_set_up()
        more = len(teams) - len(known)
        measure(f"{more} groups of {IN_A_TEAM} are made", Directory(crowd, teams), table)
        still = Directory(crowd, teams)
        measure(f"{size:,} users and {len(teams)} groups stay", still, table, RUNS)
    renamed = [*(_person(number, "Renamed") for number in range(RENAMED)), *crowd[RENAMED:]]
    measure(f"{RENAMED} users have other names", Directory(renamed, teams), table)
    measure(f"{GONE} users are gone", Directory(renamed[:-GONE], teams), table)


def measure(name: str, directory: Directory, table: Table, runs: int = 1) -> None:
    """A line of the table; of several runs, CPU is that of the middle one."""
    run, seconds = _run(), []
    outcomes: list[Outcome] = []
    for _ in range(runs):
        with Recorder() as seen:
            seconds.append(cpu_of(lambda: outcomes.append(run(directory))))
    told = sum(each.status is Status.SUCCESS for each in outcomes[0].reports)
    written = seen.rows_written - seen.rows_checked
    cpu, entries = median(seconds), len(directory.people) + len(directory.teams)
    table.row(
        name,
        told,
        seen.steps,
        seen.rows_read,
        written,
        f"{written / told:.1f}" if told else "",
        seen.rows_checked,
        f"{cpu:.2f}",
        f"{cpu / entries * 1e6:.0f}",
    )


def _run() -> Run:
    """A run in the name of an administrator."""
    assert settings.key_folder is not None
    administrator = UserId(Tenant.read(settings.key_folder).ada)
    standing = Standing(DirectorySettings((), administrator, administrator), None)
    actor = acting(people.by_id([administrator])[administrator], Caller())
    return lambda directory: synchronisation.carry_out(
        actor, standing, synchronisation.asked(lambda: directory), None
    )


def _person(number: int, first: str = "One") -> Person:
    name = f"bench{number}"
    return Person(
        EntryId(named_id(f"entry {name}")),
        f"uid={name},ou=people,dc=example,dc=org",
        LONG_AGO,
        LONG_AGO,
        f"{name}@example.org",
        first,
        "Of Many",
    )


def _team(number: int, crowd: list[Person]) -> Team:
    first = number // 2 * IN_A_TEAM  # so everybody is in two
    members = [each.name for each in crowd[first : first + IN_A_TEAM]]
    return Team(
        EntryId(named_id(f"entry of team {number}")),
        f"cn=team{number},ou=groups,dc=example,dc=org",
        LONG_AGO,
        LONG_AGO,
        f"Team {number}",
        members,
        members,
    )


def _let_all_set_up() -> None:
    """Everybody who was invited has an account: rows as the setup leaves them, but for keys."""
    users = people.by_id(str(link.subject) for link in DirectoryLink.of_kind(Model.USERS))
    for user in users.values():
        user.active = True
    writing.put_all(list(users.values()))


if __name__ == "__main__":
    main()
