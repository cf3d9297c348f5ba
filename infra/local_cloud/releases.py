"""How a release reaches a tenant in the local cloud, which has no CodeDeploy.

While the stack changes, aliases go on to lead to the versions of before. The same function asks
the new ones as on AWS, and the alarms that lead a release back are decided from the logs of the
functions. Then aliases lead to the new versions, all of them at once; or the stack is put back to
the template and the parameters of before, as CloudFormation does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from infra.checks.reading import named, of_kind
from infra.local_cloud.process import LocalCloud
from infra.local_cloud.watch import Point, points, rings
from infra.template.elements import NO_VALUE, Json
from infra.template.functions import FUNCTIONS, PROBER

_A_MINUTE = 60
_KIND = "CodeDeploy::DeploymentGroup"


@dataclass(frozen=True, slots=True)
class Release:
    """A change of a stack: its template before and after, and when it began."""

    stack: str
    before: Json
    after: Json
    since: float

    def is_gradual(self) -> bool:
        """Whether aliases that are released step by step are to lead to other versions."""
        return any(_led_elsewhere(self.before, self.after))


def held(cloud: LocalCloud, stack: str, before: Json, after: Json) -> Json:
    """The template of a change, but with aliases that lead where they lead now.

    Those that are released step by step: the others lead to new versions at once, as on AWS.
    """
    lambdas = cloud.client("lambda")
    resources = dict(after["Resources"])
    for name, alias in _led_elsewhere(before, after):
        called = _called(stack, alias["FunctionName"]["Ref"])
        now = lambdas.get_alias(FunctionName=called, Name=alias["Name"])["FunctionVersion"]
        properties = {**alias, "FunctionVersion": now}
        resources[name] = {**after["Resources"][name], "Properties": properties}
    return {**after, "Resources": resources}


def _led_elsewhere(before: Json, after: Json) -> Iterator[tuple[str, Json]]:
    """Aliases that are released step by step, and are to lead to other versions than before."""
    led = dict(of_kind(before, "Lambda::Alias"))
    for name, alias in of_kind(after, "Lambda::Alias"):
        if name not in led or "UpdatePolicy" not in after["Resources"][name]:
            continue
        if alias["FunctionVersion"] != led[name]["FunctionVersion"]:
            yield name, alias


def faults(cloud: LocalCloud, release: Release) -> list[str]:
    """Why a release has to go back; nothing where it may stay."""
    return [*_asked(cloud, release.stack), *_ringing(cloud, release)]


def _asked(cloud: LocalCloud, stack: str) -> list[str]:
    """What the prober says of the new versions, who is its newest code then."""
    answer = cloud.client("lambda").invoke(
        FunctionName=_called(stack, PROBER), Payload=json.dumps({"ask": "versions"}).encode()
    )
    told = json.load(answer["Payload"])
    if "FunctionError" in answer:
        return [f"the prober failed: {told}"]
    return [str(each) for each in told["faults"]]


def _ringing(cloud: LocalCloud, release: Release) -> Iterator[str]:
    """Alarms that ring of a minute in which the release was, the last one as soon as it is over."""
    heard = list(_heard(cloud, release.stack, release.since))
    moments = range(int(release.since) + _A_MINUTE, int(time.time()) + 2 * _A_MINUTE, _A_MINUTE)
    alarms = dict(of_kind(release.after, "CloudWatch::Alarm"))
    for _, group in of_kind(release.after, _KIND):
        for name in sorted(named(group["AlarmConfiguration"]["Alarms"])):
            alarm = _resolved(release.stack, alarms[name])
            if any(rings(alarm, heard, moment) for moment in moments):
                yield f"the alarm {name} rings"


def _heard(cloud: LocalCloud, stack: str, since: float) -> Iterator[Point]:
    """What the functions have counted in their logs since a moment."""
    logs = cloud.client("logs")
    for each in FUNCTIONS:
        group = f"/keyhaven/{stack.partition('-')[2]}/{each.name}"
        pages = logs.get_paginator("filter_log_events").paginate(
            logGroupName=group, startTime=int(since * 1000)
        )
        for page in pages:
            yield from points(event["message"] for event in page["events"])


def _called(stack: str, function: str) -> str:
    return {each.id: f"{stack}-{each.name}" for each in FUNCTIONS}.get(function, function)


def _resolved(stack: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_resolved(stack, each) for each in value]
    if not isinstance(value, dict):
        return value
    if "Ref" in value:
        return _called(stack, value["Ref"])
    if "Fn::Sub" in value:
        return str(value["Fn::Sub"])
    return {name: _resolved(stack, each) for name, each in value.items() if each != NO_VALUE}
