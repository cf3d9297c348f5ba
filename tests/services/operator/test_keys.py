"""The tenant's keys: made once, and kept as secrets."""

from __future__ import annotations

import subprocess
import sys

import boto3
import pytest
from moto import mock_aws

from chalicelib.crypto import private_keys
from chalicelib.domain.errors import Unavailable
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.operator import keys, server_key, signing_keys, tenants
from chalicelib.settings import settings
from chalicelib.workers import founder
from tests.support.environment import ENGINE
from tests.support.faults.rights import rights_of_group
from tests.support.world.operator.secret_names import refusing_a_second_value

NAME = "keyhaven/test/secret"


@pytest.fixture
def secrets():
    with mock_aws():
        client = boto3.client("secretsmanager", settings.region)
        client.create_secret(Name=NAME)
        yield client
        client.delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)


def value(secrets):
    return secrets.get_secret_value(SecretId=NAME)["SecretString"]


def test_a_secret_without_a_value_gets_one(secrets):
    private_keys.Secret(NAME).create(lambda: "one")
    assert value(secrets) == "one"


def test_a_secret_with_a_value_keeps_it(secrets):
    secrets.put_secret_value(SecretId=NAME, SecretString="rotated")

    private_keys.Secret(NAME).create(lambda: pytest.fail("a second key was made"))

    assert value(secrets) == "rotated"


def test_of_two_who_make_a_key_at_once_one_does(secrets):
    """The other's value has the same name, so Secrets Manager refuses ours."""

    def make() -> str:
        private_keys.Secret(NAME).create(lambda: "theirs")
        return "ours"

    with refusing_a_second_value(secrets, NAME):
        private_keys.Secret(NAME).create(make)

    assert value(secrets) == "theirs"


@pytest.mark.parametrize("secret_id", [None, "keyhaven/test/nowhere"])
def test_without_a_place_no_key_is_made(secrets, secret_id):
    with pytest.raises(Unavailable):
        private_keys.Secret(secret_id).create(lambda: pytest.fail("a key was made"))


@pytest.fixture
def founding(store):
    """The founder with the rights it has in the cloud and no others."""
    [group] = (group for group in WORKERS if group.name == "founder")
    with rights_of_group(group):
        yield


@pytest.mark.usefixtures("founding")
def test_the_founder_makes_keys_once_and_tells_the_fingerprint():
    told = founder.handler({}, None)

    assert told == {"fingerprint": server_key.in_use().fingerprint}
    assert founder.handler({}, None) == told
    assert keys.create("elsewhere.example") == told["fingerprint"]
    assert len(signing_keys.stored().keys) == 1


@pytest.mark.usefixtures("founding")
def test_the_founder_invites_once_and_repeats_the_link():
    who = {"username": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"}

    first = founder.handler({"administrator": who}, None)["link"]
    second = founder.handler({"administrator": who}, None)["link"]

    assert tenants.is_founded()
    user = first.rpartition("/setup/start/")[2].partition("/")[0]
    assert f"/setup/start/{user}/" in second


@pytest.mark.skipif(ENGINE != "moto", reason="says nothing of a storage")
def test_keys_made_as_secrets_serve_as_the_tenants_own():
    """As in the cloud: no folder, two secrets, and nothing of the keys in what is returned."""
    run = subprocess.run(
        [sys.executable, "-c", _IN_THE_CLOUD], capture_output=True, text=True, check=True
    )
    fingerprint, user_id = run.stdout.split(maxsplit=1)
    assert len(fingerprint) == 40
    assert user_id.strip() == "Keyhaven <server@acme.example>"


_IN_THE_CLOUD = """
import os
os.environ.update(
    AWS_ACCESS_KEY_ID="testing", AWS_SECRET_ACCESS_KEY="testing", AWS_REGION="eu-west-1",
    BASE_URL="https://acme.example", TABLE_PREFIX="cloud-", OPENPGP_SECRET="a", JWT_SECRET="b",
)
os.environ.pop("KEY_FOLDER", None)
import boto3
from moto import mock_aws
with mock_aws():
    from chalicelib.crypto import private_keys
    from chalicelib.tables.settings import Setting
    from chalicelib.workers import founder
    import pgpy
    client = boto3.client("secretsmanager", "eu-west-1")
    for name in ("a", "b"):
        client.create_secret(Name=name)
    Setting.create_table(wait=False)
    told = founder.handler({}, None)
    assert founder.handler({}, None) == told
    key, _ = pgpy.PGPKey.from_blob(private_keys.read(private_keys.OPENPGP))
    print(told["fingerprint"], key.pubkey.userids[0].name, f"<{key.pubkey.userids[0].email}>")
"""
