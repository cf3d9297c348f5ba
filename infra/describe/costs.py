"""What a tenant costs: when nobody uses it, and for a million requests of each kind.

Counted from the template, from what the tests recorded and from `prices.py`; `docs/costs.md`
shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chalicelib.endpoint_groups import GROUPS
from infra.bundle.bundle import Bundle
from infra.checks.quotas import CELL
from infra.checks.reading import of_kind
from infra.describe import prices
from infra.describe.consumption import Consumption, recorded
from infra.describe.prices import MILLION
from infra.template.cell.backups import VAULT_DAYS
from infra.template.cell.platform import platform
from infra.template.compute import may_begin_from_snapshot
from infra.template.elements import Json
from infra.template.functions import FUNCTIONS, KEPT_VERSIONS, of_group
from infra.template.tenant import tenant
from infra.template.tiers import TIERS, Tier

STORED_GB = 1.0
"""Of rows, where nothing else is known: what some thousand passwords for some hundred take."""
MS_PER_STEP = 6
MS_OF_OURS = 12
"""Assumed of a warm function: for each round trip, and for all else."""
LOGGED_BYTES = 2_000
"""A request's line of ours, the gateway's, and Lambda's own."""
TRACED = 0.05
"""Of all requests: the sampling X-Ray begins with."""
MAIL_MS = 250
"""Assumed of the mailer, for each mail it is called with."""
SWEEPS = 12 * prices.HOURS
SWEEP_MS = 100
DIRECTORY_RUNS = prices.HOURS
DIRECTORY_RUN_MS = 1_500
"""Assumed of a tenant without a directory: the function starts, and reads that there is none."""
EXPORTS = prices.HOURS
"""Of a tenant whose logs are not exported; they take as long as a run without a directory."""
PROBED_MS = 100
COLD_START_MS = 400
"""Assumed of importing a group, on a core of Lambda's."""
GB = 1_000_000_000
_MB_PER_GB = 1024


@dataclass(frozen=True, slots=True)
class Item:
    what: str
    dollars: float


def idle(tier: Tier, stored_gb: float = STORED_GB, *, has_snapshots: bool = False) -> list[Item]:
    """What a tenant costs a month before anybody asks it anything."""
    template = tenant(tier, Bundle("0" * 16, "0" * 16))
    metrics = sum(
        _metrics(alarm)
        for name, alarm in of_kind(template, "CloudWatch::Alarm")
        if "Condition" not in template["Resources"][name]
    )
    secrets = len(list(of_kind(template, "SecretsManager::Secret")))
    items = [
        Item("the tenant's key", prices.KEY_MONTH),
        Item(f"{secrets} secrets", secrets * prices.SECRET_MONTH),
        Item("alarms", metrics * prices.ALARMED_METRIC_MONTH),
        Item(f"{stored_gb:.3g} GB of rows", stored_gb * prices.TABLE_GB_MONTH),
        Item(f"recovery of {stored_gb:.3g} GB", stored_gb * prices.RECOVERY_GB_MONTH),
        Item(
            f"{VAULT_DAYS} nightly copies of {stored_gb:.3g} GB",
            VAULT_DAYS * stored_gb * prices.COPY_GB_MONTH,
        ),
        Item(f"{SWEEPS:,} calls of the sweeper", SWEEPS * _sweep()),
        Item(f"{SWEEPS:,} calls of the prober", SWEEPS * _probe()),
        Item(
            f"{DIRECTORY_RUNS:,} calls of the synchroniser", DIRECTORY_RUNS * _look_for_settings()
        ),
        Item(f"{EXPORTS:,} calls of the exporter", EXPORTS * _look_for_settings()),
        Item("its part of the cell's firewall and keys", _of_cell() / CELL),
    ]
    if tier.warm:
        items.append(Item("functions that always wait", _warm(tier)))
    if has_snapshots:
        what = f"snapshots of {KEPT_VERSIONS} versions of each function"
        items.append(Item(what, KEPT_VERSIONS * snapshots(tier)))
    return items


