"""Resource types: listed, shown, deleted while nobody uses them, and restored."""

from __future__ import annotations

import json
from contextlib import ExitStack
from datetime import timedelta

import pytest

from chalicelib.domain.items import resource_types
from chalicelib.domain.items.resource_types import RESOURCE_TYPES, Format, of_format
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.settings import METADATA_TYPES, Setting
from chalicelib.views.logs import log_events
from tests.conftest import START
from tests.support.faults.hooks import ALWAYS, Failing, throttled
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import make
from tests.support.world.items.resources import create, created, delete_type, path, rules, v4

LIST = "/resource-types.json"
TOTP = resource_types.TOTP
UNKNOWN = "8e3874ae-4b40-590b-968a-418f704b9d9a"
MISSING = "The resource type does not exist."
IN_USE = "The resource type can not be deleted as resources of this type still exist."
ONLY_NULL = "The deleted field must be set to null."
MEMBERS = {"id", "slug", "name", "description", "definition", "deleted", "created", "modified"}
IDS = {
    "password-string": "669f8c64-242a-59fb-92fc-81f660975fd3",
    "password-and-description": "a28a04cd-6f53-518a-967c-9963bf9cec51",
    "totp": "05ba5c75-504d-5ad6-819a-83af68867d86",
    "password-description-totp": "8cca88d9-a3f6-56df-b860-3ef08de5c5c4",
    "v5-password-string": "761e5863-e17e-5ded-b3c2-76ffd5d0a2dc",
    "v5-default": "dd1f723d-0d1e-513f-8218-4055dc0530d0",
    "v5-totp-standalone": "bb2280b5-c4d9-569c-9337-62b307f1139c",
    "v5-default-with-totp": "7438294d-f71c-5164-ba95-d9e60e295564",
    "v5-custom-fields": "0551544e-2ccd-5ce8-95cf-86f0aab0f827",
    "v5-note": "0a72c76b-b8e6-53f0-8bef-0a8ca6b5c764",
    "v5-pin-code": "4357bbc7-ed4d-52ff-b59d-9f7f17881bb3",
}


def type_path(type_id: str) -> str:
    return f"/resource-types/{type_id}.json"


def slugs(who, query=""):
    response = who.client.get(f"{LIST}?{query}")
    assert response.status == 200, response.json
    return [each["slug"] for each in response.body]


def delete(who, kind):
    return who.client.delete(type_path(kind.id))


def restore(who, kind, sent=...):
    return who.client.put(type_path(kind.id), {"deleted": None} if sent is ... else sent)


def test_everybody_gets_the_eleven_types_in_their_order(betty):
    response = betty.client.get(LIST)

    assert {each["slug"]: each["id"] for each in response.body} == IDS
    assert [each["slug"] for each in response.body] == list(IDS)
    assert all(set(each) == MEMBERS for each in response.body)
    assert all(each["deleted"] is None for each in response.body)
    assert "pagination" not in response.header


def test_definitions_are_objects_in_the_list(betty):
    for each in betty.client.get(LIST).body:
        assert set(each["definition"]) == {"resource", "secret"}
        assert each["definition"]["resource"]["type"] == "object"


def test_a_single_types_definition_is_text(betty):
    listed = {each["id"]: each for each in betty.client.get(LIST).body}

    for type_id in IDS.values():
        shown = betty.client.get(type_path(type_id)).body
        assert isinstance(shown["definition"], str)
        assert {**shown, "definition": json.loads(shown["definition"])} == listed[type_id]


def test_a_name_in_clear_is_as_long_as_the_definition_says(ada):
    [kind] = [each for each in ada.client.get(LIST).body if each["slug"] == "password-string"]
    columns = kind["definition"]["resource"]["properties"]

    for column in ("name", "username"):
        longest = columns[column].get("maxLength") or columns[column]["anyOf"][0]["maxLength"]
        assert create(ada, v4(**{column: "a" * longest})).status == 200
        assert rules(create(ada, v4(**{column: "a" * (longest + 1)})), column) == {"maxLength"}


def test_deleted_types_are_listed_apart_and_still_shown(time, ada, betty):
    assert slugs(betty, "filter[is-deleted]=1") == []
    assert delete(ada, TOTP).status == 200

    assert slugs(betty, "filter[is-deleted]=1") == ["totp"]
    for query in ("", "filter[is-deleted]=0", "filter[is-deleted]=false"):
        assert slugs(betty, query) == [slug for slug in IDS if slug != "totp"]
    assert betty.client.get(type_path(TOTP.id)).body["deleted"] == "2026-11-21T12:00:00+00:00"


def test_counts_are_for_administrators(ada, betty):
    make.resource(betty, resource_type_id=TOTP.id)
    gone = make.resource(betty, resource_type_id=TOTP.id)
    betty.client.delete(path(gone))

    counted = ada.client.get(f"{LIST}?contain[resources_count]=1").body
    assert {each["slug"]: each["resources_count"] for each in counted} == {
        **dict.fromkeys(IDS, 0),
        "totp": 1,
    }
    for who, query in ((betty, "contain[resources_count]=1"), (ada, "contain[resources_count]=0")):
        assert all(set(each) == MEMBERS for each in who.client.get(f"{LIST}?{query}").body)


