"""Rules for fields that hold an armored OpenPGP message."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.rules import Rule
from chalicelib.domain.armor import BadArmor, read_message

LONGEST_MESSAGE = 1_000_000
"""Characters; what a row and its parts can hold."""


def _is_message(value: Any) -> bool:
    """Whether it can be stored as a message. One that is too long is not read at all."""
    if not isinstance(value, str) or len(value) > LONGEST_MESSAGE:
        return False
    try:
        read_message(value)
    except BadArmor:
        return False
    return True


message_length = Rule(
    "maxLength",
    f"The {{field}} length should be maximum {LONGEST_MESSAGE} characters.",
    lambda value: not isinstance(value, str) or len(value) <= LONGEST_MESSAGE,
    schema={"maxLength": LONGEST_MESSAGE},
)

_IS_MESSAGE = "The message should be a valid ASCII-armored OpenPGP message."
openpgp_message = Rule("isValidOpenPGPMessage", _IS_MESSAGE, _is_message)
parsable_metadata = Rule("isMetadataParsable", _IS_MESSAGE, _is_message)
