"""Who fails to sign in too often has to wait, or who tries out addresses; nobody else does."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from requests.adapters import HTTPAdapter

from chalicelib.domain.ids import new_id
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.wire.handshake import TOKEN, open_token
from tests.support.wire.served import Served, serving
from tests.support.world import scim
from tests.support.world.keys import challenge, open_sealed

LIMIT = 20


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("limited")
    with serving(folder, dialect="specification", LOGIN_LIMIT=str(LIMIT)) as service:
        yield service


class FromAddress(HTTPAdapter):
    """Sends from one of the addresses this machine calls itself by."""

    def __init__(self, address: str) -> None:
        self._address = address
        super().__init__()

    def init_poolmanager(self, *args, **options) -> None:
        super().init_poolmanager(*args, source_address=(self._address, 0), **options)


def client(address: str) -> requests.Session:
    session = requests.Session()
    session.mount("http://", FromAddress(address))
    return session


def bad_login(session: requests.Session, served: Served) -> requests.Response:
    body = {"user_id": served.user_id, "challenge": "no challenge"}
    return session.post(f"{served.url}/auth/jwt/login.json", json=body, timeout=10)


def server_key(session: requests.Session, served: Served) -> str:
    answer = session.get(f"{served.url}/auth/verify.json", timeout=10)
    return str(answer.json()["body"]["keydata"])


def good_login(session: requests.Session, served: Served) -> requests.Response:
    claims = {
        "version": "1.0.0",
        "domain": served.url,
        "verify_token": new_id(),
        "verify_token_expiry": int(time.time()) + 60,
    }
    armored = challenge(json.dumps(claims), served.key.private, server_key(session, served))
    body = {"user_id": served.user_id, "challenge": armored}
    return session.post(f"{served.url}/auth/jwt/login.json", json=body, timeout=10)


def access_token(session: requests.Session, served: Served) -> str:
    sealed = good_login(session, served).json()["body"]["challenge"]
    opened = open_sealed(sealed, served.key.private, server_key(session, served))
    return str(json.loads(opened)["access_token"])


def test_a_source_that_guesses_waits_and_the_account_is_not_locked(served: Served) -> None:
    """AU40"""
    # The count begins anew with each minute, so two limits in a row meet one of them full.
    answers = [bad_login(client("127.0.0.2"), served) for _ in range(2 * LIMIT + 1)]

    assert {answer.status_code for answer in answers} == {400, 429}
    refused = answers[-1]
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.json()["header"]["code"] == 429
    assert good_login(client("127.0.0.3"), served).status_code == 200


def test_the_handshake_counts_as_well(served: Served) -> None:
    """AU40"""
    session = client("127.0.0.4")
    body = {"gpg_auth": {"keyid": "0" * 40}}
    url = f"{served.url}/auth/login.json"
    codes = [session.post(url, json=body, timeout=10).status_code for _ in range(2 * LIMIT + 1)]

    assert codes[0] == 400
    assert codes[-1] == 429


def ask_nonce(session: requests.Session, served: Served) -> requests.Response:
    body = {"gpg_auth": {"keyid": served.key.fingerprint}}
    return session.post(f"{served.url}/auth/login.json", json=body, timeout=10)


def answer_nonce(
    session: requests.Session, served: Served, asked: requests.Response, server: str
) -> requests.Response:
    result = open_token(asked.headers[TOKEN], served.key, server)
    body = {"gpg_auth": {"keyid": served.key.fingerprint, "user_token_result": result}}
    return session.post(f"{served.url}/auth/login.json", json=body, timeout=10)


def test_a_source_that_asks_for_nonces_and_answers_none_waits(served: Served) -> None:
    """AU40: also with a fingerprint that is known, for each nonce is a row."""
    session = client("127.0.0.8")
    codes = [ask_nonce(session, served).status_code for _ in range(2 * LIMIT + 1)]

    assert codes[0] == 200
    assert codes[-1] == 429
    assert ask_nonce(client("127.0.0.9"), served).status_code == 200


def test_a_source_where_many_sign_in_does_not_wait(served: Served) -> None:
    """AU40: as a company behind one address, where nobody fails."""
    session = client("127.0.0.10")
    server = server_key(session, served)
    for _ in range(2 * LIMIT + 1):
        session.cookies.clear()
        asked = ask_nonce(session, served)
        assert answer_nonce(session, served, asked, server).status_code == 200


def test_each_nonce_that_is_answered_takes_back_what_it_counted(served: Served) -> None:
    """AU40: so that half of those who sign in at once may be on their way."""
    session = client("127.0.0.11")
    server = server_key(session, served)
    for _ in range(3):
        asked = [ask_nonce(session, served) for _ in range(LIMIT - 1)]
        assert {each.status_code for each in asked} == {200}
        for each in asked:
            session.cookies.clear()
            assert answer_nonce(session, served, each, server).status_code == 200
        session.cookies.clear()


def let_in(served: Served) -> None:
    session = client("127.0.0.5")
    session.headers["authorization"] = f"Bearer {access_token(session, served)}"
    sent = {"provider": "email_domains", "data": {"allowed_domains": ["example.com"]}}
    url = f"{served.url}/self-registration/settings.json"
    assert session.put(url, json=sent, timeout=10).status_code == 200


def test_who_tries_out_addresses_waits(served: Served) -> None:
    """AU39, AU40"""
    let_in(served)
    tried = {"email": "ada@example.com", "username": "ada@example.com"}

    paths = {"127.0.0.6": "self-registration/dry-run", "127.0.0.7": "users/register"}
    for source, path in paths.items():
        url, session = f"{served.url}/{path}.json", client(source)
        codes = [
            session.post(url, json=tried, timeout=10, **CSRF_PAIR).status_code
            for _ in range(2 * LIMIT + 1)
        ]
        assert (codes[0], codes[-1]) == (403, 429)


def test_who_registers_by_the_form_waits_too(served: Served) -> None:
    """AU39, AU40"""
    let_in(served)
    session = client("127.0.0.14")
    session.headers["accept"] = "text/html"
    typed = {"username": "ada@example.com"}

    answers = [
        session.post(f"{served.url}/users/register", data=typed, timeout=10, **CSRF_PAIR)
        for _ in range(2 * LIMIT + 1)
    ]

    assert (answers[0].status_code, answers[-1].status_code) == (403, 429)
    assert "Too many failed sign-ins from your address" in answers[-1].text


def test_who_guesses_the_token_of_a_directory_waits_and_who_has_it_does_not(served: Served) -> None:
    """AC34"""
    administrator = client("127.0.0.12")
    administrator.headers["Authorization"] = f"Bearer {access_token(administrator, served)}"
    body = scim.settings_body(served.user_id)
    made = administrator.post(f"{served.url}{scim.SETTINGS}", json=body, timeout=10)
    assert made.status_code == 200
    users = f"{served.url}/scim/v2/{scim.SETTING_ID}/Users"
    guesser, directory = client("127.0.0.13"), client("127.0.0.13")
    guesser.headers["Authorization"] = f"Bearer {scim.OTHER_TOKEN}"
    directory.headers["Authorization"] = f"Bearer {scim.TOKEN}"

    answers = [guesser.get(users, timeout=10) for _ in range(2 * LIMIT + 1)]

    assert {answer.status_code for answer in answers} == {401, 429}
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert directory.get(users, timeout=10).status_code == 200
