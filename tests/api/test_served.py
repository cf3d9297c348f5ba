"""The wire as it really is: a process that serves, plain HTTP, both dialects."""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import pytest
import requests

from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.wire.handshake import LOGIN, TOKEN, VERIFY, new_nonce, open_token
from tests.support.wire.served import serving, signed_in
from tests.support.world import keys
from tests.support.world.items import metadata

UNAUTHENTICATED = {"specification": 403, "clients": 401}
LONGEST_NAME = {"specification": 64, "clients": 255}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module", params=["specification", "clients"])
def dialect(request):
    return request.param


@pytest.fixture(scope="module")
def served(dialect, tmp_path_factory):
    with serving(tmp_path_factory.mktemp(dialect), dialect=dialect) as service:
        yield service


@pytest.fixture(scope="module")
def server_key(served):
    return requests.get(served.url + VERIFY, timeout=10).json()["body"]["keydata"]


def exchange(served, method, target, *, headers=None, body=None):
    """One request, sent just so; the answer with its headers in the order they came."""
    connection = HTTPConnection(urlsplit(served.url).netloc, timeout=10)
    connection.request(method, target, body, headers or {})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def set_cookies(response):
    return response.headers.get_all("Set-Cookie", [])


def open_nonce(served, server_key, encoded):
    return open_token(encoded, served.key, server_key)


def test_the_first_get_brings_one_cookie_that_can_be_cut_by_position(served):
    response, _ = exchange(served, "GET", VERIFY)

    [cookie] = set_cookies(response)
    assert re.fullmatch(r"csrfToken=[0-9a-f]{128}; path=/", cookie)


def test_two_authorization_headers_are_refused(served):
    connection = HTTPConnection(urlsplit(served.url).netloc, timeout=10)
    connection.putrequest("GET", "/settings.json")
    for token in ("one", "two"):
        connection.putheader("Authorization", f"Bearer {token}")
    connection.endheaders()
    response = connection.getresponse()
    header = json.loads(response.read())["header"]
    connection.close()

    assert (response.status, header["code"], header["message"]) == (400, 400, "Bad Request")


def test_codes_and_times_are_integers_without_quotes(served):
    _, content = exchange(served, "GET", VERIFY)

    assert re.search(rb'"servertime":\d{10},', content)
    assert re.search(rb'"code":200[,}]', content)


@pytest.mark.parametrize(
    "target",
    [
        "/auth/verify.json?api-version=v2&filter%5Bhas-id%5D%5B%5D=a%20b",
        "/auth/verify.json?contain[x]=1&filter[y][]=a+b",
        "/no%2Fsuch/p%C3%A4th?q=%zz",
    ],
)
def test_the_url_is_the_target_untouched(served, target):
    _, content = exchange(served, "GET", target)

    assert json.loads(content)["header"]["url"] == target


def test_who_is_unknown_hears_so_by_dialect(served, dialect):
    for headers in ({}, {"Cookie": "=; ="}, {"Authorization": "Bearer x"}):
        response, content = exchange(served, "GET", "/users/me.json", headers=headers)

        header = json.loads(content)["header"]
        assert response.status == header["code"] == UNAUTHENTICATED[dialect]
        assert header["message"] == "Authentication is required to continue"


def test_a_client_that_sends_empty_cookies_signs_in_and_out(served, server_key):
    """As the command-line client does: it keeps cookies itself and always sends both."""
    bare = {**JSON, "Cookie": "=; =", "X-CSRF-Token": ""}
    keyid = served.key.fingerprint.lower()

    def login(**members):
        body = json.dumps({"gpg_auth": {"keyid": keyid, **members}})
        return exchange(served, "POST", LOGIN, headers=bare, body=body)

    stage1, _ = login()
    stage2, _ = login(user_token_result=open_nonce(served, server_key, stage1.headers[TOKEN]))
    [session] = [cookie.partition(";")[0] for cookie in set_cookies(stage2)]
    half = {"Cookie": f"{session}; =", "X-CSRF-Token": ""}
    me, content = exchange(served, "GET", "/users/me.json", headers=half)
    [csrf] = [cookie.partition(";")[0] for cookie in set_cookies(me)]
    both = {"Cookie": f"{session}; {csrf}", "X-CSRF-Token": csrf.partition("=")[2]}
    out, _ = exchange(served, "POST", "/auth/logout.json", headers=both)
    after, _ = exchange(served, "GET", "/users/me.json", headers=both)

    assert json.loads(content)["body"]["id"] == served.user_id
    assert out.status == 200
    assert after.status in UNAUTHENTICATED.values()


