"""Access tokens while the key that signs them is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from chalicelib.crypto import tokens
from chalicelib.domain.errors import Conflict
from chalicelib.domain.ids import new_id
from chalicelib.domain.warm import PATIENCE, SECONDS
from chalicelib.services.operator import rotation, signing_keys
from chalicelib.services.sign_in.sessions import ISSUER
from chalicelib.tables.settings import SIGNING_KEYS, Setting
from chalicelib.tables.tokens import BEARER, Token, token_hash
from tests.conftest import Time
from tests.support.environment import BASE_URL
from tests.support.faults.hooks import Recorder
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.world import make
from tests.support.world.keys import KEYS
from tests.support.world.make import Somebody
from tests.support.world.operator.rotation import (
    NEXT,
    RETIRE,
    SIGN,
    own_place,
    pool,
    take,
    without_names,
)

ME = "/users/me.json"
SERVER = KEYS["server_curve"]


@pytest.fixture(autouse=True)
def _own_keys(store: Storage) -> Iterator[None]:
    """What a test does to the keys ends with it."""
    place = own_place()
    before, pool.made = place.read(), 0
    yield
    place.follow(place.read(), before.text)
    signing_keys.forget()


@pytest.fixture
def session(betty: Somebody, time: Time) -> str:
    """A session of Betty's that stands, for tokens to name."""
    name = new_id()
    row = Token(token_hash(BEARER, name), kind=BEARER, user_id=betty.id, epoch=0)
    row.expires = time.timestamp + 9e6
    row.save()
    return name


@pytest.fixture
def ask(api: Client, betty: Somebody, session: str, time: Time) -> Callable[..., Response]:
    """Asks as Betty, with a token a key signs at this moment."""

    def asked(key: tokens.SigningKey) -> Response:
        token = key.sign(betty.id, session, issuer=ISSUER, now=time.timestamp)
        return api.get(ME, headers={"authorization": f"Bearer {token}"})

    return asked


def assert_unknown(response: Response) -> None:
    assert (response.status, response.message, response.body) == (
        403,
        "Authentication is required to continue",
        "",
    )


def key_names(api: Client) -> list[str | None]:
    return [key.get("kid") for key in api.get("/auth/jwt/jwks.json").json["keys"]]


def signing_numbers(api: Client) -> int:
    pem = api.get("/auth/jwt/rsa.json").body["keydata"]
    numbers: int = serialization.load_pem_public_key(pem.encode()).public_numbers().n  # type: ignore[union-attr]
    return numbers


def test_tokens_of_both_keys_are_believed_until_the_old_one_is_retired(
    api: Client, ask: Callable[..., Response], time: Time
) -> None:
    old = signing_keys.signer()
    assert ask(old).status == 200
    take(NEXT, time)
    assert key_names(api)[0] == old.kid
    assert signing_keys.signer().kid == old.kid

    take(SIGN, time)
    assert signing_keys.signer().kid == old.kid
    time.pass_by(seconds=SECONDS + 60)
    new = signing_keys.signer()
    assert key_names(api) == [old.kid, new.kid]
    assert (ask(old).status, ask(new).status) == (200, 200)

    take(RETIRE, time)
    assert key_names(api) == [new.kid]
    assert ask(new).status == 200
    assert_unknown(ask(old))


def test_nobody_is_signed_out_on_the_way(betty: Somebody, time: Time) -> None:
    """A token lives for five minutes; whenever it was made, it does."""
    for step in (NEXT, SIGN, RETIRE):
        time.now = rotation.due(signing_keys.stored()) or time.now
        client = Client(make.access_token(betty.user))
        take(step, time)
        time.pass_by(seconds=tokens.LIFETIME - 1)
        assert client.get(ME).status == 200


def test_the_last_token_of_a_key_lives_as_long_as_others(betty: Somebody, time: Time) -> None:
    take(NEXT, time)
    begins = take(SIGN, time).signs_from
    assert begins is not None
    time.now = begins - timedelta(seconds=1)
    client = Client(make.access_token(betty.user))
    time.pass_by(seconds=tokens.LIFETIME)
    assert client.get(ME).status == 200
    with pytest.raises(Conflict):
        rotation.take(RETIRE, own_place())


def test_of_a_key_that_is_replaced_no_token_is_believed(
    api: Client, ask: Callable[..., Response]
) -> None:
    old = signing_keys.signer()

    rotation.replace_at_once(own_place(), pool)

    new = signing_keys.signer()
    assert key_names(api) == [new.kid] != [old.kid]
    assert_unknown(ask(old))
    assert ask(new).status == 200


