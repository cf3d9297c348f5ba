"""One process serves one caller after the other, and keeps nothing of anybody's in between."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.errors import Refusal
from tests.support.faults.hooks import Around
from tests.support.proving import fewer, more
from tests.support.wire.client import Client, Response
from tests.support.world import make, people
from tests.support.world.make import Somebody

ROUNDS = more(fewer(50, 100), 1000)


class Breaking(Around):
    """Storage fails in a way nobody has foreseen, at the call with this number."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, operation: str, parameters: Any, send: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError
        return send()


@pytest.fixture
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def everything_of(who: Somebody) -> list[Response]:
    client = who.client
    return [
        client.get("/users/me.json"),
        client.get("/resources.json?contain[secret]=1&contain[permission]=1&contain[favorite]=1"),
        client.get("/account/settings.json"),
        client.post("/account/settings/locales.json", {"value": "de-DE"}),
    ]


@pytest.mark.usefixtures("_own_folder")
def test_nothing_of_one_caller_is_seen_by_the_next(
    ada: Somebody, betty: Somebody, tmp_path: Path, digest: Callable[[], str]
) -> None:
    """FT21"""
    known = {who: {who.id, str(make.resource(who)), who.gpgkey_id} for who in (ada, betty)}
    environment = dict(os.environ)
    for number in range(ROUNDS):
        who, other = (ada, betty) if number % 2 else (betty, ada)
        with Breaking(at=number % 7):
            broken = everything_of(other)
        assert {each.status for each in broken} <= {200, 500}
        answers = everything_of(who)
        assert {each.status for each in answers} == {200}
        assert answers[0].body["id"] == who.id
        shown = "".join(each.content.decode() + str(each.raw_headers) for each in answers)
        assert not [name for name in known[other] if name in shown]
        assert not any(tmp_path.iterdir())
    assert dict(os.environ) == environment


def kept_refusals() -> Iterator[Refusal]:
    """What modules raise again and again."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("chalicelib."):
            yield from (each for each in vars(module).values() if isinstance(each, Refusal))


def test_nothing_of_a_request_is_kept_by_what_it_was_refused_with(
    api: Client, ada: Somebody
) -> None:
    """FT21: a trace has what each function was given, with what was sent"""
    ada.client.post("/users.json", people.invitation("betty"))
    for each in kept_refusals():
        each.forget()  # what other tests have raised without a request

    guest = api.post("/users/recover.json", {"username": "x" * 10_000})
    taken = ada.client.post("/users.json", people.invitation("betty"))

    assert (guest.status, taken.status) == (403, 400)
    kept = [*kept_refusals()]
    assert kept
    assert not [each for each in kept if each.__traceback__ or each.__context__]
