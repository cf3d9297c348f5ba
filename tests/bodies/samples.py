"""Values the body tests share."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.domain.armor import MESSAGE, Packet, Tag, write_block, write_packets
from chalicelib.domain.errors import FieldErrors, Invalid

ADA = "8d1c3f9e-5a43-4c02-9a0e-0a51f4a3f4de"
KEY = "f2f9b5c8-59d4-4c1c-8e0a-27f0f6a30a11"
FOLDER = "0c5bb7b1-4a7f-4f3c-a3be-0f6ff7f61b52"

_SESSION_KEY = Packet(Tag.SESSION_KEY, b"\x03" + b"\x11" * 8 + b"\x01" + b"\x22" * 40)
_DATA = Packet(Tag.PROTECTED_DATA, b"\x01" + b"\x33" * 60)
PGP = write_block(write_packets([_SESSION_KEY, _DATA]), MESSAGE)


def errors_of(body: type, payload: object) -> FieldErrors:
    """What is wrong with `payload` as a `body`; nothing where it can be read."""
    try:
        Draft(body, payload).read("The data could not be validated.")
    except Invalid as refused:
        return refused.errors or {}
    return {}


def rules_of(body: type, payload: object, field: str) -> set[str]:
    """The names of the rules a field of `payload` breaks."""
    return set(errors_of(body, payload).get(field, {}))
