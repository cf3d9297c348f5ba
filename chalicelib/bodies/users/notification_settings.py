"""The body by which administrators say which mails are sent."""

from __future__ import annotations

from typing import Annotated, Any

from chalicelib.bodies.rules import UNSET, Rule, TakenAs, Unset
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.notices import SWITCHES

INVALID = "The email notification settings are invalid."
_VALUES = {True: True, False: False, "1": True, "0": False, "true": True, "false": False}
"""1 and 0 are equal to `True` and `False`, as keys too."""
_switch = Rule(
    "boolean",
    "The {field} should be true or false.",
    lambda value: isinstance(value, int | str) and value in _VALUES,
    gives=bool,
    canonical=_VALUES.__getitem__,
    schema={"type": ["boolean", "integer", "string"], "enum": [*_VALUES, 1, 0]},
)
_unless_nothing = TakenAs(
    lambda sent: UNSET if sent is None or isinstance(sent, list | dict) else sent
)

_switches = dict.fromkeys(SWITCHES, Annotated[bool | Unset, _unless_nothing, _switch])
_declared = dict.fromkeys(SWITCHES, UNSET) | {"__annotations__": _switches}

NotificationSettingsBody: type[Any] = dataclass(frozen=True, slots=True)(
    type("NotificationSettingsBody", (), _declared)
)
"""Any of the switches; what is not sent keeps its value."""
