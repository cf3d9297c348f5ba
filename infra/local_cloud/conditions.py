"""The part of a template that stands, by its conditions.

To the local cloud a resource whose condition begins to hold is no change, so it is sent only
what stands.
"""

from __future__ import annotations

from collections.abc import Mapping

from infra.template.elements import Json
from infra.template.given import given


def standing(template: Json, values: Mapping[str, str]) -> Json:
    """The template without the resources whose conditions do not hold."""
    declared = template.get("Parameters", {}), template.get("Conditions", {})
    holding = given(*declared, values).holding
    resources = {
        name: each
        for name, each in template["Resources"].items()
        if each.get("Condition") in {None, *holding}
    }
    return {**template, "Resources": resources}
