"""Refresh tokens: each is used once, and what happens when one comes again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.services.sign_in import logins, refresh_tokens
from chalicelib.services.sign_in.refresh_tokens import Tokens
from chalicelib.storage.connection import connection
from chalicelib.tables.tokens import REFRESH, Token, token_hash
from chalicelib.tables.users.users import User
from tests.conftest import Time
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.world import people
from tests.support.world.make import Somebody
from tests.support.world.operator import posted

REFRESH_PATH = "/auth/jwt/refresh.json"
LOGOUT = "/auth/jwt/logout.json"
UNKNOWN = "No active refresh token matching the request could be found."
USED = "The refresh token provided was already used."

pytestmark = pytest.mark.usefixtures("time")


def session_of(who: Somebody) -> Tokens:
    session, made = logins.new_session(who.user)
    logins.open_session(who.user, session, made, verify_token=new_id(), expiry=4_000_000_000)
    return made


@pytest.fixture
def tokens(betty: Somebody) -> Tokens:
    return session_of(betty)


def renew(api: Client, who: Somebody, token: Any) -> Response:
    return api.post(REFRESH_PATH, {"user_id": who.id, "refresh_token": token})


def successor(response: Response) -> str:
    [cookie] = response.set_cookies
    return cookie.partition("=")[2].partition(";")[0]


def signed_in(api: Client, access_token: str) -> bool:
    return (
        api.get("/users/me.json", headers={"authorization": f"Bearer {access_token}"}).status == 200
    )


def refused(response: Response, message: str) -> bool:
    return (response.status, response.message, response.body) == (400, message, "")


def alerts_in(log: pytest.LogCaptureFixture) -> list[tuple[str, str | None]]:
    """What was refused at which step, and of whom, where that is known."""
    lines = [json.loads(each.message) for each in log.records if '"alert"' in each.message]
    return [(each["step"], each.get("object")) for each in lines]


def test_a_token_is_good_for_the_next_one(api: Client, betty: Somebody, tokens: Tokens) -> None:
    """HD05"""
    response = renew(api, betty, tokens.refresh_token)

    assert response.body.keys() == {"access_token"}
    assert signed_in(api, response.body["access_token"])
    [cookie] = response.set_cookies
    assert UUID(successor(response)).version == 4
    for part in (
        "expires=Mon, 21 Dec 2026 12:00:00 GMT",
        "Max-Age=2592000",
        "path=/",
        "HttpOnly",
        "secure",
        "SameSite=Lax",
    ):
        assert part in cookie
    assert "domain" not in cookie.lower()
    assert successor(response) not in response.content.decode()
    assert renew(api, betty, successor(response)).status == 200


def test_a_dead_bearer_does_not_hinder(api: Client, betty: Somebody, tokens: Tokens) -> None:
    api.token = "garbage"
    assert renew(api, betty, tokens.refresh_token).status == 200


def test_a_lost_answer_is_given_again_within_the_grace(
    api: Client, betty: Somebody, tokens: Tokens, time: Time
) -> None:
    """AU32"""
    first = renew(api, betty, tokens.refresh_token)
    time.pass_by(seconds=30)
    again = renew(api, betty, tokens.refresh_token)

    assert again.status == 200
    assert successor(again) == successor(first)
    assert renew(api, betty, successor(first)).status == 200


@pytest.mark.parametrize("case", ["late", "successor used"])
def test_a_token_that_comes_again_ends_the_whole_session(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    caplog: pytest.LogCaptureFixture,
    case: str,
) -> None:
    """AU30"""
    first = renew(api, betty, tokens.refresh_token)
    latest = first
    if case == "late":
        time.pass_by(seconds=31)
    else:
        latest = renew(api, betty, successor(first))

    assert refused(renew(api, betty, tokens.refresh_token), USED)
    assert not signed_in(api, latest.body["access_token"])
    assert renew(api, betty, successor(latest)).status == 400
    assert ("refresh token reused", betty.id) in alerts_in(caplog)


# What is told of it


@pytest.fixture
def told(store: Storage, ada: Somebody) -> Callable[[], list[tuple[str, str]]]:
    """Who has been sent which mails so far; Ada is the administrator."""
    assert ada.user.is_admin
    sent: list[tuple[str, str]] = []

    def all_sent() -> list[tuple[str, str]]:
        sent.extend(posted.told(store))
        return sorted(sent)

    return all_sent


def steal(api: Client, betty: Somebody, tokens: Tokens, time: Time) -> None:
    """A token comes again after the grace."""
    renew(api, betty, tokens.refresh_token)
    time.pass_by(seconds=31)
    assert refused(renew(api, betty, tokens.refresh_token), USED)


ALERTS = [("ada", "token-reused-of-user"), ("betty", "token-reused")]


def test_the_user_and_the_administrators_are_told_of_a_stolen_token(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    store: Storage,
    ada: Somebody,
) -> None:
    """AU30"""
    assert ada.user.is_admin
    steal(api, betty, tokens, time)

    mails = posted.posted(store)
    assert [(mail.who, mail.template) for mail in mails] == ALERTS
    for mail in mails:
        assert mail.subject.startswith("Security alert: ")
        assert api.source in mail.text
        assert tokens.refresh_token not in mail.text + mail.html


@pytest.mark.parametrize(
    ("agent", "said"),
    [("Thief/1.0", ["The program that was used calls itself: Thief 1. 0"]), ("", [])],
)
def test_what_is_told_of_a_stolen_token_names_the_program_that_sent_it(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    store: Storage,
    ada: Somebody,
    agent: str,
    said: list[str],
) -> None:
    """AU30"""
    assert ada.user.is_admin
    renew(api, betty, tokens.refresh_token)
    time.pass_by(seconds=31)
    body = {"user_id": betty.id, "refresh_token": tokens.refresh_token}
    assert refused(api.post(REFRESH_PATH, body, headers={"user-agent": agent}), USED)

    for mail in posted.posted(store):
        assert [line for line in mail.text.splitlines() if "calls itself" in line] == said


def test_a_theft_is_told_of_once_however_often_the_token_comes(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    told: Callable[[], list[tuple[str, str]]],
) -> None:
    """AU30"""
    steal(api, betty, tokens, time)
    for _ in range(3):
        assert refused(renew(api, betty, tokens.refresh_token), USED)

    assert told() == ALERTS


def test_thefts_of_one_user_are_told_of_once_an_hour(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    told: Callable[[], list[tuple[str, str]]],
) -> None:
    """AU30: each ends its session all the same"""
    time.now = time.now.replace(minute=0)
    second, later = session_of(betty), session_of(betty)
    steal(api, betty, tokens, time)
    steal(api, betty, second, time)

    assert told() == ALERTS
    assert not signed_in(Client(), second.access_token)

    time.pass_by(hours=1)
    steal(api, betty, later, time)
    assert told() == sorted(2 * ALERTS)


def test_who_is_suspended_gets_no_mail_of_a_stolen_token_and_administrators_do(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    told: Callable[[], list[tuple[str, str]]],
) -> None:
    renew(api, betty, tokens.refresh_token)
    time.pass_by(seconds=31)
    people.suspend(betty)
    assert refused(renew(api, betty, tokens.refresh_token), USED)

    assert told() == ALERTS[:1]


def test_a_lost_answer_is_no_theft(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    told: Callable[[], list[tuple[str, str]]],
) -> None:
    """AU32"""
    renew(api, betty, tokens.refresh_token)
    time.pass_by(seconds=30)
    renew(api, betty, tokens.refresh_token)

    assert told() == []


def test_a_lost_answer_is_no_theft_where_the_user_was_suspended_meanwhile(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    told: Callable[[], list[tuple[str, str]]],
) -> None:
    """AU32"""
    renew(api, betty, tokens.refresh_token)
    people.suspend(betty)
    assert refused(renew(api, betty, tokens.refresh_token), USED)

    assert told() == []


@pytest.mark.parametrize("of", ["one", "all"])
def test_a_token_of_a_session_that_was_logged_out_is_no_theft(
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    told: Callable[[], list[tuple[str, str]]],
    of: str,
) -> None:
    renew(Client(), betty, tokens.refresh_token)
    if of == "one":
        betty.client.post(LOGOUT, {"refresh_token": tokens.refresh_token})
    else:
        betty.client.post(LOGOUT)
    time.pass_by(seconds=31)
    assert refused(renew(Client(), betty, tokens.refresh_token), USED)

    assert told() == []


def test_logging_out_with_a_stolen_token_is_told_of(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    told: Callable[[], list[tuple[str, str]]],
) -> None:
    """The thief has renewed it and gone on; its owner comes with it to log out."""
    renew(api, betty, successor(renew(api, betty, tokens.refresh_token)))
    assert refused(betty.client.post(LOGOUT, {"refresh_token": tokens.refresh_token}), USED)
    assert refused(betty.client.post(LOGOUT, {"refresh_token": tokens.refresh_token}), USED)

    assert told() == ALERTS


def test_logging_out_with_a_token_that_was_spent_ends_the_session_after_its_time_as_well(
    betty: Somebody, tokens: Tokens, time: Time
) -> None:
    """As at a refresh: the session has gone on without whoever has this token."""
    latest = renew(Client(), betty, tokens.refresh_token)
    time.pass_by(days=20)
    latest = renew(Client(), betty, successor(latest))
    time.pass_by(days=10)
    betty.client.token = session_of(betty).access_token

    assert refused(betty.client.post(LOGOUT, {"refresh_token": tokens.refresh_token}), USED)

    assert refused(renew(Client(), betty, successor(latest)), USED)


def test_other_sessions_of_the_user_go_on(
    api: Client, betty: Somebody, tokens: Tokens, time: Time
) -> None:
    """AU30"""
    other = session_of(betty)
    renew(api, betty, tokens.refresh_token)
    time.pass_by(seconds=31)
    renew(api, betty, tokens.refresh_token)

    assert renew(api, betty, other.refresh_token).status == 200


def test_a_token_of_somebody_else_is_unknown_and_stays_good(
    api: Client,
    betty: Somebody,
    carol: Somebody,
    tokens: Tokens,
    digest: Callable[[], str],
) -> None:
    """AU31"""
    before = digest()
    assert refused(renew(api, carol, tokens.refresh_token), UNKNOWN)
    assert digest() == before
    assert renew(api, betty, tokens.refresh_token).status == 200


def test_expired_and_unknown_tokens_look_the_same(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    digest: Callable[[], str],
) -> None:
    """AU33 FT18"""
    time.pass_by(days=30)
    before = digest()
    assert refused(renew(api, betty, tokens.refresh_token), UNKNOWN)
    assert refused(renew(api, betty, new_id()), UNKNOWN)
    assert digest() == before


@pytest.mark.parametrize("value", ["abc", None, "", 7, [], {}, True])
def test_what_is_no_uuid_is_refused(api: Client, betty: Somebody, value: Any) -> None:
    """AU33"""
    assert refused(renew(api, betty, value), "The refresh token should be a valid UUID.")
    body = {"refresh_token": new_id(), "user_id": value}
    assert refused(api.post(REFRESH_PATH, body), "The user ID should be a valid UUID.")


def test_neither_body_nor_cookie_is_refused(api: Client) -> None:
    assert refused(api.post(REFRESH_PATH), "The refresh token should be a valid UUID.")


def test_a_cookie_alone_is_taken_with_the_csrf_pair(
    api: Client, betty: Somebody, tokens: Tokens
) -> None:
    """HD03"""
    cookies = {"refresh_token": tokens.refresh_token}
    without = api.post(REFRESH_PATH, cookies=cookies)
    assert (without.status, without.message) == (403, "Missing or incorrect CSRF cookie type.")
    pair = {"csrfToken": "a" * 128}
    response = api.post(
        REFRESH_PATH, cookies=cookies | pair, headers={"x-csrf-token": pair["csrfToken"]}
    )
    assert response.status == 200


def test_members_that_are_null_leave_the_cookie_to_be_read(api: Client, tokens: Tokens) -> None:
    response = api.post(
        REFRESH_PATH,
        {"user_id": None, "refresh_token": None},
        cookies={"refresh_token": tokens.refresh_token, "csrfToken": "a" * 128},
        headers={"x-csrf-token": "a" * 128},
    )

    assert response.status == 200


@pytest.mark.parametrize("body", [["x"], [{"user_id": "x"}], "text", 7, False])
def test_what_is_no_object_leaves_the_cookie_unread(
    api: Client, tokens: Tokens, digest: Callable[[], str], body: Any
) -> None:
    """NP06"""
    before = digest()
    response = api.post(
        REFRESH_PATH,
        body,
        cookies={"refresh_token": tokens.refresh_token, "csrfToken": "a" * 128},
        headers={"x-csrf-token": "a" * 128},
    )
    assert refused(response, "Bad Request")
    assert digest() == before


def test_an_unknown_cookie_is_refused_before_the_csrf_pair_is_asked_for(api: Client) -> None:
    assert refused(api.post(REFRESH_PATH, cookies={"refresh_token": new_id()}), UNKNOWN)


def test_an_expired_cookie_is_refused_before_the_csrf_pair_is_asked_for(
    api: Client, betty: Somebody, tokens: Tokens, time: Time
) -> None:
    """AU33"""
    time.pass_by(days=30)
    assert refused(api.post(REFRESH_PATH, cookies={"refresh_token": tokens.refresh_token}), UNKNOWN)


def test_refused_tokens_in_a_cookie_stand_in_the_log(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    told: Callable[[], list[tuple[str, str]]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And nobody is told: who knows no token must not have mails sent."""
    time.pass_by(days=30)
    for token in (tokens.refresh_token, new_id()):
        assert refused(api.post(REFRESH_PATH, cookies={"refresh_token": token}), UNKNOWN)
    assert refused(renew(api, betty, tokens.refresh_token), UNKNOWN)
    assert alerts_in(caplog) == [
        ("expired refresh token", betty.id),
        ("unknown refresh token", None),
        ("expired refresh token", betty.id),
    ]
    assert told() == []


