"""JSON Schema of what the code says in types: bodies with their rules, and shapes of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from chalicelib.bodies.rules import Meant, NotEmpty, Presence, Rule, Unset
from chalicelib.views.shapes import Shape

Schema = dict[str, Any]
PREFIX = "#/components/schemas/"
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    NoneType: {"type": "null"},
    Any: {},
    object: {},
}


class Schemas:
    """Makes schemas, and collects those of named types for others to refer to."""

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}
        self._kinds: dict[str, Any] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of a type."""
        if get_origin(hint) is Annotated:
            kind, *extras = get_args(hint)
            return self._with_rules(self.of(kind), extras)
        if isinstance(hint, NewType):
            return {"type": "string", "format": "uuid"}
        if is_typeddict(hint) or (is_dataclass(hint) and isinstance(hint, type)):
            return self._reference(hint)
        if _is_optional(hint):
            return self.of(*get_args(hint))
        if get_origin(hint) is not None:
            return self._of_generic(get_origin(hint), get_args(hint))
        return dict(_PLAIN[hint])

    def requires(self, schema: Schema) -> bool:
        """Whether a body must be sent: none that may be null, no object that may be empty."""
        if "$ref" not in schema:
            return "null" not in schema["type"]
        return "required" in self.named[schema["$ref"].removeprefix(PREFIX)]

    def _of_generic(self, origin: Any, inside: Sequence[Any]) -> Schema:
        if origin in (Union, UnionType):
            return _any_of([self.of(kind) for kind in inside if kind is not Unset])
        if origin is Literal:
            return {"enum": list(inside)}
        if origin is list:
            return {"type": "array", "items": self.of(inside[0])}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(inside[1])}
        raise TypeError(f"There is no schema of a {origin}.")

    def _with_rules(self, schema: Schema, extras: Sequence[Any]) -> Schema:
        rules = [rule for extra in extras for rule in _rules(extra)]
        for rule in rules:
            schema = _merged(schema, rule.schema)
        if any(type(rule) is NotEmpty for rule in rules):
            schema = _not_empty(schema)
        return schema

    def _reference(self, kind: type[Any]) -> Schema:
        name = kind.__name__.strip("_").removesuffix("Json")
        if self._kinds.setdefault(name, kind) is not kind:
            raise TypeError(f"Two types are called {name}.")
        if name not in self.named:
            self.named[name] = {}
            self.named[name] = self._of_shape(kind) if is_typeddict(kind) else self._of_body(kind)
        return {"$ref": PREFIX + name}

    def _of_shape(self, kind: Any) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        return {
            "type": "object",
            "properties": {name: self.of(hint) for name, hint in hints.items()},
            "required": sorted(_required_of_shape(kind, hints)),
            "additionalProperties": False,
        }

    def _of_body(self, kind: Any) -> Schema:
        """What a body takes. Other members are passed over, so they are not forbidden here."""
        hints = get_type_hints(kind, include_extras=True)
        required = [each.name for each in fields(kind) if _is_required(each, hints[each.name])]
        schema = {
            "type": "object",
            "properties": {each.name: self.of(hints[each.name]) for each in fields(kind)},
        }
        return schema | ({"required": required} if required else {})


def _rules(extra: Any) -> tuple[Rule | Shape, ...]:
    if isinstance(extra, Meant):
        return extra.rules
    return (extra,) if isinstance(extra, Rule | Shape) else ()


def _is_required(field: Field[Any], hint: Any) -> bool:
    """Whether clients must send it."""
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if any(isinstance(extra, Meant) and extra.is_filled for extra in extras):
        return False
    if field.default is MISSING and field.default_factory is MISSING:
        return True
    return any(isinstance(rule, Presence) for extra in extras for rule in _rules(extra))


def _required_of_shape(kind: Any, hints: Mapping[str, Any]) -> set[str]:
    """Names a shape always has; Python misses a `NotRequired` in annotations that are text."""
    return {name for name in kind.__required_keys__ if not _is_optional(hints[name])}


def _is_optional(hint: Any) -> bool:
    return get_origin(hint) is NotRequired


def _any_of(schemas: list[Schema]) -> Schema:
    """One of several; null beside one plain type joins it."""
    null = {"type": "null"}
    others = [schema for schema in schemas if schema != null]
    if len(others) == len(schemas) == 1:
        return schemas[0]
    if len(others) == 1 and "type" in others[0]:
        return {**others[0], "type": [others[0]["type"], "null"]}
    return {"anyOf": schemas}


def _merged(schema: Schema, more: Mapping[str, Any]) -> Schema:
    """The schema of what also obeys `more`, where null stays null."""
    more = dict(more)
    is_nullable = "null" in (schema.get("type") or ())
    if is_nullable and "type" in more:
        more["type"] = [*_types(more), "null"]
    if is_nullable and "enum" in more:
        more["enum"] = [*more["enum"], None]
    return {**schema, **more}


def _types(schema: Schema) -> list[str]:
    named = schema["type"]
    return [named] if isinstance(named, str) else named


def _not_empty(schema: Schema) -> Schema:
    least = {"string": "minLength", "array": "minItems"}.get(str(schema.get("type", "")))
    return {**schema, least: 1} if least else schema
