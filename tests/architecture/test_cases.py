"""The cases that tests name have a line in `docs/cases.md`, and the page tells which are tested."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from infra.describe.docs import DOCS

TESTS = DOCS.parent / "tests"
UNNAMED = ("Not yet built",)


@cache
def chapters() -> dict[str, list[str]]:
    """The lines of each chapter's table, in their order."""
    page = (DOCS / "cases.md").read_text()
    found = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    lines = re.compile(r"^\|(?! Case | ---).*", re.MULTILINE)
    return {title: lines.findall(text) for title, text in found}


def in_chapters(titles: Iterable[str]) -> list[str]:
    return [line.split()[1] for title in titles for line in chapters()[title]]


def listed() -> list[str]:
    return in_chapters(chapters())


def cases_with_tests() -> set[str]:
    return set(in_chapters(chapters().keys() - set(UNNAMED)))


def cases_without_tests() -> set[str]:
    return set(in_chapters(UNNAMED))


@cache
def families() -> frozenset[str]:
    return frozenset(case[:2] for case in listed())


def cases_in(text: str, of: frozenset[str]) -> Iterator[str]:
    """Cases as in a docstring, ranges of them, and the lower-case forms in names.

    What follows a dash is part of a hash or of a UUID, unless it ends a range.
    """
    family = "|".join(sorted(of))
    cited = rf"(?<![A-Za-z0-9-])({family})(\d\d)(?: ?[\u2013-] ?(?:\1)?(\d\d))?(?![A-Za-z0-9])"
    for name, first, last in re.findall(cited, text):
        for number in range(int(first), max(int(first), int(last or first)) + 1):
            yield f"{name}{number:02}"
    for case in re.findall(rf"(?<=_)(?:{family.lower()})\d\d(?![a-z0-9])", text):
        yield case.upper()


def sources(pattern: str) -> dict[Path, str]:
    return {path: path.read_text() for path in sorted(TESTS.rglob(pattern))}


def names_and_texts(source: str) -> Iterator[str]:
    """Names of functions and classes, docstrings, and other texts such as identifiers of tests."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ZZ01: a thing, ZZ02", ["ZZ01", "ZZ02"]),
        ("ZZ01/ZZ02", ["ZZ01", "ZZ02"]),
        ("ZZ09\u2013ZZ11", ["ZZ09", "ZZ10", "ZZ11"]),
        ("ZZ09-ZZ11", ["ZZ09", "ZZ10", "ZZ11"]),
        ("ZZ09\u201311", ["ZZ09", "ZZ10", "ZZ11"]),
        ("def test_zz01_zz02_it_holds():", ["ZZ01", "ZZ02"]),
        ("5bd4ecae-da08-577d-zz32-ce7b13bd7b0f 577D-ZZ32-CE7B", []),
        ("AZZ01 ZZ1 ZZ012 ZZ01a zz01 YY01", []),
    ],
)
def test_a_case_is_recognised_in_each_form_and_nothing_else_is(text, found):
    assert list(cases_in(text, frozenset({"ZZ"}))) == found


def test_each_case_has_one_line_and_the_lines_are_in_order():
    assert len(cases_with_tests()) > 150
    assert [case for case, lines in Counter(listed()).items() if lines > 1] == []
    for title, lines in chapters().items():
        family = r"[A-Z]{2}" if title in UNNAMED else re.escape(title.partition(":")[0])
        shape = re.compile(rf"\| {family}\d\d \| [^|]+\. \| [^|]+\. \|")
        assert [line for line in lines if not shape.fullmatch(line)] == []
        assert lines == sorted(lines)


def test_each_case_that_a_test_names_has_a_line():
    known = set(listed())
    unknown = {
        f"{path.relative_to(TESTS)}: {case}"
        for path, source in sources("*.py").items()
        for case in cases_in(source, families())
        if case not in known
    }
    assert unknown == set()


def test_each_case_of_the_tables_is_named_by_a_test_and_no_other_is():
    named = {
        case
        for source in sources("test_*.py").values()
        for text in names_and_texts(source)
        for case in cases_in(text, families())
    }
    assert cases_with_tests() - named == set()
    assert cases_without_tests() & named == set()
