"""Whether a tenant answers, seen from outside: what a client asks before anybody signs in."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from infra.operate.account import Account
from infra.operate.steps import Failed

_SECONDS = 30
_TRIES = 5
_PAUSE = 10
"""A new address, and new functions, may take a while."""


def require_answers(account: Account, address: str, fingerprint: str = "") -> str:
    """Ask for health, the server's key and the keys of tokens; `Failed` where one is not given."""
    for path in ("/healthcheck/status.json", "/auth/verify.json", "/auth/jwt/jwks.json"):
        answer = _asked(account, address + path)
        if path == "/auth/verify.json":
            found = str(answer["body"]["fingerprint"])
            _require_same(fingerprint or found, found)
    return f"{address} answers. The server's key: {found}"


def _require_same(expected: str, found: str) -> None:
    if found != expected:
        raise Failed(f"The server's key is {found}; made was {expected}.")


def _asked(account: Account, url: str) -> Any:
    for rest in reversed(range(_TRIES)):
        try:
            return _get(url)
        except (OSError, URLError, ValueError, KeyError) as problem:
            if not rest:
                raise Failed(f"{url} does not answer as it should: {problem}") from problem
            account.pause(_PAUSE)
    raise AssertionError


def _get(url: str) -> Any:
    if not url.startswith(("https://", "http://127.0.0.1:")):
        raise Failed(f"{url} is no address to be asked.")
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310  checked above
    with urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
        if response.status != HTTPStatus.OK:
            raise ValueError(f"status {response.status}")
        return json.load(response)
