"""The GPG handshake and its session: what deployed clients send, compare and forget."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import unquote, unquote_plus, urlencode
from uuid import UUID

import pytest

from chalicelib.domain import clock
from chalicelib.routes.sign_in import auth
from tests.conftest import START
from tests.support.faults.meanwhile import Meanwhile
from tests.support.wire.client import Client
from tests.support.wire.handshake import (
    LOGIN,
    SERVER,
    TOKEN,
    VERIFY,
    answer_nonce,
    ask_nonce,
    cookies_of,
    new_nonce,
    open_token,
    signed_in,
    step,
)
from tests.support.world import keys, make
from tests.support.world.keys import KEYS

CONSTANTS = {
    "x-gpgauth-version": "1.3.0",
    "x-gpgauth-login-url": "/auth/login",
    "x-gpgauth-logout-url": "/auth/logout",
    "x-gpgauth-verify-url": "/auth/verify",
    "x-gpgauth-pubkey-url": "/auth/verify.json",
}
FAILED = "The authentication failed."
NOBODY = "There is no user associated with this key. "
KNOWN = "/auth/is-authenticated.json"
MULTIPART = "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk"


def stage_headers(response):
    """The headers of the handshake, without those that every answer has."""
    return {
        name.removeprefix("x-gpgauth-"): value
        for name, value in response.headers.items()
        if name.startswith("x-gpgauth-") and name not in CONSTANTS
    }


def said(response):
    return response.status, response.header["status"], response.header["code"], response.message


def is_known(client):
    status = client.get(KNOWN).status
    assert status in (200, 403)
    return status == 200


def store_with(person, **changed):
    """Store the person's row with other values."""
    for name, value in changed.items():
        setattr(person.user, name, value)
    person.user.save()


@pytest.fixture(params=[LOGIN, VERIFY])
def path(request):
    """Both paths run the same steps."""
    return request.param


# The stages


def test_the_server_key_is_there_for_anyone(api, ada):
    for client in (api, ada.client, signed_in(ada)):
        response = client.get(VERIFY)

        assert response.status == 200
        assert response.body.keys() == {"fingerprint", "keydata"}
        assert response.body["fingerprint"] == SERVER.fingerprint
        assert re.fullmatch(r"[0-9A-F]{40}", response.body["fingerprint"])
        assert keys.fingerprint(response.body["keydata"]) == SERVER.fingerprint


def test_verify_returns_the_nonce_in_clear_and_nothing_of_the_later_stages(api, ada, path):
    nonce = new_nonce()

    token = keys.message(nonce, SERVER.public)
    response = step(api, path, keyid=ada.key.fingerprint, server_verify_token=token)

    assert said(response) == (200, "error", 200, FAILED)
    assert response.body is None
    assert stage_headers(response) == {
        "authenticated": "false",
        "progress": "stage0",
        "verify-response": nonce,
    }


def test_stage_one_sends_a_nonce_only_the_user_can_open(api, ada, path):
    response = step(api, path, keyid=ada.key.fingerprint)

    assert said(response) == (200, "error", 200, FAILED)
    assert response.body is None
    headers = stage_headers(response)
    token = headers.pop("user-auth-token")
    assert headers == {"authenticated": "false", "progress": "stage1"}
    parts = open_token(token, ada.key).split("|")
    assert (parts[0], parts[1], parts[3]) == ("gpgauthv1.3.0", "36", "gpgauthv1.3.0")
    assert str(UUID(parts[2])) == parts[2]
    assert UUID(parts[2]).version == 4


def test_stage_two_signs_in_and_answers_who_the_user_is(api, ada, path):
    nonce = ask_nonce(api, ada.key)

    response = step(api, path, keyid=ada.key.fingerprint, user_token_result=nonce)

    assert said(response) == (200, "success", 200, "You are successfully logged in.")
    assert stage_headers(response) == {
        "authenticated": "true",
        "progress": "complete",
        "refer": "/",
    }
    assert response.body["id"] == ada.id
    assert response.body["profile"]["user_id"] == ada.id
    assert response.body["gpgkey"]["fingerprint"] == ada.key.fingerprint
    assert response.body["role"]["name"] == "admin"
    assert response.body["groups_users"] == []
    assert is_known(Client(cookies=cookies_of(response)))


