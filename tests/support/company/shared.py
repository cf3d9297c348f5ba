"""One directory of nobody for all tests of a process that only need some directory to be asked."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache

from tests.support.company.company import Company, founded
from tests.support.company.fixtures import require_slapd


@cache
def _company() -> Company:
    held = ExitStack()
    atexit.register(held.close)
    return held.enter_context(founded())


@cache
def _staffed() -> Company:
    held = ExitStack()
    atexit.register(held.close)
    company = held.enter_context(founded())
    company.group("staff", company.person("grace"))
    return company


def staffed() -> Company:
    """A directory of one person and one group, for tests that do not change it."""
    require_slapd()
    return _staffed()


def company() -> Company:
    """The directory; tests that ask for it are skipped where there can be none."""
    require_slapd()
    return _company()
