"""passbolt-python-api 0.3.9, unchanged: what one person shares with it, others decrypt with it."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def given(python_api_visit):
    """What the client saw when Ada shared."""
    return python_api_visit("ada", "python_api_gives.py")


def test_a_user_decrypts_what_was_shared_with_them_and_changed_since(given, python_api_visit):
    assert python_api_visit("betty", "python_api_receives.py") == {"for betty": "second"}


def test_a_member_decrypts_what_was_shared_with_their_group(given, python_api_visit):
    assert python_api_visit("carol", "python_api_receives.py") == {"for the crew": "of the crew"}


def test_the_giver_still_decrypts_all_of_it(given, python_api_visit):
    assert python_api_visit("ada", "python_api_receives.py") == {
        "own": "nobody else's",
        "for betty": "second",
        "for the crew": "of the crew",
    }


def test_it_reads_from_the_simulation_who_gains_access(given):
    assert given["gained"] == {
        "for betty": ["betty@example.com"],
        "for the crew": ["carol@example.com"],
    }


def test_it_describes_the_group(given, people):
    assert given["group"] == "crew"
    assert set(given["members"]) == {people["ada"].id, people["carol"].id}


def test_it_finds_who_has_access(given):
    assert given["with_access"] == {
        "own": ["ada@example.com"],
        "for betty": ["ada@example.com", "betty@example.com"],
        "for the crew": ["ada@example.com", "carol@example.com"],
    }
