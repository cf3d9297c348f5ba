"""Favorites: each user's own marks, for as long as they may see what is marked."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from tests.support.wire.client import Response
from tests.support.world import make
from tests.support.world.items import resources
from tests.support.world.items.resources import delete_type, take
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
MISSING = "The favorite does not exist."
MARKED = "This record is already marked as favorite."


def mark(who: Somebody, resource_id: str) -> Response:
    return who.client.post(f"/favorites/resource/{resource_id}.json")


def marked(who: Somebody, resource_id: str) -> str:
    """The identifier of a new favorite."""
    response = mark(who, resource_id)
    assert response.status == 200, response.json
    return str(response.body["id"])


def unmark(who: Somebody, favorite_id: str) -> Response:
    return who.client.delete(f"/favorites/{favorite_id}.json")


def favorites(who: Somebody) -> list[str]:
    """The resources a list shows as favorites."""
    return [each["id"] for each in who.client.get("/resources.json?filter[is-favorite]=1").body]


def shown(who: Somebody, resource_id: str) -> Any:
    query = "contain[favorite]=1"
    return who.client.get(f"{resources.path(resource_id)}?{query}").body["favorite"]


def assert_refused(response: Response, status: int, message: str) -> None:
    assert (response.status, response.message, response.body) == (status, message, "")


# Marking


def test_a_reader_marks_a_resource_for_themselves(ada, betty):
    resource_id = make.resource(ada, {betty: READ})

    response = mark(betty, resource_id)

    assert (response.status, response.message) == (200, "The resource was marked as favorite.")
    assert response.body == {
        "id": response.body["id"],
        "user_id": betty.id,
        "foreign_key": resource_id,
        "foreign_model": "Resource",
        "created": "2026-11-21T12:00:00+00:00",
        "modified": "2026-11-21T12:00:00+00:00",
    }
    assert shown(betty, resource_id) == response.body
    assert favorites(betty) == [resource_id]
    assert shown(ada, resource_id) is None
    assert favorites(ada) == []


def test_a_member_of_a_group_marks_what_is_shared_with_it(ada, betty):
    resource_id = make.resource(ada, {make.group(betty): READ})

    assert mark(betty, resource_id).status == 200
    assert favorites(betty) == [resource_id]


def test_what_is_marked_is_not_marked_again(ada, digest):
    """I10"""
    resource_id = make.resource(ada)
    marked(ada, resource_id)
    before = digest()

    assert_refused(mark(ada, resource_id), 400, MARKED)
    assert digest() == before


def test_each_user_has_a_mark_of_their_own(ada, betty):
    resource_id = make.resource(ada, {betty: READ})

    assert marked(ada, resource_id) != marked(betty, resource_id)


@pytest.mark.parametrize("sent", [b"", b"{", b'{"id": "x", "user_id": 1}', b"\xff"])
@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "application/x-www-form-urlencoded", None]
)
def test_the_body_is_passed_over(ada, sent, kind):
    """NP03, NP08, NP19"""
    resource_id = make.resource(ada)
    headers = {} if kind is None else {"content-type": kind}

    response = ada.client.post(f"/favorites/resource/{resource_id}.json", raw=sent, headers=headers)

    assert response.status == 200
    assert response.body["user_id"] == ada.id
    assert response.body["id"] != "x"


def test_what_one_may_not_see_is_not_marked(ada, betty, digest):
    """AC21, W2"""
    hidden, gone = make.resource(betty), make.resource(ada)
    ada.client.delete(resources.path(gone))
    before = digest()

    for resource_id in (hidden, gone, new_id(), ada.id):
        assert_refused(mark(ada, resource_id), 404, resources.MISSING)
    assert digest() == before


def test_a_resource_of_a_deleted_type_is_not_marked(ada, digest):
    resource_id = make.resource(ada, resource_type_id=resource_types.TOTP.id)
    delete_type(resource_types.TOTP)
    before = digest()

    assert_refused(mark(ada, resource_id), 404, resources.MISSING)
    assert digest() == before


def test_the_identifier_of_a_resource_is_one(ada):
    """NP01, NP02"""
    resource_id = make.resource(ada)

    message = "The resource identifier should be a valid UUID."
    assert_refused(mark(ada, "abc"), 400, message)
    assert mark(ada, resource_id.upper()).body["foreign_key"] == resource_id


@pytest.mark.parametrize("model", ["folder", "Resource", "resources", "x"])
def test_only_resources_are_marked(ada, digest, model):
    resource_id = make.resource(ada)
    before = digest()

    response = ada.client.post(f"/favorites/{model}/{resource_id}.json")

    assert_refused(response, 404, "Not Found")
    assert digest() == before


# Taking back


def test_a_mark_is_taken_back_by_its_identifier(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    theirs, mine = marked(ada, resource_id), marked(betty, resource_id)

    response = unmark(betty, mine)

    assert (response.status, response.message) == (200, "The favorite was deleted.")
    assert response.body is None
    assert shown(betty, resource_id) is None
    assert favorites(betty) == []
    assert shown(ada, resource_id)["id"] == theirs


def test_a_mark_that_was_taken_back_can_be_set_again(ada):
    resource_id = make.resource(ada)
    first = marked(ada, resource_id)
    unmark(ada, first)

    second = marked(ada, resource_id)

    assert second != first
    assert unmark(ada, first).status == 404
    assert shown(ada, resource_id)["id"] == second


def test_taking_back_leaves_the_secret_and_the_place(ada):
    resource_id = make.resource(ada)
    before = resources.secret_of(ada, resource_id)

    unmark(ada, marked(ada, resource_id))

    assert resources.secret_of(ada, resource_id) == before is not None
    assert ada.client.get(resources.path(resource_id)).body["folder_parent_id"] is None


def test_a_mark_is_not_taken_back_twice(ada, digest):
    """IN33, FT03"""
    favorite_id = marked(ada, make.resource(ada))
    unmark(ada, favorite_id)
    before = digest()

    assert_refused(unmark(ada, favorite_id), 404, MISSING)
    assert digest() == before


def test_the_mark_of_somebody_else_looks_as_if_it_did_not_exist(ada, betty, digest):
    """AC21"""
    theirs = marked(betty, make.resource(betty, {ada: OWNER}))
    before = digest()

    assert_refused(unmark(ada, theirs), 404, MISSING)
    assert_refused(unmark(ada, new_id()), 404, MISSING)
    assert digest() == before


def test_a_mark_goes_with_the_access(ada, betty, digest):
    """AC20, I8"""
    resource_id = make.resource(ada, {betty: READ})
    favorite_id = marked(betty, resource_id)
    take(resource_id, betty)
    before = digest()

    assert_refused(unmark(betty, favorite_id), 404, MISSING)
    assert_refused(mark(betty, resource_id), 404, resources.MISSING)
    assert favorites(betty) == []
    assert digest() == before


def test_a_mark_that_is_left_over_leads_nowhere(ada, betty, digest):
    """FT12"""
    resource_id = make.resource(ada, {betty: READ})
    favorite_id = marked(betty, resource_id)
    row = resources.stored(resource_id)
    row.permissions = {ada.id: row.permissions[ada.id]}
    row.save()
    before = digest()

    assert_refused(unmark(betty, favorite_id), 404, MISSING)
    assert favorites(betty) == []
    assert digest() == before


def test_a_mark_goes_with_the_resource(ada, betty, digest):
    """AC30, I9"""
    resource_id = make.resource(ada, {betty: READ})
    favorite_id = marked(betty, resource_id)
    ada.client.delete(resources.path(resource_id))
    before = digest()

    assert_refused(unmark(betty, favorite_id), 404, MISSING)
    assert favorites(betty) == []
    assert digest() == before


def test_a_mark_on_a_resource_of_a_deleted_type_is_hidden(ada, digest):
    resource_id = make.resource(ada, resource_type_id=resource_types.TOTP.id)
    favorite_id = marked(ada, resource_id)
    delete_type(resource_types.TOTP)
    before = digest()

    assert_refused(unmark(ada, favorite_id), 404, MISSING)
    assert digest() == before


def test_the_identifier_of_a_favorite_is_one(ada):
    """NP01, NP02"""
    assert_refused(unmark(ada, "abc"), 400, "The favorite id is not valid.")
    assert unmark(ada, marked(ada, make.resource(ada)).upper()).status == 200


def test_an_update_of_the_resource_keeps_the_mark(ada, betty):
    resource_id = make.resource(ada, {betty: UPDATE})
    favorite_id = marked(betty, resource_id)

    sent = {"name": "new", "secrets": resources.secrets(ada, betty)}
    assert ada.client.put(resources.path(resource_id), sent).status == 200

    assert shown(betty, resource_id)["id"] == favorite_id


def test_there_is_no_list_of_favorites(ada):
    assert_refused(ada.client.get("/favorites.json"), 404, "Not Found")
