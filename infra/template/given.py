"""What a template says once its parameters are given: values, and what conditions choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.template.elements import Json


@dataclass(frozen=True, slots=True)
class Given:
    values: Mapping[str, str]
    """Of all parameters, also where nobody has given another than the template has."""
    holding: frozenset[str]
    """Conditions that hold."""

    def settled(self, value: Any) -> Any:
        """A part of the template without parameters and choices."""
        if isinstance(value, list):
            return [self.settled(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "Fn::If" in value:
            condition, yes, no = value["Fn::If"]
            return self.settled(yes if condition in self.holding else no)
        if value.keys() == {"Ref"} and value["Ref"] in self.values:
            return self.values[value["Ref"]]
        return {name: self.settled(each) for name, each in value.items()}


def given(parameters: Json, conditions: Json, values: Mapping[str, str]) -> Given:
    """What these values mean to a template that declares such parameters and conditions."""
    of_all = {name: about.get("Default", "") for name, about in parameters.items()} | dict(values)
    holding = frozenset(name for name, test in conditions.items() if _holds(test, of_all))
    return Given(of_all, holding)


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
