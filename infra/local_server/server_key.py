"""The server's key, changed when the service starts, as the founder does it in the cloud."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.operator.server_key_sets import SEALED_ANEW_AFTER, SEALED_ANEW_BEFORE
from chalicelib.workers import founder
from infra.local_server.options import CannotServe


def change(step: str) -> str:
    """Take a step and say how the keys stand after it; raises `CannotServe` where it is refused.

    What rests sealed to the earlier key is sealed anew, as `keyhaven infra rotate` has it.
    """
    if step in SEALED_ANEW_BEFORE or step == founder.RESEAL:
        _seal_anew()
    told = _asked(founder.LOOK if step == founder.RESEAL else step)
    if step in SEALED_ANEW_AFTER:
        _seal_anew()
    coming = f", {told['coming']} comes" if told["coming"] else ""
    since = f", possible from {told['from']}" if told["from"] else ""
    return f"{told['in_use']} is in use{coming}; the next step is '{told['step']}'{since}."


def _seal_anew() -> None:
    while not _asked(founder.RESEAL)["is_all"]:
        pass


def _asked(what: str) -> dict[str, Any]:
    told = founder.handler({"server_key": what}, None)
    if refusal := told.get("refused"):
        raise CannotServe(f"SERVER_KEY is {what!r}: {refusal}")
    return told
