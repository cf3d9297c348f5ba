"""What every answer looks like on the wire, whatever was asked: envelope, headers, cookies."""

from __future__ import annotations

import re
from importlib import import_module
from uuid import UUID, uuid4

import pytest

from chalicelib.endpoint_groups import GROUPS
from tests.conftest import START
from tests.support.faults.hooks import Around
from tests.support.wire.client import Client
from tests.support.wire.handshake import LOGIN, VERIFY, cookies_of, signed_in, step

NO_PAIR = "Missing or incorrect CSRF cookie type."
MISMATCH = "CSRF token from either the request body or request headers did not match or is missing."
CSRF_COOKIE = re.compile(r"csrfToken=[0-9a-f]{128}; path=/; secure")


class Breaking(Around):
    """Every storage call fails in a way nobody has foreseen, and quotes what it was about."""

    def __call__(self, operation, parameters, send):
        raise RuntimeError(f"tangerine-4711-canary {operation} {parameters}")


def answers(api, ada):
    """One answer of each kind."""
    with Breaking():
        broken = ada.client.get("/users/me.json")
    return {
        "success": ada.client.get("/users/me.json"),
        "stage": step(api, keyid=ada.key.fingerprint),
        "malformed": api.request(
            "POST", LOGIN, raw=b"{", headers={"content-type": "application/json"}
        ),
        "unauthenticated": api.get("/users/me.json"),
        "no CSRF pair": api.post("/users.json", {}),
        "no such path": api.get("/no/such/path"),
        "no such method": api.request("PATCH", "/users.json"),
        "no such user": ada.client.get(f"/users/{uuid4()}.json"),
        "conflict": step(signed_in(ada), keyid=ada.key.fingerprint),
        "too large": api.request("POST", LOGIN, raw=b"x" * 5_000_001),
        "accident": broken,
    }


KINDS = {
    "success": 200,
    "stage": 200,
    "malformed": 400,
    "unauthenticated": 403,
    "no CSRF pair": 403,
    "no such path": 404,
    "no such method": 404,
    "no such user": 404,
    "conflict": 409,
    "too large": 413,
    "accident": 500,
}


# The envelope


def test_every_answer_wears_the_envelope(api, ada):
    """HD01"""
    found = answers(api, ada)

    assert {kind: response.status for kind, response in found.items()} == KINDS
    for kind, response in found.items():
        assert response.json.keys() == {"header", "body"}
        header = response.header
        assert list(header) == [
            *("id", "status", "servertime", "action", "message", "url", "code"),
        ], kind
        assert (header["code"], type(header["code"])) == (response.status, int)
        assert header["status"] == ("success" if kind == "success" else "error")
        assert type(header["servertime"]) is int
        assert UUID(header["id"]).version == 4
        assert str(UUID(header["action"])) == header["action"]
        assert header["message"]
        if response.status >= 400:
            assert response.body == ""


def test_every_answer_carries_the_security_headers(api, ada):
    """HD01"""
    for response in answers(api, ada).values():
        headers = response.headers
        assert headers["content-type"] == "application/json; charset=utf-8"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["strict-transport-security"].startswith("max-age=")
        assert "access-control-allow-origin" not in headers


def test_an_accident_tells_its_request_and_nothing_else(ada):
    """HD07"""
    with Breaking():
        response = ada.client.get("/users/me.json")

    assert response.message == "An Internal Error Has Occurred."
    for word in ("canary", "RuntimeError", "Traceback", "chalicelib", "users-", "test-"):
        assert word not in str(response.content)


def test_server_time_is_whole_seconds_since_1970(api, store, time):
    time.pass_by(milliseconds=999)

    response = api.get("/healthcheck/status.json")

    assert f'"servertime":{int(START.timestamp())},'.encode() in response.content


def test_each_answer_has_an_id_of_its_own_and_each_endpoint_an_action(api, ada):
    me, again = (ada.client.get("/users/me.json").header for _ in range(2))
    other = api.get("/healthcheck/status.json").header
    unknown = [api.get(path).header["action"] for path in ("/x.json", "/y/z")]

    assert len({me["id"], again["id"], other["id"]}) == 3
    assert me["action"] == again["action"]
    assert len({me["action"], other["action"], unknown[0]}) == 3
    assert unknown[0] == unknown[1]


@pytest.mark.parametrize(
    "target",
    [
        "/healthcheck/status.json",
        "/healthcheck/status.json?api-version=v2",
        "/healthcheck/status.json?filter%5Bhas-id%5D%5B%5D=a&filter%5Bhas-id%5D%5B%5D=b",
        "/healthcheck/status.json?contain[x]=1&a=%20+%2B&b",
        "/no/such%2Fpath.json?q=%C3%A9",
    ],
)
def test_the_url_is_the_target_as_it_was_sent(api, store, target):
    assert api.get(target).header["url"] == target


