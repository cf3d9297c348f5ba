"""How keys and tokens of the sign-in look to a client."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ServerKeyJson(TypedDict):
    fingerprint: str
    keydata: str


class PublicKeyJson(TypedDict):
    keydata: str


class ChallengeJson(TypedDict):
    challenge: str


class AccessTokenJson(TypedDict):
    access_token: str


class WebKeyJson(TypedDict):
    kty: str
    alg: str
    use: str
    n: str
    e: str
    kid: NotRequired[str]


class KeySetJson(TypedDict):
    keys: list[WebKeyJson]


def challenge(sealed: str) -> ChallengeJson:
    return {"challenge": sealed}


def access_token(token: str) -> AccessTokenJson:
    return {"access_token": token}
