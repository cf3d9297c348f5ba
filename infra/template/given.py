"""What a template says once its parameters are given: values, and what conditions choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.template.elements import NO_VALUE, Json


@dataclass(frozen=True, slots=True)
class Given:
    values: Mapping[str, str]
    """Of all parameters, also where nobody has given another than the template has."""
    holding: frozenset[str]
    """Conditions that hold."""

    def settled(self, value: Any) -> Any:
        """A part of the template without parameters, choices and what comes to no value."""
        if isinstance(value, list):
            return [each for each in map(self.settled, value) if each != NO_VALUE]
        if not isinstance(value, dict):
            return value
        if "Fn::If" in value:
            condition, yes, no = value["Fn::If"]
            return self.settled(yes if condition in self.holding else no)
        if value.keys() == {"Ref"} and value["Ref"] in self.values:
            return self.values[value["Ref"]]
        if "Fn::Split" in value:
            return self._listed(*value["Fn::Split"])
        settled = {name: self.settled(each) for name, each in value.items()}
        return {name: each for name, each in settled.items() if each != NO_VALUE}

    def _listed(self, mark: str, value: Any) -> Any:
        """The names that a parameter lists: they mean the same in any order."""
        names = self.settled(value)
        return sorted(names.split(mark)) if isinstance(names, str) else {"Fn::Split": [mark, names]}


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
