"""Requests of one source at one moment: no more of them count than of requests in a row."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.services.sign_in import sources
from chalicelib.tables.tokens import LOGIN, REGISTER, SOURCE, Token
from tests.support.faults.meanwhile import Meanwhile
from tests.support.races.at_once import Ask, Crowd
from tests.support.storage import Storage
from tests.support.wire import handshake
from tests.support.wire.client import Client
from tests.support.world import people
from tests.support.world.keys import KEYS, challenge
from tests.support.world.make import Somebody
from tests.support.world.operator import posted

LIMIT = 3


@pytest.fixture(autouse=True)
def _limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "settings", sources.settings._replace(login_limit=LIMIT))


def at_once(ask: Ask) -> list[int]:
    """The statuses of ten requests, all of which have begun before any is counted."""
    with Crowd([ask] * 9) as crowd:
        crowd.seen.append(ask().status)
    assert counted() == [LIMIT]
    return sorted(crowd.seen)


def counted() -> list[int]:
    return [int(row.failures) for row in Token.scan() if row.kind == SOURCE]


def kept(kind: str) -> int:
    return sum(row.kind == kind for row in Token.scan())


def test_of_many_recoveries_at_once_some_are_mailed(betty: Somebody, store: Storage) -> None:
    """AU40"""
    username = betty.user.username
    statuses = at_once(lambda: people.recover(Client(), username=username))

    assert statuses == [200] * LIMIT + [429] * 7
    assert len(people.mails(store)) == LIMIT


def test_of_many_registrations_at_once_some_are_taken(ada: Somebody) -> None:
    """AU40"""
    people.let_in(ada)
    names = iter(f"n{number}" for number in range(10))
    statuses = at_once(lambda: people.register(Client(), next(names)))

    assert statuses == [200] * LIMIT + [429] * 7
    assert kept(REGISTER) == LIMIT


def asking_nonce(fingerprint: str) -> Ask:
    return lambda: handshake.step(Client(), keyid=fingerprint)


@pytest.mark.usefixtures("betty")
def test_of_many_nonces_at_once_some_are_kept() -> None:
    """AU40"""
    statuses = at_once(asking_nonce(KEYS["betty"].fingerprint))

    assert statuses == [200] * LIMIT + [429] * 7
    assert kept(LOGIN) == LIMIT


def with_challenge(who: Somebody) -> Ask:
    body = {"user_id": who.id, "challenge": "no challenge"}
    return lambda: Client().post("/auth/jwt/login.json", body)


@pytest.mark.parametrize(
    ("guess", "refused"),
    [
        (lambda _: asking_nonce("0" * 40), 400),
        (with_challenge, 400),
        (lambda _: lambda: Client().get(f"/scim/v2/{new_id()}/Users"), 401),
    ],
    ids=["key", "challenge", "token"],
)
def test_of_many_guesses_at_once_some_are_answered(
    betty: Somebody, guess: Callable[[Somebody], Ask], refused: int
) -> None:
    """AU40"""
    assert at_once(guess(betty)) == [refused] * LIMIT + [429] * 7


def for_another_server(who: Somebody) -> Ask:
    claims = {
        "version": "1.0.0",
        "domain": "https://another.test",
        "verify_token": new_id(),
        "verify_token_expiry": clock.timestamp() + 120,
    }
    armored = challenge(json.dumps(claims), who.key.private, KEYS["server_curve"].public)
    body = {"user_id": who.id, "challenge": armored}
    return lambda: Client().post("/auth/jwt/login.json", body)


@pytest.mark.usefixtures("ada")
def test_who_fails_often_at_this_moment_hides_no_challenge_that_is_told_of(
    betty: Somebody, store: Storage
) -> None:
    def fail() -> None:
        assert [asking_nonce("0" * 40)().status for _ in range(LIMIT)] == [400] * LIMIT

    with Meanwhile(fail):
        assert for_another_server(betty)().status == 429

    assert posted.told(store) == [("ada", "sign-in-refused-of-user"), ("betty", "sign-in-refused")]
