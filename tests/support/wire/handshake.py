"""Signing in with a key and a session cookie, as clients do it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_plus
from uuid import uuid4

from tests.support.wire.client import Client, Response
from tests.support.world.keys import KEYS, Key, open_sealed
from tests.support.world.make import Somebody

LOGIN = "/auth/login.json"
VERIFY = "/auth/verify.json"
TOKEN = "x-gpgauth-user-auth-token"
SERVER = KEYS["server_curve"]


def new_nonce() -> str:
    return f"gpgauthv1.3.0|36|{uuid4()}|gpgauthv1.3.0"


def step(client: Client, path: str = LOGIN, **members: Any) -> Response:
    """One step of the handshake; the members say which."""
    return client.post(path, {"data": {"gpg_auth": members}})


def open_token(encoded: str, key: Key, server_public: str = SERVER.public) -> str:
    """The nonce in the header of stage 1, for who has the key."""
    armored = re.sub(r"\\(.)", r"\1", unquote_plus(encoded))
    return open_sealed(armored, key.private, server_public)


def ask_nonce(client: Client, key: Key) -> str:
    """Stage 1: what the user has to return."""
    return open_token(step(client, keyid=key.fingerprint).headers[TOKEN], key)


def answer_nonce(client: Client, key: Key, nonce: str) -> Response:
    """Stage 2."""
    return step(client, keyid=key.fingerprint, user_token_result=nonce)


def cookies_of(response: Response) -> dict[str, str]:
    """What a client keeps of an answer."""
    pairs = (cookie.partition(";")[0].partition("=") for cookie in response.set_cookies)
    return {name: value for name, _, value in pairs}


def signed_in(person: Somebody) -> Client:
    """A client with a session of the person's and a CSRF cookie, as after its first GET."""
    guest = Client()
    client = Client(
        cookies=cookies_of(answer_nonce(guest, person.key, ask_nonce(guest, person.key)))
    )
    client.cookies |= cookies_of(client.get("/auth/is-authenticated.json"))
    return client