def test_stage_two_tells_the_login_before_this_one(api, ada, time):
    first = answer_nonce(api, ada.key, ask_nonce(api, ada.key))
    time.pass_by(hours=1)
    second = answer_nonce(api, ada.key, ask_nonce(api, ada.key))

    assert first.body["last_logged_in"] is None
    assert second.body["last_logged_in"] == START.isoformat()
    me = Client(cookies=cookies_of(second)).get("/users/me.json")
    assert me.body["last_logged_in"] == (START + timedelta(hours=1)).isoformat()


@pytest.mark.parametrize("name", ["ada", "betty", "carol", "dave", "edith", "frances"])
def test_every_kind_of_key_signs_in(store, name):
    assert is_known(signed_in(make.user(name)))


def test_a_fingerprint_counts_in_any_letter_case(api, ada):
    response = step(api, keyid=ada.key.fingerprint.lower())

    assert stage_headers(response)["progress"] == "stage1"


@pytest.mark.parametrize("wrap", [lambda sent: sent, lambda sent: {"data": sent}])
@pytest.mark.parametrize(
    "unsaid",
    [
        {"user_token_result": None},
        {"server_verify_token": None},
        {"server_verify_token": None, "user_token_result": None},
    ],
)
def test_a_member_that_is_null_was_not_sent(api, ada, path, wrap, unsaid):
    """As one Python library asks for its nonce."""
    response = api.post(path, wrap({"gpg_auth": {"keyid": ada.key.fingerprint, **unsaid}}))

    assert said(response) == (200, "error", 200, FAILED)
    assert stage_headers(response)["progress"] == "stage1"
    assert TOKEN in response.headers


def test_a_nonce_is_returned_beside_a_member_that_is_null(api, ada):
    nonce = ask_nonce(api, ada.key)

    response = step(
        api, keyid=ada.key.fingerprint, server_verify_token=None, user_token_result=nonce
    )

    assert stage_headers(response)["progress"] == "complete"


# What is refused


@pytest.mark.parametrize(
    ("keyid", "reason"),
    [
        (None, "No key id set."),
        ("", "No key id set."),
        ("F" * 39, "Invalid fingerprint."),
        ("F" * 41, "Invalid fingerprint."),
        ("G" * 40, "Invalid fingerprint."),
        ("F" * 40 + "\n", "Invalid fingerprint."),
        ("F" * 39 + "\uff26", "Invalid fingerprint."),
        ("F" * 38 + "\ufb00", "Invalid fingerprint."),
        (7, "Invalid fingerprint."),
        (["F" * 40], "Invalid fingerprint."),
        ("F" * 40, "User not found."),
    ],
)
def test_a_key_of_nobody_is_refused_at_every_stage(api, store, path, keyid, reason):
    token = keys.message(new_nonce(), SERVER.public)
    for members in ({}, {"server_verify_token": token}, {"user_token_result": new_nonce()}):
        response = step(api, path, keyid=keyid, **members)

        assert said(response) == (400, "error", 400, NOBODY + reason)
        assert response.body is None
        assert stage_headers(response) == {
            "authenticated": "false",
            "progress": "stage0",
            "error": "true",
            "debug": NOBODY + reason,
        }


@pytest.mark.parametrize(
    "body", [{}, {"data": {}}, {"gpg_auth": 7}, {"data": {"gpg_auth": []}}, []]
)
def test_a_body_without_a_key_id_is_refused_like_an_empty_one(api, store, body):
    response = api.post(LOGIN, body)

    assert said(response) == (400, "error", 400, NOBODY + "No key id set.")


