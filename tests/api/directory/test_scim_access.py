"""Who may provision: the token of the settings and nothing else, on every route of SCIM."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.actor import Access
from chalicelib.domain.directory.scim import words
from chalicelib.domain.ids import new_id
from chalicelib.web.access import SESSION_COOKIE
from chalicelib.web.envelope import SECURITY_HEADERS, UNKNOWN_ACTION
from infra.endpoints import every_scim_route
from tests.support.faults.hooks import Around
from tests.support.wire.client import Client
from tests.support.world import people, scim
from tests.support.world.scim import SETTING_ID, TOKEN, TYPE, Directory, person, replace

ROUTES = [served.route for served in every_scim_route()]
OF_THE_CATALOGUE = {
    *("ScimIndex.index", "ScimCreate.create", "ScimView.view", "ScimPut.put", "ScimPatch.patch"),
    *("ScimDelete.delete", "ScimSchemas.schemas", "ScimResourceTypes.resourceTypes"),
    "ScimServiceProviderConfig.serviceProviderConfig",
}
STRANGERS: dict[str, Any] = {
    "nobody": None,
    "no word": "garbage",
    "no token": "Bearer",
    "an empty token": "Bearer ",
    "another token": f"Bearer {scim.OTHER_TOKEN}",
    "the token in upper case": f"Bearer {TOKEN.upper()}",
    "the beginning of the token": f"Bearer {TOKEN[:-1]}",
    "the token and more": f"Bearer {TOKEN}x",
    "another scheme": f"Basic {TOKEN}",
    "letters of others": "Bearer \u00e9\u00e8",
}


class Breaking(Around):
    """Each storage call fails in a way nobody has foreseen."""

    def __call__(self, operation, parameters, send):
        raise RuntimeError(f"{operation} {parameters}")


def over():
    return pytest.mark.parametrize("route", ROUTES, ids=lambda r: f"{r.method} {r.path}")


def path_of(route, user_id=None):
    path = route.path.replace("{setting_id}", SETTING_ID).replace("{proxy+}", "nothing/here")
    return path.replace("{user}", user_id or new_id()).replace("{", "").replace("}", "")


def error_of(response):
    """A refusal in SCIM's form; its status is a text, as the standard wants it."""
    assert response.headers["content-type"] == f"{TYPE}; charset=utf-8"
    body = response.json
    assert body["schemas"] == [words.ERROR]
    assert body["status"] == str(response.status)
    assert body["detail"]
    return body


@over()
def test_a_route_declares_itself_for_directories(route):
    """AC01"""
    assert route.access is Access.PROVISIONER
    assert route.action in {*OF_THE_CATALOGUE, UNKNOWN_ACTION}
    assert not route.csrf


@pytest.fixture
def directory(ada):
    return scim.directory(ada)


@over()
def test_who_does_not_show_the_token_is_refused_and_changes_nothing(
    ada, cookie_of, directory, digest, route
):
    """AC34: 401 always, never a redirect, whatever is accepted"""
    browser = Client(cookies={SESSION_COOKIE: cookie_of(ada)})
    before = digest()
    for authorization in STRANGERS.values():
        headers = {} if authorization is None else {"authorization": authorization}
        for accepted in (TYPE, "application/json", "text/html"):
            sent = {**headers, "accept": accepted}
            response = Client().request(route.method, path_of(route), headers=sent)
            assert response.status == 401
            assert response.headers["www-authenticate"] == "Bearer"
            error_of(response)
    for client in (ada.client, browser):
        assert client.request(route.method, path_of(route), json={}).status == 401
    assert digest() == before


@over()
def test_the_token_of_other_settings_is_refused(directory, route):
    """AC34: it is told neither whether there are settings"""
    path = path_of(route)
    for other in (new_id(), "nothing", SETTING_ID[:-1]):
        response = directory.request(route.method, path.replace(SETTING_ID, other))
        assert response.status == 401
        error_of(response)


@over()
def test_without_settings_nobody_provisions(store, route):
    response = Directory(TOKEN).request(route.method, path_of(route))
    assert response.status == 401
    error_of(response)


def test_a_token_and_a_session_are_not_mixed(ada, betty, cookie_of, directory, digest):
    """AC34"""
    jars = [{SESSION_COOKIE: cookie_of(who)} for who in (ada, betty)]
    before = digest()
    for cookies in jars:
        response = directory.get("/Users", cookies=cookies)
        assert response.status == 403
        assert "session" in error_of(response)["detail"]
    assert directory.get("/Users", cookies={SESSION_COOKIE: "garbage"}).status == 200
    assert digest() == before


def test_the_token_opens_nothing_else(ada, directory):
    """AC34"""
    for path in ("/users.json", "/scim/settings.json", "/resources.json", "/users/me.json"):
        assert Client(TOKEN).get(path).status == 403


def test_a_token_that_was_exchanged_is_dead_at_once(ada, directory):
    setting_id = ada.client.get(scim.SETTINGS).body["id"]
    sent = {"scim_user_id": ada.id, "secret_token": scim.OTHER_TOKEN}
    assert ada.client.put(f"/scim/settings/{setting_id}.json", sent).status == 200
    assert directory.get("/Users").status == 401
    assert Directory(scim.OTHER_TOKEN).get("/Users").status == 200


def test_settings_that_were_deleted_are_dead_at_once(ada, directory):
    setting_id = ada.client.get(scim.SETTINGS).body["id"]
    assert ada.client.delete(f"/scim/settings/{setting_id}.json").status == 200
    assert directory.get("/Users").status == 401


