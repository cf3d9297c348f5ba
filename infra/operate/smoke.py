"""Whether a tenant answers: what a client asks before anybody signs in.

It is asked from outside, as clients do. An address that only the tenant's networks reach is not:
there, the same is asked of the functions that answer it, inside the account and past the gateway.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from chalicelib.post.probes import request
from infra.operate import functions
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.steps import Failed
from infra.template.probes import answering

_SECONDS = 30
_TRIES = 5
_PAUSE = 10
"""A new address, and new functions, may take a while."""


_PATHS = ("/healthcheck/status.json", "/auth/verify.json", "/auth/jwt/jwks.json")
"""Health, the server's key and the keys of tokens."""
Ask = Callable[[str], Any]
"""Returns what is at a path of the tenant."""


def require_well(account: Account, entry: Entry, fingerprint: str = "") -> str:
    """Raise `Failed` where the tenant does not answer what anybody may ask."""
    address = entry.parameters["BaseUrl"]
    if not entry.parameters.get("VpcEndpoints"):
        return require_answers(account, address, fingerprint)
    key = _require(account, lambda path: _call(account, entry.tenant, path), fingerprint)
    return (
        f"{address} is not asked, as only the tenant's networks reach it; inside the account its "
        f"functions answer. The server's key: {key}"
    )


def require_answers(account: Account, address: str, fingerprint: str = "") -> str:
    """The same of an address, asked as a client asks it."""
    key = _require(account, lambda path: _get(address + path), fingerprint, address)
    return f"{address} answers. The server's key: {key}"


def _require(account: Account, ask: Ask, fingerprint: str, address: str = "") -> str:
    """Ask for all of it; return the fingerprint of the server's key."""
    for path in _PATHS:
        answer = _asked(account, ask, path, address)
        if path == "/auth/verify.json":
            found = str(answer["body"]["fingerprint"])
            _require_same(fingerprint or found, found)
    return found


def _require_same(expected: str, found: str) -> None:
    if found != expected:
        raise Failed(f"The server's key is {found}; made was {expected}.")


def _asked(account: Account, ask: Ask, path: str, address: str) -> Any:
    for rest in reversed(range(_TRIES)):
        try:
            return ask(path)
        except (OSError, URLError, ValueError, KeyError) as problem:
            if not rest:
                where = address + path
                raise Failed(f"{where} does not answer as it should: {problem}") from problem
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


def _call(account: Account, tenant: str, path: str) -> Any:
    """What the function answers that is behind a path; it is asked as the gateway asks it."""
    answer = functions.call(account, tenant, answering(path).name, request("GET", path))
    if answer["statusCode"] != HTTPStatus.OK:
        raise ValueError(f"status {answer['statusCode']}")
    return json.loads(answer["body"])
