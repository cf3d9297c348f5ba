"""Clients that sign in and read, and no more, unchanged, over real HTTP.

pybolt-client 1.0.3 has requests-gpgauthlib and GnuPG, simple-passbolt-client 0.0.2 has PGPy, and
so has pbssh 0.1.7, which knows headers in one spelling of their names alone.
"""

from __future__ import annotations

import json

import pytest

from tests.support.world import keys

SECRETS = {"mail": "first", "bank": "second"}


@pytest.fixture(scope="module")
def stored(served, people):
    """The identifiers of Ada's resources by name, each with a password of its own."""
    ada = people["ada"]
    types = {each["slug"]: each["id"] for each in ada.visitor.body("GET", "/resource-types.json")}

    def store(name, password):
        secret = keys.message(json.dumps({"password": password}), served.key.public)
        sent = {
            "name": name,
            "username": "ada",
            "uri": f"{name}.example.com",
            "resource_type_id": types["password-and-description"],
            "secrets": [{"data": secret}],
        }
        return ada.visitor.body("POST", "/resources.json", sent)["id"]

    return {name: store(name, password) for name, password in SECRETS.items()}


@pytest.fixture(scope="module")
def private_key_file(served, tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "private.asc"
    file.write_text(served.key.private)
    return file


@pytest.fixture(scope="module")
def pybolt(served, stored, visit, keyring, private_key_file):
    """What pybolt-client saw on one visit."""
    home = keyring()
    configuration = {
        "url": served.url,
        "keyring": str(home),
        "private_key_file": str(private_key_file),
        "names": list(stored),
    }
    return visit("pybolt-client", "pybolt_reads.py", configuration, home)


def test_pybolt_signs_in(pybolt, people):
    key = people["ada"].visitor.body("GET", "/auth/verify.json")

    assert pybolt["authenticated"] is True
    assert pybolt["server"] == key["fingerprint"]


def test_pybolt_lists_what_is_there(pybolt):
    assert set(pybolt["listed"]) == set(SECRETS)


def test_pybolt_decrypts_passwords_by_name(pybolt):
    assert pybolt["opened"] == SECRETS


def test_the_simple_client_signs_in_and_decrypts_secrets(
    served, stored, visit, keyring, private_key_file
):
    configuration = {
        "url": served.url,
        "private_key_file": str(private_key_file),
        "resources": list(stored.values()),
    }

    opened = visit("simple-passbolt-client", "simple_reads.py", configuration, keyring())

    assert opened == {stored[name]: {"password": password} for name, password in SECRETS.items()}


def test_pbssh_signs_in_and_prints_the_password_of_a_user_at_a_host(
    served, stored, visit, keyring, private_key_file
):
    hosts = ["ada@bank.example.com", "root@bank.example.com"]
    configuration = {
        "url": served.url,
        "private_key_file": str(private_key_file),
        "hosts": hosts,
    }

    printed = visit("pbssh", "pbssh_reads.py", configuration, keyring())

    assert printed == dict(zip(hosts, ["second", ""], strict=True))