def test_the_session_cookie_is_kept_over_plain_http(served, server_key):
    stage1 = requests.post(
        served.url + LOGIN, json={"gpg_auth": {"keyid": served.key.fingerprint}}, timeout=10
    )
    nonce = open_nonce(served, server_key, stage1.headers[TOKEN])
    body = json.dumps({"gpg_auth": {"keyid": served.key.fingerprint, "user_token_result": nonce}})

    response, _ = exchange(served, "POST", LOGIN, headers=JSON, body=body)

    [cookie] = set_cookies(response)
    assert re.fullmatch(r"passbolt_session=[0-9a-f-]{100}; path=/; HttpOnly; SameSite=Lax", cookie)


def as_multipart(members):
    return {"files": {name: (None, value) for name, value in members.items()}}


def as_form(members):
    body = urlencode(members)
    return {"data": body, "headers": {"Content-Type": "application/x-www-form-urlencoded"}}


@pytest.mark.parametrize("encode", [as_multipart, as_form])
def test_forms_verify_and_sign_in(served, server_key, encode):
    def send(path, **members):
        named = {f"data[gpg_auth][{name}]": value for name, value in members.items()}
        return requests.post(served.url + path, timeout=10, **encode(named))

    keyid, nonce = served.key.fingerprint, new_nonce()
    verified = send(VERIFY, keyid=keyid, server_verify_token=keys.message(nonce, server_key))
    pending = open_nonce(served, server_key, send(LOGIN, keyid=keyid).headers[TOKEN])
    done = send(LOGIN, keyid=keyid, user_token_result=pending)

    assert verified.headers["X-GPGAuth-Verify-Response"] == nonce
    assert done.headers["X-GPGAuth-Progress"] == "complete"


def test_a_name_may_be_as_long_as_the_dialect_says(served, dialect):
    session, longest = signed_in(served.url, served.key), LONGEST_NAME[dialect]

    def store(name):
        secret = keys.message("secret", served.key.public)
        body = {"name": name, "secrets": [{"data": secret}]}
        return session.post("/resources.json", json=body, timeout=10)

    refused = store("n" * (longest + 1))

    assert store("n" * longest).json()["body"]["name"] == "n" * longest
    assert refused.status_code == 400
    assert refused.json()["body"]["name"].keys() == {"maxLength"}


def test_a_new_metadata_key_is_answered_as_the_dialect_says(served, dialect):
    session, key = signed_in(served.url, served.key), metadata.pair()
    user_id = session.get("/users/me.json", timeout=10).json()["body"]["id"]
    data = keys.message(metadata.content(key), served.key.public)
    body = {"fingerprint": key.fingerprint, "armored_key": key.public}
    body["metadata_private_keys"] = [{"user_id": user_id, "data": data}]

    made = session.post("/metadata/keys.json", json=body, timeout=10).json()["body"]

    assert isinstance(made, list) == (dialect == "specification")
    key_id = (made[0] if isinstance(made, list) else made)["id"]
    server = session.get("/auth/verify.json", timeout=10).json()["body"]["keydata"]
    given = {"metadata_key_id": key_id, "user_id": None}
    given["data"] = keys.message(metadata.content(key), server)
    answer = session.post("/metadata/keys/privates.json", json=[given], timeout=10).json()
    assert answer["header"]["code"] == 200, answer
    assert answer["body"] == ({} if dialect == "specification" else [])


def test_a_registration_is_told_by_mail_to_the_person_and_to_administrators(served):
    session = signed_in(served.url, served.key)
    settings = {"provider": "email_domains", "data": {"allowed_domains": ["example.com"]}}
    path = "/self-registration/settings.json"
    assert session.put(path, json=settings, timeout=10).status_code == 200
    person = {
        "username": "dave@example.com",
        "profile": {"first_name": "Dave", "last_name": "Lovelace"},
    }

    registered = requests.post(
        served.url + "/users/register.json", json=person, timeout=10, **CSRF_PAIR
    )

    assert registered.status_code == 200
    session.get("/users/me.json", timeout=10)  # mail leaves before what comes next
    noted = served.output.read_text()
    assert "Mail to dave@example.com: Welcome to Keyhaven, Dave!" in noted
    assert "Mail to ada@example.com: Dave just created an account on Keyhaven!" in noted


def test_what_the_process_notes_is_no_secret(served):
    session = signed_in(served.url, served.key)
    stage1 = session.post(LOGIN, json={"gpg_auth": {"keyid": served.key.fingerprint}}, timeout=10)
    assert stage1.status_code == 409

    noted = served.output.read_text()

    assert '"action": "AuthLogin.loginPost"' in noted
    assert "PGP MESSAGE" not in noted
    assert "gpgauthv1.3.0" not in noted
    for cookie in session.cookies:
        assert cookie.value not in noted
        assert cookie.value[36:] not in noted
