"""The second factor: when it is missing, how it is given, and what ends it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from chalicelib.domain import clock
from chalicelib.tables.tokens import Token
from chalicelib.tables.users.users import User
from tests.conftest import Time
from tests.support.environment import BASE_URL
from tests.support.storage import Storage
from tests.support.wire import handshake
from tests.support.wire.client import Client, Response
from tests.support.world import people, second_factors
from tests.support.world.keys import KEYS, challenge, open_sealed
from tests.support.world.make import Somebody
from tests.support.world.second_factors import COOKIE, POLICIES, SETUP, VERIFY, App

ERROR = "/mfa/verify/error.json"
ME = "/users/me.json"
MISSING = "MFA authentication is required."
WRONG = "Something went wrong when validating the one-time password."
SERVER = KEYS["server_curve"]


@pytest.fixture
def app(ada: Somebody, betty: Somebody, time: Time) -> App:
    """Betty's app; the code she set it up with has passed."""
    second_factors.turn_on(ada)
    made = second_factors.set_up(betty.client)
    time.pass_by(minutes=2)
    return made


def as_wanted(response: Response) -> bool:
    """Whether the answer leads to where a second factor is asked for."""
    return (response.status, response.headers.get("location")) == (302, BASE_URL + ERROR)


def with_factor(client: Client, app: App, **members: object) -> Client:
    """The same client after it gave a code."""
    response = second_factors.given(client, app.code(), **members)
    assert response.status == 200, response.content
    cookie = second_factors.cookie_of(response)
    return Client(client.token, {**client.cookies, COOKIE: cookie})


def jwt_login(api: Client, who: Somebody, **cookies: str) -> tuple[Response, dict[str, Any]]:
    claims = {
        "version": "1.0.0",
        "domain": BASE_URL,
        "verify_token": str(uuid4()),
        "verify_token_expiry": clock.timestamp() + 120,
    }
    sealed = challenge(json.dumps(claims), who.key.private, SERVER.public)
    body = {"user_id": who.id, "challenge": sealed}
    csrf = {"csrfToken": "c", **cookies}
    headers = {"x-csrf-token": "c"}
    response = api.post("/auth/jwt/login.json", body, cookies=csrf, headers=headers)
    assert response.status == 200, response.content
    text = open_sealed(response.body["challenge"], who.key.private, SERVER.public)
    return response, dict(json.loads(text))


def test_without_a_second_factor_nobody_is_led_anywhere(ada: Somebody, betty: Somebody) -> None:
    assert betty.client.get(ME).status == 200
    asked = betty.client.get(ERROR)
    assert (asked.status, asked.message) == (403, MISSING)
    assert asked.body == {"mfa_providers": [], "providers": {}}
    nothing = "No valid multi-factor authentication settings found."
    for response in (betty.client.get(VERIFY), second_factors.given(betty.client, "123456")):
        assert (response.status, response.message) == (400, nothing)
    assert ada.client.get("/mfa/settings.json").body == {"providers": []}


