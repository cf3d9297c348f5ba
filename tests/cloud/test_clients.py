"""passbolt-python-api 0.3.9, unchanged, over the gateway of a tenant's stack."""

from __future__ import annotations

import pytest

from tests.cloud.given.people import configured
from tests.support.wire.served import administrator, newcomer

pytestmark = pytest.mark.cloud


@pytest.fixture(scope="module")
def people(acme):
    """Ada, and whom she invited, by name."""
    ada = administrator(acme)
    return {each.name: each for each in (ada, *(newcomer(acme, ada, n) for n in INVITED))}


INVITED = ("betty", "carol")


@pytest.fixture(scope="module")
def visit_of(acme, people, visit, keyring):
    """A visit of somebody with their own key, which is in nobody else's keyring."""

    def run(name, script):
        key = people[name].key
        configuration = {"PASSBOLT": {"SERVER": acme.url, "USER_FINGERPRINT": key.fingerprint}}
        return visit("passbolt-python-api", script, configuration, keyring(key))

    return run


@pytest.fixture(scope="module")
def seen(acme, visit, keyring, tmp_path_factory):
    """What the client saw on one visit: it signs in, stores, reads, changes, deletes, leaves."""
    configuration = configured(acme, tmp_path_factory.mktemp("keys"))
    return visit("passbolt-python-api", "python_api.py", configuration, keyring())


@pytest.fixture(scope="module")
def given(visit_of):
    """What the client saw when Ada shared."""
    return visit_of("ada", "python_api_gives.py")


def test_it_signs_in_and_out(seen):
    assert seen["me"] == "ada@example.com"
    assert seen["signed_out"] == "You are successfully logged out."


def test_it_reads_what_it_stored_and_changed(seen):
    assert seen["created"]["name"] == "mail"
    assert seen["opened"] == {"password": "first", "description": ""}
    assert seen["changed"]["name"] == "mail of the team"
    assert seen["reopened"] == "second"


def test_what_it_deletes_is_gone(seen):
    assert seen["created"]["id"] not in seen["left"]


def test_a_user_decrypts_what_was_shared_with_them(given, visit_of):
    assert visit_of("betty", "python_api_receives.py") == {"for betty": "second"}


def test_a_member_decrypts_what_was_shared_with_their_group(given, visit_of):
    assert visit_of("carol", "python_api_receives.py") == {"for the crew": "of the crew"}
