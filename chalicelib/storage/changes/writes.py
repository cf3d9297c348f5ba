"""What is to be done with a row, as a value: it can be kept, sent, and carried out in memory.

An update names what it changes, down to the entries of maps (`differences`). So attributes that
only a newer release knows stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.constants import LIST, MAP
from pynamodb.expressions.operand import Path as Operand
from pynamodb.expressions.update import Action, AddAction, RemoveAction, SetAction

from chalicelib.domain.light import dataclass
from chalicelib.storage.base import Key, RawRow
from chalicelib.storage.connection import Json

Path = tuple[str, ...]
"""The name of an attribute, or of an entry of a map inside one."""
Valued = tuple[Path, RawRow]
PUT, UPDATE, DELETE = "Put", "Update", "Delete"
MOST_NAMED = 100
"""Changes that an expression of 4 KB names; where there are more, maps are written whole."""


@dataclass(frozen=True, slots=True)
class Write:
    """A row to put, to remove, or to change in some of its attributes."""

    key: Key
    verb: str
    row: RawRow | None = None
    """The whole row that is put."""
    set: tuple[Valued, ...] = ()
    removed: tuple[Path, ...] = ()
    added: tuple[Valued, ...] = ()
    """Numbers that are added to those that stand there, none counting as 0; texts, to a set."""

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

    @classmethod
    def between(cls, key: Key, before: RawRow, after: RawRow, stored: RawRow) -> Write:
        """The update that makes one row of the other, with whatever else is stored of it."""
        changed = cls(key, UPDATE, None, *_differences(before, after))
        if len(changed.set) + len(changed.removed) <= MOST_NAMED:
            return changed
        whole = changed.carried_out(stored) or {}
        names = {path[0] for path, _ in changed.set} | {path[0] for path in changed.removed}
        kept = tuple(((name,), whole[name]) for name in sorted(names & whole.keys()))
        return cls(key, UPDATE, None, kept, tuple((name,) for name in sorted(names - whole.keys())))

    def actions(self) -> list[Action]:
        """What an update does, as PynamoDB says it."""
        return [
            *(Operand(list(path)).set(value) for path, value in self.set),
            *(Operand(list(path)).remove() for path in self.removed),
            *(Operand(list(path)).add(value) for path, value in self.added),
        ]

    def item(self) -> Json:
        """The write as a transaction takes it, without a condition."""
        table = self.key.table.stored_as()
        if self.verb == PUT:
            return {PUT: {"TableName": table, "Item": self.row}}
        request: Json = {"TableName": table, "Key": self.key.raw()}
        return {self.verb: request | (self._expression() if self.verb == UPDATE else {})}

    def only_over(self, row: RawRow, absent: Iterable[str]) -> Json:
        """The update, provided that the row has these values and none of these attributes."""
        placeholders = _Placeholders()
        said = self._clauses(placeholders)
        same = [f"{placeholders.path((n,))} = {placeholders.value(v)}" for n, v in row.items()]
        none = [f"attribute_not_exists({placeholders.path((n,))})" for n in absent]
        request = {"TableName": self.key.table.stored_as(), "Key": self.key.raw()}
        condition = {"ConditionExpression": " AND ".join([*same, *none])}
        return {**request, **condition, **placeholders.request(said)}

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
        return placeholders.request(self._clauses(placeholders))

    def _clauses(self, placeholders: _Placeholders) -> str:
        clauses = {
            "SET": [f"{placeholders.path(p)} = {placeholders.value(v)}" for p, v in self.set],
            "REMOVE": [placeholders.path(path) for path in self.removed],
            "ADD": [f"{placeholders.path(p)} {placeholders.value(v)}" for p, v in self.added],
        }
        said = (f"{verb} {', '.join(actions)}" for verb, actions in clauses.items() if actions)
        return " ".join(said)


class Raw(Attribute[RawRow]):
    """A row, or its key, as DynamoDB sends it: whatever attributes another release gave it."""

    attr_type = MAP


class Paths(Attribute[tuple[Path, ...]]):
    """What a write removes, as it is kept."""

    attr_type = LIST

    def serialize(self, value: tuple[Path, ...]) -> list[RawRow]:
        return [_list(path) for path in value]

    def deserialize(self, value: list[RawRow]) -> tuple[Path, ...]:
        return tuple(_path(names) for names in value)


class Values(Attribute[tuple[Valued, ...]]):
    """What a write sets or adds, as it is kept."""

    attr_type = LIST

    def serialize(self, value: tuple[Valued, ...]) -> list[RawRow]:
        return [{"M": {"path": _list(path), "value": each}} for path, each in value]

    def deserialize(self, value: list[RawRow]) -> tuple[Valued, ...]:
        return tuple((_path(each["M"]["path"]), each["M"]["value"]) for each in value)


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


def _list(path: Path) -> RawRow:
    return {"L": [{"S": name} for name in path]}


def _path(names: RawRow) -> Path:
    return tuple(name["S"] for name in names["L"])


def _inside(row: RawRow, names: Iterable[str]) -> RawRow:
    for name in names:
        row = row[name]["M"]
    return row


def _sum(stored: RawRow | None, more: RawRow) -> RawRow:
    if "SS" in more:
        return {"SS": sorted({*(stored or {"SS": ()})["SS"], *more["SS"]})}
    return {"N": str(int((stored or {"N": "0"})["N"]) + int(more["N"]))}


def _differences(
    before: RawRow, after: RawRow, *outer: str
) -> tuple[tuple[Valued, ...], tuple[Path, ...]]:
    """What has to be set, and what removed, to make one map of the other."""
    changed: list[Valued] = []
    removed: list[Path] = [(*outer, name) for name in sorted(before.keys() - after.keys())]
    for name, value in after.items():
        earlier = before.get(name)
        if earlier is not None and "M" in earlier and "M" in value:
            deeper = _differences(earlier["M"], value["M"], *outer, name)
            changed += deeper[0]
            removed += deeper[1]
        elif earlier != value:
            changed.append(((*outer, name), value))
    return tuple(changed), tuple(removed)