@pytest.mark.parametrize(
    "change",
    [{"active": False}, {"deleted": True}, {"disabled": START}],
    ids=["inactive", "deleted", "disabled"],
)
def test_who_may_not_sign_in_is_nobody_here(api, ada, change):
    store_with(ada, **change)

    response = step(api, keyid=ada.key.fingerprint)

    assert said(response) == (400, "error", 400, NOBODY + "User not found.")
    assert TOKEN not in response.headers


@pytest.mark.parametrize("token", ["", "text", 7, ["x"], {"a": "b"}, KEYS["ada"].public])
def test_what_is_no_message_is_refused_without_a_stage(api, ada, path, token):
    response = step(api, path, keyid=ada.key.fingerprint, server_verify_token=token)

    expected = "The server verify token is missing or invalid."
    assert said(response) == (400, "error", 400, expected)
    assert response.body == ""
    assert stage_headers(response) == {}


def test_a_message_to_somebody_else_fails_verification(api, ada, path):
    token = keys.message(new_nonce(), KEYS["betty"].public)

    response = step(api, path, keyid=ada.key.fingerprint, server_verify_token=token)

    assert said(response) == (200, "error", 200, FAILED)
    assert stage_headers(response) == {
        "authenticated": "false",
        "progress": "stage0",
        "error": "true",
    }


STOLEN = "tangerine-4711-canary"
ID = "8e3874ae-4b40-490b-968a-418f704b9d9a"


@pytest.mark.parametrize(
    "text",
    [
        STOLEN,
        "",
        f'{{"password": "{STOLEN}"}}',
        f"gpgauthv1.3.0|36|{STOLEN}|gpgauthv1.3.0",
        f"gpgauthv1.3.0|36|8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21|gpgauthv1.3.0|{STOLEN}",
        f"gpgauthv1.3.0|36|8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21|gpgauthv1.3.0\n{STOLEN}",
        f"{STOLEN}|36|8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21|gpgauthv1.3.0",
        f"gpgauthv1.3.0|36|8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21{STOLEN}|gpgauthv1.3.0",
    ],
)
def test_a_text_that_is_no_nonce_is_never_repeated(api, ada, path, text):
    """AU36"""
    token = keys.message(text, SERVER.public)

    response = step(api, path, keyid=ada.key.fingerprint, server_verify_token=token)

    assert said(response) == (200, "error", 200, FAILED)
    assert stage_headers(response) == {
        "authenticated": "false",
        "progress": "stage0",
        "error": "true",
    }
    assert STOLEN not in str(response)


def assert_not_signed_in(response):
    assert said(response) == (400, "error", 400, FAILED)
    assert response.body is None
    assert response.set_cookies == []
    assert stage_headers(response) == {
        "authenticated": "false",
        "progress": "stage2",
        "error": "true",
    }


def test_a_nonce_signs_in_once(api, ada):
    """AU37"""
    nonce = ask_nonce(api, ada.key)
    assert answer_nonce(api, ada.key, nonce).status == 200

    assert_not_signed_in(answer_nonce(api, ada.key, nonce))


def test_the_nonce_of_one_user_does_not_sign_in_another(api, ada, betty):
    """AU37"""
    nonce = ask_nonce(api, ada.key)

    assert_not_signed_in(answer_nonce(api, betty.key, nonce))
    assert answer_nonce(api, ada.key, nonce).status == 200


def test_a_nonce_lives_for_five_minutes(api, ada, time):
    """AU37"""
    early, late = ask_nonce(api, ada.key), ask_nonce(api, ada.key)
    time.pass_by(seconds=299)
    assert answer_nonce(api, ada.key, early).status == 200
    time.pass_by(seconds=1)

    assert_not_signed_in(answer_nonce(api, ada.key, late))


