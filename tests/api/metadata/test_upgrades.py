"""Upgrades: what is named in clear gets encrypted metadata, page by page."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from tests.support.world import make
from tests.support.world.items import folders
from tests.support.world.items.metadata import (
    KEYS_SETTINGS,
    PERSONAL,
    allow_v5,
    described,
    expire,
    opened,
    shared,
    v5_resource,
)
from tests.support.world.items.resources import created, metadata, path, v4, v5
from tests.support.world.keys import message

PATH = "/metadata/upgrade/resources.json"
FOLDERS = "/metadata/upgrade/folders.json"
ITEM = {"id", "name", "created", "modified", "created_by", "modified_by"}
RESOURCE = ITEM | {"username", "uri", "description", "resource_type_id", "deleted", "expired"}
TYPES = (
    (resource_types.PASSWORD_STRING, resource_types.V5_PASSWORD_STRING),
    (resource_types.PASSWORD_AND_DESCRIPTION, resource_types.V5_DEFAULT),
    (resource_types.TOTP, resource_types.V5_TOTP_STANDALONE),
    (resource_types.PASSWORD_DESCRIPTION_TOTP, resource_types.V5_DEFAULT_WITH_TOTP),
)


@pytest.fixture
def key(ada, betty):
    return shared(ada, betty)


def entry(row, key, text="about", **others):
    return {**row, **described(key, text), **others}


def listed(who, query="", where=PATH):
    response = who.client.get(f"{where}{query}")
    assert response.status == 200
    return response.body, response.json["header"]["pagination"]


def test_resources_in_clear_are_listed_whoever_has_them(ada, betty, key):
    allow_v5(ada)
    mine, theirs = created(ada, v4()), created(betty, v4())
    created(betty, v5(betty))
    created(betty, v5_resource(key))
    gone = created(betty, v4())
    betty.client.delete(path(gone["id"]))

    rows, pagination = listed(ada)

    assert [row["id"] for row in rows] == sorted([mine["id"], theirs["id"]])
    assert {*map(frozenset, rows)} == {frozenset(RESOURCE)}
    assert pagination == {"count": 2, "page": 1, "limit": 20}


def test_folders_in_clear_are_listed_whoever_has_them(ada, betty, key):
    allow_v5(ada)
    work = folders.folder(betty)
    betty.client.post("/folders.json", described(key))
    gone = folders.folder(ada, "gone")
    ada.client.delete(folders.path(gone))

    rows, pagination = listed(ada, where=FOLDERS)

    assert [row["id"] for row in rows] == [work]
    assert set(rows[0]) == ITEM
    assert pagination["count"] == 1


def test_the_lists_tell_the_shared_from_what_one_user_has(ada, betty, key):
    alone = created(betty, v4())["id"]
    both = make.resource(ada, {betty: 1})
    team = make.resource(ada, {make.group(ada): 7})
    work, ours = folders.folder(ada), folders.shared(ada, betty)

    def ids(query, where=PATH):
        rows, pagination = listed(ada, query, where)
        assert len(rows) == pagination["count"]
        return {row["id"] for row in rows}

    assert ids("?filter[is-shared]=1") == {both, team}
    assert ids("?filter[is-shared]=0") == {alone}
    assert ids("") == {alone, both, team}
    assert ids("?filter[is-shared]=1", FOLDERS) == {ours}
    assert ids("?filter[is-shared]=0", FOLDERS) == {work}


@pytest.mark.parametrize("name", ["permission", "permissions"])
def test_the_lists_show_who_has_an_item(ada, betty, key, name):
    made = make.resource(ada, {betty: 1})
    folder = folders.shared(ada, betty)

    [row], _ = listed(ada, f"?contain[{name}]=1")
    [shown], _ = listed(ada, f"?contain[{name}]=1", FOLDERS)

    assert {each["aro_foreign_key"] for each in row["permissions"]} == {ada.id, betty.id}
    assert {each["aco"] for each in row["permissions"]} == {"Resource"}
    assert {each["aco_foreign_key"] for each in row["permissions"]} == {made}
    assert {each["aco"] for each in shown["permissions"]} == {"Folder"}
    assert {each["aco_foreign_key"] for each in shown["permissions"]} == {folder}


@pytest.mark.parametrize(("old", "new"), TYPES)
def test_a_resource_gets_the_type_that_follows_its_own(ada, betty, key, old, new):
    row = created(betty, v4(resource_type_id=old.id, username="b", uri="u"))
    secret = betty.client.get(f"/secrets/resource/{row['id']}.json").body["data"]

    response = ada.client.post(PATH, [entry(row, key, "upgraded")])

    assert (response.status, response.body) == (200, [])
    after = betty.client.get(path(row["id"])).body
    assert opened(key, after["metadata"]) == "upgraded"
    assert after["resource_type_id"] == new.id
    assert after["modified_by"] == ada.id
    assert not {"name", "username", "uri", "description"} & set(after)
    assert betty.client.get(f"/secrets/resource/{row['id']}.json").body["data"] == secret
    assert expire(ada, key).status == 200
    assert ada.client.delete(key.path).status == 400


def test_a_folder_loses_its_name(ada, betty, key):
    work = folders.folder(betty)
    [row], _ = listed(ada, where=FOLDERS)

    response = ada.client.post(FOLDERS, [entry(row, key, "work")])

    assert (response.status, response.body) == (200, [])
    after = betty.client.get(folders.path(work)).body
    assert opened(key, after["metadata"]) == "work"
    assert "name" not in after
    assert listed(ada, where=FOLDERS)[0] == []


def own(row, who, **others):
    return {**row, **metadata(who, "own"), "metadata_key_id": None, **others}


def test_what_one_user_has_may_be_for_their_own_key(ada, betty, key):
    row = created(betty, v4())
    work = folders.folder(betty)
    [folder], _ = listed(ada, where=FOLDERS)

    assert ada.client.post(PATH, [own(row, betty)]).status == 200
    assert ada.client.post(FOLDERS, [own(folder, betty)]).status == 200

    for where in (path(row["id"]), folders.path(work)):
        after = betty.client.get(where).body
        assert (after["metadata_key_id"], after["metadata_key_type"]) == (
            betty.gpgkey_id,
            "user_key",
        )


def refused(response, at=0):
    assert response.status == 400, response.json
    return {name: set(rules) for name, rules in response.body[at].items()}


def test_a_users_key_is_for_what_nobody_else_has(ada, betty, key, digest):
    """IN14"""
    both = make.resource(ada, {betty: 1})
    [row], _ = listed(ada)
    assert row["id"] == both
    before = digest()

    assert refused(ada.client.post(PATH, [own(row, ada)])) == {"metadata_key_id": {"_empty"}}
    errors = refused(ada.client.post(PATH, [own(row, ada, metadata_key_id=ada.gpgkey_id)]))
    assert "isMetadataKeyTypeSharedOnSharedItem" in errors["metadata_key_type"]
    assert digest() == before


def test_a_users_key_is_that_of_the_user(ada, betty, key, digest):
    """IN15"""
    row = created(betty, v4())
    before = digest()

    errors = refused(ada.client.post(PATH, [own(row, ada, metadata_key_id=ada.gpgkey_id)]))
    assert errors["metadata_key_id"] == {"metadata_key_exists", "isMetadataKeyNotExpired"}
    errors = refused(ada.client.post(PATH, [own(row, ada)]))
    assert errors == {"metadata": {"isValidEncryptedResourceMetadata"}}
    assert digest() == before


def test_a_users_key_may_be_ruled_out(ada, betty, key):
    row = created(betty, v4())
    ada.client.post(KEYS_SETTINGS, PERSONAL | {"allow_usage_of_personal_keys": False})

    assert refused(ada.client.post(PATH, [own(row, betty)])) == {
        "metadata_key_type": {"isMetadataKeyTypeAllowedBySettings"}
    }


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"metadata": None}, {"metadata": {"_empty"}}),
        ({"metadata_key_id": None}, {"metadata_key_id": {"_empty"}}),
        *(
            ({"metadata_key_type": each}, {"metadata_key_type": {"inList"}})
            for each in ("other", 5, ["user_key"], {})
        ),
        ({"modified": None}, {"modified": {"_empty"}}),
        ({"metadata": "none"}, {"metadata": {"isMetadataParsable"}}),
        ({"metadata": 5}, {"metadata": {"ascii", "isMetadataParsable"}}),
    ],
)
def test_the_form_of_an_entry(ada, key, digest, members, expected):
    row = created(ada, v4())
    before = digest()

    assert refused(ada.client.post(PATH, [entry(row, key, **members)])) == expected
    assert digest() == before


def test_what_is_not_in_clear_is_not_found(ada, betty, key, digest):
    allow_v5(ada)
    v5_item, gone = created(betty, v5_resource(key)), created(betty, v4())
    betty.client.delete(path(gone["id"]))
    row, folder = created(betty, v4()), folders.folder(ada)
    before = digest()

    for id_ in (v5_item["id"], gone["id"], folder, new_id()):
        response = ada.client.post(PATH, [entry(row, key), entry(row, key, id=id_)])
        assert (response.status, response.body) == (404, "")
        assert id_ in response.message
    assert digest() == before


def test_what_was_changed_meanwhile_is_not_written_over(ada, betty, key, digest):
    rows = [created(betty, v4()) for _ in range(2)]
    batch = [entry(row, key) for row in rows]
    before = digest()

    for stale in ({"modified": "2026-11-21T11:59:59Z"}, {"modified_by": ada.id}):
        assert ada.client.post(PATH, [batch[0], batch[1] | stale]).status == 409
    assert ada.client.post(PATH, [batch[0], batch[0]]).status == 409
    assert digest() == before


def test_the_keys_of_an_upgrade_are_alive(ada, betty, key, digest):
    """IN16"""
    row = created(betty, v4())
    expire(ada, key)
    before = digest()

    assert refused(ada.client.post(PATH, [entry(row, key)])) == {
        "metadata_key_id": {"isMetadataKeyNotExpired"}
    }
    assert digest() == before
    ada.client.delete(key.path)
    errors = refused(ada.client.post(PATH, [entry(row, key)]))
    assert "metadata_key_exists" in errors["metadata_key_id"]


def test_only_administrators_upgrade(ada, betty, key, digest):
    """AC24"""
    row = created(betty, v4())
    before = digest()

    for where in (PATH, FOLDERS):
        assert betty.client.get(where).status == 403
        assert betty.client.post(where, [entry(row, key)]).status == 403
    assert digest() == before


def test_an_upgrade_goes_on_page_by_page(ada, betty, key):
    made = [created(betty, v4(name=f"number {n}")) for n in range(45)]
    rows, pagination = listed(ada)
    counts = []

    while rows:
        counts.append(pagination["count"])
        sent = [entry(row, key, row["name"]) for row in rows]
        response = ada.client.post(PATH, sent)
        assert response.status == 200
        rows, pagination = response.body, response.json["header"]["pagination"]

    assert counts == [45, 25, 5]
    for row in made:
        after = betty.client.get(path(row["id"])).body
        assert opened(key, after["metadata"]) == row["name"]


def test_metadata_of_an_upgrade_are_for_their_key_alone(ada, betty, key, digest):
    row = created(betty, v4())
    before = digest()

    both = message("about", key.public, betty.key.public)
    assert refused(ada.client.post(PATH, [entry(row, key, metadata=both)])) == {
        "metadata": {"isValidEncryptedResourceMetadata"}
    }
    assert digest() == before
