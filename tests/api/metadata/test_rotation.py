"""Rotation: items on an expired key are encrypted to the next one, page by page."""

from __future__ import annotations

import pytest

from chalicelib.bodies.items.metadata import EMPTY
from chalicelib.domain.ids import new_id
from tests.support.world.items import folders
from tests.support.world.items.metadata import (
    allow_v5,
    described,
    expire,
    opened,
    shared,
    v5_resource,
)
from tests.support.world.items.resources import created, path, v4, v5
from tests.support.world.keys import message

PATH = "/metadata/rotate-key/resources.json"
FOLDERS = "/metadata/rotate-key/folders.json"
MEMBERS = {
    *("id", "created", "modified", "created_by", "modified_by", "resource_type_id"),
    *("deleted", "expired", "metadata", "metadata_key_id", "metadata_key_type"),
}


@pytest.fixture
def first(ada, betty):
    key = shared(ada, betty)
    allow_v5(ada)
    return key


def resource(who, key, text="about"):
    return created(who, v5_resource(key, text))


def followed(ada, first):
    """Another key in place of the first."""
    second = shared(ada, number=2)
    assert expire(ada, first).status == 200
    return second


def entry(row, key, text="about", **others):
    return {**row, **described(key, text), **others}


def listed(who, where=PATH):
    response = who.client.get(where)
    assert response.status == 200
    return response.body, response.json["header"]["pagination"]


def test_what_is_on_an_expired_key_is_listed_whoever_has_it(ada, betty, first):
    mine, theirs = resource(ada, first), resource(betty, first)
    created(betty, v5(betty))
    created(betty, v4())
    assert listed(ada) == ([], {"count": 0, "page": 1, "limit": 20})
    second = followed(ada, first)
    resource(betty, second)

    rows, pagination = listed(ada)

    assert [row["id"] for row in rows] == sorted([mine["id"], theirs["id"]])
    assert {*map(frozenset, rows)} == {frozenset(MEMBERS)}
    assert pagination == {"count": 2, "page": 1, "limit": 20}


def test_a_page_is_written_and_the_next_one_answered(ada, betty, first):
    made = [resource(betty, first, f"number {n}") for n in range(23)]
    second = followed(ada, first)
    rows, pagination = listed(ada)
    assert (len(rows), pagination["count"]) == (20, 23)

    response = ada.client.post(
        PATH, [entry(row, second, opened(first, row["metadata"])) for row in rows]
    )

    assert response.status == 200
    assert response.json["header"]["pagination"] == {"count": 3, "page": 1, "limit": 20}
    assert len(response.body) == 3
    last = ada.client.post(PATH, [entry(row, second, "last") for row in response.body])
    assert last.body == []
    after = {row["id"]: betty.client.get(path(row["id"])).body["metadata"] for row in made}
    kept = {row["id"]: opened(first, row["metadata"]) for row in rows}
    expected = {row["id"]: kept.get(row["id"], "last") for row in made}
    assert {id_: opened(second, text) for id_, text in after.items()} == expected
    assert ada.client.delete(first.path).status == 200


def test_what_is_written_says_who_and_when(ada, betty, first, time):
    row = resource(betty, first)
    second = followed(ada, first)
    time.pass_by(minutes=2)

    assert ada.client.post(PATH, [entry(row, second)]).status == 200

    after = betty.client.get(path(row["id"])).body
    assert (after["modified"], after["modified_by"]) == ("2026-11-21T12:02:00+00:00", ada.id)
    assert after["metadata_key_id"] == second.id
    assert betty.client.get(f"/secrets/resource/{row['id']}.json").status == 200


def test_folders_are_rotated_apart(ada, betty, first):
    folder = betty.client.post("/folders.json", described(first)).body
    resource(betty, first)
    second = followed(ada, first)

    rows, pagination = listed(ada, FOLDERS)
    assert ([row["id"] for row in rows], pagination["count"]) == ([folder["id"]], 1)
    assert "resource_type_id" not in rows[0]
    response = ada.client.post(FOLDERS, [entry(rows[0], second)])

    assert (response.status, response.body) == (200, [])
    shown = betty.client.get(folders.path(folder["id"])).body
    assert shown["metadata_key_id"] == second.id
    wrong_kind = ada.client.post(PATH, [entry(rows[0], second)])
    assert wrong_kind.status == 404


