"""Resources that are marked as expired, many at once."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from tests.conftest import Time
from tests.support.faults.meanwhile import Meanwhile
from tests.support.wire.client import Response
from tests.support.world import make
from tests.support.world.items.expiry import MARKS, marked
from tests.support.world.items.resources import (
    PGP,
    actions,
    allow,
    created,
    delete_type,
    leave,
    path,
    stored,
    take,
    v5,
)

READ, UPDATE, OWNER = PermissionType
NOW = "2026-11-21T12:00:00+00:00"
NONE = "You are not allowed to update these resources."


def refused(response: Response) -> Any:
    return response.status, response.message


def not_this(resource: str) -> Any:
    return 400, f"You are not allowed to update this resource: {resource}"


def test_whoever_may_change_resources_marks_them_as_expired(ada, betty, store, time: Time):
    one, two = (make.resource(ada, {betty: UPDATE}) for _ in range(2))
    time.pass_by(minutes=1)
    sent = [
        {"id": two.upper(), "expired": "2026-11-21T13:00:00+01:00", "more": 1},
        {"id": one, "expired": None},
    ]

    response = betty.client.post(MARKS, sent)

    assert response.status == 200
    assert [each["id"] for each in response.body] == [two, one]
    assert [each["expired"] for each in response.body] == [NOW, None]
    for shown in response.body:
        assert (shown["modified"], shown["modified_by"]) == ("2026-11-21T12:01:00+00:00", betty.id)
        assert shown.keys().isdisjoint({"folder_parent_id", "personal", "secrets", "permission"})
        seen = ada.client.get(path(shown["id"])).body
        assert shown == {name: seen[name] for name in shown}
        assert actions(store, shown["id"])[0] == "Resources.expiry-set"
        told = ada.client.get(f"/actionlog/resource/{shown['id']}.json").body
        assert "Resources.updated" not in [each["type"] for each in told]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (None, None),
        ("", None),
        ("2030-01-02", "2030-01-02T00:00:00+00:00"),
        ("2030-01-02 03:04:05", "2030-01-02T03:04:05+00:00"),
    ],
)
def test_a_date_may_be_any_that_an_update_takes(ada, sent, kept):
    resource = make.resource(ada)
    assert marked(ada, resource, expired=sent).body[0]["expired"] == kept


def test_what_is_encrypted_as_a_whole_expires_as_well(ada):
    allow(allow_creation_of_v5_resources=True)
    before = created(ada, v5(ada))

    [shown] = marked(ada, before["id"]).body

    assert shown["expired"] == NOW
    assert {name: shown[name] for name in ("metadata", "metadata_key_type")} == {
        name: before[name] for name in ("metadata", "metadata_key_type")
    }
    assert "name" not in shown


@pytest.mark.parametrize("sent", [[], None, {}])
def test_nothing_is_marked_where_nothing_is_named(ada, digest, sent):
    before = digest()
    response = ada.client.post(MARKS, sent)
    assert (response.status, response.body) == (200, None)
    assert digest() == before


ID = "5fa3ecb8-3b8b-4b8e-9d2b-1f0d3a3c2b11"


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (["x"], "An array of arrays is expected."),
        ([{"expired": None}, "x"], "An array of arrays is expected."),
        ({"id": ID, "expired": None}, "An array of arrays is expected."),
        ([{"expired": None}], "The identifier should be a valid UUID."),
        ([{"id": "x"}], "The identifier should be a valid UUID."),
        ([{"id": 5, "expired": None}], "The identifier should be a valid UUID."),
        ([{"id": ID}], "The expiry date is required."),
        ([{"id": ID, "expired": None}] * 2, f"The identifier should be unique: {ID}."),
        ([{"id": ID, "expired": "x"}], NONE),
    ],
)
def test_a_list_of_marks_is_refused_by_the_first_thing_that_is_wrong_with_it(
    ada, digest, sent, message
):
    """NP06, NP07"""
    before = digest()
    assert refused(ada.client.post(MARKS, sent)) == (400, message)
    assert digest() == before


@pytest.mark.parametrize("odd", ["foo", "2025-02-30", True, 5, [], {}])
def test_a_date_that_is_none_is_refused(ada, digest, odd):
    """F6, NP23"""
    one, two = make.resource(ada), make.resource(ada)
    before = digest()

    response = ada.client.post(MARKS, [{"id": one, "expired": None}, {"id": two, "expired": odd}])

    assert refused(response) == (400, "Could not validate resource data.")
    assert response.body == {"1": {"expired": {"expired": "The date could not be parsed."}}}
    assert digest() == before


def test_all_are_marked_or_none(ada, betty, digest):
    """AC: what betty may only read, does not see, is deleted or unknown."""
    may = make.resource(ada, {betty: UPDATE})
    reads, hidden, gone = make.resource(ada, {betty: READ}), make.resource(ada), make.resource(ada)
    ada.client.delete(path(gone))
    before = digest()

    for other in (reads, hidden, gone, new_id()):
        assert refused(marked(betty, may, other)) == not_this(other)
        assert refused(marked(betty, other)) == (400, NONE)
    assert refused(marked(betty, reads, hidden)) == (400, NONE)
    assert digest() == before


def test_a_group_lets_its_members_mark_what_they_may_read_themselves(ada, betty):
    team = make.group(ada, betty)
    resource = make.resource(ada, {betty: READ, team: UPDATE})
    assert marked(betty, resource).status == 200


def test_a_resource_of_a_deleted_type_is_none_that_one_may_mark(ada):
    resource = make.resource(ada)
    delete_type(resource_types.DEFAULT)
    assert refused(marked(ada, resource)) == (400, NONE)


def test_who_loses_a_right_meanwhile_marks_nothing(ada, betty, digest):
    """Each resource is held at the version it was read at, and the group one acts by."""
    one, two = make.resource(ada, {betty: UPDATE}), make.resource(ada, {betty: UPDATE})
    team = make.group(ada, betty)
    three = make.resource(ada, {team: UPDATE})

    with Meanwhile(lambda: take(two, betty)):
        assert refused(marked(betty, one, two, three)) == not_this(two)
    with Meanwhile(lambda: leave(betty)):
        assert refused(marked(betty, one, three)) == not_this(three)
    with Meanwhile(lambda: delete_type(resource_types.DEFAULT)):
        assert refused(marked(betty, one)) == (400, NONE)
    assert {stored(each).expired for each in (one, two, three)} == {None}


def test_many_are_marked_as_one_change(ada, store):
    several = [make.resource(ada) for _ in range(60)]

    response = marked(ada, *several)

    assert [each["id"] for each in response.body] == several
    assert {each["expired"] for each in response.body} == {NOW}
    for each in (several[0], several[-1]):
        row = stored(each)
        assert (row.version, row.lock, row.modified_by) == (2, None, ada.id)
        assert actions(store, each) == ["Resources.expiry-set"]


def test_each_is_answered_with_the_moment_that_is_stored(ada, time: Time):
    """FT17"""
    time.pass_by(minutes=2)
    several = [make.resource(ada) for _ in range(3)]
    time.pass_by(minutes=-1)

    shown = marked(ada, *several).body

    assert {each["modified"] for each in shown} == {"2026-11-21T12:02:00+00:00"}
    assert {stored(each).modified.isoformat() for each in several} == {"2026-11-21T12:02:00+00:00"}


def test_the_log_of_the_service_has_many_marks_once(ada):
    several = [make.resource(ada) for _ in range(3)]
    before = [each["id"] for each in ada.client.get("/actionlog/logs.json").body]

    marked(ada, *several)

    after = [each["id"] for each in ada.client.get("/actionlog/logs.json").body]
    assert len(after) == len(before) + 1
    assert len(after) == len(set(after))


def test_a_request_has_a_most_of_entries(ada, digest):
    before = digest()
    response = marked(ada, *(new_id() for _ in range(1_001)))
    assert refused(response) == (413, "A request may have at most 1000 of these entries.")
    assert digest() == before


def test_marks_take_away_nothing(ada):
    """The server never hides what has expired, nor locks it."""
    resource = created(ada)["id"]
    marked(ada, resource, expired="2020-01-01")
    assert ada.client.get(path(resource)).body["expired"] == "2020-01-01T00:00:00+00:00"
    assert ada.client.get(f"/secrets/resource/{resource}.json").body["data"] == PGP