def test_settings_may_go_without_the_envelope(api, store):
    whole = api.get("/settings.json").body

    assert api.get("/settings.json?contain[header]=0").json == whole


@pytest.mark.parametrize("version", ["v2", "v3", "v3None", "2", "", "x"])
def test_any_version_of_the_api_but_the_first_is_taken(api, store, version):
    assert api.get(f"/healthcheck/status.json?api-version={version}").status == 200


@pytest.mark.parametrize("version", ["1", "v1"])
def test_the_first_version_of_the_api_is_refused(api, store, version):
    response = api.get(f"/healthcheck/status.json?api-version={version}")

    assert (response.status, response.message) == (
        400,
        "API v1 support is deprecated in this version.",
    )


# Paths


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/.json"),
        ("GET", "/no.json"),
        ("GET", "/users.json/"),
        ("GET", "/users/.json"),
        ("GET", "/users/me.json.json"),
        ("GET", "/Users.json"),
        ("GET", "/users/../users.json"),
        ("PATCH", "/users.json"),
        ("OPTIONS", "/users.json"),
        ("TRACE", "/users.json"),
        ("DELETE", VERIFY),
        ("GET", LOGIN),
        ("GET", "/auth/jwt/login.json"),
    ],
)
def test_what_is_no_endpoint_is_not_found(ada, method, path):
    response = ada.client.request(method, path)

    assert (response.status, response.message, response.body) == (404, "Not Found", "")


def test_head_is_answered_without_a_body(api, ada):
    known = api.request("HEAD", "/healthcheck/status.json")
    unknown = ada.client.request("HEAD", "/users.json")

    assert (known.status, known.content) == (200, b"")
    assert (unknown.status, unknown.content) == (404, b"")


def test_a_path_without_its_suffix_works_for_who_accepts_json(ada):
    for path in ("/users", "/users/me", f"/users/{ada.id}"):
        response = ada.client.get(path, headers={"accept": "application/json"})
        assert response.status == 200, path


@pytest.mark.parametrize("accept", [None, "*/*", "text/html,application/xhtml+xml;q=0.9"])
def test_a_path_without_its_suffix_is_not_found_for_others(ada, accept):
    headers = {} if accept is None else {"accept": accept}

    response = ada.client.get("/users/me", headers=headers)

    assert (response.status, response.message) == (
        404,
        "Please use .json extension in URL or accept application/json.",
    )


# Bodies


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"{", "application/json"),
        (b'{"a": 1, "a": 2}', "application/json"),
        (b'{"a": NaN}', "application/json"),
        (b'{"a": "\xff"}', "application/json"),
        (b"[" * 33 + b"]" * 33, "application/json"),
        (b"{}", "application/json; charset=latin-1"),
        (b"a=%ff", "application/x-www-form-urlencoded"),
        (b"a=b", "multipart/form-data"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
    ],
)
def test_a_body_that_cannot_be_read_is_a_bad_request(api, store, raw, kind):
    response = api.request("POST", LOGIN, raw=raw, headers={"content-type": kind})

    assert (response.status, response.message, response.body) == (400, "Bad Request", "")


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "application/json"),
        (b"7", "application/json"),
        (b"null", "application/json"),
        (b'"text"', "application/json"),
        (b'{"gpg_auth": {"keyid": "x"}}', "text/plain"),
        (b'{"gpg_auth": {"keyid": "x"}}', ""),
        (b"", "multipart/form-data; boundary=x"),
    ],
)
def test_what_is_no_object_counts_as_no_data(api, store, raw, kind):
    response = api.request("POST", LOGIN, raw=raw, headers={"content-type": kind})

    assert response.message == "There is no user associated with this key. No key id set."


# Cookies and the CSRF pair


def test_the_first_get_that_works_brings_the_csrf_cookie(api, ada):
    for client in (api, Client(cookies={"csrfToken": ""})):
        [cookie] = client.get(VERIFY).set_cookies
        assert CSRF_COOKIE.fullmatch(cookie)
    session = {"passbolt_session": signed_in(ada).cookies["passbolt_session"]}
    [cookie] = Client(cookies=session).get("/users/me.json").set_cookies
    assert CSRF_COOKIE.fullmatch(cookie)


def test_the_csrf_cookie_comes_once(api, store):
    first = cookies_of(api.get(VERIFY))
    second = api.get(VERIFY, cookies=first)

    assert second.set_cookies == []
    assert cookies_of(api.get(VERIFY))["csrfToken"] != first["csrfToken"]


def test_neither_an_error_nor_a_step_of_signing_in_brings_the_csrf_cookie(api, ada):
    for response in (
        api.get("/users/me.json"),
        api.get("/no.json"),
        step(api, keyid=ada.key.fingerprint),
        api.post("/users.json", {}),
    ):
        assert response.set_cookies == []