def test_who_has_set_up_an_app_is_led_to_it_until_a_code_is_given(
    betty: Somebody, app: App
) -> None:
    client = betty.client
    for method in ("GET", "POST", "PUT", "DELETE"):
        asked = client.request(method, ERROR)
        assert (asked.status, asked.message, asked.header["code"]) == (403, MISSING, 403)
        assert asked.header["url"].endswith(ERROR)
        assert asked.body == {
            "mfa_providers": ["totp"],
            "providers": {"totp": f"{BASE_URL}{VERIFY}"},
        }
    assert as_wanted(client.get(ME))
    assert client.get(VERIFY).message == "Please provide the one-time password."

    response = second_factors.given(client, app.code())

    assert (response.status, response.body) == (200, None)
    assert response.message == "The multi-factor authentication was a success."
    [cookie] = response.set_cookies
    assert cookie.startswith(f"{COOKIE}=")
    assert "expires" not in cookie
    assert {"path=/", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
    verified = Client(client.token, {COOKIE: second_factors.cookie_of(response)})
    assert verified.get(ME).status == 200
    for again in (verified.get(VERIFY), second_factors.given(verified, app.code(1))):
        assert again.message == "The multi-factor authentication is not required."
        assert again.status == 400
    assert as_wanted(client.get(ME)), "the cookie is part of it"


def test_a_code_counts_once_and_an_older_one_not_after_it(
    betty: Somebody, app: App, time: Time
) -> None:
    """I11"""
    code = app.code()
    with_factor(betty.client, app)
    for replayed in (code, app.code(-1)):
        refused = second_factors.given(betty.client, replayed)
        assert (refused.status, refused.message) == (400, WRONG)
        assert refused.body["totp"].keys() == {"isValidOtp"}
    time.pass_by(seconds=30)
    assert second_factors.given(betty.client, app.code()).status == 200


@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_a_code_counts_a_step_before_and_after(betty: Somebody, app: App, beside: int) -> None:
    assert second_factors.given(betty.client, app.code(beside)).status == 200


@pytest.mark.parametrize("beside", [-2, 2])
def test_a_code_counts_no_longer(betty: Somebody, app: App, beside: int) -> None:
    assert second_factors.given(betty.client, app.code(beside)).status == 400


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ({}, "_required"),
        ({"totp": ""}, "_empty"),
        ({"totp": None}, "_empty"),
        ({"totp": "abcdef"}, "numeric"),
        ({"totp": "\uff11" * 6}, "numeric"),
        ({"totp": ["123456"]}, "numeric"),
        ({"totp": "12345"}, "minLength"),
        ({"totp": "1" * 5000}, "isValidOtp"),
        ({"totp": True}, "numeric"),
    ],
)
def test_the_first_broken_rule_of_a_code_is_told(
    betty: Somebody, app: App, body: dict[str, Any], rule: str
) -> None:
    response = betty.client.post(VERIFY, body)
    assert (response.status, response.message) == (400, WRONG)
    assert response.body["totp"].keys() == {rule}


def test_a_code_may_be_a_number(betty: Somebody, ada: Somebody, time: Time) -> None:
    second_factors.turn_on(ada)
    app = second_factors.set_up(betty.client)
    time.pass_by(minutes=2)
    while app.code().startswith("0"):
        time.pass_by(seconds=30)
    assert betty.client.post(VERIFY, {"totp": int(app.code())}).status == 200


def test_the_fifth_wrong_code_ends_a_session_by_token(betty: Somebody, app: App) -> None:
    for _ in range(4):
        assert second_factors.given(betty.client, app.wrong()).message == WRONG
    last = second_factors.given(betty.client, app.wrong())
    assert (last.status, last.body) == (400, None)
    assert last.message == "You have been logged out due to too many failed attempts."
    assert second_factors.given(betty.client, app.code()).status == 403


def test_the_fifth_wrong_code_ends_a_session_by_cookie(betty: Somebody, app: App) -> None:
    client = handshake.signed_in(betty)
    assert as_wanted(client.get(ME))
    client.cookies |= handshake.cookies_of(client.get(ERROR))
    for _ in range(4):
        assert second_factors.given(client, app.wrong()).message == WRONG
    last = second_factors.given(client, app.wrong())
    assert any(each.startswith("passbolt_session=deleted") for each in last.set_cookies)
    assert second_factors.given(client, app.code()).status == 403


def test_wrong_codes_are_bounded_whoever_signs_in_again(
    api: Client, betty: Somebody, app: App, time: Time
) -> None:
    for _ in range(4):
        client = Client(jwt_login(api, betty)[1]["access_token"])
        for _ in range(5):
            assert second_factors.given(client, app.wrong()).status == 400
    client = Client(jwt_login(api, betty)[1]["access_token"])
    refused = second_factors.given(client, app.code())
    assert refused.status == 429
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    time.pass_by(hours=1)
    client = Client(jwt_login(api, betty)[1]["access_token"])
    assert second_factors.given(client, app.code()).status == 200


def test_a_remembered_device_gives_no_code_when_its_user_signs_in(
    api: Client, betty: Somebody, app: App, time: Time
) -> None:
    response = second_factors.given(betty.client, app.code(), remember=1)
    [cookie] = response.set_cookies
    assert "Max-Age=2592000" in cookie
    value = second_factors.cookie_of(response)
    time.pass_by(days=29)

    by_token, answer = jwt_login(api, betty, passbolt_mfa=value)
    assert "providers" not in answer
    assert second_factors.cookie_of(by_token) == value
    assert f"Max-Age={24 * 3600}" in "".join(by_token.set_cookies)
    assert Client(answer["access_token"], {COOKIE: value}).get(ME).status == 200

    guest = Client(cookies={COOKIE: value})
    nonce = handshake.ask_nonce(guest, betty.key)
    signed_in = handshake.answer_nonce(guest, betty.key, nonce)
    assert second_factors.cookie_of(signed_in) == value
    assert Client(cookies=handshake.cookies_of(signed_in)).get(ME).status == 200

    time.pass_by(days=1)
    assert jwt_login(api, betty, passbolt_mfa=value)[1]["providers"] == ["totp"]


