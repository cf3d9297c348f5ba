"""The key that signs tokens is changed by a function that has no more rights than it has there."""

from __future__ import annotations

import pytest

from tests.cloud.given.remote import Remote, sign_in
from tests.cloud.given.tenants import FOUNDER, call, found

pytestmark = pytest.mark.cloud


def test_another_key_is_published_beside_the_one_that_signs(acme):
    told = call(acme.cloud, acme.stack, FOUNDER, {"signing_keys": "next"})

    served = Remote(url=acme.url).get("/auth/jwt/jwks.json").json["keys"]
    assert [key.get("kid", "The first key") for key in served] == [told["signs"], told["other"]]
    assert sign_in(acme).id == acme.user_id
    again = call(acme.cloud, acme.stack, FOUNDER, {"signing_keys": "next"})
    assert again == told
    early = call(acme.cloud, acme.stack, FOUNDER, {"signing_keys": "sign"})
    assert early["refused"].startswith("It is too early for 'sign', possible from ")


@pytest.fixture
def initrode(cell):
    """A tenant nobody else uses: its functions know an old key for a while."""
    return found(cell, "initrode", "clients")


def test_a_key_is_replaced_at_once(initrode):
    before = call(initrode.cloud, initrode.stack, FOUNDER, {"signing_keys": "look"})
    told = call(initrode.cloud, initrode.stack, FOUNDER, {"signing_keys": "replace"})

    assert told["signs"] != before["signs"]
    [served] = Remote(url=initrode.url).get("/auth/jwt/jwks.json").json["keys"]
    assert served["kid"] == told["signs"]
    secret = initrode.stack.outputs["JwtSecret"]
    kept = initrode.cloud.client("secretsmanager").get_secret_value(SecretId=secret)
    assert kept["SecretString"].count("BEGIN PRIVATE KEY") == 1
