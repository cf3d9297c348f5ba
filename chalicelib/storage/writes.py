"""What is to be done with a row, as a value: it can be kept, sent, and carried out in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pynamodb.expressions.update import Action, AddAction, RemoveAction, SetAction

from chalicelib.storage.base import Key, RawRow
from chalicelib.storage.connection import Json

Path = tuple[str, ...]
"""The name of an attribute, or of an entry of a map inside one."""
PUT, UPDATE, DELETE = "Put", "Update", "Delete"


@dataclass(frozen=True, slots=True)
class Write:
    """A row to put, to remove, or to change in some of its attributes."""

    key: Key
    verb: str
    row: RawRow | None = None
    """The whole row that is put."""
    set: tuple[tuple[Path, RawRow], ...] = ()
    removed: tuple[Path, ...] = ()
    added: tuple[tuple[Path, RawRow], ...] = ()
    """Numbers that are added to those that stand there; none counts as 0."""

    @classmethod
    def update(cls, key: Key, actions: Iterable[Action]) -> Write:
        """A change by PynamoDB's actions; raises `KeyError` for one that is not of these kinds."""
        found: dict[Any, list[Any]] = {SetAction: [], RemoveAction: [], AddAction: []}
        for action in actions:
            kind = SetAction if isinstance(action, SetAction) else type(action)
            values: Any = action.values
            path, *value = values
            found[kind].append((tuple(path.path), *(each.value for each in value)))
        removed = tuple(path for (path,) in found[RemoveAction])
        return cls(key, UPDATE, None, tuple(found[SetAction]), removed, tuple(found[AddAction]))

    def item(self) -> Json:
        """The write as a transaction takes it, without a condition."""
        table = self.key.table.stored_as()
        if self.verb == PUT:
            return {PUT: {"TableName": table, "Item": self.row}}
        request: Json = {"TableName": table, "Key": self.key.raw()}
        return {self.verb: request | (self._expression() if self.verb == UPDATE else {})}

    def carried_out(self, row: RawRow | None) -> RawRow | None:
        """The row as the write leaves it, whatever stood there."""
        if self.verb != UPDATE:
            return self.row
        after = deepcopy(self.key.raw() if row is None else row)
        for (*outer, name), value in self.set:
            _inside(after, outer)[name] = value
        for *outer, name in self.removed:
            _inside(after, outer).pop(name, None)
        for (*outer, name), value in self.added:
            inside = _inside(after, outer)
            inside[name] = _sum(inside.get(name), value)
        return after

    def _expression(self) -> Json:
        """The update's expression, and what its placeholders stand for."""
        placeholders = _Placeholders()
        clauses = {
            "SET": [f"{placeholders.path(p)} = {placeholders.value(v)}" for p, v in self.set],
            "REMOVE": [placeholders.path(path) for path in self.removed],
            "ADD": [f"{placeholders.path(p)} {placeholders.value(v)}" for p, v in self.added],
        }
        said = (f"{verb} {', '.join(actions)}" for verb, actions in clauses.items() if actions)
        return placeholders.request(" ".join(said))


class _Placeholders:
    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, RawRow] = {}

    def path(self, path: Path) -> str:
        for name in path:
            self._names.setdefault(name, f"#{len(self._names)}")
        return ".".join(self._names[name] for name in path)

    def value(self, value: RawRow) -> str:
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = value
        return placeholder

    def request(self, expression: str) -> Json:
        names = {placeholder: name for name, placeholder in self._names.items()}
        values = {"ExpressionAttributeValues": self._values} if self._values else {}
        return {"UpdateExpression": expression, "ExpressionAttributeNames": names, **values}


def _inside(row: RawRow, names: Iterable[str]) -> RawRow:
    for name in names:
        row = row[name]["M"]
    return row


def _sum(stored: Mapping[str, str] | None, more: Mapping[str, str]) -> RawRow:
    return {"N": str(int((stored or {"N": "0"})["N"]) + int(more["N"]))}
