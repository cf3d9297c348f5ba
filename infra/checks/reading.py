"""How checks read a template."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from infra.template.elements import Json

_NAMED = re.compile(r"\$\{([A-Za-z0-9:]+)(?:\.([A-Za-z0-9.]+))?\}")


def of_kind(template: Json, kind: str) -> Iterator[tuple[str, Json]]:
    """Name and properties of each resource of a kind."""
    for name, resource in template["Resources"].items():
        if resource["Type"] == f"AWS::{kind}":
            yield name, resource["Properties"]


def only(template: Json, kind: str) -> Json:
    """The properties of the one resource of a kind; nothing where there are none or many."""
    found = [properties for _, properties in of_kind(template, kind)]
    return found[0] if len(found) == 1 else {}


def named(value: Any) -> set[str]:
    """Logical names of what a value refers to, anywhere in it."""
    if isinstance(value, list):
        return {name for each in value for name in named(each)}
    if not isinstance(value, dict):
        return set()
    if isinstance(value.get("Ref"), str):
        return {value["Ref"]}
    if "Fn::GetAtt" in value:
        return {value["Fn::GetAtt"][0]}
    if isinstance(value.get("Fn::Sub"), str):
        return {match[1] for match in _NAMED.finditer(value["Fn::Sub"])}
    return named(list(value.values()))


def texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
