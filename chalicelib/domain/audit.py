"""What is written about a request: one line of JSON an event, from a fixed list of fields.

No value here ever decrypts anything or stands for a session: no bodies, tokens, cookies,
clear text, addresses with query strings.
"""

from __future__ import annotations

import json
import logging
import traceback

from chalicelib.domain.actor import Actor
from chalicelib.domain.clock import timestamp

FIELDS = frozenset(
    {"event", "action", "actor", "object", "result", "status", "duration_ms", "request_id"}
    | {"source", "step", "reads", "writes", "template"}
)

_log = logging.getLogger("keyhaven")


def write(event: str, **fields: str | float | None) -> None:
    """Write one line; a field outside the list is a mistake of ours, and raises."""
    if stray := fields.keys() - FIELDS:
        raise ValueError(f"not a field of the log: {sorted(stray)}")
    line = {"time": timestamp(), "event": event}
    _log.info("%s", json.dumps(line | {k: v for k, v in fields.items() if v is not None}))


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
    write("accident", step=trace, result=type(error).__name__, **fields)
