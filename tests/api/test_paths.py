"""Which requests reach an endpoint: paths, methods, suffixes and identifiers."""

from __future__ import annotations

from uuid import UUID

import pytest

from app import app
from chalicelib.domain.ids import named_id
from chalicelib.web.envelope import UNKNOWN_ACTION
from tests.support.faults.hooks import Recorder
from tests.support.wire.client import ROUTES as GATEWAY
from tests.support.wire.endpoints import ROUTES, ask, has_id, is_protected, over, path_of
from tests.support.world.items import metadata
from tests.support.world.items.resources import PGP

ID = "8e3874ae-4b40-590b-968a-418f704b9d9a"
NIL = str(UUID(int=0))
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE")
JSON = {"accept": "application/json, text/plain"}
KNOWN = {(route.method, route.path) for route in ROUTES}
NO_SUFFIX = "Please use .json extension in URL or accept application/json."
MISSING = {
    "UsersEdit.editPost": 400,
    "FoldersRelationsMove.move": 400,
    "MfaUserSettingsDelete.delete": 400,
}
"""What the catalogue answers for a thing that is not there, where it is not 404."""
SENT = {
    "MetadataKeyUpdate.update": metadata.expiry(metadata.pair()),
    "MetadataPrivateKeysCreate.create": {"user_id": None, "data": PGP},
    "MetadataPrivateKeysUpdate.update": {"data": PGP},
    "ResourceTypesUpdate.update": {"deleted": None},
    "CommentsAdd.addPost": {"content": "hello"},
    "CommentsUpdate.update": {"content": "hello"},
    "MetadataSessionKeyUpdate.update": {"data": PGP, "modified": "2026-11-21T12:00:00Z"},
}
"""Bodies that are valid, where the catalogue judges the body before it looks for the thing."""
NO_IDS = {
    "a word": "abc",
    "35 characters": ID[:35],
    "37 characters": ID + "a",
    "braces": f"{{{ID}}}",
    "a URN": f"urn:uuid:{ID}",
    "no dashes": ID.replace("-", ""),
    "a line break": f"{ID}\n",
    "a space": f" {ID}",
    "full-width digits": "\uff18" + ID[1:],
    "a letter that is none of 16": "g" + ID[1:],
    "1 MB": "a" * 1_000_000,
}


def names_things(route):
    """Whether it looks at identifiers first; what may be switched off says that it is."""
    return has_id(route) and not route.action.startswith("DirectoryIgnore.")


JUDGES_FIRST = {"ScimSetSettings.setSettings"}
"""Its body names a user, who is looked for before the settings."""


AS_UNKNOWN = {"auth_token": 403}
"""What is answered as one that is not known: who sends it is not told what it should look like."""


def suffixed(route):
    return route.path.endswith(".json")


def assert_unknown(response, seen, method="GET"):
    """The envelope's 404, without a body to HEAD; and nothing has been read for it."""
    assert response.status == 404
    assert seen.calls == []
    if method == "HEAD":
        assert response.content == b""
        return
    assert (response.header["status"], response.header["code"]) == ("error", 404)
    assert response.body == ""


@over(suffixed)
def test_a_path_is_found_in_its_one_spelling_only(ada, route):
    """AC33"""
    path = path_of(route)
    bare = path.removesuffix(".json")
    first, last = bare[1:].partition("/")[0], bare.rpartition("/")[2]
    spellings = (
        f"{path}.json",
        f"{path}/",
        f"{bare}/",
        f"/{path}",
        path.replace("/", "//", 2),
        path.replace(first, first.title(), 1),
        f"/%2e%2e{path}",
        f"/{first}/..{path}",
        path.replace(last, f"%2e%2e/{last}"),
        path.replace(last, f"{last};a=b"),
        f"{bare};a=b.json",
        f"{bare}%00.json",
        f"{path}%00",
        bare.replace("/", "%2f"),
    )
    for spelling in spellings:
        with Recorder() as seen:
            response = ada.client.request(route.method, spelling, headers=JSON)
        assert_unknown(response, seen, route.method)


def is_refused_without(route):
    is_enveloped = suffixed(route) and route.page is None and route.method != "HEAD"
    return is_enveloped and route.is_known_bare


@over(is_refused_without)
def test_a_path_without_suffix_is_found_by_who_accepts_json(ada, route):
    """AC33"""
    bare = path_of(route).removesuffix(".json")
    with Recorder() as seen:
        refused = ask(route, bare, ada.client)
    assert_unknown(refused, seen)
    assert refused.message == NO_SUFFIX
    found = ask(route, bare, ada.client, headers=JSON)
    assert found.content
    assert NO_SUFFIX.encode() not in found.content


