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
    found, left = set(), [value]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left.extend(each)
        elif isinstance(each, dict):
            names = _names_in(each)
            if names is None:
                left.extend(each.values())
            else:
                found |= names
    return found


def _names_in(reference: Json) -> set[str] | None:
    """What a reference names; nothing where it is no reference, but a value like others."""
    if isinstance(reference.get("Ref"), str):
        return {reference["Ref"]}
    if "Fn::GetAtt" in reference:
        return {reference["Fn::GetAtt"][0]}
    if isinstance(reference.get("Fn::Sub"), str):
        return {match[1] for match in _NAMED.finditer(reference["Fn::Sub"])}
    return None


def texts(value: Any) -> Iterator[str]:
    """Every text in a value, names of members among them."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            left.extend(each)
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