def test_a_setting_identifier_in_upper_case_is_the_same(directory):
    """NP02"""
    assert directory.get(f"/scim/v2/{SETTING_ID.upper()}/Users").status == 200


def test_an_expired_token_goes_on_and_the_log_says_so(ada, directory, time, caplog):
    """A directory that is locked out suspends nobody any more (ADR 40)."""
    caplog.set_level(logging.INFO)
    time.pass_by(days=367)
    assert directory.get("/Users").status == 200
    [alert] = [json.loads(r.message) for r in caplog.records if "scim-token-expired" in r.message]
    assert alert["event"] == "alert"
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("change", ["suspended", "deleted"])
def test_a_directory_changes_nothing_in_the_name_of_who_may_not_sign_in(ada, betty, digest, change):
    directory = scim.directory(ada, betty)
    made = directory.made("dora")
    if change == "deleted":
        people.delete(betty)
    else:
        people.change(betty.id, disabled=clock.now())
    before = digest()
    for response in (
        directory.post("/Users", person("edgar")),
        directory.patch(f"/Users/{made['id']}", replace("active", value=False)),
        directory.delete(f"/Users/{made['id']}"),
        directory.post("/Groups", scim.team("crew")),
    ):
        assert response.status == 409
        assert "name another one" in error_of(response)["detail"]
    assert digest() == before
    assert directory.get("/Users").status == 200


def test_whose_name_is_used_need_not_be_an_administrator(ada, betty):
    directory = scim.directory(ada, betty)
    made = directory.made("dora")
    off = directory.patch(f"/Users/{made['id']}", replace("active", value=False))
    assert off.json["active"] is False
    assert directory.delete(f"/Users/{made['id']}").status == 204


# The form of all answers


@over()
def test_every_answer_has_the_form_of_scim(directory, digest, route):
    """HD01"""
    before = digest()
    response = directory.request(route.method, path_of(route))
    assert response.headers["content-type"] == f"{TYPE}; charset=utf-8"
    assert response.set_cookies == []
    for name, value in SECURITY_HEADERS.items():
        assert response.headers[name.lower()] == value
    if response.status >= 400:
        error_of(response)
    assert response.status < 500 or response.status == 501
    assert (response.status == 401) == (not route.path_names)  # none names settings there
    assert digest() == before


@over()
def test_an_accident_tells_its_request_and_nothing_else(directory, route, caplog):
    """HD07"""
    caplog.set_level(logging.DEBUG)
    with Breaking():
        response = directory.request(route.method, path_of(route))
    assert response.status == 500
    body = error_of(response)
    assert "An Internal Error" in body["detail"]
    for leak in ("RuntimeError", "Traceback", "test-users", "arn:", ".py"):
        assert leak not in response.content.decode()
    assert TOKEN not in caplog.text


def test_a_method_that_a_path_does_not_have_is_told(directory):
    """NP26"""
    response = directory.put("/Users", {})
    assert (response.status, response.headers["allow"]) == (405, "GET, POST")
    error_of(response)
    assert directory.post("/Bulk", {}).status == 501
    assert directory.get("/Me").status == 404
    outside = Directory(TOKEN).get("/scim/v2/")
    assert outside.status == 404
    error_of(outside)


@pytest.mark.parametrize("raw", [b"{", b'{"a": NaN}', b"\xff", b"[1", b'{"a": 1, "a": 2}'])
def test_a_body_that_is_no_json_is_refused(directory, digest, raw):
    """NP03, NP04"""
    before = digest()
    for path in ("/Users", "/Groups"):
        response = directory.request("POST", path, raw=raw)
        assert response.status == 400
        assert error_of(response)["scimType"] == "invalidSyntax"
    assert digest() == before


def test_plain_json_is_read_as_well(directory):
    plain = {"content-type": "application/json", "accept": "application/json"}
    assert directory.post("/Users", person("dora"), headers=plain).status == 201


def test_a_request_leaves_one_line_in_the_log_without_the_token(ada, directory, caplog):
    """HD08"""
    caplog.set_level(logging.DEBUG)
    directory.made("dora")
    lines = [json.loads(r.message) for r in caplog.records if r.name == "keyhaven"]
    [line] = [each for each in lines if each["event"] == "request"]
    assert (line["action"], line["actor"], line["status"]) == ("ScimCreate.create", ada.id, 201)
    assert TOKEN not in caplog.text


# What the service says of itself


def test_what_the_service_says_of_itself_is_what_it_does(directory):
    said = directory.get("/ServiceProviderConfig").json
    does = {name: said[name]["supported"] for name in ("patch", "bulk", "filter", "sort", "etag")}
    assert does == {"patch": True, "bulk": False, "filter": True, "sort": False, "etag": True}
    assert said["changePassword"] == {"supported": False}
    [scheme] = said["authenticationSchemes"]
    assert scheme["type"] == "oauthbearertoken"


@pytest.mark.parametrize(
    ("path", "names"),
    [("/ResourceTypes", {"User", "Group"}), ("/Schemas", {words.USER, words.GROUP})],
)
def test_what_there_is_is_told_as_a_list_and_one_by_one(directory, path, names):
    listed = directory.get(path).json
    assert listed["totalResults"] == len(names)
    assert {each["id"] for each in listed["Resources"]} == names
    for each in listed["Resources"]:
        assert directory.get(f"{path}/{each['id']}").json == each
        assert each["meta"]["location"].endswith(f"{path}/{each['id']}")
    assert directory.get(f"{path}/Nothing").status == 404
    assert directory.get(f'{path}?filter=id eq "User"').status == 403
