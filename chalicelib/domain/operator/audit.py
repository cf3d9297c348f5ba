"""What functions may log of a request: one line of JSON an event, from a fixed list of fields.

No value here ever decrypts anything or stands for a session: no bodies, tokens, cookies,
clear text, addresses with query strings.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.domain.actor import Actor
from chalicelib.domain.clock import timestamp
from chalicelib.domain.operator import metrics
from chalicelib.domain.operator.metrics import Metric
from chalicelib.settings import settings

FIELDS = frozenset(
    {"event", "action", "actor", "object", "result", "status", "duration_ms", "request_id"}
    | {"source", "step", "reads", "writes", "template"}
)

SPANS = "spans"
"""The event of a line that holds what a collector of traces is sent."""

NOTHING_COUNTED: Mapping[Metric, int] = {}
ONE_ACCIDENT: Mapping[Metric, int] = {Metric.ACCIDENTS: 1}

LIBRARIES = (
    *("asyncio", "bcdocs", "botocore", "concurrent", "jinja2", "jwt", "ldap3", "PIL"),
    *("pgpy", "pynamodb", "urllib3"),
)
"""Who else writes to the log: each a logger, with those below it."""

_log = logging.getLogger("keyhaven")


def _write_lines_as_they_are() -> None:
    """Keep Lambda's own formatter away from our lines.

    It would make each a text inside of a line of its own, in which CloudWatch finds no members:
    neither a query nor a metric could name one.
    """
    lines = logging.StreamHandler(sys.stdout)
    lines.setFormatter(logging.Formatter("%(message)s"))
    _log.addHandler(lines)
    _log.propagate = False


def _let_libraries_warn_alone() -> None:
    """Keep them from what they tell whoever looks for a fault: whole requests, answers and rows.

    Else they would tell it to a log as soon as a function's level is lowered there.
    """
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)


_let_libraries_warn_alone()
if settings.function_name:
    _write_lines_as_they_are()


def write(
    event: str,
    counted: Mapping[Metric, int] = NOTHING_COUNTED,
    /,
    **fields: str | float | None,
) -> None:
    """Write one line; a field outside the list is a mistake of ours, and raises.

    What is `counted` is a metric of the function.
    """
    if stray := fields.keys() - FIELDS:
        raise ValueError(f"not a field of the log: {sorted(stray)}")
    told = {name: value for name, value in fields.items() if value is not None}
    line = {"time": timestamp(), "event": event, **told, **metrics.members(counted)}
    _log.info("%s", json.dumps(line))


def traced(spans: Sequence[Mapping[str, Any]]) -> None:
    """Write the spans of a request, which are made of a list as fixed as that of fields."""
    line = {"time": timestamp(), "event": SPANS, "spans": spans}
    _log.info("%s", json.dumps(line, separators=(",", ":")))


def succeeded(event: str, actor: Actor, subject: str, **further: str) -> None:
    """Write that the actor has done something to what has this identifier."""
    write(
        event,
        actor=actor.id,
        object=subject,
        result="success",
        request_id=actor.caller.request_id,
        **further,
    )


def accident(error: Exception, **fields: str) -> None:
    """Write that something has failed, and where. What it says may quote data: that stays out."""
    frames = traceback.extract_tb(error.__traceback__)
    trace = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames[-6:]))
    write("accident", ONE_ACCIDENT, step=trace, result=type(error).__name__, **fields)


def untraced_accident(request_id: str) -> None:
    """Write that a request failed outside of any endpoint; the framework has told its trace."""
    write("accident", ONE_ACCIDENT, request_id=request_id)