@pytest.mark.parametrize(("remember", "days"), [("", 3), ("1", 30)])
def test_a_session_that_goes_on_has_the_code_to_give_again(
    api: Client, betty: Somebody, app: App, time: Time, remember: str, days: int
) -> None:
    _, tokens = jwt_login(api, betty)
    given = second_factors.given(Client(tokens["access_token"]), app.code(), remember=remember)
    value = second_factors.cookie_of(given)

    def refreshed() -> Client:
        sent = {"user_id": betty.id, "refresh_token": tokens["refresh_token"]}
        answer = api.post("/auth/jwt/refresh.json", sent, cookies={COOKIE: value})
        tokens["refresh_token"] = handshake.cookies_of(answer)["refresh_token"]
        return Client(answer.body["access_token"], {COOKIE: value})

    time.pass_by(days=days - 1)
    assert refreshed().get(ME).status == 200
    time.pass_by(days=1)
    assert as_wanted(refreshed().get(ME))
    assert with_factor(refreshed(), app).get(ME).status == 200


def test_a_session_by_cookie_that_goes_on_has_the_code_to_give_again(
    api: Client, betty: Somebody, app: App, time: Time
) -> None:
    client = with_factor(handshake.signed_in(betty), app)
    for _ in range(3 * 24 * 4 - 1):
        time.pass_by(minutes=15)
        assert client.get(ME).status == 200
    time.pass_by(minutes=15)
    assert as_wanted(client.get(ME))


def test_asking_for_what_is_missing_does_not_extend_the_session(
    betty: Somebody, app: App, time: Time
) -> None:
    """Clients are led there when they only ask whether they are signed in."""
    client = handshake.signed_in(betty)
    for _ in range(3):
        time.pass_by(minutes=7)
        assert as_wanted(client.get("/auth/is-authenticated.json"))
        assert client.get(ERROR).status == 403
        assert client.get(ERROR).message == MISSING
    time.pass_by(minutes=3)

    assert client.get(ERROR).message != MISSING


def test_a_session_of_a_release_before_keeps_what_was_given(
    betty: Somebody, app: App, time: Time
) -> None:
    client = with_factor(betty.client, app)
    [session] = [row for row in Token.scan() if row.second_factor]
    session.update([Token.second_factor_until.remove()])
    assert client.get(ME).status == 200


def test_a_remembered_device_may_say_so_after_the_sign_in(
    api: Client, betty: Somebody, app: App
) -> None:
    value = second_factors.cookie_of(second_factors.given(betty.client, app.code(), remember=True))
    _, answer = jwt_login(api, betty)
    assert answer["providers"] == ["totp"]
    assert as_wanted(Client(answer["access_token"]).get(ME))
    assert Client(answer["access_token"], {COOKIE: value}).get(ME).status == 200


@pytest.mark.parametrize("remember", [0, False, "0", "false", "", None])
def test_a_device_is_not_remembered_unless_it_asks(
    api: Client, betty: Somebody, app: App, remember: object
) -> None:
    client = with_factor(betty.client, app, remember=remember)
    value = client.cookies[COOKIE]
    _, answer = jwt_login(api, betty, passbolt_mfa=value)
    assert answer["providers"] == ["totp"]
    stolen = Client(answer["access_token"], {COOKIE: value})
    assert as_wanted(stolen.get(ME)), "what was given in one session counts in no other"
    asked = stolen.get(ERROR)
    assert any(each.startswith(f"{COOKIE}=deleted") for each in asked.set_cookies)
    assert client.get(ME).status == 200


def test_nobody_is_remembered_as_somebody_else(
    api: Client, ada: Somebody, betty: Somebody, app: App, time: Time
) -> None:
    value = with_factor(betty.client, app, remember=1).cookies[COOKIE]
    second_factors.set_up(ada.client)
    assert as_wanted(Client(ada.client.token, {COOKIE: value}).get(ME))
    assert jwt_login(api, ada, passbolt_mfa=value)[1]["providers"] == ["totp"]


