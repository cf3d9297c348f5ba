"""Companies as fixtures, for the tests that read their directories."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.company import slapd
from tests.support.company.company import ACTIVE_DIRECTORY, Company, founded


@pytest.fixture
def company() -> Iterator[Company]:
    """A company of nobody yet, whose directory is an OpenLDAP server."""
    require_slapd()
    with founded() as company:
        yield company


@pytest.fixture
def active_directory() -> Iterator[Company]:
    """The same with a directory that has the attributes of Active Directory."""
    require_slapd()
    with founded(ACTIVE_DIRECTORY) as company:
        yield company


def require_slapd() -> None:
    if problem := slapd.why_not():
        pytest.skip(problem)
