"""Pages that are written from the code say what the code says."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from chalicelib.storage.base import every_table
from infra.describe import readable
from infra.describe.docs import DOCS, PAGES
from tests.support.wire.endpoints import ROUTES

ROOT = DOCS.parent


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_the_code_makes(name):
    """When this fails, run `make docs`."""
    assert (DOCS / name).read_text() == PAGES[name]()


def test_the_page_of_the_api_is_the_one_the_code_makes():
    """When this fails, run `make openapi`."""
    page = readable.text()
    assert readable.FILE.read_text() == page
    for route in ROUTES:
        assert f"<code>{route.method} {route.path}</code>" in page


def test_every_endpoint_has_its_line():
    lines = PAGES["endpoints.md"]().splitlines()
    for route in ROUTES:
        start = f"| {route.method} | `{route.path}` | {route.action} | {route.access.value} |"
        assert len([line for line in lines if line.startswith(start)]) == 1


def test_every_table_has_its_chapter_with_all_attributes():
    page = PAGES["tables.md"]()
    chapters = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    tables = [t for t in every_table() if t.__module__.startswith("chalicelib.")]
    assert sorted(chapters) == sorted(t.stored_as().removeprefix("test-") for t in tables)
    for table in tables:
        chapter = chapters[table.stored_as().removeprefix("test-")]
        for name in table.get_attributes():
            assert f"| `{name}` |" in chapter


def test_docstrings_of_attributes_are_shown():
    assert "Whether the user has completed the setup." in PAGES["tables.md"]()


@pytest.mark.parametrize(
    "module", ["infra.describe.openapi", "infra.describe.readable", "infra.describe.docs"]
)
def test_what_is_written_does_not_depend_on_the_environment(module, tmp_path):
    """A tenant's settings would make the files differ from one machine to the next."""
    code = f"from {module} import *; import sys; sys.stdout.write({made(module)})"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PATH": "", "BASE_URL": url, "TABLE_PREFIX": prefix, "KEY_FOLDER": str(tmp_path)},
            capture_output=True,
            check=True,
        ).stdout
        for url, prefix in (("https://a.example", "a-"), ("https://b.example", "b-"))
    }
    assert len(outputs) == 1


def made(module):
    return "endpoints() + tables()" if module == "infra.describe.docs" else "text()"


def test_the_glossary_is_in_order():
    words = re.findall(r"^\| ([^|]+?) \|", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    terms = [word for word in words if word not in ("Word", "---")]
    assert len(terms) > 40
    assert terms == sorted(terms, key=str.lower)


def test_the_steps_to_another_endpoint_lead_to_what_is_there():
    page = (ROOT / "ARCHITECTURE.md").read_text()
    [steps] = re.findall(r"^## Adding an endpoint\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    commands = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    kept = (ROOT / "tests/architecture/test_routes.py").read_text()

    places = re.findall(r"`(\w+/[\w/.]+|[A-Z]+\.md)`", steps)
    assert places
    assert [each for each in places if not (ROOT / each).exists()] == []
    assert set(re.findall(r"`make ([a-z-]+)`", steps)) <= set(commands)
    for name in re.findall(r"`([A-Z_]+)`", steps):
        assert f"\n{name} = " in kept