@dataclass(frozen=True, slots=True)
class Million:
    """What a million requests of a kind cost."""

    request: str
    consumed: Consumption

    @property
    def rows(self) -> float:
        read, written = self.consumed.reads, self.consumed.writes
        return MILLION * (read * prices.READ_UNIT + written * prices.WRITE_UNIT)

    @property
    def milliseconds(self) -> int:
        return MS_OF_OURS + MS_PER_STEP * self.consumed.steps

    @property
    def function(self) -> float:
        memory = _memory(self.consumed.group)
        return MILLION * (prices.FUNCTION_CALLS + _running(memory, self.milliseconds))

    @property
    def around(self) -> float:
        """Gateway, firewall, logs, traces, and what is sent."""
        logs = LOGGED_BYTES / GB * prices.LOG_GB
        sent = self.consumed.answer / GB * prices.SENT_GB
        entry = prices.GATEWAY_CALLS + prices.FIREWALL_CALLS
        return MILLION * (entry + logs + sent + TRACED * prices.TRACE)

    @property
    def dollars(self) -> float:
        return self.rows + self.function + self.around


def millions() -> list[Million]:
    return [Million(name, consumed) for name, consumed in sorted(recorded().items())]


def _metrics(alarm: Json) -> int:
    """An alarm costs by the metrics it looks at; an expression over them is none."""
    return sum("MetricStat" in each for each in alarm.get("Metrics", ())) or 1


def _memory(group: str) -> int:
    return next(each.memory for each in FUNCTIONS if each.name == group)


def _running(memory: int, milliseconds: float) -> float:
    return memory / _MB_PER_GB * milliseconds / 1000 * prices.FUNCTION_GB_SECOND


def _sweep() -> float:
    run = _running(_memory("sweeper"), SWEEP_MS)
    return prices.FUNCTION_CALLS + run + prices.READ_UNIT


def _look_for_settings() -> float:
    """Once an hour, so nothing of it is warm any more."""
    run = _running(_memory("synchroniser"), DIRECTORY_RUN_MS)
    return prices.FUNCTION_CALLS + run + prices.READ_UNIT


def _probe() -> float:
    """The call, and the requests it asks: of a function that needs no rows, and of signing in."""
    asked = ("public", "auth")
    runs = sum(_running(_memory(name), PROBED_MS) for name in asked)
    around = len(asked) * (prices.GATEWAY_CALLS + prices.FIREWALL_CALLS + prices.FUNCTION_CALLS)
    waiting = _running(_memory("prober"), len(asked) * PROBED_MS)
    return prices.FUNCTION_CALLS + waiting + runs + around


def mail() -> float:
    """What a mail costs when it has been written: the call, its row, and SES.

    The row is read twice, marked in a transaction, which counts twice, and removed.
    """
    run = _running(_memory("mailer"), MAIL_MS)
    rows = 2 * prices.READ_UNIT + 3 * prices.WRITE_UNIT
    logs = LOGGED_BYTES / GB * prices.LOG_GB
    return prices.FUNCTION_CALLS + run + rows + logs + prices.MAIL


def _of_cell() -> float:
    keys = len(list(of_kind(platform(Bundle("0" * 16, "0" * 16)), "KMS::Key")))
    return prices.FIREWALL_MONTH + keys * prices.KEY_MONTH


def _warm(tier: Tier) -> float:
    memory = sum(of_group(group).memory for group in GROUPS if group.name in tier.warm)
    return memory / _MB_PER_GB * prices.SECONDS * prices.WARM_GB_SECOND


def snapshots(tier: Tier) -> float:
    """What the snapshots of one version of each function cost a month, used or not."""
    return _snapshot_gb(tier) * prices.SECONDS * prices.SNAPSHOT_GB_SECOND


