"""The lab client and its descendants, unchanged: what one person shares, others decrypt."""

from __future__ import annotations

import pytest

from tests.support.wire.served import serving


@pytest.fixture(scope="module", params=["PGPy", "gnupg"])
def library(request):
    return request.param


@pytest.fixture(scope="module", params=["passbolt", "py-passbolt", "pypassbolt-api"])
def client(request):
    return request.param


@pytest.fixture(scope="module")
def served(client, library, tmp_path_factory):
    with serving(tmp_path_factory.mktemp(library), dialect="clients") as service:
        yield service


@pytest.fixture(scope="module")
def visit_of(client, served, library, people, visit, keyring):
    """A visit of somebody with their own key, which is in nobody else's keyring."""

    def run(name, script, **more):
        key = people[name].key
        configuration = {
            "base_url": served.url,
            "gpg_library": library,
            "private_key": key.private,
            "passphrase": "",
            "fingerprint": key.fingerprint,
            **more,
        }
        return visit(client, script, configuration, keyring(key))

    return run


@pytest.fixture(scope="module")
def given(visit_of):
    """What the client saw when Ada shared."""
    return visit_of("ada", "lab_gives.py")


@pytest.fixture(scope="module")
def passed_on(given, visit_of):
    """What Carol read when she, as a new manager, had taken Betty into the crew."""
    return visit_of("carol", "lab_receives.py", admits="betty@example.com")


def test_it_shares_with_a_user_and_with_a_group(given):
    assert given["shared"] == ["The operation was successful."] * 2


def test_it_takes_a_user_into_a_group_that_has_a_secret_already(given, people):
    members = {
        each["user_id"]: each["is_admin"] for each in given["joined"]["body"]["groups_users"]
    }

    assert members == {people["ada"].id: True, people["carol"].id: False}


def test_it_promotes_a_member(given, people):
    promoted = {each["user_id"]: each for each in given["promoted"]["body"]["groups_users"]}

    assert promoted[people["carol"].id]["is_admin"] is True
    assert promoted[people["carol"].id]["id"] == given["membership"]


def test_it_finds_the_group(given):
    assert given["found"]["name"] == "crew"


def test_a_new_member_decrypts_what_is_shared_with_the_group(passed_on):
    assert passed_on == {"for the crew": "of the crew"}


def test_a_user_decrypts_what_they_were_given_and_what_a_manager_passed_on(passed_on, visit_of):
    assert visit_of("betty", "lab_receives.py") == {
        "for betty": "of betty",
        "for the crew": "of the crew",
    }


def test_the_giver_still_decrypts_all_of_it(given, visit_of):
    assert visit_of("ada", "lab_receives.py") == {
        "own": "nobody else's",
        "for betty": "of betty",
        "for the crew": "of the crew",
    }
