"""The server's key is changed by a function that has no more rights than it has there."""

from __future__ import annotations

import json

import pytest

from tests.cloud.given.remote import Remote, sign_in
from tests.cloud.given.tenants import FOUNDER, call, found
from tests.support.world import second_factors
from tests.support.world.items import metadata
from tests.support.world.keys import challenge, fingerprint

pytestmark = pytest.mark.cloud


def shown(tenant):
    return Remote(url=tenant.url).get("/auth/verify.json").body


def told(tenant, what):
    return call(tenant.cloud, tenant.stack, FOUNDER, {"server_key": what})


def test_a_key_is_announced_and_the_one_before_it_stays_in_use(acme):
    announced = told(acme, "next")

    assert announced["in_use"] == shown(acme)["fingerprint"] != announced["coming"]
    assert sign_in(acme).id == acme.user_id
    assert told(acme, "next") == announced
    assert told(acme, "use")["refused"].startswith("It is too early for 'use', possible from ")


@pytest.fixture
def oscorp(cell):
    """A tenant nobody else uses: its functions know an old key for a while."""
    return found(cell, "oscorp", "clients")


@pytest.mark.usefixtures("present")
def test_what_rests_sealed_is_sealed_anew(oscorp):
    """A second factor, and the server's copy of a metadata key."""
    ada = sign_in(oscorp)
    before = shown(oscorp)
    key = metadata.pair()
    own, server = (
        challenge(metadata.content(key), ada.key.private, public)
        for public in (ada.key.public, before["keydata"])
    )
    copies = [{"user_id": ada.id, "data": own}, {"user_id": None, "data": server}]
    body = {"fingerprint": key.fingerprint, "armored_key": key.public}
    made = ada.client.post("/metadata/keys.json", {**body, "metadata_private_keys": copies})
    assert made.status == 200, made.json
    second_factors.turn_on(ada)
    second_factors.set_up(ada.client)

    replaced = told(oscorp, "replace")
    assert replaced["earlier"] == [before["fingerprint"]]
    assert told(oscorp, "reseal") == {"resealed": 2, "unopened": 0, "is_all": True}
    assert told(oscorp, "reseal") == {"resealed": 0, "unopened": 0, "is_all": True}

    [row] = [row for row in oscorp.rows("users") if "totp" in row]
    assert row["totp"]["S"].startswith("-----BEGIN PGP MESSAGE")
    secret = oscorp.stack.outputs["OpenpgpSecret"]
    kept = oscorp.cloud.client("secretsmanager").get_secret_value(SecretId=secret)
    stored = json.loads(kept["SecretString"])
    assert stored["retired"]
    public = [fingerprint(private) for private in stored["keys"]]
    assert public == [before["fingerprint"], replaced["in_use"]]
