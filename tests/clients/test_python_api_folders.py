"""passbolt-python-api 0.3.9, unchanged: shared folders, and a sign-in with a second factor."""

from __future__ import annotations

import pytest

from tests.support.world.second_factors import served_app


@pytest.fixture(scope="module")
def filed(python_api_visit):
    """What the client saw when Ada filed."""
    return python_api_visit("ada", "python_api_files.py")


def test_it_shares_what_it_puts_into_a_folder_as_that_is_shared(filed, python_api_visit):
    assert python_api_visit("betty", "python_api_receives.py") == {"in the folder": "of two"}


def test_it_lists_what_lies_in_a_folder(filed):
    assert (filed["listed"], filed["drafts"]) == (["in the folder"], ["moved"])
    assert filed["parent"] is True


def test_it_reads_a_folder_in_another(filed):
    assert filed["read"]["name"] == "drafts"
    assert filed["read"]["folder_parent_id"]
    assert filed["read"]["personal"] is False


def test_it_tells_who_has_a_folder(filed):
    assert filed["users"] == ["ada@example.com", "betty@example.com"]
    assert filed["permissions"] == [7, 15]


@pytest.mark.usefixtures("present")
def test_it_signs_in_with_a_code_of_an_app(people, python_api_visit):
    app = served_app(people["ada"], people["carol"])

    assert python_api_visit("carol", "python_api_receives.py", OTP=app.code()) == {}