@over(lambda route: not route.is_known_bare)
def test_a_path_that_is_known_with_its_suffix_alone_is_unknown_without(ada, route):
    """AC33"""
    bare = path_of(route).removesuffix(".json")
    for headers in ({}, JSON):
        with Recorder() as seen:
            refused = ask(route, bare, ada.client, headers=headers)
        assert_unknown(refused, seen)


@pytest.mark.parametrize("path", sorted({route.path for route in ROUTES}))
def test_other_methods_of_a_known_path_are_unknown_and_change_nothing(ada, digest, path):
    """NP26"""
    before = digest()
    filled = path.replace("{", "").replace("}", "")
    for method in METHODS:
        if (method, GATEWAY.match(filled)[0]) in served():
            continue
        with Recorder() as seen:
            response = ada.client.request(method, filled)
        assert_unknown(response, seen, method)
    assert digest() == before


def served():
    return {(method, resource) for resource, methods in app.routes.items() for method in methods}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "path",
    ["/app.json", "/nothing.json", "/users/a/b/c.json", "/index.html", "/.git/config", "/%00"],
)
def test_unknown_paths_get_the_envelope(ada, method, path):
    """NP26"""
    with Recorder() as seen:
        response = ada.client.request(method, path)
    assert_unknown(response, seen, method)
    if method == "HEAD":
        return
    assert response.message == "Not Found"
    assert response.header["action"] == named_id(UNKNOWN_ACTION)
    assert response.header["url"] == path


def test_head_of_the_status_is_empty(api):
    response = api.request("HEAD", "/healthcheck/status.json")
    assert (response.status, response.content) == (200, b"")


@over()
@pytest.mark.parametrize("version", ["1", "v1"])
def test_version_1_is_refused(ada, digest, route, version):
    before = digest()
    response = ask(route, f"{path_of(route)}?api-version={version}", ada.client)
    assert response.status == 400
    if route.method != "HEAD":
        assert response.message == "API v1 support is deprecated in this version."
        assert response.body == ""
    assert digest() == before


@pytest.mark.parametrize("version", ["v2", "2", "", "v3", "11"])
def test_other_versions_are_the_one_we_speak(ada, version):
    assert ada.client.get(f"/roles.json?api-version={version}").status == 200


@over(names_things)
def test_what_is_no_identifier_is_refused(ada, digest, route):
    """NP01"""
    before = digest()
    for wrong in NO_IDS.values():
        for name in route.path_names:
            ids = {name: wrong}
            response = ask(route, path_of(route, ids), ada.client)
            status = AS_UNKNOWN.get(name, 400)
            assert (response.status, response.body) == (status, ""), (name, wrong[:50])
    assert digest() == before


@over(lambda route: names_things(route) and route.method == "GET" and is_protected(route))
def test_an_identifier_in_upper_case_is_the_same(ada, things, route):
    """NP02"""
    upper = {name: value.upper() for name, value in things.items()}
    lower, shouted = (ada.client.get(path_of(route, ids)) for ids in (things, upper))
    assert lower.status == shouted.status == 200
    assert shouted.body == lower.body


@over(
    lambda route: names_things(route) and is_protected(route) and route.action not in JUDGES_FIRST
)
def test_nothing_has_the_nil_identifier(ada, digest, route):
    """NP02"""
    before = digest()
    path = path_of(route, dict.fromkeys(route.path_names, NIL))
    response = ask(route, path, ada.client, json=SENT.get(route.action))
    assert (response.status, response.body) == (MISSING.get(route.action, 404), "")
    assert digest() == before


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/login", "/auth/login"),
        ("/users/login", "/auth/login"),
        ("/logout", "/auth/logout"),
        ("/register", "/users/register"),
        ("/auth/register", "/users/register"),
        ("/recover", "/users/recover"),
        ("/password-generator/settings", "/password-policies/settings.json"),
        ("/password-generator/settings.json", "/password-policies/settings.json"),
        ("/mfa/setup", "/mfa/setup/select"),
    ],
)
def test_what_has_moved_is_led_to_by_get_alone(api, ada, path, leads_to):
    for client in (api, ada.client):
        for accepted in ("text/html", "application/json"):
            response = client.get(f"{path}?redirect=/x", headers={"accept": accepted})
            assert (response.status, response.body) == (301, None)
            assert response.headers["location"] == f"https://keyhaven.test{leads_to}"
            assert response.header["action"] == named_id(UNKNOWN_ACTION)
    assert api.post(path).status == 404