@pytest.mark.parametrize(
    "result",
    [
        "gpgauthv1.3.0|36|8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21|gpgauthv1.3.0",
        "text",
        "",
        7,
        ["x"],
        {"a": "b"},
    ],
)
def test_what_is_no_pending_nonce_does_not_sign_in(api, ada, result):
    ask_nonce(api, ada.key)

    assert_not_signed_in(step(api, keyid=ada.key.fingerprint, user_token_result=result))


def test_nonces_of_several_devices_wait_side_by_side(api, ada):
    first, second = ask_nonce(api, ada.key), ask_nonce(api, ada.key)

    assert answer_nonce(api, ada.key, second).status == 200
    assert answer_nonce(api, ada.key, first).status == 200


# The token's header


def as_the_web_client_decodes(header):
    return re.sub(r"\\(.)", r"\1", unquote_plus(header))


def as_go_decodes(header):
    return unquote_plus(header).replace("\\ ", " ")


def as_python_decodes(header):
    return unquote(header).replace("\\+", " ")


def test_the_header_is_form_encoded_with_its_specials_behind_backslashes():
    text = "-----BEGIN PGP MESSAGE-----\n\nhQ+/=. a*b(c)\n"

    encoded = auth._as_header(text)

    assert encoded == (r"-----BEGIN\+PGP\+MESSAGE-----%0A%0AhQ%2B%2F%3D\.\+a%2Ab%28c%29%0A")


@pytest.mark.parametrize("decode", [as_the_web_client_decodes, as_go_decodes, as_python_decodes])
def test_every_decoder_in_the_field_reads_the_header(api, ada, decode):
    encoded = step(api, keyid=ada.key.fingerprint).headers[TOKEN]

    armored = decode(encoded)

    assert armored.startswith("-----BEGIN PGP MESSAGE-----\n\n")
    assert keys.open_sealed(armored, ada.key.private, SERVER.public).startswith("gpgauthv1.3.0|36|")


# The encodings of the body


def bare_json(client, members):
    return client.post(LOGIN, {"gpg_auth": members})


def wrapped_json(client, members):
    return client.post(LOGIN, {"data": {"gpg_auth": members}})


def url_encoded(client, members):
    form = urlencode({f"data[gpg_auth][{name}]": value for name, value in members.items()})
    kind = {"content-type": "application/x-www-form-urlencoded"}
    return client.request("POST", LOGIN, raw=form.encode(), headers=kind)


def multipart(client, members):
    boundary = MULTIPART.partition("boundary=")[2]
    # Browsers send every line break of a field as CR LF.
    parts = (
        f"--{boundary}\r\nContent-Disposition: form-data; "
        f'name="data[gpg_auth][{name}]"\r\n\r\n{value}\r\n'.replace("\r\n", "\n").replace(
            "\n", "\r\n"
        )
        for name, value in members.items()
    )
    form = "".join(parts) + f"--{boundary}--\r\n"
    return client.request("POST", LOGIN, raw=form.encode(), headers={"content-type": MULTIPART})


@pytest.mark.parametrize("send", [bare_json, wrapped_json, url_encoded, multipart])
def test_every_encoding_of_the_body_verifies_and_signs_in(api, ada, send):
    key = {"keyid": ada.key.fingerprint}
    nonce = new_nonce()
    token = keys.message(nonce, SERVER.public)

    verified = send(api, {**key, "server_verify_token": token})
    pending = open_token(send(api, key).headers[TOKEN], ada.key)
    done = send(api, {**key, "user_token_result": pending})

    assert stage_headers(verified)["verify-response"] == nonce
    assert stage_headers(done)["progress"] == "complete"


# Headers on every answer


def test_every_answer_in_cookie_mode_speaks_the_protocol(api, ada):
    answers = [
        step(api, keyid=ada.key.fingerprint),
        signed_in(ada).get("/users/me.json"),
        api.get("/users/me.json"),
        api.get("/no/such.json"),
        api.post("/users.json", {}),
    ]

    for response in answers:
        assert CONSTANTS.items() <= response.headers.items()
        exposed = response.headers["access-control-expose-headers"].split(", ")
        assert {"X-GPGAuth-Verify-Response", "X-GPGAuth-User-Auth-Token"} <= set(exposed)