def _snapshot_gb(tier: Tier) -> float:
    return (
        sum(each.memory for each in FUNCTIONS if may_begin_from_snapshot(each, tier)) / _MB_PER_GB
    )


def page() -> str:
    """`docs/costs.md`."""
    lines = [*_idle_table(), "", _about_starts(), ""]
    lines += [_ABOUT_REQUESTS, *_table(), "", _about_mails()]
    return "\n".join(["# Costs", "", _ABOUT, *lines]) + "\n"


_ABOUT = f"""\
This page is written from the code by `make docs`; a test compares the two.

In US dollars, Ireland, without free tiers, discounts and taxes. The prices stand in
`infra/describe/prices.py`, as noted in {prices.NOTED}; **they are to be checked** before anybody
relies on a sum made of them. `keyhaven infra cost` prints the same, and with a tenant's name
counts what that tenant has stored.

## A month in which nobody asks anything

A tenant with {STORED_GB:.3g} GB of rows, in a cell of {CELL}:
"""
_ABOUT_REQUESTS = f"""\
## A million requests

Units of DynamoDB, round trips and bytes are recorded by the tests, in a small tenant (see
`docs/budgets.md`); what is read and written of a row counts by its size, as DynamoDB counts it.
Assumed are {MS_OF_OURS} ms and {MS_PER_STEP} ms for each round trip of a warm function,
{LOGGED_BYTES:,} bytes of logs a request, and traces of {TRACED:.0%} of the requests. *Around*
are gateway, firewall, logs, traces and what is sent.
"""


def _about_starts() -> str:
    kept = (f"{KEPT_VERSIONS * snapshots(TIERS[name]):.2f} ({name})" for name in sorted(TIERS))
    restored = 1000 * prices.RESTORED_GB
    each = 1000 * _running(_memory("settings"), COLD_START_MS)
    saved = 1 - prices.ARM_GB_SECOND / prices.FUNCTION_GB_SECOND
    return f"""\
## Beginning from snapshots

With `SnapStart=yes` Lambda keeps the memory of each published version, of which a tenant has up
to {KEPT_VERSIONS} of each function. A month more, whether anybody asks or not:
{", ".join(kept)};
and {restored:.2f} for a thousand starts of a function of 1 GB. Without it, a thousand starts of
{COLD_START_MS} ms cost {each:.3f}, and somebody waits for each (ADR 52). Functions on arm64 would
run for {saved:.0%} less; snapshots cost the same there."""


def _about_mails() -> str:
    return f"""\
## A thousand mails

{1000 * mail():.2f}, of which SES takes {1000 * prices.MAIL:.2f}. The stream that calls the mailer
costs nothing: reads by Lambda are free."""


def _idle_table() -> Iterator[str]:
    yield "| | " + " | ".join(sorted(TIERS)) + " |"
    yield "|---" * (len(TIERS) + 1) + "|"
    columns = {name: {item.what: item for item in idle(TIERS[name])} for name in sorted(TIERS)}
    for what in dict.fromkeys(what for column in columns.values() for what in column):
        cells = (column.get(what) for column in columns.values())
        shown = ("" if item is None else f"{item.dollars:.2f}" for item in cells)
        yield f"| {what} | {' | '.join(shown)} |"
    sums = (sum(item.dollars for item in column.values()) for column in columns.values())
    yield f"| **together** | {' | '.join(f'**{each:.2f}**' for each in sums)} |"


def _table() -> Iterator[str]:
    yield "| Request | Steps | Reads | Writes | Bytes | Rows | Function | Around | Together |"
    yield "|---" * 9 + "|"
    for each in millions():
        used = each.consumed
        counted = (used.steps, f"{used.reads:g}", f"{used.writes:g}", f"{used.answer:,}")
        asked = (f"{dollars:.2f}" for dollars in (each.rows, each.function, each.around))
        cells = (f"`{each.request}`", *map(str, counted), *asked, f"**{each.dollars:.2f}**")
        yield "| " + " | ".join(cells) + " |"
