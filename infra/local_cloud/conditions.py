"""The part of a template that stands, by its conditions.

To the local cloud a resource whose condition begins to hold is no change, so it is sent only
what stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.template.elements import Json


def standing(template: Json, given: Mapping[str, str]) -> Json:
    """The template without the resources whose conditions do not hold."""
    declared = template.get("Parameters", {})
    values = {name: about.get("Default", "") for name, about in declared.items()} | dict(given)
    holding = {
        name for name, test in template.get("Conditions", {}).items() if _holds(test, values)
    }
    resources = {
        name: each
        for name, each in template["Resources"].items()
        if each.get("Condition") in {None, *holding}
    }
    return {**template, "Resources": resources}


def _holds(test: Json, values: Mapping[str, str]) -> bool:
    [(how, of)] = test.items()
    if how == "Fn::Not":
        return not _holds(of[0], values)
    if how == "Fn::And":
        return all(_holds(each, values) for each in of)
    one, other = (_read(each, values) for each in of)
    return bool(one == other)


def _read(value: Any, values: Mapping[str, str]) -> Any:
    return values[value["Ref"]] if isinstance(value, dict) else value