def test_the_csrf_token_can_be_asked_for(api, store):
    response = api.get("/users/csrf-token.json")

    assert cookies_of(response)["csrfToken"] == response.body
    assert api.get("/users/csrf-token.json", cookies={"csrfToken": "mine"}).body == "mine"


def test_cookies_are_read_beside_pairs_without_a_name(ada):
    """As the command-line client sends them as long as it has none."""
    cookies = signed_in(ada).cookies
    session, csrf = cookies["passbolt_session"], cookies["csrfToken"]

    def ask(header, token=""):
        headers = {"cookie": header, "x-csrf-token": token}
        return Client().post("/auth/logout.json", headers=headers)

    assert ask("=; =").message == NO_PAIR
    assert ask(f"passbolt_session={session}; =").message == NO_PAIR
    assert ask(f"passbolt_session={session}; csrfToken={csrf}").message == MISMATCH
    header = {"cookie": f"passbolt_session={session}; =", "x-csrf-token": ""}
    assert Client().get("/users/me.json", headers=header).status == 200
    assert ask(f"passbolt_session={session}; csrfToken={csrf}", csrf).status == 200


def test_a_guest_without_the_pair_hears_of_it_before_they_hear_that_they_are_unknown(api, store):
    csrf = cookies_of(api.get(VERIFY))["csrfToken"]

    alone = api.post("/users.json", {})
    pair = {"cookies": {"csrfToken": csrf}, "headers": {"x-csrf-token": csrf}}
    paired = api.post("/users.json", {}, **pair)

    assert (alone.status, alone.message, alone.body) == (403, NO_PAIR, "")
    assert (paired.status, paired.message) == (403, "Authentication is required to continue")


def test_the_token_may_stand_in_the_body(ada):
    client = signed_in(ada)
    csrf = client.cookies["csrfToken"]

    assert client.post("/auth/logout.json", {"_csrfToken": "x" + csrf}).message == MISMATCH
    assert client.post("/auth/logout.json", {"_csrfToken": csrf}).status == 200


@pytest.mark.parametrize(
    ("header", "member", "status"),
    [("stale", "right", 200), ("right", "stale", 200), ("stale", "stale", 403), ("", "", 403)],
)
def test_one_right_token_is_enough(ada, header, member, status):
    """A form is sent with a header that somebody has kept from before."""
    client = signed_in(ada)
    known = {"right": client.cookies["csrfToken"], "stale": "x", "": ""}

    response = client.post(
        "/account/settings/themes.json",
        {"value": "midgar", "_csrfToken": known[member]},
        headers={"x-csrf-token": known[header]},
    )

    assert response.status == status


CHANGES = [
    route
    for group in GROUPS
    for module in group.modules
    for route in import_module(f"chalicelib.routes.{module}").endpoints.routes
    if route.method not in ("GET", "HEAD")
]
FREE = {
    "/auth/login.json",
    "/auth/verify.json",
    "/auth/jwt/login.json",
    "/auth/jwt/refresh.json",
    "/auth/jwt/logout.json",
    "/mfa/verify/error.json",
    "/mobile/transfers/{transfer_id}/{auth_token}.json",
    "/setup/complete/{user_id}.json",
    "/setup/recover/complete/{user_id}.json",
    "/users/validateAccount/{user_id}.json",
}


def test_few_changes_are_free_of_the_csrf_pair():
    """HD03: none of them acts on what a session may do."""
    free = {
        route.path for route in CHANGES if not route.csrf or route.path.startswith("/auth/jwt/")
    }

    assert free == FREE


@pytest.mark.parametrize(
    "route",
    [route for route in CHANGES if route.path not in FREE],
    ids=lambda route: f"{route.method} {route.path}",
)
def test_a_change_by_cookie_needs_the_csrf_pair(ada, betty, digest, route):
    """HD03"""
    client = signed_in(ada)
    own, other = client.cookies.pop("csrfToken"), signed_in(betty).cookies["csrfToken"]
    path = re.sub(r"\{\w+\}", str(uuid4()), route.path)
    before = digest()

    for cookie, header, message in [
        (None, None, NO_PAIR),
        (None, own, NO_PAIR),
        ("", "", NO_PAIR),
        (own, None, MISMATCH),
        (own, "", MISMATCH),
        (own, other, MISMATCH),
        (own, own[:-1], MISMATCH),
        (own, own + "0", MISMATCH),
    ]:
        response = client.request(
            route.method,
            path,
            json={},
            cookies={} if cookie is None else {"csrfToken": cookie},
            headers={} if header is None else {"x-csrf-token": header},
        )
        assert (response.status, response.message, response.body) == (403, message, "")

    assert digest() == before
