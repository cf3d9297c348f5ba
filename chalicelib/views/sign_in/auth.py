"""How keys and tokens of the sign-in look to a client."""

from __future__ import annotations

from typing import TypedDict

from chalicelib.domain.operator.key_sets import Jwk


class ServerKeyJson(TypedDict):
    fingerprint: str
    keydata: str


class PublicKeyJson(TypedDict):
    keydata: str


class ChallengeJson(TypedDict):
    challenge: str


class AccessTokenJson(TypedDict):
    access_token: str


class KeySetJson(TypedDict):
    keys: list[Jwk]


def challenge(sealed: str) -> ChallengeJson:
    return {"challenge": sealed}


def access_token(token: str) -> AccessTokenJson:
    return {"access_token": token}


def key_set(keys: list[Jwk]) -> KeySetJson:
    return {"keys": keys}