def test_a_body_keeps_the_cookie_from_being_read(
    api: Client, betty: Somebody, tokens: Tokens
) -> None:
    cookies = {"refresh_token": tokens.refresh_token}
    response = api.post(REFRESH_PATH, {"user_id": betty.id}, cookies=cookies)
    assert refused(response, "The refresh token should be a valid UUID.")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deleted": True}, "The user is deleted."),
        ({"active": False}, "The user is not activated or disabled."),
        ({"disabled": "now"}, "The user is not activated or disabled."),
    ],
)
def test_a_user_who_is_out_gets_no_new_token(
    api: Client,
    betty: Somebody,
    tokens: Tokens,
    time: Time,
    change: dict[str, Any],
    message: str,
) -> None:
    """AU29"""
    row = User.get(betty.id)
    for name, value in change.items():
        setattr(row, name, time.now if value == "now" else value)
    row.save()
    assert refused(renew(api, betty, tokens.refresh_token), message)


def test_logging_out_ends_the_session_of_the_token(
    api: Client, betty: Somebody, tokens: Tokens
) -> None:
    """AU28"""
    other = session_of(betty)
    api.token = other.access_token
    response = api.post(LOGOUT, {"refresh_token": tokens.refresh_token})

    assert (response.status, response.body) == (200, None)
    assert not signed_in(api, tokens.access_token)
    assert refused(renew(api, betty, tokens.refresh_token), USED)
    assert signed_in(api, other.access_token)


