"""moto's values and rows, looked at without being made anew.

moto makes a value of each part of a value before it measures, compares or shows it, and that one
makes them of its parts. Here each part is one already. Rows are not changed in place
(`moto_storage.py`), so nobody needs a copy of one, and each is measured once.
"""

from __future__ import annotations

from base64 import b64decode
from decimal import Decimal
from typing import Any

import orjson
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.utilities import bytesize

_LARGEST = 405_000
"""Bytes, as in `LimitedSizeDict`."""
_SETS = frozenset({"SS", "NS", "BS"})


def spare_copies() -> None:
    DynamoType.__init__ = _make_value
    DynamoType.__hash__ = _hash
    DynamoType.cast_value = property(_plain)
    DynamoType.size = _size
    DynamoType.to_regular_json = _shown
    DynamoType.child_attr = _part
    Item.__init__ = _make_row
    Item.__deepcopy__ = _same
    Item.size = _size_of_row
    Item.project = _reduced(Item.project)


def changeable(row: Item) -> Item:
    """A copy whose lists, maps and sets may be changed; texts and numbers never are."""
    copied = object.__new__(Item)
    copied.hash_key, copied.range_key = row.hash_key, row.range_key
    copied.attrs = _attributes({name: _changeable(each) for name, each in row.attrs.items()})
    return copied


def _changeable(value: DynamoType) -> DynamoType:
    kind, inside = value.type, value.value
    if kind == "M":
        inside = {name: _changeable(each) for name, each in inside.items()}
    elif kind == "L":
        inside = [_changeable(each) for each in inside]
    elif kind in _SETS:
        inside = list(inside)
    else:
        return value
    return _value(kind, inside)


def _value(kind: str, inside: Any) -> DynamoType:
    made = object.__new__(DynamoType)
    made.type, made.value = kind, inside
    return made


def _make_value(self: DynamoType, given: Any) -> None:
    if type(given) is DynamoType:
        kind, inside = given.type, given.value
    else:
        kind, inside = next(iter(given.items()))
    if kind == "M":
        inside = {name: DynamoType(each) for name, each in inside.items()}
    elif kind == "L":
        inside = [DynamoType(each) for each in inside]
    self.type, self.value = kind, inside


def _hash(self: DynamoType) -> int:
    """Of keys, which are texts or numbers."""
    return hash(_plain(self))


def _plain(self: DynamoType) -> Any:
    kind, inside = self.type, self.value
    if kind == "S":
        return inside
    if kind == "N":
        return Decimal(inside)
    if kind == "M":
        return {name: _plain(each) for name, each in inside.items()}
    if kind == "L":
        return [_plain(each) for each in inside]
    if kind in _SETS:
        return set(map(Decimal, inside) if kind == "NS" else inside)
    return None if kind == "NULL" else inside


def _size(self: DynamoType) -> int:
    kind, inside = self.type, self.value
    if kind == "S":
        return bytesize(inside)
    if kind == "M":
        return sum(bytesize(name) + _size(each) for name, each in inside.items())
    if kind == "L":
        return sum(map(_size, inside))
    if kind in _SETS:
        return sum(len(str(each)) if kind == "NS" else bytesize(each) for each in inside)
    if kind == "N":
        return len(str(inside))
    return 1 if isinstance(inside, bool) else bytesize(inside)


def _shown(self: DynamoType) -> dict[str, Any]:
    kind, inside = self.type, self.value
    if kind == "M":
        return {kind: {name: _shown(each) for name, each in inside.items()}}
    if kind == "L":
        return {kind: [_shown(each) for each in inside]}
    if kind in _SETS:
        return {kind: list(inside)}
    is_text = kind == "B" and isinstance(inside, str)
    return {kind: b64decode(inside) if is_text else inside}


def _part(self: DynamoType, key: int | str | None) -> DynamoType | None:
    if self.type == "M" and isinstance(key, str):
        return self.value.get(key)
    if self.type == "L" and isinstance(key, int) and 0 <= key < len(self.value):
        return self.value[key]
    return None


def _make_row(self: Item, hash_key: Any, range_key: Any, attrs: dict[str, Any]) -> None:
    """A row is too large if all of it is, which moto asks after each of its values."""
    self.hash_key, self.range_key = hash_key, range_key
    self.attrs = _attributes({name: DynamoType(each) for name, each in attrs.items()})
    if _measured(self) > _LARGEST:
        raise ItemSizeTooLarge


def text_of(attributes: LimitedSizeDict) -> bytes:
    """The values of a row that is stored, as they are sent; written once, as none is changed."""
    text: bytes | None = attributes.__dict__.get("text")
    if text is None:
        shown = {name: _shown(each) for name, each in attributes.items()}
        text = attributes.text = orjson.dumps(shown)
    return text


def text_in_order(attributes: LimitedSizeDict) -> bytes:
    """The same with names in order, for who compares rows."""
    text: bytes | None = attributes.__dict__.get("text_in_order")
    if text is None:
        shown = orjson.loads(text_of(attributes))
        text = attributes.text_in_order = orjson.dumps(shown, option=orjson.OPT_SORT_KEYS)
    return text


def key_of(row: Item) -> tuple[Any, Any]:
    """By which rows are in order."""
    return _plain(row.hash_key), row.range_key and _plain(row.range_key)


def _attributes(values: dict[str, DynamoType]) -> LimitedSizeDict:
    attributes = LimitedSizeDict.__new__(LimitedSizeDict)
    dict.update(attributes, values)
    return attributes


def _same(self: Item, _memo: dict[int, Any]) -> Item:
    return self


def _size_of_row(self: Item) -> int:
    """Asked of rows that are stored, none of which is being changed."""
    size = self.__dict__.get("_size")
    if size is None:
        size = self._size = _measured(self)
    return size


def _measured(row: Item) -> int:
    return sum(bytesize(name) + _size(each) for name, each in row.attrs.items())


def _reduced(reduced: Any) -> Any:
    def project(self: Item, wanted: list[list[str]]) -> Item:
        """What is reduced to whole attributes has the values of the row itself."""
        if any(len(path) > 1 or "[" in path[0] for path in wanted):
            return reduced(self, wanted)
        row = object.__new__(Item)
        row.hash_key, row.range_key = self.hash_key, self.range_key
        names = [path[0] for path in wanted]
        row.attrs = _attributes({each: self.attrs[each] for each in names if each in self.attrs})
        return row

    return project
