"""In which waves a build is brought to tenants, and what stops it; or to one tenant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from infra.checks import forms
from infra.operate import builds, functions, leftovers, mail_identities, smoke, upgrades
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.registry import ACTIVE, HELD, LEAVES, Entry, Registry
from infra.operate.stack import ChangeSet, Stack
from infra.operate.steps import Failed, Step
from infra.operate.tables import indexes, left_tables
from infra.template.alarms import OF_RECIPIENTS
from infra.template.elements import Json

SECOND_WAVE = 0.05
"""The part of the tenants a release reaches before the rest."""
WORK = "release"
_BATCH = 100
"""CloudWatch tells of so many alarms at once."""


def waves(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Our own tenants, then one in twenty, then the rest; in each release the same.

    Without those that are passed over: they are behind when what they are at has ended.
    """
    active = [entry for entry in entries if entry.state == ACTIVE and not _in_the_way(entry)]
    own = [entry for entry in active if entry.is_own]
    others = sorted((entry for entry in active if not entry.is_own), key=_place)
    size = math.ceil(len(others) * SECOND_WAVE)
    return [wave for wave in (own, others[:size], others[size:]) if wave]


def _in_the_way(entry: Entry) -> str:
    """Why a tenant may be silent for long, or no other command begins on it; often nothing."""
    if entry.work == HELD:
        return "held"
    return entry.restoring or (entry.work if entry.work.startswith(LEAVES) else "")


def passed(build: Build, entries: Iterable[Entry]) -> str:
    """Which tenants the build does not reach though they are behind; nothing where none is."""
    told = [
        f"{entry.tenant} ({_in_the_way(entry)})"
        for entry in entries
        if entry.state == ACTIVE and _in_the_way(entry) and not has(entry, build)
    ]
    if not told:
        return ""
    return f"The release passes over {', '.join(told)}. Give it again when that has ended."


def _place(entry: Entry) -> str:
    """An order that does not follow from names, so that no kind of tenant is always first."""
    return sha256(entry.tenant.encode()).hexdigest()


def has(entry: Entry, build: Build) -> bool:
    """Whether a tenant has this build: its code, its layer, and the template of its tier."""
    return (entry.code, entry.layer, entry.template) == tuple(noted(entry, build).values())


def noted(entry: Entry, build: Build) -> dict[str, str]:
    """What the registry notes of a build that was brought to a tenant."""
    return {
        "code": build.bundle.code_digest,
        "layer": build.bundle.layer_digest,
        "template": build.template_digest(entry.tier),
    }


def planned(account: Account, build: Build, entry: Entry) -> ChangeSet | None:
    """What the build would change; nothing is carried out by it.

    Raises `Failed` where the build may not follow the one that runs, its rows are not all of a
    form that it reads, or it would replace a table, a key, or what else is stored in.
    """
    return _changes(account, entry, _wanted(account, build, entry))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a tenant's stack is to be."""

    template: Json
    parameters: Mapping[str, str]
    bucket: str


def _wanted(account: Account, build: Build, entry: Entry) -> _Wanted:
    upgrades.require_readable(account, entry, forms.manifest())
    platform = builds.platform_outputs(account)
    parameters = builds.parameters_of(entry, platform)
    template = builds.template_of(entry, build, parameters)
    builds.require_kept(builds.stack_of(account, entry.tenant), template)
    return _Wanted(template, parameters, platform["CodeBucket"])


def _changes(account: Account, entry: Entry, wanted: _Wanted) -> ChangeSet | None:
    stack = builds.stack_of(account, entry.tenant)
    changes = stack.changes(wanted.template, wanted.parameters, bucket=wanted.bucket)
    if changes is not None:
        _require_none_replaced(stack, changes)
    return changes


def _require_none_replaced(stack: Stack, changes: ChangeSet) -> None:
    """Also where CloudFormation alone knows it, such as by a parameter in a name."""
    if replaced := [str(each) for each in changes.changes if each.takes_data]:
        stack.drop(changes.id, changes.kind)
        raise Failed("\n".join(["Nothing is changed, since data would be left behind:", *replaced]))


