"""Tests of the local cloud share one account in any order: each module has tenants of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

CLOUD = Path(__file__).parents[1] / "cloud"
MAKE = {"found", "onboard", "put_tenant", "settle_tenant"}
"""Who makes a tenant, and is told its name."""


def names_in(tree: ast.AST) -> Iterator[str]:
    """What tenants are called that are made there, where it is said as a word."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Call):
            called = ast.unparse(each.func).rpartition(".")[2]
            words = [word.value for word in each.args if isinstance(word, ast.Constant)]
            if called == "give" and words[:1] == ["onboard"]:
                yield from words[1:2]
            elif called in MAKE:
                yield from words[:1]


def test_no_two_modules_make_a_tenant_of_one_name():
    made = {path: set(names_in(ast.parse(path.read_text()))) for path in CLOUD.rglob("*.py")}

    names = sorted(name for each in made.values() for name in each)
    assert names == sorted(set(names))
    assert {"acme", "vandelay", "hooli"} <= set(names)


def test_a_name_is_read_from_each_way_of_making_one():
    said = 'found(cell, "a", "clients")\ncell.put_tenant("b")\noperator.give("onboard", "c", *ADA)'

    assert list(names_in(ast.parse(said))) == ["a", "b", "c"]
