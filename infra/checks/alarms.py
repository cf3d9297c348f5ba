"""Alarms: somebody is told, of every function and of every schedule."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain.operator.metrics import Metric
from infra.checks.reading import named, of_kind
from infra.template.elements import Json

_HEARD = ("Errors", str(Metric.ACCIDENTS))
"""Metrics each function has an alarm of: it did not answer, or answered with an accident."""


def alarms_tell_somebody(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "CloudWatch::Alarm"):
        if "AlarmTopic" not in named(each.get("AlarmActions")):
            yield f"{name} rings and nobody is told."
        if each.get("ActionsEnabled", True) is not True:
            yield f"{name} is switched off."


def every_function_is_listened_to(template: Json) -> Iterator[str]:
    heard = {
        (function, each.get("MetricName"))
        for _, each in of_kind(template, "CloudWatch::Alarm")
        for function in named(each.get("Dimensions"))
    }
    for name, _ in of_kind(template, "Lambda::Function"):
        for metric in _HEARD:
            if (name, metric) not in heard:
                yield f"{name} has no alarm of its {metric}."


def schedules_call_and_are_missed(template: Json) -> Iterator[str]:
    """A schedule that is off, or leads nowhere, is silent; and silence has to ring."""
    missed = {
        function
        for _, each in of_kind(template, "CloudWatch::Alarm")
        if each["TreatMissingData"] == "breaching"
        for metric in _metrics(each)
        if metric["MetricName"] == "Invocations"
        for function in named(metric["Dimensions"])
    }
    for name, each in of_kind(template, "Events::Rule"):
        if each.get("State") != "ENABLED":
            yield f"The schedule {name} is off."
        for alias in named(each.get("Targets")) or {"nothing"}:
            function = alias.removesuffix("Alias") + "Function"
            if function not in template["Resources"]:
                yield f"The schedule {name} calls {alias}, which is no function."
            elif function not in missed:
                yield f"Nobody is told when {name} does not call {function}."


def _metrics(alarm: Json) -> Iterator[Json]:
    """What it is made of, where that is an expression."""
    for each in alarm.get("Metrics", ()):
        if "MetricStat" in each:
            yield each["MetricStat"]["Metric"]
