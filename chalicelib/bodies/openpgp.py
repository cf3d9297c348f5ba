"""How long an armored message may be: a secret, metadata, session keys; and that it is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.bodies.rules import Rule
from chalicelib.domain.armor import BadArmor, read_message

LONGEST_SECRET = 390_000
"""Characters; a row holds 400 KB in all, and this one little else."""
LONGEST_SEALED = 64 * 1024
"""Characters of what is for the server, which opens nothing longer (`crypto/openpgp.py`)."""
LONGEST_METADATA = 200_000
"""Characters; the same row holds the access list."""
LONGEST_SESSION_KEYS = 1_950_000
"""Characters; a transaction holds 4 MB in all, and this twice: what is stored, and what goes."""


def _is_message(longest: int) -> Callable[[Any], bool]:
    """A test for what can be stored as a message. A longer one is not read at all."""

    def holds(value: Any) -> bool:
        if not isinstance(value, str) or len(value) > longest:
            return False
        try:
            read_message(value)
        except BadArmor:
            return False
        return True

    return holds


def message_length(limit: int) -> Rule:
    """Unlike other texts, what is no text breaks the rules of a message only."""
    return Rule(
        "maxLength",
        f"The {{field}} length should be maximum {limit} characters.",
        lambda value: not isinstance(value, str) or len(value) <= limit,
        schema={"maxLength": limit},
    )


_IS_MESSAGE = "The message should be a valid ASCII-armored OpenPGP message."
openpgp_message = Rule("isValidOpenPGPMessage", _IS_MESSAGE, _is_message(LONGEST_SECRET))
parsable_metadata = Rule("isMetadataParsable", _IS_MESSAGE, _is_message(LONGEST_SECRET))
long_openpgp_message = Rule("isValidOpenPGPMessage", _IS_MESSAGE, _is_message(LONGEST_SESSION_KEYS))
