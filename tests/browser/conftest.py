"""Debian's Chromium, and a service as tenants of deployed clients have it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.wire.served import ROOT, Served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Playwright

PICTURES = ROOT / "build" / "pictures"


def pytest_itemcollected(item: pytest.Item) -> None:
    """All tests of this folder need the browser."""
    item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the browser is."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not on this machine")
    return found


@pytest.fixture(scope="session")
def playwright(chromium: str) -> Iterator[Playwright]:
    """What drives the browser: one for all tests, since no thread has two."""
    api = pytest.importorskip("playwright.sync_api", reason="`make test-browser` installs it")
    with api.sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served"), dialect="clients") as service:
        yield service


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where pictures of what was seen are kept."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES
