"""Who fails to sign in too often has to wait; nobody else does."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from requests.adapters import HTTPAdapter

from chalicelib.domain.ids import new_id
from tests.keys import challenge
from tests.served import Served, serving

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


def good_login(session: requests.Session, served: Served) -> requests.Response:
    server = session.get(f"{served.url}/auth/verify.json", timeout=10).json()["body"]["keydata"]
    claims = {
        "version": "1.0.0",
        "domain": served.url,
        "verify_token": new_id(),
        "verify_token_expiry": int(time.time()) + 60,
    }
    armored = challenge(json.dumps(claims), served.key.private, server)
    body = {"user_id": served.user_id, "challenge": armored}
    return session.post(f"{served.url}/auth/jwt/login.json", json=body, timeout=10)


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
