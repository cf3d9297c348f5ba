"""Rules of servers that an organisation names: where they are, and whom they are verified by."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.rules import Rule
from chalicelib.domain.certificates import are_certificates
from chalicelib.domain.hosts import is_host

MASK = "__PASSBOLT_OBFUSCATE_FIELDS_COMPONENT_PLACEHOLDER__"
"""What clients are shown for a password, and send when it is to stay."""
LONGEST_CERTIFICATES = 20_000
LAST_PORT = 65_535


def _is_number(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value.isascii() and value.isdigit())


def port_from(first: int) -> Rule:
    def holds(value: Any) -> bool:
        is_short = _is_number(value) and len(str(value)) <= len(str(LAST_PORT))
        return is_short and first <= int(value) <= LAST_PORT

    return Rule(
        "range",
        f"The {{field}} should be between {first} and {LAST_PORT}.",
        holds,
        gives=int,
        canonical=int,
        schema={"type": ["integer", "string"]},
    )


host = Rule("host", "The {field} should be the name or the address of a host.", is_host, gives=str)
numeric = Rule("numeric", "The {field} should be a number.", _is_number)
certificates = Rule(
    "certificate", "The {field} should be certificates in PEM.", are_certificates, gives=str
)