def test_the_single_key_is_the_one_that_signs(api: Client, time: Time) -> None:
    old = signing_keys.signer()
    numbers = {old.key.public_key().public_numbers().n}
    take(NEXT, time)
    assert {signing_numbers(api)} == numbers
    take(SIGN, time)
    assert {signing_numbers(api)} == numbers
    time.pass_by(seconds=SECONDS + 60)
    assert signing_numbers(api) == signing_keys.signer().key.public_key().public_numbers().n
    assert {signing_numbers(api)} != numbers


def test_the_set_holds_nothing_but_public_keys(api: Client, time: Time) -> None:
    """AU35"""
    take(NEXT, time)
    answer = api.get("/auth/jwt/jwks.json").json
    assert answer.keys() == {"keys"}
    first, second = answer["keys"]
    assert first.keys() == {"kty", "alg", "use", "e", "n"}
    assert second.keys() == {"kty", "alg", "use", "e", "n", "kid"}


def test_a_client_finds_the_key_of_a_token_in_the_set(
    api: Client, betty: Somebody, time: Time
) -> None:
    for step in (NEXT, SIGN, RETIRE, NEXT, SIGN):
        take(step, time)
    for _ in range(2):
        token = make.access_token(betty.user)
        keys = jwt.PyJWKSet.from_dict(api.get("/auth/jwt/jwks.json").json)
        key = keys[jwt.get_unverified_header(token)["kid"]]
        claims = jwt.decode(token, key, ["RS256"], audience=ISSUER, options=UNTIMED)
        assert (claims["sub"], claims["iss"]) == (betty.id, f"{BASE_URL}/")
        time.pass_by(seconds=SECONDS + 60)


UNTIMED: Any = {"verify_exp": False, "verify_iat": False}
"""The tests have a clock of their own."""


# Of before keys had names


def test_a_token_without_a_name_is_believed_while_its_key_has_none(
    api: Client, ask: Callable[..., Response], time: Time
) -> None:
    without_names()
    old = signing_keys.signer()
    assert old.kid is None
    assert key_names(api) == [None]
    assert ask(old).status == 200

    for step in (NEXT, SIGN):
        take(step, time)
        assert ask(old).status == 200
    time.pass_by(seconds=SECONDS + 60)
    new = signing_keys.signer()
    assert new.kid is not None
    assert (ask(old).status, ask(new).status) == (200, 200)

    take(RETIRE, time)
    assert_unknown(ask(old))
    assert ask(new).status == 200


# Functions that know an older set


@dataclass(frozen=True)
class Elsewhere:
    old: tokens.SigningKey
    new: tokens.SigningKey


@pytest.fixture
def elsewhere(ask: Callable[..., Response]) -> Elsewhere:
    """Another function has replaced the key, and this one has read the set just before."""
    old = signing_keys.signer()
    before = signing_keys.stored()
    rotation.replace_at_once(own_place(), pool)
    new, after = signing_keys.signer(), signing_keys.stored()
    Setting(SIGNING_KEYS, value=before.value()).save()
    signing_keys.forget()
    assert ask(old).status == 200
    Setting(SIGNING_KEYS, value=after.value()).save()
    return Elsewhere(old, new)


def reads_of_keys(seen: Recorder) -> int:
    """Those of the key set, which is read alone."""
    return sum(call.tables == ("settings",) for call in seen.calls)


def test_a_key_that_is_not_known_is_looked_for_once_a_minute(
    ask: Callable[..., Response], elsewhere: Elsewhere, time: Time
) -> None:
    assert_unknown(ask(elsewhere.new))
    time.pass_by(seconds=PATIENCE)
    with Recorder() as seen:
        assert ask(elsewhere.new).status == 200
        assert ask(elsewhere.new).status == 200
    assert reads_of_keys(seen) == 1


@pytest.mark.usefixtures("elsewhere")
def test_a_flood_of_unknown_keys_reads_the_set_once_a_minute(
    ask: Callable[..., Response], time: Time
) -> None:
    """AU24"""
    nobodys = tokens.load(pool())
    time.pass_by(seconds=PATIENCE)
    with Recorder() as seen:
        for _ in range(20):
            assert_unknown(ask(nobodys))
    assert reads_of_keys(seen) == 1


def test_a_function_believes_a_replaced_key_for_a_quarter_of_an_hour_at_most(
    ask: Callable[..., Response], elsewhere: Elsewhere, time: Time
) -> None:
    assert ask(elsewhere.old).status == 200
    time.pass_by(seconds=SECONDS)
    assert_unknown(ask(elsewhere.old))
    assert ask(elsewhere.new).status == 200
