"""Rows are read by `reading`, where they count as committed changes leave them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import chalicelib
import chalicelib.services.operator.keys
from chalicelib.storage.base import every_table

SOURCES = sorted(Path(chalicelib.__file__).parent.rglob("*.py"))
PAST_READING = {"get", "batch_get", "query", "scan", "count", "exists", "refresh"}
"""PynamoDB's own ways to read, which show a row as it stands."""


def past_reading(source: str) -> Iterator[str]:
    """The calls by which a source reads a table in PynamoDB's own way."""
    tables = {table.__name__ for table in every_table()} | {"Table", "Versioned", "Dependent"}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        of = node.func.value
        is_table = isinstance(of, ast.Name) and of.id in tables
        if is_table and node.func.attr in PAST_READING:
            yield ast.unparse(node)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_module_reads_a_table_in_another_way(path):
    assert list(past_reading(path.read_text())) == []


@pytest.mark.parametrize(
    "forgetful",
    ["User.get(user_id)", "[*Membership.query(group_id)]", "Resource.batch_get(ids)"],
)
def test_a_service_that_does_is_found(forgetful):
    assert len(list(past_reading(f"def view():\n    return {forgetful}\n"))) == 1
