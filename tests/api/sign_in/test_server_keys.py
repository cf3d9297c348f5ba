"""Sign-ins while the server's key changes: by who has heard of the new one, and by who has not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.crypto.openpgp import MOST_CHALLENGE
from chalicelib.crypto.private_keys import Place
from chalicelib.services.operator import server_key, server_key_rotation
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from chalicelib.tables.users.users import User
from tests.api.sign_in.test_jwt_login import INVALID, LOGIN, claims
from tests.conftest import Time
from tests.support.storage import Storage
from tests.support.wire import handshake
from tests.support.wire.client import Client, Response
from tests.support.world import make, people, second_factors
from tests.support.world.items import metadata
from tests.support.world.items.metadata import SharedKey
from tests.support.world.keys import KEYS, challenge, fingerprint, message, open_sealed
from tests.support.world.make import Somebody
from tests.support.world.operator.server_keys import (
    NEXT,
    RETIRE,
    STAGES,
    USE,
    do,
    kept_after,
    pool,
    public_of,
    take,
)

REPLACED = "replaced"
ANSWERS = ("at rest", "announced", "in use")
"""The stages at which the first key answers."""


@dataclass(frozen=True)
class Known:
    """The server's key as a client knows it."""

    public: str

    def log_in(self, who: Somebody, time: Time) -> dict[str, Any]:
        """Sign in with a challenge; what comes back is signed by the key that was encrypted to."""
        response = self.ask(who, time)
        assert response.status == 200, response.content
        answer = open_sealed(response.body["challenge"], who.key.private, self.public)
        return dict(json.loads(answer))

    def ask(self, who: Somebody, time: Time) -> Response:
        sealed = challenge(json.dumps(claims(time)), who.key.private, self.public)
        return Client().post(LOGIN, {"user_id": who.id, "challenge": sealed})

    def verified(self, who: Somebody) -> bool:
        """Stage 0 of the handshake: whether the server shows that it has the key."""
        nonce = handshake.new_nonce()
        sealed = message(nonce, self.public)
        members = {"keyid": who.key.fingerprint, "server_verify_token": sealed}
        response = handshake.step(Client(), **members)
        assert response.status == 200
        return response.headers.get("x-gpgauth-verify-response") == nonce


@pytest.fixture
def place(store: Storage) -> Iterator[Place]:
    with kept_after() as own:
        yield own


@pytest.fixture
def first(place: Place) -> Known:
    """The key before any change, as a client keeps it."""
    return Known(public_of(place.read().text))


def shown() -> Known:
    body = Client().get("/auth/verify.json").body
    assert fingerprint(body["keydata"]) == body["fingerprint"]
    return Known(body["keydata"])


def bring_to(stage: str, place: Place, time: Time) -> None:
    if stage == REPLACED:
        server_key_rotation.replace_at_once(place, pool)
        server_key_rotation.reseal(place)
    do(time, *STAGES.get(stage, ()))


def is_signed_in(access_token: str) -> bool:
    return Client(access_token).get("/users/me.json").status == 200


@pytest.mark.parametrize("stage", [*STAGES, REPLACED])
def test_who_asks_for_the_key_signs_in_at_every_stage(
    place: Place, betty: Somebody, time: Time, stage: str
) -> None:
    bring_to(stage, place, time)
    known = shown()

    assert is_signed_in(known.log_in(betty, time)["access_token"])
    assert known.verified(betty)
    token = handshake.step(Client(), keyid=betty.key.fingerprint).headers[handshake.TOKEN]
    nonce = handshake.open_token(token, betty.key, known.public)
    response = handshake.answer_nonce(Client(), betty.key, nonce)
    assert (response.status, response.message) == (200, "You are successfully logged in.")


@pytest.mark.parametrize("stage", ANSWERS)
def test_who_knows_the_first_key_is_answered_by_it(
    place: Place, first: Known, betty: Somebody, time: Time, stage: str
) -> None:
    bring_to(stage, place, time)
    assert is_signed_in(first.log_in(betty, time)["access_token"])
    assert first.verified(betty)


@pytest.mark.parametrize("stage", ["retired", "removed", REPLACED])
def test_who_knows_no_other_key_is_refused_cleanly_when_it_is_retired(
    place: Place, first: Known, betty: Somebody, time: Time, stage: str
) -> None:
    bring_to(stage, place, time)

    refused = first.ask(betty, time)
    assert (refused.status, refused.message) == (400, INVALID)
    assert not first.verified(betty)


def test_a_sign_in_that_is_under_way_when_the_key_changes_goes_on(
    place: Place, betty: Somebody, time: Time
) -> None:
    """The key was asked for, or a nonce was, a second before."""
    take(NEXT, time)
    begins = take(USE, time).key_set.used_from
    assert begins is not None
    time.now = begins - timedelta(seconds=1)
    before = shown()
    nonce = handshake.open_token(
        handshake.step(Client(), keyid=betty.key.fingerprint).headers[handshake.TOKEN],
        betty.key,
        before.public,
    )
    time.now = begins
    assert shown() != before

    assert is_signed_in(before.log_in(betty, time)["access_token"])
    assert before.verified(betty)
    assert handshake.answer_nonce(Client(), betty.key, nonce).status == 200


def test_a_nonce_from_before_a_key_was_retired_is_good(
    place: Place, betty: Somebody, time: Time
) -> None:
    """It is encrypted to the user's own key, and the server's is no part of it."""
    do(time, NEXT, USE)
    time.pass_by(days=8)
    token = handshake.step(Client(), keyid=betty.key.fingerprint).headers[handshake.TOKEN]
    nonce = handshake.open_token(token, betty.key, shown().public)
    take(RETIRE, time)
    assert handshake.answer_nonce(Client(), betty.key, nonce).status == 200


