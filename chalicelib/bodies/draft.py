"""How a body is read by the rules of its fields, once the service asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from chalicelib.bodies.rules import (
    LONGEST_LIST,
    UNSET,
    Cap,
    NotEmpty,
    Presence,
    Rule,
    TakenAs,
    Unset,
    an_object,
    array,
    at_most,
    boolean,
    integer,
    required,
    utf8_extended,
)
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.light import dataclass

B = TypeVar("B")
E = TypeVar("E")
Outcome = tuple[Any, FieldErrors]
"""A value and what is wrong with it; the value counts only where nothing is."""

_FINE: FieldErrors = {}
_TYPE_RULES = {str: utf8_extended, int: integer, bool: boolean}
"""What a field of a type obeys at least, when its rules do not speak of its type."""
_LIST_CAP = at_most(LONGEST_LIST)


@dataclass(frozen=True, slots=True)
class Draft(Generic[B]):
    """A body as sent, to be read when the service has decided that the caller may ask.

    Anything but an object is a body without members.
    """

    body: type[B]
    payload: object = field(repr=False)

    @property
    def members(self) -> Mapping[str, Any]:
        return self.payload if isinstance(self.payload, dict) else {}

    @property
    def is_object(self) -> bool:
        """Whether there are members to look at, or nothing was sent at all."""
        return self.payload is None or isinstance(self.payload, dict)

    @property
    def is_empty(self) -> bool:
        return not self.members

    def has(self, name: str) -> bool:
        """Whether the client sent a member `name`, whatever its value."""
        return name in self.members

    def errors(self) -> dict[str, FieldErrors]:
        """Every broken rule of every field, for whoever has more to say of them."""
        _, errors = _read_members(self.body, self.members)
        return dict(errors)  # type: ignore[arg-type]

    def read(self, message: str) -> B:
        """Return the body, or raise `Invalid` with every broken rule of every field."""
        value, errors = _read_members(self.body, self.members)
        if errors:
            raise Invalid(message, errors)
        return value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _Field:
    """How one field is read."""

    name: str
    rules: tuple[Rule, ...]
    inside: Callable[[str, Any], Outcome] | None = None
    """Reads what an object or a list holds, once its own rules hold."""
    presence: Presence | None = None
    not_empty: NotEmpty | None = None
    taken_as: TakenAs | None = None
    is_nullable: bool = False

    def taken(self, sent: Any) -> Any:
        return sent if self.taken_as is None or sent is UNSET else self.taken_as.take(sent)

    def read(self, value: Any) -> Outcome:
        if value is None and self.is_nullable:
            return None, _FINE
        has_items = self.inside is not None
        if self.not_empty is not None and self.not_empty.is_empty(value, of_items=has_items):
            return None, self.not_empty.broken(self.name)
        broken: dict[str, str] = {}
        for rule in self.rules:
            if not rule.holds(value):
                broken |= rule.broken(self.name)
            elif rule.canonical is not None:
                value = rule.canonical(value)
        if broken or self.inside is None:
            return value, broken
        return self.inside(self.name, value)


def _read_members(body: type[Any], members: Mapping[str, Any]) -> Outcome:
    values: dict[str, Any] = {}
    errors: dict[str, FieldErrors] = {}
    for spec in _specs(body):  # type: ignore[arg-type]
        sent = spec.taken(members.get(spec.name, UNSET))
        if sent is not UNSET:
            values[spec.name], broken = spec.read(sent)
        elif spec.presence is not None:
            broken = spec.presence.broken(spec.name)
        else:
            continue
        if broken:
            errors[spec.name] = broken
    return (None if errors else body(**values)), errors


def _association(body: type[Any]) -> Callable[[str, Any], Outcome]:
    """An object inside an object. What is none counts as not sent."""

    def read(name: str, value: Any) -> Outcome:
        if not isinstance(value, dict):
            return None, required.broken(name)
        return _read_members(body, value)

    return read


def _row(body: type[Any]) -> Callable[[str, Any], Outcome]:
    """An object in a list. What is none lacks every member."""

    def read(name: str, value: Any) -> Outcome:
        if isinstance(value, dict):
            return _read_members(body, value)
        _, errors = _read_members(body, {})
        return None, errors or an_object.broken(name)

    return read


def _rows(body: type[Any]) -> Callable[[str, Any], Outcome]:
    return _items(_Field("row", (), inside=_row(body)))


def _items(item: _Field) -> Callable[[str, Any], Outcome]:
    def read(_: str, values: list[Any]) -> Outcome:
        read_items = [item.read(value) for value in values]
        errors = {str(at): broken for at, (_, broken) in enumerate(read_items) if broken}
        return [value for value, _ in read_items], errors

    return read


@cache
def _specs(body: type[Any]) -> tuple[_Field, ...]:
    hints = get_type_hints(body, include_extras=True)
    return tuple(_spec(field, hints[field.name]) for field in fields(body))


def _spec(field: Field[Any], hint: Any) -> _Field:
    spec = _typed(field.name, hint)
    is_optional = field.default is not MISSING or field.default_factory is not MISSING
    return replace(spec, presence=None if is_optional else spec.presence or required)


def _typed(name: str, hint: Any) -> _Field:
    """The field as its type and its rules say."""
    hint, extras = _without_rules(hint)
    hint, is_nullable = _without_null(hint)
    is_list = get_origin(hint) is list
    rules = [e for e in extras if isinstance(e, Rule) and not isinstance(e, Presence | NotEmpty)]
    return _Field(
        name=name,
        rules=tuple(_list_rules(rules) if is_list else _value_rules(name, hint, rules)),
        inside=_inside(name, hint),
        presence=_first(Presence, extras),
        not_empty=_first(NotEmpty, extras),
        taken_as=_first(TakenAs, extras),
        is_nullable=is_nullable,
    )


def _without_rules(hint: Any) -> tuple[Any, list[Any]]:
    if get_origin(hint) is not Annotated:
        return hint, []
    hint, *extras = get_args(hint)
    return hint, extras


def _without_null(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in (Union, UnionType):
        return getattr(hint, "__supertype__", hint), False
    kinds = get_args(hint)
    [kind] = [kind for kind in kinds if kind not in (NoneType, Unset)]
    return getattr(kind, "__supertype__", kind), NoneType in kinds


def _inside(name: str, hint: Any) -> Callable[[str, Any], Outcome] | None:
    if is_dataclass(hint) and isinstance(hint, type):
        return _association(hint)
    if get_origin(hint) is not list:
        return None
    [kind] = get_args(hint)
    if is_dataclass(kind) and isinstance(kind, type):
        return _rows(kind)
    return _items(_typed(name, kind))


def _list_rules(rules: list[Rule]) -> list[Rule]:
    has_cap = any(isinstance(rule, Cap) for rule in rules)
    return [array, *rules] if has_cap else [array, _LIST_CAP, *rules]


def _value_rules(name: str, hint: Any, rules: list[Rule]) -> list[Rule]:
    """`rules`, of which one makes sure that the value is a `hint`."""
    if hint in (Any, object) or is_dataclass(hint) or any(rule.gives is hint for rule in rules):
        return rules
    if hint not in _TYPE_RULES:
        raise TypeError(f"No rule of {name} makes sure that it is a {hint}.")
    return [*rules, _TYPE_RULES[hint]]


def _first(kind: type[E], extras: list[Any]) -> E | None:
    return next((extra for extra in extras if isinstance(extra, kind)), None)
