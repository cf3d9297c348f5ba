"""Names with brackets, as forms and query strings spell what is nested: `data[key][]`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

DEEPEST = 32
"""Levels of nesting; the same as JSON may have."""

_NAME = re.compile(r"([^\[\]]*)((?:\[[^\[\]]*\])*)", re.DOTALL)


def path(name: str) -> tuple[str, ...]:
    """`data[key][]` as `("data", "key", "")`; a name with stray brackets is one plain word."""
    match = _NAME.fullmatch(name)
    if match is None or not match[2]:
        return (name,)
    return (match[1], *match[2][1:-1].split("]["))


def nested(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Objects and lists as the names of `pairs` spell them; of a name given twice, the last.

    Raises `ValueError` where a name is nested too deeply.
    """
    root: dict[str, Any] = {}
    for name, value in pairs:
        *parents, last = _steps(name)
        node = root
        for step in parents:
            node = _branch(node, step)
        node[_key(node, last)] = value
    return {name: _with_lists(value) for name, value in root.items()}


def _steps(name: str) -> tuple[str, ...]:
    steps = path(name)
    if len(steps) > DEEPEST:
        raise ValueError("The name is nested too deeply.")
    return steps


def _branch(node: dict[str, Any], step: str) -> dict[str, Any]:
    key = _key(node, step)
    if not isinstance(node.get(key), dict):
        node[key] = {}
    branch: dict[str, Any] = node[key]
    return branch


def _key(node: dict[str, Any], step: str) -> str:
    """An empty step takes the next position of a list."""
    return step or str(len(node))


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    members = {key: _with_lists(member) for key, member in value.items()}
    if members and list(members) == [str(at) for at in range(len(members))]:
        return list(members.values())
    return members
