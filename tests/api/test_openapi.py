"""The description of the API: it is served, it is valid, and it says what the code does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import jsonschema_rs
import pytest
import schemathesis

from chalicelib.bodies.rules import (
    UNSET,
    Unset,
    at_most,
    filled,
    in_list,
    max_length,
    meant,
    not_empty,
    required,
    uuid,
)
from chalicelib.domain.actor import Access
from chalicelib.domain.ids import UserId, named_id
from chalicelib.services.operator.description import FILE
from chalicelib.web.reply import Moved, Picture
from infra.describe.openapi import description, text
from infra.describe.schemas import Schemas
from tests.support.faults.hooks import Recorder
from tests.support.wire.endpoints import ROUTES, has_body, is_change, is_protected, over, path_of
from tests.support.world import make
from tests.support.world.items import metadata, resources, tags

DOCUMENT = description()
ALWAYS = {"400", "404", "429", "500", "503"}


def operation_of(route) -> dict[str, Any]:
    return DOCUMENT["paths"][route.path][route.method.lower()]


def parameters_of(route, where):
    shared = DOCUMENT["components"]["parameters"]
    found = [
        shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        for each in operation_of(route)["parameters"]
    ]
    return {each["name"]: each["schema"] for each in found if each["in"] == where}


def test_the_served_description_is_the_one_the_code_makes(api):
    """When this fails, run `make openapi`."""
    with Recorder() as seen:
        answer = api.get("/openapi.json")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.content.decode() == FILE.read_text() == text()
    assert seen.calls == []


def test_the_description_is_valid_openapi():
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.validate()
    assert DOCUMENT["openapi"].startswith("3.1")
    assert len(list(schema.get_all_operations())) == len(ROUTES)


def test_an_invalid_description_would_be_found():
    broken = json.loads(json.dumps(DOCUMENT))
    del broken["paths"]["/roles.json"]["get"]["responses"]["200"]["description"]
    with pytest.raises(Exception, match="description"):
        schemathesis.openapi.from_dict(broken).validate()


def test_exactly_the_routes_are_described():
    described = {(m.upper(), p) for p, item in DOCUMENT["paths"].items() for m in item}
    assert described == {(route.method, route.path) for route in ROUTES}


def test_every_reference_leads_somewhere():
    def references(node):
        if isinstance(node, dict):
            yield from [node["$ref"]] if "$ref" in node else []
            for value in node.values():
                yield from references(value)
        elif isinstance(node, list):
            for value in node:
                yield from references(value)

    found = set(references(DOCUMENT))
    assert found
    for reference in found:
        _, _, kind, name = reference.split("/")
        assert name in DOCUMENT["components"][kind]


@over()
def test_an_operation_says_what_it_does(route):
    operation = operation_of(route)
    assert operation["summary"].endswith(".")
    assert operation["x-action"] == {"name": route.action, "id": named_id(route.action)}
    assert operation["tags"] == [route.noun]


def test_operations_have_names_of_their_own():
    names = [operation_of(route)["operationId"] for route in ROUTES]
    assert len(set(names)) == len(names)


@over()
def test_the_parameters_are_those_the_route_reads(route):
    assert list(parameters_of(route, "path")) == list(route.path_names)
    for name, schema in parameters_of(route, "path").items():
        assert schema["type"] == "string"
        assert (schema.get("format") == "uuid") == name.endswith("_id")
    options = route.query
    expected = {"api-version", *(f"contain[{name}]" for name in options.contains)}
    for name, kind in options.filters.items():
        expected.add(f"filter[{name}][]" if kind.kind.startswith("ids") else f"filter[{name}]")
    expected |= {"sort", "direction"} if options.sortable else set()
    expected |= {"page"} if options.is_paginated else set()
    expected |= {"limit"} if options.is_paginated and options.page_size is None else set()
    expected |= options.flags
    assert set(parameters_of(route, "query")) == expected


def test_a_filter_whose_name_says_little_is_told_of():
    found = DOCUMENT["paths"]["/gpgkeys.json"]["get"]["parameters"]
    asked = {each["name"]: each for each in found if "name" in each}

    assert "servertime" in asked["filter[synced-at]"]["description"]
    assert "description" not in asked["filter[modified-after]"]


@over(has_body)
def test_the_body_is_described(route):
    content = operation_of(route)["requestBody"]["content"]["application/json"]["schema"]
    bodies = content.get("anyOf", [content.get("items", content)])
    names = [each["$ref"].rpartition("/")[2] for each in bodies]
    for name in names:
        schema = DOCUMENT["components"]["schemas"][name]
        assert schema["type"] == "object"
        assert schema["properties"]


LEFT_OUT = {
    "AuthLogin.loginPost",
    "JwtLogout.logoutPost",
    "RefreshToken.refreshPost",
    "RecoverAbort.abort",
    "RecoverComplete.complete",
    "SetupComplete.complete",
    "PasswordExpiryPoliciesResourcesExpiryUpdate.post",
    "ResourcesUpdate.update",
    "UsersEdit.editPost",
    "UsersDelete.delete",
    "GroupsUpdate.update",
    "GroupsUpdate.dryRun",
    "GroupsDelete.delete",
    "Share.share",
    "FoldersShare.share",
    "ResourcesTagsAdd.addPost",
    "Share.dryRun",
    "TransfersUpdate.update",
    "TransfersUpdate.updateNoSession",
    "NotificationOrgSettingsPost.post",
    "DirectorySync.synchronize",
}
"""Actions whose body has no member that is always needed."""


@over(has_body)
def test_a_body_is_required_where_any_of_its_members_is(route):
    assert operation_of(route)["requestBody"]["required"] == (route.action not in LEFT_OUT)


@over(lambda route: not has_body(route))
def test_a_route_that_reads_no_body_describes_none(route):
    assert "requestBody" not in operation_of(route)


@over()
def test_the_answers_are_described(route):
    answers = operation_of(route)["responses"]
    assert answers.keys() >= ALWAYS
    assert ("401" in answers) == (route.access is not Access.PUBLIC)
    assert ("403" in answers) == (route.access is not Access.PUBLIC or is_change(route))
    assert ("413" in answers) == is_change(route)
    returned = route.handler.__annotations__["return"]
    assert ("301" in answers) == (returned == Moved.__name__)
    if "301" in answers or route.method == "HEAD":
        return
    [(kind, media)] = answers[str(int(route.status))]["content"].items()
    assert (kind == "image/*") == (returned == Picture.__name__)
    assert kind == "image/*" or media["schema"]


@over(lambda route: route.query.is_paginated)
def test_a_paginated_answer_says_so(route):
    schema = operation_of(route)["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["properties"]["header"] == {"$ref": "#/components/schemas/PaginatedHeader"}
    assert schema["properties"]["body"]["type"] == "array"


@over()
def test_who_may_call_is_described(route):
    ways = operation_of(route)["security"]
    csrf = {"csrfCookie": [], "csrfHeader": []} if route.csrf and is_change(route) else {}
    assert ({"session": [], **csrf} in ways) == (route.access not in (Access.PUBLIC, Access.GUEST))
    assert ({"bearer": []} in ways) == ({"session": [], **csrf} in ways and not route.no_bearer)
    assert (csrf in ways) == (not is_protected(route))


class InnerJson(TypedDict):
    id: Annotated[str, uuid]


class OuterJson(TypedDict, total=False):
    inner: InnerJson | None
    several: list[InnerJson]


@dataclass
class SampleBody:
    name: Annotated[str, not_empty, max_length(9)]
    user_id: UserId
    kind: Annotated[str | None, in_list("a", "b")] = None
    made: Annotated[str, filled, uuid] = ""
    told: Annotated[object, meant(required, uuid)] = None
    several: Annotated[list[int] | Unset, at_most(2), not_empty] = UNSET


def test_a_body_is_described_by_its_types_and_rules():
    schemas = Schemas()
    assert schemas.of(SampleBody) == {"$ref": "#/components/schemas/SampleBody"}
    assert schemas.named["SampleBody"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 9, "minLength": 1},
            "user_id": {"type": "string", "format": "uuid"},
            "kind": {"type": ["string", "null"], "enum": ["a", "b", None]},
            "made": {"type": "string", "format": "uuid"},
            "told": {"type": "string", "format": "uuid"},
            "several": {
                "type": "array",
                "items": {"type": "integer"},
                "maxItems": 2,
                "minItems": 1,
            },
        },
        "required": ["name", "user_id", "told"],
    }


def test_a_shape_is_described_by_its_members_and_has_no_others():
    schemas = Schemas()
    assert schemas.of(OuterJson | None)["anyOf"][1] == {"type": "null"}
    assert schemas.named["Outer"] == {
        "type": "object",
        "properties": {
            "inner": {"anyOf": [{"$ref": "#/components/schemas/Inner"}, {"type": "null"}]},
            "several": {"type": "array", "items": {"$ref": "#/components/schemas/Inner"}},
        },
        "required": [],
        "additionalProperties": False,
    }
    assert schemas.named["Inner"]["required"] == ["id"]


def test_two_types_of_one_name_are_refused():
    class Sample(TypedDict):
        id: str

    schemas = Schemas()
    schemas.of(Sample)
    with pytest.raises(TypeError, match="Sample"):
        schemas.of(type("Sample", (SampleBody,), {}))


def test_a_field_takes_what_is_described(ada):
    """The longest name the description allows is taken, and one character more is not."""
    [route] = [r for r in ROUTES if (r.method, r.path) == ("POST", "/users.json")]
    assert path_of(route) == "/users.json"
    profile = DOCUMENT["components"]["schemas"]["ProfileBody"]["properties"]["first_name"]
    for length, status in ((profile["maxLength"], 200), (profile["maxLength"] + 1, 400)):
        names = {"first_name": "a" * length, "last_name": "b"}
        sent = {"username": f"{length}@example.com", "profile": names}
        assert ada.client.post("/users.json", sent).status == status


def test_refusals_of_several_entries_are_as_described(ada):
    """They are told by position: as a list, where they are the first ones."""
    described = {"$ref": "#/components/schemas/Refusal", "components": DOCUMENT["components"]}
    is_described = jsonschema_rs.validator_for(described).is_valid
    resource_id = make.resource(ada)
    for entries in (["", "x" * 129], ["fine", ""], [5, None]):
        refused = tags.tag(ada, resource_id, *entries)
        assert refused.status == 400
        assert is_described(refused.json), refused.body

    metadata.shared(ada)
    tags.allow_v5_tags(ada)
    resources.forbid_personal_keys()
    for own in (1, 2):
        refused = tags.tag(ada, resource_id, *(tags.own(ada) for _ in range(own)))
        assert len(refused.body["tags"]) == own
        assert is_described(refused.json), refused.body
