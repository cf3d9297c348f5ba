"""What an update makes of a row, without DynamoDB: for rows that are yet to be written.

Knows the expressions that `Change.then_update` writes: values set, added to a number, or
removed, in a row or in a map inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy

from chalicelib.tables.base import RawRow
from chalicelib.tables.parts import Part

_CLAUSE = re.compile(r"(SET|REMOVE|ADD) (.*?)(?= (?:SET|REMOVE|ADD) |$)")


def updated(row: RawRow, line: Part) -> RawRow:
    """The row as it is once the line, an update of it, has been carried out."""
    names = {placeholder: name["S"] for placeholder, name in (line.names or {}).items()}
    values = line.values or {}
    after = deepcopy(row)
    for verb, path, value in _actions(line.expression or ""):
        *outer, name = (names[part] for part in path.split("."))
        inside = _inside(after, outer)
        if verb == "SET":
            inside[name] = values[value]
        elif verb == "ADD":
            inside[name] = _sum(inside.get(name), values[value])
        else:
            inside.pop(name, None)
    return after


def _actions(expression: str) -> Iterator[tuple[str, str, str]]:
    """Verb, path and value of each action; the value is empty where something is removed."""
    for verb, actions in _CLAUSE.findall(expression):
        for action in actions.split(", "):
            path, _, value = action.replace(" = ", " ").partition(" ")
            yield verb, path, value


def _inside(row: RawRow, names: list[str]) -> RawRow:
    for name in names:
        row = row[name]["M"]
    return row


def _sum(stored: Mapping[str, str] | None, more: Mapping[str, str]) -> RawRow:
    return {"N": str(int((stored or {"N": "0"})["N"]) + int(more["N"]))}
