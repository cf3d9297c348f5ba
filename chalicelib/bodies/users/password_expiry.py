"""Bodies of password expiry: what an organisation wants of it, and the dates of resources."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from chalicelib.bodies.rules import Rule, absent_is_empty, boolean, expired, not_empty, uuid
from chalicelib.domain.light import dataclass

INVALID = "Could not validate the password expiry settings."
_DAYS = re.compile(r"[0-9]{1,9}", re.ASCII)
_MOST_DAYS = 999_999_999


def _days(value: Any) -> int | None:
    """How many whole days a number, or a text of digits, stands for; one at least."""
    if isinstance(value, str) and _DAYS.fullmatch(value):
        value = int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 1 <= value <= _MOST_DAYS else None


_natural_number = Rule(
    "naturalNumber",
    f"The {{field}} should be a number of days, from 1 to {_MOST_DAYS}.",
    lambda value: _days(value) is not None,
    gives=int,
    canonical=_days,
    schema={"type": ["integer", "number", "string"]},
)

Switch = Annotated[bool, absent_is_empty, not_empty, boolean]


@dataclass(frozen=True, slots=True)
class PasswordExpiryBody:
    """Whether passwords expire, whether and when clients let new ones expire."""

    automatic_expiry: Switch
    automatic_update: Switch
    policy_override: Switch
    default_expiry_period: Annotated[int | None, _natural_number] = None


@dataclass(frozen=True, slots=True)
class ExpiryDateBody:
    """When one resource expires; null for never."""

    id: Annotated[str, uuid]
    expired: Annotated[datetime | None, expired]
