"""JSON as RFC 8259 has it, within our bounds: for bodies, and for what sign-ins hold inside."""

from __future__ import annotations

import json
from typing import Any

import orjson

DEEPEST = 32
"""Levels of nested arrays and objects."""
LONGEST_INTEGER = 19
MOST_VALUES = 200_000
"""Arrays, objects and members of both, roughly: more is work without a use for anybody."""
_SIGNS = (b"[", b"{", b",")


def loads(text: bytes | str, *, depth: int = DEEPEST) -> Any:
    """Return the value, or raise `ValueError`.

    orjson refuses what is no strict JSON, lone surrogates and other encodings included, but
    keeps the last of two equal keys and makes floats of long integers. So the standard
    parser, which would follow any depth and take NaN, reads what has passed.
    """
    raw = text.encode() if isinstance(text, str) else text
    if sum(raw.count(sign) for sign in _SIGNS) > MOST_VALUES:
        raise ValueError("too many values")
    _require_shallow(orjson.loads(raw), depth)
    plain = raw.decode()
    return json.loads(plain, object_pairs_hook=_members, parse_int=_integer)


def _require_shallow(value: Any, depth: int) -> None:
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(depth):
        inside = (node.values() if isinstance(node, dict) else node for node in level)
        level = [item for items in inside for item in items if isinstance(item, list | dict)]
    if level:
        raise ValueError("nested too deeply")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > LONGEST_INTEGER:
        raise ValueError("a number is too long")
    return int(digits)
