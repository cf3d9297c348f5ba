"""The store of the private keys cannot be reached: what is known goes on for a while, and no key
is made in its place (FT19).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chalicelib.domain import warm
from chalicelib.services.operator import server_key, signing_keys
from chalicelib.settings import settings
from tests.api.sign_in.test_jwt_login import claims, log_in, opened
from tests.conftest import Time
from tests.support.wire.client import Client
from tests.support.world.make import Somebody


@pytest.fixture
def out_of_reach(betty: Somebody) -> Iterator[None]:
    """The folder of the keys is not where it was, as a store that does not answer."""
    assert settings.key_folder is not None
    elsewhere = settings.key_folder.with_name(f"{settings.key_folder.name}-elsewhere")
    settings.key_folder.rename(elsewhere)
    yield
    assert not settings.key_folder.exists(), "a key was made"
    elsewhere.rename(settings.key_folder)
    forget()


def forget() -> None:
    """As a process that has just begun."""
    server_key.forget()
    signing_keys.forget()


@pytest.mark.usefixtures("out_of_reach")
def test_who_signs_in_to_a_cold_process_is_told_to_come_again(
    api: Client, betty: Somebody, time: Time
) -> None:
    """FT19"""
    forget()

    answer = log_in(api, betty, claims(time))

    assert (answer.status, "retry-after" in answer.headers) == (503, True)


def test_a_warm_process_signs_in_for_a_quarter_of_an_hour(
    api: Client, betty: Somebody, time: Time, request: pytest.FixtureRequest
) -> None:
    """FT19"""
    forget()
    opened(log_in(api, betty, claims(time)), betty)
    request.getfixturevalue("out_of_reach")

    time.pass_by(seconds=warm.SECONDS - 1)
    assert log_in(api, betty, claims(time)).status == 200
    time.pass_by(seconds=1)
    assert log_in(api, betty, claims(time)).status == 503


@pytest.mark.usefixtures("out_of_reach")
def test_who_is_signed_in_needs_no_private_key(betty: Somebody, time: Time) -> None:
    """FT19"""
    forget()

    assert betty.client.get("/users/me.json").status == 200
