"""Alarms as CloudWatch decides them, from the lines of logs and from what is told of functions.

It knows what our alarms are made of: sums, greatest values and percentiles, counted by aligned
periods; expressions over sums; and what is made of periods in which nothing was heard. What is
heard is what CloudWatch has by then: services tell it of a minute a minute or two later.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infra.template.elements import Json

Named = tuple[str, str, frozenset[tuple[str, str]]]
"""A metric: namespace, name, and dimensions with their values."""
Heard = float | None
"""The value of a period; none where nothing was heard in it."""
FEW = 100
"""Values of which fewer conclude nothing at the 90th percentile: ten have to lie above it."""
FURTHER = 2
"""Periods that CloudWatch looks at beyond those that it decides by, where it hears nothing."""


@dataclass(frozen=True, slots=True)
class Point:
    """One value of one metric at one moment."""

    metric: Named
    at: float
    value: float


def points(lines: Iterable[str]) -> Iterator[Point]:
    """What CloudWatch reads from the lines of a log."""
    for line in lines:
        if not line.startswith("{"):
            continue
        told = json.loads(line)
        about = told.get("_aws", {})
        for declared in about.get("CloudWatchMetrics", ()):
            for names in declared["Dimensions"]:
                dimensions = frozenset((name, str(told[name])) for name in names)
                for metric in declared["Metrics"]:
                    name = metric["Name"]
                    named = (declared["Namespace"], name, dimensions)
                    yield Point(named, about["Timestamp"] / 1000, float(told[name]))


def rings(alarm: Json, heard: Sequence[Point], now: float) -> bool:
    """Whether an alarm, whose references are resolved, rings at a moment.

    It is decided by the newest periods in which something was heard, and only where these are too
    few by what the alarm makes of the others.
    """
    periods: int = alarm["EvaluationPeriods"]
    values = [_value(alarm, heard, now, back) for back in range(1, periods + FURTHER + 1)]
    there = [each for each in values if each is not None][:periods]
    compare = _COMPARISONS[alarm["ComparisonOperator"]]
    breaching = sum(compare(each, alarm["Threshold"]) for each in there)
    if alarm["TreatMissingData"] == "breaching":
        breaching += periods - len(there)
    enough: int = alarm.get("DatapointsToAlarm", periods)
    return breaching >= enough


_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
    "LessThanThreshold": lambda value, threshold: value < threshold,
}


def _value(alarm: Json, heard: Sequence[Point], now: float, back: int) -> Heard:
    if "Metrics" not in alarm:
        return _measured(alarm, alarm["Period"], _statistic(alarm), heard, now, back)
    [asked] = (each for each in alarm["Metrics"] if each["ReturnData"])
    series = {
        each["Id"]: _measured(
            each["MetricStat"]["Metric"],
            each["MetricStat"]["Period"],
            each["MetricStat"]["Stat"],
            heard,
            now,
            back,
        )
        for each in alarm["Metrics"]
        if "MetricStat" in each
    }
    known = {each.metric for each in heard}
    named = {
        _name(each["MetricStat"]["Metric"]) for each in alarm["Metrics"] if "MetricStat" in each
    }
    return _computed(asked["Expression"], series) if known & named else None


def _statistic(alarm: Json) -> str:
    return str(alarm.get("ExtendedStatistic") or alarm["Statistic"])


def _measured(
    metric: Json, period: int, statistic: str, heard: Sequence[Point], now: float, back: int
) -> Heard:
    named = _name(metric)
    end = math.floor(now / period) * period - (back - 1) * period
    values = [
        each.value for each in heard if each.metric == named and end - period <= each.at < end
    ]
    return _STATISTICS[statistic](values) if values else None


def _name(metric: Json) -> Named:
    dimensions = frozenset((each["Name"], each["Value"]) for each in metric["Dimensions"])
    return metric["Namespace"], metric["MetricName"], dimensions


def _percentile_90(values: Sequence[float]) -> Heard:
    """None where there are too few values, as our alarms ignore those."""
    if len(values) < FEW:
        return None
    return sorted(values)[math.ceil(0.9 * len(values)) - 1]


_STATISTICS: Mapping[str, Callable[[Sequence[float]], Heard]] = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
    "p90": _percentile_90,
}


def _computed(expression: str, series: Mapping[str, Heard]) -> float:
    words: dict[str, Any] = {"FILL": _filled, "IF": _chosen, "__builtins__": {}}
    return float(eval(expression, words, dict(series)))  # noqa: S307  written by us


def _filled(value: Heard, otherwise: float) -> float:
    return otherwise if value is None else value


def _chosen(condition: object, yes: float, no: float) -> float:
    return yes if condition else no