@pytest.mark.parametrize("stage", [*STAGES, REPLACED])
def test_a_second_factor_is_good_at_every_stage(
    place: Place, ada: Somebody, betty: Somebody, time: Time, stage: str
) -> None:
    second_factors.turn_on(ada)
    app = second_factors.set_up(betty.client)
    time.pass_by(minutes=2)
    bring_to(stage, place, time)

    opened = shown().log_in(betty, time)

    assert opened["providers"] == ["totp"]
    client = Client(opened["access_token"])
    assert client.get("/users/me.json").status == 302
    given = second_factors.given(client, app.code())
    assert given.status == 200
    client.cookies |= handshake.cookies_of(given)
    assert client.get("/users/me.json").status == 200


def with_copy(admin: Somebody, key: SharedKey, known: Known) -> Response:
    """Let the server have a copy that an administrator's client made for the key it knows."""
    data = challenge(metadata.content(key), admin.key.private, known.public)
    client = Client(make.access_token(User.get(admin.id)))
    path = f"/metadata/keys/{key.id}/private.json"
    return client.post(path, {"user_id": None, "data": data})


@pytest.mark.parametrize("stage", [*STAGES, REPLACED])
def test_who_sets_up_gets_the_metadata_keys_at_every_stage(
    place: Place, store: Storage, ada: Somebody, time: Time, stage: str
) -> None:
    key = metadata.shared(ada)
    assert with_copy(ada, key, shown()).status == 200
    bring_to(stage, place, time)
    dave = people.invite(store, Somebody(ada.user, ada.key, ada.gpgkey_id, _anew(ada)))

    body = {
        "authentication_token": {"token": dave.token},
        "gpgkey": {"armored_key": KEYS["dave"].public},
    }
    assert Client().post(f"/setup/complete/{dave.id}.json", body).status == 200

    [copy] = MetadataPrivateKey.held_by(dave.id)
    opened = open_sealed(copy["data"]["S"], KEYS["dave"].private, shown().public)
    assert json.loads(opened)["armored_key"] == key.private


def _anew(who: Somebody) -> Client:
    return Client(make.access_token(User.get(who.id)))


@pytest.mark.parametrize("stage", [*STAGES, REPLACED])
def test_a_copy_for_the_server_is_for_a_key_that_answers(
    place: Place, first: Known, ada: Somebody, time: Time, stage: str
) -> None:
    one, other = metadata.shared(ada), metadata.shared(ada, number=2)
    bring_to(stage, place, time)

    assert with_copy(ada, one, shown()).status == 200
    assert with_copy(ada, other, first).status == (200 if stage in ANSWERS else 400)


def test_nobody_brings_a_key_of_the_servers_as_their_own(
    place: Place, store: Storage, ada: Somebody, time: Time
) -> None:
    time.now = datetime.now(UTC)  # keys are made by the machine's clock
    do(time, NEXT, USE)
    for each in server_key_rotation.look(place).keys:
        dave = people.invite(store, Somebody(ada.user, ada.key, ada.gpgkey_id, _anew(ada)))
        body = {
            "authentication_token": {"token": dave.token},
            "gpgkey": {"armored_key": each.armored_public_key},
        }
        refused = Client().post(f"/setup/complete/{dave.id}.json", body)
        assert refused.status == 400
        assert refused.body["fingerprint"].keys() == {"isNotServerKeyFingerprintRule"}
        people.delete(dave)


@pytest.mark.parametrize("stage", [*STAGES, REPLACED])
def test_the_healthcheck_tells_how_each_key_stands(
    place: Place, first: Known, ada: Somebody, time: Time, stage: str
) -> None:
    bring_to(stage, place, time)
    found = _anew(ada).get("/healthcheck.json").body["gpg"]

    assert all(value is True for name, value in found.items() if name != "info")
    old, new = fingerprint(first.public), shown()
    now = {
        "at rest": {old: "in use"},
        "announced": {old: "in use", _newest(place): "coming"},
        "in use": {old: "earlier", fingerprint(new.public): "in use"},
        "retired": {old: "retired", fingerprint(new.public): "in use"},
        "removed": {fingerprint(new.public): "in use"},
        REPLACED: {old: "retired", fingerprint(new.public): "in use"},
    }
    assert found["info"]["keys"] == now[stage]


def _newest(place: Place) -> str:
    return server_key_rotation.look(place).keys[-1].fingerprint


def test_what_is_longer_than_a_challenge_is_not_looked_at(
    place: Place, betty: Somebody, time: Time
) -> None:
    kept = server_key.server_keys.get()
    time.pass_by(minutes=2)
    long = message("x" * MOST_CHALLENGE, KEYS["server_rsa"].public)
    refused = Client().post(LOGIN, {"user_id": betty.id, "challenge": long})
    assert (refused.status, refused.message) == (400, INVALID)
    assert server_key.server_keys.get() is kept


def test_what_is_encrypted_to_a_key_that_nobody_knows_asks_for_the_keys_once_a_minute(
    place: Place, betty: Somebody, time: Time
) -> None:
    """A thousand of such a second reach the place of the keys no more often."""
    stranger = Known(KEYS["server_rsa"].public)
    server_key.forget()
    shown()
    kept = server_key.server_keys.get()
    for seconds in (0, 30, 30):
        time.pass_by(seconds=seconds)
        assert stranger.ask(betty, time).status == 400
    assert server_key.server_keys.get() is not kept
    kept = server_key.server_keys.get()
    assert stranger.ask(betty, time).status == 400
    assert server_key.server_keys.get() is kept
