"""Bodies of session keys: one armored message, and the last change that the client knows."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.openpgp import (
    LONGEST_SESSION_KEYS,
    long_openpgp_message,
    message_length,
)
from chalicelib.bodies.rules import absent_is_empty, ascii_only, exact_date_time, not_empty
from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass

EMPTY = "The request data can not be empty."
NO_TEXT = "The session key data should be a string."
INVALID = "Could not validate session key data."
NOT_SAVED = "The session key could not be saved."

Data = Annotated[
    str,
    absent_is_empty,
    not_empty,
    ascii_only,
    message_length(LONGEST_SESSION_KEYS),
    long_openpgp_message,
]


@dataclass(frozen=True, slots=True, repr=False)
class SessionKeyBody:
    data: Data


@dataclass(frozen=True, slots=True, repr=False)
class SessionKeyEditBody:
    data: Data
    modified: Annotated[datetime, absent_is_empty, not_empty, exact_date_time]
    """What the client knows as the moment of the last change."""


def read_new(draft: Draft[SessionKeyBody]) -> SessionKeyBody:
    _require_members(draft)
    if not isinstance(draft.members.get("data"), str):
        raise Invalid(NO_TEXT)
    return draft.read(NOT_SAVED)


def read_update(draft: Draft[SessionKeyEditBody]) -> SessionKeyEditBody:
    _require_members(draft)
    return draft.read(INVALID)


def _require_members(draft: Draft[SessionKeyBody] | Draft[SessionKeyEditBody]) -> None:
    if draft.is_empty:
        raise Invalid(EMPTY)