def test_only_administrators_rotate(ada, betty, first, digest):
    """AC24"""
    row = resource(betty, first)
    second = followed(ada, first)
    before = digest()

    for where in (PATH, FOLDERS):
        assert betty.client.get(where).status == 403
        assert betty.client.post(where, [entry(row, second)]).status == 403
    assert digest() == before


def test_a_batch_that_is_none_is_refused(ada, first, digest):
    row = resource(ada, first)
    second = followed(ada, first)
    before = digest()

    def answer(body):
        response = ada.client.post(PATH, body)
        return response.status, response.message, response.body

    assert answer([]) == answer({}) == (400, EMPTY, "")
    too_many = answer([entry(row, second)] * 201)
    assert (too_many[0], too_many[2]) == (400, "")
    for body in (entry(row, second), [1], [entry(row, second), None]):
        status, said, errors = answer(body)
        assert (status, said, errors) == (400, "Each entry should be an object.", "")
    for id_ in (None, "none", 5):
        status, said, errors = answer([entry(row, second), entry(row, second, id=id_)])
        assert (status, said, errors) == (400, "Each entry should have a valid id.", "")
    assert digest() == before


def test_the_list_is_not_sorted_otherwise_nor_paged(ada, first):
    resource(ada, first)
    followed(ada, first)

    assert ada.client.get(f"{PATH}?sort=id").status == 400
    assert ada.client.get(f"{PATH}?order[]=modified").status == 400
    assert len(listed(ada, f"{PATH}?page=7&limit=1")[0]) == 1


def test_what_is_not_there_is_told_before_what_is_stale(ada, first, digest):
    """IN20"""
    gone, row = resource(ada, first), resource(ada, first)
    second = followed(ada, first)
    assert ada.client.delete(path(gone["id"])).status == 200
    before = digest()

    for missing in (gone["id"], new_id()):
        stale = entry(row, second, modified="2026-01-01T00:00:00Z")
        response = ada.client.post(PATH, [stale, entry(row, second, id=missing)])
        assert (response.status, response.body) == (404, "")
        assert missing in response.message
    assert digest() == before


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"metadata": None}, {"metadata": {"_empty"}}),
        ({"metadata_key_id": None}, {"metadata_key_id": {"_empty"}}),
        ({"metadata_key_id": "none"}, {"metadata_key_id": {"uuid"}}),
        ({"metadata_key_type": "user_key"}, {"metadata_key_type": {"is_not_shared_key"}}),
        ({"metadata_key_type": ""}, {"metadata_key_type": {"_empty"}}),
        ({"modified": "soon"}, {"modified": {"dateTime"}}),
        ({"modified": "2026-11-21"}, {"modified": {"dateTime"}}),
        ({"modified_by": "me"}, {"modified_by": {"uuid"}}),
        (
            {"modified": None, "modified_by": None},
            {"modified": {"_empty"}, "modified_by": {"_empty"}},
        ),
    ],
)
def test_the_form_of_an_entry(ada, first, digest, members, expected):
    row, other = resource(ada, first), resource(ada, first)
    second = followed(ada, first)
    before = digest()

    for batch, at in (
        ([entry(row, second), entry(other, second, **members)], "1"),
        ([entry(other, second, **members)], 0),
    ):
        response = ada.client.post(PATH, batch)
        assert response.status == 400
        assert other["id"] in response.message
        errors = response.body[at]
        assert {name: set(rules) for name, rules in errors.items()} == expected
    assert digest() == before


def test_what_is_on_no_expired_key_is_refused(ada, first, digest):
    """IN20"""
    rows = {"clear": created(ada, v4()), "own": created(ada, v5(ada))}
    second = followed(ada, first)
    rows["active"] = resource(ada, second)
    before = digest()

    refused = {
        name: ada.client.post(PATH, [entry(row, second)]).body[0]["metadata_key"]
        for name, row in rows.items()
    }

    assert set(refused["clear"]) == set(refused["own"]) == {"_empty"}
    assert set(refused["active"]["expired"]) == {"_empty"}
    assert digest() == before