def bring(
    account: Account,
    build: Build,
    tenant: str,
    *,
    work: str = WORK,
    parameters: Mapping[str, str] | None = None,
    instead: bool = False,
) -> str:
    """Update a tenant's stack; CloudFormation undoes what fails, and so do alarms meanwhile."""
    registry = Registry(account)
    entry = registry.begin(tenant, work, ACTIVE, instead=instead)
    changed = parameters or {}
    entry = replace(entry, parameters={**entry.parameters, **changed})
    wanted = _wanted(account, build, entry)
    before = [
        left_tables.take_in(account, entry, wanted.template),
        indexes.make(account, entry, wanted.template),
    ]
    changes = _changes(account, entry, wanted)
    if changes is not None:
        builds.stack_of(account, tenant).apply(changes)
    outputs = builds.stack_of(account, tenant).outputs()
    record = builds.record(entry, outputs) if "DomainName" in changed else ""
    _require_well(account, entry, record)
    leftovers.expire_gateway_logs(account, outputs["ApiId"])
    pruned = functions.prune(account, tenant)
    registry.end(
        tenant,
        work,
        forms=forms.manifest(),
        parameters=dict(entry.parameters),
        **noted(entry, build),
    )
    told = f"{0 if changes is None else len(changes.changes)} resources changed. {pruned}"
    mails = mail_identities.lines(account, entry) if "MailIdentity" in changed else []
    return "\n    ".join(filter(None, [*before, told, record, *mails]))


def _require_well(account: Account, entry: Entry, record: str) -> None:
    """Without its record nothing answers at a new name: which one, is told then too."""
    try:
        smoke.require_well(account, entry)
    except Failed as problem:
        raise Failed("\n    ".join(filter(None, [str(problem), record]))) from problem


def steps(account: Account, build: Build, entries: Sequence[Entry], watched: int) -> list[Step]:
    """A step for each tenant that has another build, and one that watches each wave."""
    made: list[Step] = []
    for number, wave in enumerate(waves(entries), 1):
        behind = [entry for entry in wave if not has(entry, build)]
        made += [_bring(account, build, entry, number) for entry in behind]
        if behind:
            made.append(_watch(account, wave, number, watched))
    return made


def _bring(account: Account, build: Build, entry: Entry, wave: int) -> Step:
    return Step(
        f"wave {wave}: bring the build to {entry.tenant}",
        lambda: bring(account, build, entry.tenant),
    )


def _watch(account: Account, wave: Sequence[Entry], number: int, minutes: int) -> Step:
    def watch() -> str:
        for minute in range(minutes + 1):
            if minute:
                account.pause(60)
            require_quiet(account, [entry.tenant for entry in wave])
        return "No alarm rings."

    return Step(f"wave {number}: watch the alarms for {minutes} minutes", watch)


def require_quiet(account: Account, tenants: Iterable[str]) -> None:
    """Raise `Failed` where an alarm of one of these tenants rings."""
    ringing = [f"{tenant}: {name}" for tenant in tenants for name in _ringing(account, tenant)]
    if ringing:
        raise Failed("\n".join(["The release stops here, since alarms ring:", *ringing]))


def _ringing(account: Account, tenant: str) -> list[str]:
    made = builds.stack_of(account, tenant).resources("CloudWatch::Alarm")
    alarms = [alarm for name, alarm in made.items() if name not in OF_RECIPIENTS]
    batches = [alarms[start : start + _BATCH] for start in range(0, len(alarms), _BATCH)]
    return [
        alarm["AlarmDescription"]
        for batch in batches
        for alarm in account.pages(
            "cloudwatch", "describe_alarms", "MetricAlarms", AlarmNames=batch
        )
        if alarm["StateValue"] == "ALARM"
    ]
