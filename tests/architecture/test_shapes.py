"""Whatever somebody changes in a template is found, though nobody thought of it.

Every value of every resource is dropped, flipped and widened, and each of these mutants differs
from what was reviewed, but for the few that mean the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest

from infra.bundle.bundle import Bundle
from infra.checks import gateway
from infra.checks.shapes import FOLDER, Unit, lines, units, unreviewed, written
from infra.describe.shapes import shapes
from infra.template.cell.platform import platform
from infra.template.tenant import tenant
from infra.template.tiers import STANDARD

BUNDLE = Bundle("c" * 16, "d" * 16)
TEMPLATES = {"tenant": tenant(STANDARD, BUNDLE), "platform": platform(BUNDLE)}
AT_LEAST = {"tenant": 10_000, "platform": 700}
"""Mutants: fewer, and whole parts of a template are not tried."""


@dataclass(frozen=True)
class Mutant:
    unit: str
    place: tuple[str | int, ...]
    how: str
    value: Any
    """The unit as it is with the mutation."""


def different(all_units: Iterable[Unit]) -> Iterator[Unit]:
    """Each unit but, of methods of the API that are alike, one: mutants of others are the same."""
    seen = set()
    for unit in all_units:
        facts = (unit.kind, unit.facts())
        if not unit.kind.startswith("API method") or facts not in seen:
            seen.add(facts)
            yield unit


def mutants(unit: Unit) -> Iterator[Mutant]:
    """Every value of a unit dropped, flipped and widened, one at a time."""
    written = pickle.dumps(unit.value)  # read anew sooner than copied
    for place, value in places(unit.value):
        for how, other in mutations(value):
            if other == value:
                continue
            changed = pickle.loads(written)
            put(changed, place, other)
            yield Mutant(f"{unit.kind} {unit.name}", place, how, changed)
        if place:
            changed = pickle.loads(written)
            drop(changed, place)
            yield Mutant(f"{unit.kind} {unit.name}", place, "drop", changed)


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    if place:
        yield place, value
    members = value.items() if isinstance(value, dict) else ()
    members = enumerate(value) if isinstance(value, list) else members
    for name, each in members:
        yield from places(each, (*place, name))


def mutations(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield "flip", not value
    elif isinstance(value, (int, float)):
        yield "lower", value - 1
        yield "raise", value * 10 + 1
    elif isinstance(value, str):
        yield "widen", "*"
        yield "change", f"{value}x"
        yield "empty", ""
    elif isinstance(value, list):
        yield "empty", []
        yield "widen", [*value, "*"]
        yield "repeat", [*value, *value[:1]]
        yield "turn", value[::-1]
    elif isinstance(value, dict):
        yield "empty", {}
        yield "widen", {**value, "Further": "*"}


def put(value: Any, place: tuple[str | int, ...], other: Any) -> None:
    for name in place[:-1]:
        value = value[name]
    value[place[-1]] = other


def drop(value: Any, place: tuple[str | int, ...]) -> None:
    for name in place[:-1]:
        value = value[name]
    del value[place[-1]]


HARMLESS = {
    "these lists have no order: the shape keeps that of keys, and functions are told whole": (
        lambda how, value: how == "turn"
    ),
    "to say again what is said already says no more": (
        lambda how, value: how == "repeat" or (how == "widen" and "*" in value)
    ),
}
"""Mutants that mean what was reviewed, of lists alone; by the reason somebody has thought about."""


def is_harmless(mutant: Mutant, value: Any) -> bool:
    for name in mutant.place:
        value = value[name]
    of_lists = isinstance(value, list)
    return of_lists and any(each(mutant.how, value) for each in HARMLESS.values())


@pytest.mark.parametrize("which", TEMPLATES)
def test_every_mutant_is_found_or_means_the_same(which):
    tried = 0
    for unit in different(units(TEMPLATES[which])):
        reviewed = unit.facts()
        for mutant in mutants(unit):
            tried += 1
            is_found = replace(unit, value=mutant.value).facts() != reviewed
            assert is_found or is_harmless(mutant, unit.value), mutant
    assert tried > AT_LEAST[which]


@pytest.mark.parametrize("which", TEMPLATES)
def test_every_resource_parameter_and_output_stands_there_by_name(which):
    """So one that goes, comes, or becomes another kind is a line that differs."""
    told = set(lines(TEMPLATES[which]))
    for unit in units(TEMPLATES[which]):
        assert unit.kind.startswith("API method") or (unit.kind, f"- {unit.name}") in told


@pytest.mark.parametrize("name", ["UsersErrors", "TenantKey", "FirewallLink"])
def test_a_resource_that_goes_comes_or_becomes_another_is_found(name):
    resources = TEMPLATES["tenant"]["Resources"]
    less = {each: declared for each, declared in resources.items() if each != name}
    other = {**resources, name: {**resources[name], "Type": "AWS::X::Y"}}
    for mutated in (less, other, {**resources, f"{name}2": resources[name]}):
        assert list(unreviewed({**TEMPLATES["tenant"], "Resources": mutated}))


def test_every_path_and_method_that_goes_is_found():
    """They are not in the shape, which is of all alike."""
    template = deepcopy(TEMPLATES["tenant"])
    paths = template["Resources"]["Api"]["Properties"]["Body"]["paths"]
    for path in list(paths):
        methods = paths.pop(path)
        assert list(gateway.nothing_else_is_served(template)), path
        paths[path] = dict(list(methods.items())[1:])
        assert list(gateway.nothing_else_is_served(template)), path
        paths[path] = methods


@pytest.mark.parametrize("name", shapes())
def test_what_was_reviewed_is_written_from_the_code(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == shapes()[name], "run `make docs`"


def test_what_changes_with_a_build_or_a_restore_is_left_open():
    other = tenant(STANDARD, Bundle("1" * 16, "2" * 16), epoch=12, values={"BaseUrl": "x"})
    assert list(unreviewed(other)) == []


def test_functions_of_another_epoch_than_their_tables_are_found():
    template = deepcopy(TEMPLATES["tenant"])
    function = template["Resources"]["UsersFunction"]["Properties"]
    function["Environment"]["Variables"]["TABLE_PREFIX"] = {"Fn::Sub": "keyhaven-${TenantId}-2-"}
    assert any("TABLE_PREFIX" in each for each in unreviewed(template))


def test_a_difference_names_the_command_that_writes_it_down():
    template = deepcopy(TEMPLATES["tenant"])
    template["Resources"]["Api"]["Properties"]["FailOnWarnings"] = False
    said = list(unreviewed(template))
    assert said[0] == "ApiGateway::RestApi: FailOnWarnings = false — is new."
    assert "`make docs`" in said[-1]


def test_templates_that_differ_share_their_lines():
    one = {"Description": "one", "Resources": {"X": {"Type": "AWS::X::Y", "Properties": {"A": 1}}}}
    other = {**one, "Description": "other", "Resources": {}}
    assert "A = 1  (one)" in written({"one": one, "other": other})