def test_a_stale_entry_leaves_the_whole_batch(ada, betty, first, digest):
    """IN19"""
    rows = [resource(betty, first) for _ in range(20)]
    second = followed(ada, first)
    batch = [entry(row, second) for row in rows]
    before = digest()

    for stale in ({"modified": "2026-11-21T11:59:59Z"}, {"modified_by": ada.id}):
        response = ada.client.post(PATH, [*batch[:19], batch[19] | stale])
        assert (response.status, response.body) == (409, "")
    assert digest() == before
    same = {"modified": "2026-11-21T13:00:00+01:00"}
    assert ada.client.post(PATH, [*batch[:19], batch[19] | same]).status == 200


def test_an_item_is_in_a_batch_once(ada, first, digest):
    """IN20"""
    row = resource(ada, first)
    second = followed(ada, first)
    before = digest()

    assert ada.client.post(PATH, [entry(row, second)] * 2).status == 409
    assert digest() == before


def refused(response, at=0):
    assert response.status == 400, response.json
    return {name: set(rules) for name, rules in response.body[at].items()}


def test_metadata_are_for_the_key_that_follows(ada, betty, first, digest):
    """IN16"""
    row = resource(ada, first)
    second = followed(ada, first)
    before = digest()

    for members, expected in (
        ({"metadata": "none"}, {"metadata": {"isMetadataParsable"}}),
        *(
            ({"metadata": each}, {"metadata": {"ascii", "isMetadataParsable"}})
            for each in ("ä", 5, ["none"], {})
        ),
        (
            {"metadata": message("about", betty.key.public)},
            {"metadata": {"isValidEncryptedResourceMetadata"}},
        ),
        (
            {"metadata_key_id": new_id()},
            {
                "metadata_key_id": {"metadata_key_exists", "isMetadataKeyNotExpired"},
                "metadata": {"isValidEncryptedResourceMetadata"},
            },
        ),
        (described(first), {"metadata_key_id": {"isMetadataKeyNotExpired"}}),
    ):
        batch = [entry(row, second) | members]
        assert refused(ada.client.post(PATH, batch)) == expected
    assert digest() == before


def test_one_key_is_active_while_others_are_rotated(ada, first, digest):
    row = resource(ada, first)
    second = followed(ada, first)
    shared(ada, number=3)
    before = digest()

    assert refused(ada.client.post(PATH, [entry(row, second)])) == {
        "metadata_key_id": {"isSharedMetadataKeyUniqueActive"}
    }
    assert digest() == before


def test_hundreds_of_entries_are_written_as_a_whole(ada, betty, first):
    rows = [resource(betty, first) for _ in range(120)]
    second = followed(ada, first)

    response = ada.client.post(PATH, [entry(row, second) for row in rows])

    assert (response.status, response.body) == (200, [])
    found = betty.client.get("/resources.json").body
    assert {row["metadata_key_id"] for row in found} == {second.id}
    assert ada.client.delete(first.path).status == 200


def test_an_update_meanwhile_is_not_lost(ada, betty, first):
    """RA09: whoever comes second is told that they are."""
    row = resource(betty, first)
    second = followed(ada, first)
    update = {**described(second, "mine"), "resource_type_id": row["resource_type_id"]}
    assert betty.client.put(path(row["id"]), update).status == 200

    response = ada.client.post(PATH, [entry(row, second, "theirs", modified_by=ada.id)])

    assert response.status in (400, 409)
    after = betty.client.get(path(row["id"])).body
    assert opened(second, after["metadata"]) == "mine"


def test_what_nobody_changed_is_written_on_an_expired_key_all_the_same(ada, betty, first):
    row = resource(betty, first)
    followed(ada, first)

    assert betty.client.put(path(row["id"]), {"expired": "2027-01-01T00:00:00Z"}).status == 200
    update = {**described(first), "resource_type_id": row["resource_type_id"]}
    assert betty.client.put(path(row["id"]), update).status == 400