def test_an_answer_to_a_bearer_does_not_speak_the_protocol(ada):
    response = ada.client.get("/users/me.json")

    assert not any(name.startswith("x-gpgauth") for name in response.headers)


# The session


def test_signing_in_again_is_a_conflict(ada, path):
    client = signed_in(ada)

    for members in ({}, {"server_verify_token": "x"}, {"user_token_result": new_nonce()}):
        response = step(client, path, keyid=ada.key.fingerprint, **members)

        assert said(response) == (409, "error", 409, "You are already logged in.")
        assert response.body == ""


def test_verifying_with_an_access_token_is_a_conflict(ada):
    response = step(ada.client, VERIFY, keyid=ada.key.fingerprint)

    assert said(response) == (409, "error", 409, "You are already logged in.")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_signing_out_is_not_for_access_tokens(ada, method):
    response = ada.client.request(method, "/auth/logout.json")

    text = "The route /auth/logout is not permitted with JWT authentication."
    assert said(response) == (400, "error", 400, text)


@pytest.mark.parametrize("header", [None, "Bearer nonsense", "Basic YTpi"])
def test_signing_in_is_not_for_access_tokens(ada, header):
    """Whether the token is any good or not."""
    client = ada.client if header is None else Client()
    headers = {} if header is None else {"authorization": header}

    body = {"gpg_auth": {"keyid": ada.key.fingerprint}}
    response = client.post(LOGIN, body, headers=headers)

    text = "The route /auth/login is not permitted with JWT authentication."
    assert said(response) == (400, "error", 400, text)
    assert TOKEN not in response.headers


def test_a_cookie_chosen_before_the_login_is_not_the_session_after_it(ada):
    """AU38"""
    fixed = ada.id + "0" * 64
    victim = Client(cookies={"passbolt_session": fixed})
    done = answer_nonce(victim, ada.key, ask_nonce(victim, ada.key))

    issued = cookies_of(done)["passbolt_session"]
    assert issued != fixed
    assert is_known(Client(cookies={"passbolt_session": issued}))
    assert not is_known(Client(cookies={"passbolt_session": fixed}))


def test_each_login_has_a_session_of_its_own(ada):
    """AU38"""
    first, second = signed_in(ada), signed_in(ada)
    assert first.cookies["passbolt_session"] != second.cookies["passbolt_session"]

    first.get("/auth/logout.json")

    assert not is_known(first)
    assert is_known(second)


def test_a_session_ends_after_twenty_four_idle_minutes(ada, time):
    client = signed_in(ada)
    time.pass_by(minutes=23, seconds=59)
    assert is_known(client)
    time.pass_by(seconds=1)

    assert not is_known(client)


def test_asking_whether_one_is_signed_in_does_not_extend_the_session(ada, time):
    client = signed_in(ada)
    for _ in range(3):
        time.pass_by(minutes=7)
        assert is_known(client)
    time.pass_by(minutes=3)

    assert not is_known(client)


def test_every_other_request_extends_the_session(ada, time):
    client = signed_in(ada)
    for _ in range(5):
        time.pass_by(minutes=20)
        assert client.get("/users/me.json").status == 200

    assert is_known(client)


def test_a_session_lasts_twenty_four_minutes_from_the_last_request(ada, time):
    """Also from one that wrote nothing, as the session was extended within the minute before."""
    client = signed_in(ada)
    for seconds in (70, 50):
        time.pass_by(seconds=seconds)
        assert client.get("/users/me.json").status == 200
    time.pass_by(minutes=23, seconds=59)
    assert is_known(client)
    time.pass_by(minutes=1)

    assert not is_known(client)