def test_the_organisation_may_stop_remembering(
    api: Client, ada: Somebody, betty: Somebody, app: App, time: Time
) -> None:
    client = with_factor(betty.client, app, remember=1)
    value = client.cookies[COOKIE]
    policies = {"policy": "opt-in", "remember_me_for_a_month": False}
    assert ada.client.post(POLICIES, policies).status == 200

    assert client.get(ME).status == 200, "the session goes on"
    assert jwt_login(api, betty, passbolt_mfa=value)[1]["providers"] == ["totp"]
    ada.client.post(POLICIES, {**policies, "remember_me_for_a_month": True})
    assert jwt_login(api, betty, passbolt_mfa=value)[1]["providers"] == ["totp"]

    ada.client.post(POLICIES, policies)
    time.pass_by(seconds=60)
    client = Client(jwt_login(api, betty)[1]["access_token"])
    response = second_factors.given(client, app.code(), remember=1)
    assert "Max-Age" not in "".join(response.set_cookies)


def refreshed(api: Client, who: Somebody, tokens: dict[str, Any], value: str) -> Response:
    """Go on with a session by tokens, from a device whose cookie holds this value."""
    sent = {"user_id": who.id, "refresh_token": tokens["refresh_token"]}
    response = api.post("/auth/jwt/refresh.json", sent, cookies={COOKIE: value})
    assert response.status == 200, response.content
    tokens["refresh_token"] = handshake.cookies_of(response)["refresh_token"]
    return response


def test_a_session_that_goes_on_hears_that_the_organisation_stopped_remembering(
    api: Client, ada: Somebody, betty: Somebody, app: App, time: Time
) -> None:
    """It counts for three days from when it was given, as in every session."""
    _, tokens = jwt_login(api, betty)
    answer = second_factors.given(Client(tokens["access_token"]), app.code(), remember=1)
    value = second_factors.cookie_of(answer)
    policies = {"policy": "opt-in", "remember_me_for_a_month": False}
    assert ada.client.post(POLICIES, policies).status == 200

    time.pass_by(days=2)
    going_on = refreshed(api, betty, tokens, value)
    assert second_factors.cookie_of(going_on) == value
    assert not any("Max-Age" in each for each in going_on.set_cookies if each.startswith(COOKIE))
    assert Client(going_on.body["access_token"], {COOKIE: value}).get(ME).status == 200
    time.pass_by(days=1)
    ended = refreshed(api, betty, tokens, value)
    assert COOKIE not in handshake.cookies_of(ended)
    assert as_wanted(Client(ended.body["access_token"], {COOKIE: value}).get(ME))


def test_a_session_that_a_remembered_device_opened_hears_it_too(
    api: Client, ada: Somebody, betty: Somebody, app: App, time: Time
) -> None:
    value = with_factor(betty.client, app, remember=1).cookies[COOKIE]
    _, tokens = jwt_login(api, betty, passbolt_mfa=value)
    policies = {"policy": "opt-in", "remember_me_for_a_month": False}
    assert ada.client.post(POLICIES, policies).status == 200

    time.pass_by(days=3)
    ended = refreshed(api, betty, tokens, value)
    assert as_wanted(Client(ended.body["access_token"], {COOKIE: value}).get(ME))


def test_a_remembered_device_that_says_so_after_the_sign_in_is_told_so_at_each_refresh(
    api: Client, betty: Somebody, app: App
) -> None:
    value = with_factor(betty.client, app, remember=1).cookies[COOKIE]
    _, tokens = jwt_login(api, betty)
    response = refreshed(api, betty, tokens, value)
    assert second_factors.cookie_of(response) == value
    assert f"Max-Age={30 * 24 * 3600}" in "".join(response.set_cookies)


def test_an_organisation_that_turns_it_off_asks_nobody(
    api: Client, ada: Somebody, betty: Somebody, app: App
) -> None:
    second_factors.turn_off(ada)
    assert betty.client.get(ME).status == 200
    assert "providers" not in jwt_login(api, betty)[1]
    refused = betty.client.get(VERIFY)
    none_of_it = "No valid multi-factor authentication settings found for this provider."
    assert (refused.status, refused.message) == (400, none_of_it)
    second_factors.turn_on(ada)
    assert as_wanted(betty.client.get(ME))