@pytest.mark.parametrize("body", [None, {}])
def test_logging_out_without_a_token_ends_all_sessions(
    api: Client, betty: Somebody, tokens: Tokens, body: Any
) -> None:
    """AU28"""
    other = session_of(betty)
    api.token = tokens.access_token
    assert api.post(LOGOUT, body).status == 200

    for each in (tokens, other):
        assert not signed_in(api, each.access_token)
        assert renew(Client(), betty, each.refresh_token).status == 400


def test_a_token_that_is_null_does_not_end_all_sessions(
    api: Client, betty: Somebody, tokens: Tokens
) -> None:
    api.token = tokens.access_token

    assert api.post(LOGOUT, {"refresh_token": None}).status == 400

    assert signed_in(api, tokens.access_token)


def test_the_token_of_another_user_is_not_logged_out(
    carol: Somebody, betty: Somebody, tokens: Tokens, digest: Callable[[], str]
) -> None:
    """AU34"""
    before = digest()
    response = carol.client.post(LOGOUT, {"refresh_token": tokens.refresh_token})
    assert refused(response, UNKNOWN)
    assert digest() == before
    assert renew(Client(), betty, tokens.refresh_token).status == 200


def test_refused_tokens_of_a_logout_stand_in_the_log(
    betty: Somebody,
    carol: Somebody,
    tokens: Tokens,
    time: Time,
    told: Callable[[], list[tuple[str, str]]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And nobody is told: all that was sent is no token of the actor's that could be used."""
    for token in (tokens.refresh_token, new_id()):
        assert refused(carol.client.post(LOGOUT, {"refresh_token": token}), UNKNOWN)
    assert refused(carol.client.post(LOGOUT, cookies={"refresh_token": new_id()}), UNKNOWN)
    time.pass_by(days=30)
    betty.client.token = session_of(betty).access_token
    assert refused(betty.client.post(LOGOUT, {"refresh_token": tokens.refresh_token}), UNKNOWN)

    assert alerts_in(caplog) == [
        *[("unknown refresh token", carol.id)] * 3,
        ("expired refresh token", betty.id),
    ]
    assert told() == []


def test_logging_out_twice_is_refused(betty: Somebody, tokens: Tokens) -> None:
    body = {"refresh_token": tokens.refresh_token}
    assert betty.client.post(LOGOUT, body).status == 200
    assert refused(betty.client.post(LOGOUT, body), USED)


@pytest.mark.parametrize("value", ["abc", 7, [], ""])
def test_logging_out_what_is_no_token_is_refused(betty: Somebody, value: Any) -> None:
    response = betty.client.post(LOGOUT, {"refresh_token": value})
    assert refused(response, "The refresh token should be a valid UUID.")


@pytest.mark.parametrize("body", [[], [None, None], "text", 7])
def test_what_is_no_object_does_not_end_all_sessions(betty: Somebody, body: Any) -> None:
    """NP06"""
    response = betty.client.post(LOGOUT, body)
    assert refused(response, "Bad Request")
    assert betty.client.get("/users/me.json").status == 200


def test_logging_out_needs_an_access_token(
    api: Client, betty: Somebody, cookie_of: Callable[[Somebody], str]
) -> None:
    assert api.post(LOGOUT).status == 403
    assert api.post(LOGOUT, cookies={"passbolt_session": cookie_of(betty)}).status == 403


def test_a_logout_that_comes_in_between_leaves_no_live_session(
    api: Client, betty: Somebody, tokens: Tokens
) -> None:
    """RA11"""
    ended = []

    def log_out_before_the_write(operation: str, parameters: Any, send: Any) -> Any:
        if operation == "TransactWriteItems" and not ended:
            ended.append(True)
            refresh_tokens.log_out_everywhere(betty.actor)
        return send()

    connection.hooks.append(log_out_before_the_write)
    response = renew(api, betty, tokens.refresh_token)
    connection.hooks.remove(log_out_before_the_write)

    assert refused(response, USED)
    assert not Token.get(token_hash(REFRESH, tokens.refresh_token)).is_spent
    assert renew(api, betty, tokens.refresh_token).status == 400