REFUSED = [
    ("POST", "/users.json", 403),  # only administrators may
    ("GET", "/resources/no-id.json", 400),
    ("GET", "/resources.json?filter[is-shared-with-group]=no-id", 400),
    ("GET", "/resources/5b6f1ad4-5b6d-4f0c-8d5e-7d3b0a1c2e3f.json", 404),
]


@pytest.mark.parametrize(("method", "path", "status"), REFUSED)
def test_a_refused_request_extends_the_session_as_well(betty, time, method, path, status):
    client = signed_in(betty)
    headers = {"x-csrf-token": client.cookies["csrfToken"]}
    for _ in range(3):
        time.pass_by(minutes=20)
        assert client.request(method, path, json={}, headers=headers).status == status

    assert is_known(client)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_signing_out_ends_the_session(ada, method):
    client = signed_in(ada)
    headers = {"x-csrf-token": client.cookies["csrfToken"]}

    response = client.request(method, "/auth/logout.json", headers=headers)

    assert said(response) == (200, "success", 200, "You are successfully logged out.")
    assert response.body is None
    assert not is_known(client)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_is_not_signed_in_may_sign_out(api, store, method):
    csrf = cookies_of(api.get(VERIFY))["csrfToken"]
    pair = {"cookies": {"csrfToken": csrf}, "headers": {"x-csrf-token": csrf}}

    response = api.request(method, "/auth/logout.json", **pair)

    assert said(response) == (200, "success", 200, "You are successfully logged out.")


def test_signing_out_by_post_needs_the_csrf_pair(ada):
    client = signed_in(ada)

    response = client.post("/auth/logout.json")

    assert response.status == 403
    assert is_known(client)


def test_a_suspended_user_is_signed_out_at_once(ada):
    client = signed_in(ada)
    store_with(ada, disabled=clock.now())

    assert not is_known(client)


def test_a_session_cookie_that_was_tampered_with_is_no_session(ada, betty):
    cookie = signed_in(ada).cookies["passbolt_session"]
    secret = cookie[36:]

    tampered = [betty.id + secret, cookie[:-1], cookie + "0", secret, "", "a" * 5000, "\u00e9"]

    for value in tampered:
        assert not is_known(Client(cookies={"passbolt_session": value}))
    assert is_known(Client(cookies={"passbolt_session": cookie}))


def attributes(cookie):
    first, *rest = (part.strip().lower() for part in cookie.split(";"))
    return first.partition("=")[0], rest


def test_the_session_cookie_is_for_this_host_and_hidden_from_pages(api, ada):
    """HD05"""
    response = answer_nonce(api, ada.key, ask_nonce(api, ada.key))

    [cookie] = response.set_cookies
    name, rest = attributes(cookie)
    assert name == "passbolt_session"
    assert sorted(rest) == ["httponly", "path=/", "samesite=lax", "secure"]


def test_signing_out_takes_the_session_cookie_back(ada):
    """HD05"""
    response = signed_in(ada).get("/auth/logout.json")

    [cookie] = response.set_cookies
    assert cookie.startswith("passbolt_session=deleted;")
    rest = attributes(cookie)[1]
    assert {"max-age=0", "httponly", "path=/", "samesite=lax", "secure"} <= set(rest)
    assert not any(each.startswith("domain") for each in rest)


@pytest.mark.parametrize(
    "ask",
    [
        lambda client, who: client.get("/settings.json"),
        lambda client, who: client.post(
            "/auth/login.json", {"data": {"gpg_auth": {"keyid": who.key.fingerprint}}}
        ),
    ],
)
def test_who_signs_out_meanwhile_has_the_answer_of_a_guest(betty, time, ask):
    client, guest = signed_in(betty), Client()
    time.pass_by(minutes=2)

    with Meanwhile(lambda: client.get("/auth/logout.json")):
        found = ask(client, betty)

    asked_by_guest = ask(guest, betty)
    assert (found.status, asked_by_guest.status) == (200, 200)
    assert stage_headers(found).keys() == stage_headers(asked_by_guest).keys()
    assert client.get("/users/me.json").status in (401, 403)
