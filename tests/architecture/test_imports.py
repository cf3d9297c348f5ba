"""Imports point one way, as the contracts in `pyproject.toml` say."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "chalicelib").rglob("*.py"))
SOLE = {
    "pgpy": {"crypto"},
    "pysequoia": {"crypto"},
    "jwt": {"crypto"},
    "pynamodb": {"storage", "tables"},
    "botocore": {"aws.py", "storage", "crypto", "objects", "post"},
    "PIL": {"objects"},
    "segno": {"views"},
    "chalice": {"web"},
}
"""Libraries, and the one layer that knows each."""


def test_the_import_contracts_are_kept():
    run = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


@cache
def imports_of(path):
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


IN_WINGS = ("routes", "views", "bodies", "tables", "domain")
IN_TWO = {"password_expiry"}
"""What the organisation wants of it is of its people; its routes mark single items."""


def test_a_noun_is_in_the_same_wing_of_each_layer():
    """Or beside the wings, where several use it."""
    wings = {}
    for layer in IN_WINGS:
        for path in (ROOT / "chalicelib" / layer).glob("*/**/*.py"):
            if path.stem != "__init__":
                wing = path.relative_to(ROOT / "chalicelib" / layer).parts[0]
                wings.setdefault(path.stem, set()).add(wing)
    assert {noun for noun, found in wings.items() if len(found) > 1} == IN_TWO


def test_each_folder_with_modules_is_a_package():
    """Else whoever walks through packages would pass it by, the catalogue of tables too."""
    folders = {path.parent for path in MODULES}
    assert {folder.name for folder in folders if not (folder / "__init__.py").exists()} == set()


@pytest.mark.parametrize("library", SOLE)
def test_a_library_is_known_to_one_layer(library):
    users = {
        path.relative_to(ROOT / "chalicelib").parts[0]
        for path in MODULES
        for name in imports_of(path)
        if name.partition(".")[0] == library
    }
    assert users
    assert users <= SOLE[library]


@pytest.mark.parametrize("path", MODULES, ids=[str(p.relative_to(ROOT)) for p in MODULES])
def test_a_module_says_what_it_is_for(path):
    source = path.read_text()
    if source:
        docstring = ast.get_docstring(ast.parse(source)) or ""
        assert docstring.partition("\n")[0].endswith((".", ":")), path


def test_nothing_that_ships_imports_what_does_not():
    shipped = [*MODULES, ROOT / "app.py"]
    names = {name.partition(".")[0] for path in shipped for name in imports_of(path)}
    assert names & {"infra", "tests", "bench", "boto3", "moto", "ministack", "requests"} == set()


def wing(module):
    """Of `chalicelib.services.<wing>.…` the wing, of all else nothing."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["chalicelib", "services"] and len(parts) > 2 else None


def test_few_wings_of_services_know_each_other():
    arrows = {
        (of, to)
        for path in MODULES
        if (of := wing(".".join(path.relative_to(ROOT).with_suffix("").parts)))
        for name in imports_of(path)
        if (to := wing(name)) and to != of
    }
    assert ("deletion", "access") in arrows
    assert len(arrows) <= 20, sorted(arrows)