FORGETTING: dict[str, Callable[[Somebody, Somebody, Client, Storage], object]] = {
    "reset": lambda ada, betty, client, store: ada.client.delete(f"/mfa/setup/{betty.id}.json"),
    "removal": lambda ada, betty, client, store: client.delete(SETUP),
    "sign-out of everything": lambda ada, betty, client, store: client.post(
        "/auth/jwt/logout.json"
    ),
    "suspension": lambda ada, betty, client, store: [
        ada.client.put(f"/users/{betty.id}.json", {"disabled": disabled})
        for disabled in ("2026-01-01T00:00:00Z", None)
    ],
    "recovery": lambda ada, betty, client, store: recovered(betty, store),
}


def recovered(betty: Somebody, store: Storage) -> None:
    people.recover(Client(), username=betty.user.username)
    links = {people.link_of(mail): mail for mail in people.mails(store)}
    [token] = [people.token_of(mail) for link, mail in links.items() if betty.id in link]
    body = {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": betty.key.public},
    }
    response = Client().post(
        f"/setup/recover/complete/{betty.id}.json",
        body,
        cookies={"csrfToken": "c"},
        headers={"x-csrf-token": "c"},
    )
    assert response.status == 200, response.content


@pytest.mark.parametrize("event", FORGETTING)
def test_a_remembered_device_is_forgotten(
    api: Client,
    ada: Somebody,
    betty: Somebody,
    app: App,
    store: Storage,
    time: Time,
    event: str,
) -> None:
    client = with_factor(betty.client, app, remember=1)
    FORGETTING[event](ada, betty, client, store)

    value = client.cookies[COOKIE]
    response, answer = jwt_login(api, betty, passbolt_mfa=value)
    assert COOKIE not in handshake.cookies_of(response)
    if not User.get(betty.id).totp:
        assert "providers" not in answer
        second_factors.set_up(Client(answer["access_token"]))
        time.pass_by(minutes=2)
        response, answer = jwt_login(api, betty, passbolt_mfa=value)
    assert answer["providers"] == ["totp"]
    assert as_wanted(Client(answer["access_token"], {COOKIE: value}).get(ME))


def test_a_session_of_before_gives_the_second_factor_that_was_set_up_anew(
    ada: Somebody, betty: Somebody, app: App, api: Client, time: Time
) -> None:
    client = with_factor(betty.client, app)
    other = Client(jwt_login(api, betty)[1]["access_token"])
    assert ada.client.delete(f"/mfa/setup/{betty.id}.json").status == 200
    assert client.get(ME).status == 200
    second_factors.set_up(other)
    assert as_wanted(client.get(ME))


def test_a_sign_out_ends_what_was_given_and_not_what_is_remembered(
    api: Client, betty: Somebody, app: App
) -> None:
    client = handshake.signed_in(betty)
    client.cookies |= handshake.cookies_of(client.get(ERROR))
    client = with_factor(client, app, remember=1)
    csrf = {"x-csrf-token": client.cookies["csrfToken"]}
    assert client.post("/auth/logout.json", headers=csrf).status == 200
    assert client.get(ME).status == 403
    value = client.cookies[COOKIE]
    assert "providers" not in jwt_login(api, betty, passbolt_mfa=value)[1]


def test_signing_out_takes_no_code(api: Client, betty: Somebody, app: App) -> None:
    client = handshake.signed_in(betty)
    csrf = {"x-csrf-token": client.cookies.get("csrfToken", "")}
    client.cookies |= handshake.cookies_of(client.get(ERROR))
    csrf = {"x-csrf-token": client.cookies["csrfToken"]}
    assert client.post("/auth/logout.json", headers=csrf).status == 200


def test_what_is_stored_gives_no_code(store: Storage, betty: Somebody, app: App) -> None:
    """I12: neither the secret nor anything it is made of lies in any table."""
    stored = str(store.contents())
    secret = app.uri.partition("secret=")[2]
    assert secret[:52] not in stored
    sealed = User.get(betty.id).totp
    assert sealed.startswith("-----BEGIN PGP MESSAGE-----")
    assert app.code() not in stored


def test_what_is_stored_opens_in_no_other_row(
    ada: Somebody, betty: Somebody, app: App, time: Time
) -> None:
    second_factors.set_up(ada.client)
    time.pass_by(minutes=2)
    User.get(ada.id).update([User.totp.set(User.get(betty.id).totp)])
    assert second_factors.given(ada.client, app.code()).status == 503


def test_cookies_are_stored_as_hashes(store: Storage, betty: Somebody, app: App) -> None:
    value = with_factor(betty.client, app, remember=1).cookies[COOKIE]
    assert value not in str(store.contents())
    assert len([row for row in Token.scan() if row.kind == "second-factor"]) == 1