def test_a_type_that_changed_hands_is_counted_where_it_is_now(ada):
    resource_id = make.resource(ada)
    ada.client.put(path(resource_id), {"resource_type_id": TOTP.id})

    counted = ada.client.get(f"{LIST}?contain[resources_count]=1").body
    assert {each["slug"] for each in counted if each["resources_count"]} == {"totp"}


@pytest.mark.parametrize("query", ["filter[is-deleted]=2", "contain[resources_count]=x"])
def test_wrong_options_are_refused(ada, query):
    """NP21"""
    assert ada.client.get(f"{LIST}?{query}").status == 400


def test_an_unknown_type_is_missing(ada, digest):
    before = digest()

    for response in (
        ada.client.get(type_path(UNKNOWN)),
        ada.client.delete(type_path(UNKNOWN)),
        ada.client.put(type_path(UNKNOWN), {"deleted": None}),
    ):
        assert (response.status, response.message, response.body) == (404, MISSING, "")
    assert digest() == before


def test_an_identifier_is_one(ada):
    """NP01, NP02"""
    shown = ada.client.get(type_path("abc"))
    assert (shown.status, shown.message) == (400, "The resource identifier should be a valid UUID.")
    for method in ("PUT", "DELETE"):
        response = ada.client.request(method, type_path("abc"), json={"deleted": None})
        assert response.status == 400
        assert response.message == "The resource type identifier should be a UUID."
    assert ada.client.get(type_path(TOTP.id.upper())).body["slug"] == "totp"


def test_only_administrators_change_types(betty, digest):
    before = digest()

    for method in ("PUT", "DELETE"):
        for type_id in (TOTP.id, UNKNOWN, "abc"):
            response = betty.client.request(method, type_path(type_id), json={})
            assert (response.status, response.message) == (
                403,
                "Access restricted to administrators.",
            )
    assert digest() == before


def test_a_type_is_deleted_and_restored(ada, digest):
    response = delete(ada, TOTP)
    assert (response.status, response.body) == (200, None)
    assert rules(create(ada, v4(resource_type_id=TOTP.id)), "resource_type_id")

    response = restore(ada, TOTP)
    assert (response.status, response.body) == (200, None)
    assert slugs(ada) == list(IDS)
    created(ada, v4(resource_type_id=TOTP.id))


def refused(response, text, digest, before):
    assert (response.status, response.message, response.body) == (400, text, "")
    assert digest() == before


def test_a_type_is_deleted_once(ada, digest):
    """IN33"""
    delete(ada, TOTP)
    before = digest()

    refused(delete(ada, TOTP), "The resource type is already deleted.", digest, before)


def test_a_type_in_use_is_not_deleted(ada, digest):
    resource_id = make.resource(ada, resource_type_id=TOTP.id)
    before = digest()

    refused(delete(ada, TOTP), IN_USE, digest, before)
    ada.client.delete(path(resource_id))
    assert delete(ada, TOTP).status == 200


def test_a_type_that_comes_into_use_meanwhile_is_not_deleted(ada, betty):
    with Meanwhile(lambda: make.resource(betty, resource_type_id=TOTP.id)):
        response = delete(ada, TOTP)

    assert (response.status, response.message) == (400, IN_USE)
    assert slugs(ada) == list(IDS)


def used_meanwhile(owner, *, then=lambda: None):
    """Makes a resource of a type that is being deleted; `then` comes before the mark is taken back.

    The resource is stored as by a creation that was decided before the type was marked.
    """
    made = []

    def use():
        made.append(make.resource(owner, resource_type_id=TOTP.id))

    stack = ExitStack()
    stack.enter_context(Meanwhile(use))
    stack.enter_context(Meanwhile(then, nth=2))
    return stack, made


def test_a_refused_deletion_takes_back_its_own_mark_alone(ada, betty):
    other = resource_types.V5_NOTE
    block, made = used_meanwhile(betty, then=lambda: delete(ada, other))
    with block:
        response = delete(ada, TOTP)

    assert (response.status, response.message) == (400, IN_USE)
    assert slugs(ada, "filter[is-deleted]=1") == [other.slug]
    assert betty.client.get(path(made[0])).status == 200


def test_a_refused_deletion_that_is_restored_meanwhile_leaves_it_so(ada, betty):
    block, made = used_meanwhile(betty, then=lambda: restore(ada, TOTP))
    with block:
        response = delete(ada, TOTP)

    assert (response.status, response.message) == (400, IN_USE)
    assert slugs(ada) == list(IDS)
    assert betty.client.get(path(made[0])).status == 200


