"""Folders: their two formats, who may do what with one, and lists of them."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from tests.support.model.invariants import check_invariants
from tests.support.world import make
from tests.support.world.items import folders, resources, shares
from tests.support.world.items.folders import (
    INVALID,
    MISSING,
    create,
    folder,
    move,
    parent,
    resource,
)
from tests.support.world.items.folders import path as path_of
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
UNKNOWN = "8e3874ae-4b40-590b-968a-418f704b9d9a"
BASE = {
    *("id", "created", "modified", "created_by", "modified_by"),
    *("folder_parent_id", "personal", "name"),
}
V5 = {"metadata", "metadata_key_id", "metadata_key_type"}


@pytest.fixture
def v5_folders() -> None:
    resources.allow(allow_creation_of_v5_folders=True, allow_v4_v5_upgrade=True)


def listed(who: Somebody, query: str = "") -> list[str]:
    response = who.client.get(f"/folders.json?{query}")
    assert response.status == 200, response.json
    return [each["id"] for each in response.body]


def names(who: Somebody, query: str = "") -> list[str]:
    return [each["name"] for each in who.client.get(f"/folders.json?{query}").body]


def errors(response: Any) -> dict[str, set[str]]:
    assert (response.status, response.message) == (400, INVALID), response.json
    return {field: set(rules) for field, rules in response.body.items()}


# Creation


def test_a_folder_is_its_creators(ada, betty, store):
    response = create(ada, {"name": "work"})

    assert (response.status, response.message) == (200, "The folder has been added successfully.")
    shown = response.body
    assert shown.keys() == BASE
    assert (shown["name"], shown["folder_parent_id"], shown["personal"]) == ("work", None, True)
    assert (shown["created_by"], shown["modified_by"]) == (ada.id, ada.id)
    assert shown == ada.client.get(path_of(shown["id"])).body
    assert listed(betty) == []
    assert resources.actions(store, shown["id"]) == ["Folders.created"]
    check_invariants(store)


def test_a_folder_has_encrypted_metadata(ada, v5_folders):
    response = create(ada, resources.metadata(ada))

    assert response.status == 200, response.json
    assert response.body.keys() == BASE - {"name"} | V5


def test_metadata_for_ones_own_key_need_not_name_it(ada, v5_folders):
    response = create(ada, {**resources.metadata(ada), "metadata_key_id": None})

    assert (response.status, response.body["metadata_key_id"]) == (200, ada.gpgkey_id)


def test_an_answer_to_a_creation_contains_what_is_asked_for(ada):
    query = "&".join(f"contain[{name}]=1" for name in ("creator", "modifier", "permission"))
    more = "contain[permissions.user.profile]=1&contain[permissions.group]=1"
    lists = "contain[children_folders]=1&contain[children_resources]=1"

    shown = create(ada, {"name": "work"}, f"?{query}&{more}&{lists}").body

    assert (shown["creator"]["id"], shown["modifier"]["id"]) == (ada.id, ada.id)
    assert shown["permission"]["aco"] == "Folder"
    assert shown["permission"]["aco_foreign_key"] == shown["id"]
    assert shown["permission"]["type"] == OWNER
    [permission] = shown["permissions"]
    assert permission["user"]["profile"]["first_name"] == "Ada"
    assert permission["group"] is None
    assert (shown["children_folders"], shown["children_resources"]) == ([], [])


@pytest.mark.parametrize("option", ["creator.profile", "modifier.profile"])
def test_an_answer_to_a_change_contains_no_profile(ada, option):
    assert option.partition(".")[0] not in create(ada, {"name": "w"}, f"?contain[{option}]=1").body


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({}, {"name": {"_empty"}}),
        (None, {"name": {"_empty"}}),
        ({"name": None}, {"name": {"_empty"}}),
        ({"name": ""}, {"name": {"_empty"}}),
        ({"name": 5}, {"name": {"utf8Extended"}}),
        ({"name": "x" * 257}, {"name": {"maxLength"}}),
        ({"name": "x", "folder_parent_id": ""}, {"folder_parent_id": {"uuid"}}),
        ({"name": "x", "folder_parent_id": 5}, {"folder_parent_id": {"uuid"}}),
        ({"name": "x", "folder_parent_id": UNKNOWN}, {"folder_parent_id": {"folder_exists"}}),
        ({"name": "", "folder_parent_id": ""}, {"name": {"_empty"}, "folder_parent_id": {"uuid"}}),
    ],
)
def test_a_folder_that_cannot_be_stored_is_refused(ada, digest, body, broken):
    before = digest()
    assert errors(create(ada, body)) == broken
    assert digest() == before


@pytest.mark.parametrize(
    ("members", "broken"),
    [
        (
            {"metadata": "", "metadata_key_id": "foo-bar", "metadata_key_type": 12345},
            {
                "metadata": {"_empty"},
                "metadata_key_id": {"uuid"},
                "metadata_key_type": {"inList"},
            },
        ),
        (
            {"metadata": "x", "metadata_key_id": "zz", "metadata_key_type": "zz"},
            {
                "metadata": {"isMetadataParsable"},
                "metadata_key_id": {"uuid"},
                "metadata_key_type": {"inList"},
            },
        ),
        ({"metadata_key_id": ""}, {"metadata_key_id": {"_empty"}}),
        ({"metadata_key_type": ""}, {"metadata_key_type": {"_empty"}}),
        ({"metadata_key_type": "\N{HUNDRED POINTS SYMBOL}"}, {"metadata_key_type": {"inList"}}),
        (
            {"metadata_key_id": UNKNOWN},
            {
                "metadata_key_id": {"metadata_key_exists", "isMetadataKeyNotExpired"},
                "metadata": {"isValidEncryptedMetadata"},
            },
        ),
    ],
)
def test_metadata_that_cannot_be_stored_are_refused(ada, v5_folders, members, broken):
    assert errors(create(ada, {**resources.metadata(ada), **members})) == broken


def test_settings_say_which_formats_are_created(ada):
    refused = create(ada, resources.metadata(ada))
    assert (refused.status, refused.message) == (
        400,
        "Folder creation/modification with encrypted metadata not allowed.",
    )
    resources.allow(allow_creation_of_v4_folders=False)
    refused = create(ada, {"name": "work"})
    assert (refused.status, refused.message) == (
        400,
        "Folder creation with cleartext metadata not allowed.",
    )


def test_a_payload_is_of_one_format(ada):
    whole = resources.metadata(ada)
    mixed, half = create(ada, {**whole, "name": "x"}), create(ada, {"metadata": "x"})
    assert mixed.message == "V4 related fields are not supported for V5."
    assert half.message == "Few fields are missing for the V5."


def test_a_folder_is_created_in_another(ada, store):
    work = folder(ada)
    shown = create(ada, {"name": "drafts", "folder_parent_id": work.upper()}).body

    assert (shown["folder_parent_id"], shown["personal"]) == (work, True)
    check_invariants(store)


def test_a_resource_is_created_in_a_folder(ada, betty, store):
    """AC13"""
    work = folders.shared(ada, betty, type_=UPDATE)
    shown = resources.created(betty, resources.v4(folder_parent_id=work))

    assert (shown["folder_parent_id"], shown["personal"]) == (work, True)
    assert [each["id"] for each in ada.client.get("/resources.json").body] == []
    check_invariants(store)


@pytest.mark.parametrize("shared", [False, True])
def test_nothing_is_created_in_a_folder_that_the_creator_may_not_change(ada, betty, digest, shared):
    """AC13"""
    work = folders.shared(ada, betty, type_=READ) if shared else folder(ada)
    before = digest()
    denied = "You are not allowed to create content into the parent folder."

    made = create(betty, {"name": "x", "folder_parent_id": work})
    assert errors(made) == {"folder_parent_id": {"has_folder_access"}}
    assert made.body["folder_parent_id"]["has_folder_access"] == denied
    refused = resources.create(betty, resources.v4(folder_parent_id=work))
    assert refused.body == {"folder_parent_id": {"has_folder_access": denied}}
    assert digest() == before


def test_nothing_is_created_in_a_resource_or_in_what_is_gone(ada):
    mail, work = resource(ada), folder(ada)
    assert ada.client.delete(path_of(work)).status == 200
    for parent_id in (mail, work, new_id()):
        made = create(ada, {"name": "x", "folder_parent_id": parent_id})
        assert made.body == {"folder_parent_id": {"folder_exists": "The folder parent must exist."}}
        refused = resources.create(ada, resources.v4(folder_parent_id=parent_id))
        said = "The folder parent does not exist."
        assert refused.body == {"folder_parent_id": {"folder_exists": said}}


# Views and lists


@pytest.mark.parametrize("method", ["get", "put", "post", "delete"])
def test_what_is_no_identifier_leads_to_no_folder(ada, method):
    response = getattr(ada.client, method)("/folders/5.json")
    assert (response.status, response.message) == (400, "The folder id is not valid.")


@pytest.mark.parametrize("method", ["get", "put", "post", "delete"])
def test_a_stranger_sees_no_folder(ada, betty, digest, method):
    """AC01, AC14"""
    work, before = folder(ada), digest()
    theirs = getattr(betty.client, method)(path_of(work))
    unknown = getattr(betty.client, method)(path_of(UNKNOWN))
    assert (theirs.status, theirs.message) == (unknown.status, unknown.message) == (404, MISSING)
    assert digest() == before


def test_a_view_is_narrowed_by_identifiers(ada):
    work = folder(ada)
    assert ada.client.get(f"{path_of(work)}?filter[has-id]={work}").status == 200
    other = ada.client.get(f"{path_of(work)}?filter[has-id]={UNKNOWN}")
    assert (other.status, other.message) == (404, MISSING)
    assert ada.client.get(f"{path_of(work)}?filter[has-id]=x").status == 400


def test_folders_are_listed_by_name(ada, betty):
    for name in ("b", "C", "a"):
        folder(ada, name)
    folder(betty, "hers")

    assert names(ada) == ["a", "b", "C"]
    assert names(ada, "sort=Folders.name&direction=desc") == ["C", "b", "a"]
    assert names(ada, "limit=2&page=2") == ["C"]
    header = ada.client.get("/folders.json?limit=2&page=2").json["header"]
    assert header["pagination"] == {"count": 3, "page": 2, "limit": 2}
    assert ada.client.get("/folders.json?sort=Folders.id").status == 400


def test_folders_are_found_by_identifier_parent_and_name(ada, betty):
    work, other = folder(ada, "Work 100%"), folder(ada, "other")
    drafts = folder(ada, "Drafts", work)
    hers = folder(betty)

    assert listed(ada, f"filter[has-id][]={work}&filter[has-id][]={hers}") == [work]
    assert listed(ada, f"filter[has-parent]={work}") == [drafts]
    assert set(listed(ada, "filter[has-parent]=0")) == {work, other}
    assert set(listed(ada, f"filter[has-parent][]=&filter[has-parent][]={work}")) == {
        *(work, other, drafts)
    }
    assert listed(ada, "filter[search]=DRAF") == [drafts]
    assert listed(ada, "filter[search]=%25") == [work]
    assert listed(ada, f"filter[has-parent]={work}&filter[search]=other") == []
    assert ada.client.get("/folders.json?filter[search]=").status == 400
    assert ada.client.get(f"/folders.json?filter[search]={'x' * 65}").status == 400


def test_encrypted_folders_are_never_found_by_name(ada, v5_folders):
    create(ada, resources.metadata(ada))
    assert listed(ada, "filter[search]=a") == []
    assert len(listed(ada)) == 1


def test_a_folder_shows_what_the_caller_has_in_it(ada, betty):
    work = folders.shared(ada, betty)
    drafts, mail = folder(ada, "drafts", work), resource(ada, work)
    resource(betty, work)
    query = "contain[children_folders]=1&contain[children_resources]=1"

    for shown in (
        ada.client.get(f"{path_of(work)}?{query}").body,
        *(each for each in ada.client.get(f"/folders.json?{query}").body if each["id"] == work),
    ):
        [child] = shown["children_folders"]
        assert child.keys() == BASE
        assert (child["id"], child["folder_parent_id"], child["personal"]) == (drafts, work, True)
        [inside] = shown["children_resources"]
        assert (inside["id"], inside["folder_parent_id"], inside["personal"]) == (mail, work, True)
    empty = ada.client.get(f"{path_of(drafts)}?{query}").body
    assert (empty["children_folders"], empty["children_resources"]) == ([], [])


def test_resources_are_found_by_the_folder_they_lie_in(ada):
    work = folder(ada)
    mail, other = resource(ada, work), resource(ada)

    def found(query: str) -> list[str]:
        return [each["id"] for each in ada.client.get(f"/resources.json?{query}").body]

    assert found(f"filter[has-parent]={work}") == [mail]
    assert found("filter[has-parent]=false") == [other]


def test_a_folder_is_personal_while_one_user_alone_has_it(ada, betty):
    work = folder(ada)
    alone, both = make.group(ada), make.group(ada, betty)
    assert folders.share(ada, work, shares.add(alone)).body["personal"] is True
    assert ada.client.get(path_of(work)).body["personal"] is True
    assert folders.share(ada, work, shares.add(both)).body["personal"] is False
    assert [each["personal"] for each in ada.client.get("/folders.json").body] == [False]


# Updates


@pytest.mark.parametrize("method", ["put", "post"])
def test_a_folder_is_renamed_and_nothing_else(ada, betty, store, method):
    work = folders.shared(ada, betty)
    sent = {"name": "new", "folder_parent_id": UNKNOWN, "personal": True, "permissions": []}
    response = getattr(betty.client, method)(path_of(work), sent)

    assert (response.status, response.message) == (
        200,
        "The folder has been updated successfully.",
    )
    shown = ada.client.get(f"{path_of(work)}?contain[permissions]=1").body
    assert (shown["name"], shown["modified_by"], shown["folder_parent_id"]) == (
        *("new", betty.id, None),
    )
    assert len(shown["permissions"]) == 2
    assert "Folders.updated" in resources.actions(store, work)


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({}, {"name": {"_empty"}}),
        ({"name": ""}, {"name": {"_empty"}}),
        ({"name": "x" * 257}, {"name": {"maxLength"}}),
    ],
)
def test_a_name_that_cannot_be_stored_is_refused(ada, body, broken):
    assert errors(ada.client.put(path_of(folder(ada)), body)) == broken


def test_a_reader_changes_no_folder(ada, betty, digest):
    """AC14"""
    work, before = folders.shared(ada, betty, type_=READ), digest()
    update = betty.client.put(path_of(work), {"name": "mine"})
    deletion = betty.client.delete(path_of(work))
    assert (update.status, update.message) == (403, "You are not allowed to update this folder.")
    assert (deletion.status, deletion.message) == (
        403,
        "You are not allowed to delete this folder.",
    )
    assert digest() == before


def test_a_folder_changes_its_format_where_that_is_allowed(ada):
    work = folder(ada)
    refused = ada.client.put(path_of(work), resources.metadata(ada))
    assert errors(refused) == {"metadata": {"v4_to_v5_upgrade_allowed"}}
    resources.allow(allow_v4_v5_upgrade=True)
    assert ada.client.put(path_of(work), resources.metadata(ada)).status == 200
    assert ada.client.get(path_of(work)).body.keys() == BASE - {"name"} | V5
    refused = ada.client.put(path_of(work), {"name": "clear"})
    assert refused.body == {
        "name": {
            "v5_to_v4_downgrade_allowed": (
                "The settings selected by your administrator prevent from downgrading folder."
            )
        }
    }
    resources.allow(allow_v5_v4_downgrade=True)
    assert ada.client.put(path_of(work), {"name": "clear"}).status == 200
    assert ada.client.get(path_of(work)).body.keys() == BASE


def test_a_shared_folder_has_no_metadata_for_one_users_key(ada, betty):
    """IN13"""
    resources.allow(allow_v4_v5_upgrade=True)
    work = folders.shared(ada, betty)
    refused = ada.client.put(path_of(work), resources.metadata(ada))
    assert refused.body["metadata_key_type"] == {
        "isMetadataKeyTypeSharedOnSharedItem": (
            "A folder of type personal cannot be shared with other users or a group."
        )
    }


# Deletion


def test_what_lies_in_a_folder_that_is_deleted_lies_at_the_root(ada, betty, store):
    work = folders.shared(ada, betty)
    drafts = folder(ada, "drafts", work)
    deep, mail = resource(ada, drafts), resource(ada, work)

    response = betty.client.delete(path_of(work))

    assert (response.status, response.message, response.body) == (
        *(200, "The folder has been deleted successfully.", None),
    )
    assert [ada.client.get(path_of(work)).status, betty.client.get(path_of(work)).status] == [
        *(404, 404),
    ]
    assert parent(ada, "folder", drafts) is None
    assert parent(ada, "resource", mail) is None
    assert parent(ada, "resource", deep) == drafts
    found = ada.client.get("/resources.json?filter[has-parent]=0").body
    assert [each["id"] for each in found] == [mail]
    assert "Folders.deleted" in resources.actions(store, work)
    check_invariants(store)


@pytest.mark.parametrize("value", ["1", "true", "TRUE"])
def test_a_folder_is_deleted_with_what_lies_in_it(ada, betty, store, value):
    work = folders.shared(ada, betty)
    drafts = folder(ada, "drafts", work)
    deep, mail, kept = resource(ada, drafts), resource(ada, work), resource(ada)

    assert ada.client.delete(f"{path_of(work)}?cascade={value}").status == 200

    assert listed(ada) == []
    assert [each["id"] for each in ada.client.get("/resources.json").body] == [kept]
    assert {ada.client.get(f"/secrets/resource/{each}.json").status for each in (deep, mail)} == {
        404
    }
    check_invariants(store)


def test_what_is_deleted_with_a_folder_says_who_deleted_it(ada, betty):
    work, drafts = folders.shared(ada, betty), folders.shared(ada, betty, "drafts")
    mail = make.resource(ada, {betty: UPDATE})
    assert move(ada, "folder", drafts, work).status == 200
    assert move(ada, "resource", mail, drafts).status == 200

    assert betty.client.delete(f"{path_of(work)}?cascade=1").status == 200

    for row in (folders.stored(work), folders.stored(drafts), resources.stored(mail)):
        assert (row.deleted, row.modified_by) == (True, betty.id)


def test_what_the_actor_may_not_change_stays_at_the_root(ada, betty, store):
    work = folder(ada)
    theirs = make.resource(betty, {ada: READ})
    shared = make.resource(betty, {ada: UPDATE})
    for each in (theirs, shared):
        assert move(ada, "resource", each, work).status == 200

    assert ada.client.delete(f"{path_of(work)}?cascade=1").status == 200

    assert parent(ada, "resource", theirs) is None
    assert betty.client.get(f"/resources/{shared}.json").status == 404
    check_invariants(store)


@pytest.mark.parametrize("value", ["0", "false", None])
def test_nothing_in_a_folder_is_deleted_unless_that_is_said(ada, value):
    work = folder(ada)
    mail = resource(ada, work)
    query = "" if value is None else f"?cascade={value}"
    assert ada.client.delete(f"{path_of(work)}{query}", json={"cascade": True}).status == 200
    assert parent(ada, "resource", mail) is None


@pytest.mark.parametrize("value", ["", "2", "yes"])
def test_a_cascade_that_says_neither_is_refused(ada, digest, value):
    work, before = folder(ada), digest()
    assert ada.client.delete(f"{path_of(work)}?cascade={value}").status == 400
    assert digest() == before


def test_what_lay_in_a_folder_once_is_not_deleted_with_it(ada, betty, store):
    """What a folder is noted to have had is no reason to delete it."""
    work = folders.shared(ada, betty)
    mail = resource(ada, work)
    assert move(ada, "resource", mail, None).status == 200
    folders.note(work, mail)

    assert ada.client.delete(f"{path_of(work)}?cascade=1").status == 200
    assert parent(ada, "resource", mail) is None