def test_after_a_refused_deletion_types_are_deleted_as_before(ada, betty):
    block, made = used_meanwhile(betty)
    with block:
        delete(ada, TOTP)
    betty.client.delete(path(made[0]))

    assert delete(ada, TOTP).status == 200
    assert slugs(ada, "filter[is-deleted]=1") == ["totp"]


def logged(who, response):
    """How often a request is in the log of the service, and what its lines tell of the type."""
    asked = [each["id"] for each in who.client.get("/actionlog/logs.json").body]
    lines = map(log_events.of_row, ActionLog.between(START, START + timedelta(days=1)))
    own = [each["action"] for each in lines if each["request_id"] == response.header["id"]]
    return asked.count(response.header["id"]), sorted(own)


def test_a_refused_deletion_is_one_request_in_the_log_of_the_service(ada, betty):
    """HD10: auditors are told both that the type was deleted and that it was restored."""
    block, _ = used_meanwhile(betty)
    with block:
        response = delete(ada, TOTP)

    assert (response.status, response.message) == (400, IN_USE)
    assert logged(ada, response) == (1, ["ResourceTypes.deleted", "ResourceTypes.restored"])


def test_a_repetition_that_takes_a_mark_back_is_in_the_log_of_the_service(ada, betty):
    """HD10"""
    block, _ = used_meanwhile(betty)
    with block, Failing(throttled, at=1, times=ALWAYS, only={"TransactWriteItems"}):
        first = delete(ada, TOTP)

    assert logged(ada, delete(ada, TOTP)) == (1, ["ResourceTypes.restored"])
    assert logged(ada, first) == (1, ["ResourceTypes.deleted"])


@pytest.mark.parametrize("is_other_deleted", [False, True])
def test_a_mark_that_was_not_taken_back_is_by_a_repetition(ada, betty, is_other_deleted):
    others = [resource_types.V5_NOTE] if is_other_deleted else []
    for each in others:
        delete(ada, each)
    block, made = used_meanwhile(betty)
    with block, Failing(throttled, at=1, times=ALWAYS, only={"TransactWriteItems"}):
        assert delete(ada, TOTP).status == 503
    assert betty.client.get(path(made[0])).status == 404

    response = delete(ada, TOTP)
    assert (response.status, response.message) == (400, IN_USE)
    assert slugs(ada, "filter[is-deleted]=1") == [each.slug for each in others]
    assert betty.client.get(path(made[0])).status == 200


@pytest.mark.parametrize("default", [Format.V4, Format.V5, None])
def test_the_last_type_of_the_default_format_is_kept(ada, digest, default):
    if default is not None:
        Setting(METADATA_TYPES, value={"default_resource_types": default.value}).save()
    first, *rest = of_format(default or Format.V4)
    for kind in rest:
        assert delete(ada, kind).status == 200
    before = digest()

    text = "You cannot delete the last resource type of the default version."
    refused(delete(ada, first), text, digest, before)
    other = Format.V5 if default is not Format.V5 else Format.V4
    for kind in of_format(other):
        assert delete(ada, kind).status == 200
    before = digest()
    refused(delete(ada, first), text, digest, before)


def test_the_last_type_of_all_is_kept(ada, digest):
    for kind in RESOURCE_TYPES[1:]:
        assert delete(ada, kind).status == 200
    Setting(METADATA_TYPES, value={"default_resource_types": "v5"}).save()
    before = digest()

    text = "You cannot delete the last resource type available."
    refused(delete(ada, RESOURCE_TYPES[0]), text, digest, before)


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (None, "The request data can not be empty."),
        ({}, "The request data can not be empty."),
        ([], "The request data can not be empty."),
        ({"deleted": "2026-01-01"}, ONLY_NULL),
        ({"deleted": False}, ONLY_NULL),
        ({"deleted": ""}, ONLY_NULL),
        ({"slug": "x"}, ONLY_NULL),
        (
            {"deleted": None, "slug": "x"},
            "It is not allowed to update these resource type properties.",
        ),
    ],
)
def test_nothing_but_the_deletion_of_a_type_can_be_changed(ada, digest, sent, text):
    delete_type(TOTP)
    before = digest()

    refused(restore(ada, TOTP, sent), text, digest, before)
    response = ada.client.put(type_path(UNKNOWN), sent)
    assert (response.status, response.message) == (400, text)


def test_other_properties_that_are_null_were_not_sent(ada):
    delete_type(TOTP)

    assert restore(ada, TOTP, {"deleted": None, "slug": None, "name": None}).status == 200


def test_what_is_not_deleted_is_not_restored(ada, digest):
    before = digest()

    refused(restore(ada, TOTP), "The resource type is not deleted.", digest, before)


@pytest.mark.parametrize("other", [resource_types.V5_NOTE, resource_types.PASSWORD_STRING])
def test_two_types_are_deleted_at_once(ada, other):
    """I14"""
    with Meanwhile(lambda: delete_type(other)):
        assert delete(ada, TOTP).status == 200

    assert set(slugs(ada, "filter[is-deleted]=1")) == {"totp", other.slug}
