"""Shares of folders: who has one, and that nothing in it is shared with it."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from tests.support.model.invariants import check_invariants
from tests.support.world import groups, make
from tests.support.world.items import folders, resources, shares
from tests.support.world.items.folders import (
    INVALID,
    MISSING,
    folder,
    move,
    parent,
    resource,
    share,
    taking,
)
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType


def refused(response: Any) -> Any:
    assert (response.status, response.message) == (400, INVALID), response.json
    return response.body["permissions"]


@pytest.mark.parametrize("method", ["put", "post"])
def test_a_folder_is_shared(ada, betty, store, method):
    work = folder(ada)
    ask = getattr(ada.client, method)

    response = ask(f"/share/folder/{work}.json", {"permissions": [shares.add(betty)]})

    assert (response.status, response.body["id"], response.body["personal"]) == (200, work, False)
    assert betty.client.get(f"/folders/{work}.json").status == 200
    assert "Permissions.updated" in resources.actions(store, work)
    check_invariants(store)


def test_what_is_no_identifier_leads_to_no_folder(ada):
    response = ada.client.put("/share/folder/5.json", {})
    assert (response.status, response.message) == (400, "The folder id is not valid.")


def test_a_stranger_sees_no_folder(ada, betty, digest):
    """AC01"""
    work = folder(ada)
    before = digest()
    for folder_id in (work, new_id()):
        response = share(betty, folder_id, shares.add(betty))
        assert (response.status, response.message) == (404, MISSING)
    assert digest() == before


@pytest.mark.parametrize("type_", [READ, UPDATE])
def test_only_owners_share(ada, betty, carol, digest, type_):
    """AC05"""
    work = folders.shared(ada, betty, type_=type_)
    before = digest()
    response = share(betty, work, shares.add(carol))
    denied = "You are not allowed to update the permissions of this folder."
    assert (response.status, response.message) == (403, denied)
    assert digest() == before


def test_a_folder_for_one_users_key_is_not_shared(ada, betty):
    """IN13"""
    resources.allow(allow_creation_of_v5_folders=True)
    work = folders.create(ada, resources.metadata(ada)).body["id"]
    for rows in ([shares.add(betty)], []):
        response = share(ada, work, *rows)
        assert (response.status, response.message) == (400, "Folder can not be shared")


@pytest.mark.parametrize(
    "body", [None, {}, {"permissions": None}, {"permissions": ""}, {"permissions": []}]
)
def test_no_rows_change_nothing(ada, digest, body):
    work = folder(ada)
    before = digest()
    response = ada.client.put(f"/share/folder/{work}.json", body)
    assert (response.status, response.body["id"], response.body["personal"]) == (200, work, True)
    assert digest() == before


def test_rows_are_refused_as_those_of_resources_are(ada, betty, digest):
    work = folder(ada)
    before = digest()
    own = folders.stored(work).permissions[ada.id].id

    assert refused(share(ada, work, {"id": new_id(), "delete": True}))["0"].keys() == {"id"}
    of_no_type = refused(share(ada, work, {**shares.add(betty), "type": 3}))
    assert {at: set(rules) for at, rules in of_no_type["0"].items()} == {"type": {"inList"}}
    assert refused(share(ada, work, {"id": own, "delete": True})).keys() == {"at_least_one_owner"}
    not_rows = ada.client.put(f"/share/folder/{work}.json", {"permissions": ["x"]})
    assert not_rows.message == "The permissions data must be an array."
    keyed = ada.client.put(f"/share/folder/{work}.json", {"permissions": {"x": {}}})
    assert keyed.message == "The permissions data array keys must be integers."
    assert digest() == before


def test_nothing_in_a_folder_is_shared_with_it(ada, betty, store):
    work = folder(ada)
    resource(ada, work)
    assert share(ada, work, shares.add(betty)).status == 200
    assert betty.client.get("/resources.json").body == []
    check_invariants(store)


def test_what_is_shared_lies_in_the_folder_that_was(ada, betty, store):
    work = folder(ada)
    drafts, mail = folder(ada, "drafts", work), resource(ada, work)
    for each in (work, drafts):
        assert share(ada, each, shares.add(betty)).status == 200
    secret = {"user_id": betty.id, "data": message("x", betty.key.public)}
    assert shares.share(ada, mail, [shares.add(betty)], [secret]).status == 200

    assert parent(betty, "folder", drafts) == work
    assert parent(betty, "resource", mail) == work
    check_invariants(store)


def test_a_folder_that_is_shared_has_in_it_what_was_shared_before(ada, betty, store):
    work, own = folder(ada), folder(betty, "own")
    mail = make.resource(ada, {betty: READ})
    assert move(ada, "resource", mail, work).status == 200
    assert move(betty, "resource", mail, own).status == 200

    assert share(ada, work, shares.add(betty)).status == 200

    assert parent(betty, "resource", mail) == work
    check_invariants(store)


def test_what_was_only_filed_in_a_folder_leaves_it_when_it_is_shared(ada, betty, carol, store):
    work = folder(ada)
    theirs, ours = make.resource(betty, {ada: READ}), make.resource(betty, {ada: UPDATE})
    for each in (theirs, ours):
        assert move(ada, "resource", each, work).status == 200

    assert share(ada, work, shares.add(carol)).status == 200

    assert [parent(ada, "resource", each) for each in (theirs, ours)] == [None, work]
    check_invariants(store)


def test_who_loses_a_folder_has_at_the_root_what_was_in_it(ada, betty, store):
    work = folders.shared(ada, betty)
    mail = make.resource(ada, {betty: READ})
    assert move(ada, "resource", mail, work).status == 200
    assert parent(betty, "resource", mail) == work

    assert share(ada, work, taking(work, betty)).status == 200

    assert betty.client.get(f"/folders/{work}.json").status == 404
    assert parent(betty, "resource", mail) is None
    assert [each["id"] for each in betty.client.get("/resources.json?filter[has-parent]=0").body]
    assert parent(ada, "resource", mail) == work
    check_invariants(store)


def test_who_gets_a_folder_again_has_nothing_in_it_that_nobody_has_there(ada, betty, store):
    work = folders.shared(ada, betty)
    mail = make.resource(ada, {betty: READ})
    assert move(ada, "resource", mail, work).status == 200
    assert share(ada, work, taking(work, betty)).status == 200
    assert move(ada, "resource", mail, None).status == 200

    assert share(ada, work, shares.add(betty)).status == 200

    assert parent(betty, "resource", mail) is None
    check_invariants(store)


def test_who_joins_a_group_finds_its_folders_as_they_are(ada, betty, carol, store):
    team = make.group(ada, betty)
    work = folder(ada)
    drafts = folder(ada, "drafts", work)
    for each in (work, drafts):
        assert share(ada, each, shares.add(team)).status == 200
    mail = make.resource(ada, {team: READ})
    assert move(ada, "resource", mail, drafts).status == 200

    secret = groups.secret(carol, mail)
    assert groups.update(ada, team, groups.add(carol), secrets=[secret]).status == 200

    assert (parent(carol, "folder", drafts), parent(carol, "resource", mail)) == (work, drafts)
    check_invariants(store)
    assert groups.update(ada, team, groups.remove(team, carol)).status == 200
    assert carol.client.get("/folders.json").body == []
    check_invariants(store)


# Where people disagree: a place that gives way is dissolved for everybody


@pytest.fixture
def disputed(ada: Somebody, betty: Somebody, carol: Somebody) -> tuple[str, str]:
    """A resource that Ada has in a folder of hers, Carol in one of hers, and that folder of Ada's.

    Betty has both folders.
    """
    work, play = folders.shared(ada, betty), folders.shared(carol, betty, "play")
    mail = make.resource(ada, {carol: OWNER})
    assert move(ada, "resource", mail, work).status == 200
    assert move(carol, "resource", mail, play).status == 200
    return mail, work


def test_who_gives_way_may_lose_the_resource_by_the_same_share(ada, betty, carol, store, disputed):
    mail, work = disputed
    rows = [shares.add(betty), shares.remove(mail, carol)]

    assert shares.share(ada, mail, rows, resources.secrets(betty)).status == 200

    assert [parent(who, "resource", mail) for who in (ada, betty)] == [work, work]
    assert carol.client.get(f"/resources/{mail}.json").status == 404
    check_invariants(store)


def test_who_gives_way_may_get_another_secret_by_the_same_share(ada, betty, carol, store, disputed):
    mail, work = disputed
    sent = resources.secrets(betty, carol)

    assert shares.share(ada, mail, [shares.add(betty)], sent).status == 200

    places = [parent(who, "resource", mail) for who in (ada, betty, carol)]
    assert places == [work, work, None]
    assert resources.secret_of(carol, mail) == sent[1]["data"]
    check_invariants(store)


def test_who_gives_way_may_leave_the_group_that_somebody_joins(ada, betty, carol, store, disputed):
    mail, work = disputed
    team = make.group(ada, carol)
    rows = [shares.add(team), shares.remove(mail, carol)]
    assert shares.share(ada, mail, rows).status == 200
    changes = [groups.add(betty), groups.remove(team, carol)]

    response = groups.update(ada, team, *changes, secrets=[groups.secret(betty, mail)])

    assert response.status == 200, response.json
    assert [parent(who, "resource", mail) for who in (ada, betty)] == [work, work]
    assert carol.client.get(f"/resources/{mail}.json").status == 404
    check_invariants(store)


# Who keeps a folder by a group of theirs keeps their place


def test_what_lies_in_a_folder_stays_for_an_owner_who_keeps_it_by_a_group(ada, betty, store):
    team, work = make.group(ada, betty), folder(ada)
    mail = make.resource(ada, {betty: OWNER})
    assert move(ada, "resource", mail, work).status == 200

    assert share(ada, work, shares.add(team, OWNER), taking(work, ada)).status == 200

    assert [parent(who, "resource", mail) for who in (ada, betty)] == [work, work]
    check_invariants(store)


def test_what_lies_in_a_folder_stays_for_others_who_keep_it_by_a_group(ada, betty, carol, store):
    team, work = make.group(betty, carol), folders.shared(ada, betty)
    mail = make.resource(betty, {carol: OWNER})
    assert move(betty, "resource", mail, work).status == 200

    assert share(ada, work, shares.add(team, OWNER), taking(work, betty)).status == 200

    assert [parent(who, "resource", mail) for who in (betty, carol)] == [work, work]
    check_invariants(store)


def test_the_place_of_who_shares_counts_first_though_they_keep_the_folder_by_a_group(
    ada, betty, carol, store
):
    team = make.group(ada, carol)
    work, play = folders.shared(ada, carol), folders.shared(betty, carol, "play")
    drafts = folders.shared(ada, betty, "drafts", OWNER)
    assert move(ada, "folder", drafts, work).status == 200
    assert move(betty, "folder", drafts, play).status == 200

    assert share(ada, drafts, shares.add(team, OWNER), taking(drafts, ada)).status == 200

    places = [parent(who, "folder", drafts) for who in (ada, betty, carol)]
    assert places == [work, None, work]
    check_invariants(store)


def test_no_folder_comes_into_itself_where_its_owner_keeps_it_by_a_group(ada, betty, carol, store):
    """I5"""
    team = make.group(ada, carol)
    work = folders.shared(ada, carol, "work", OWNER)
    drafts = folders.shared(ada, betty, "drafts", OWNER)
    play = folders.shared(betty, carol, "play", OWNER)
    for who, each, to in ((ada, drafts, work), (betty, play, drafts), (carol, work, play)):
        assert move(who, "folder", each, to).status == 200

    assert share(ada, drafts, shares.add(team, OWNER), taking(drafts, ada)).status == 200

    assert [parent(carol, "folder", each) for each in (work, drafts, play)] == [None, work, drafts]
    check_invariants(store)


def test_who_hands_a_folder_over_says_nothing_of_where_it_lies(ada, betty, store):
    """Who loses it has lost it when others are given it."""
    work = folders.shared(ada, betty)
    drafts = folder(ada, "drafts", work)

    assert share(ada, drafts, shares.add(betty, OWNER), taking(drafts, ada)).status == 200

    assert parent(betty, "folder", drafts) is None
    check_invariants(store)


def test_what_lay_in_a_folder_for_who_hands_it_over_stays_where_it_is(ada, betty, store):
    work, mail = folder(ada), make.resource(ada, {betty: READ})
    assert move(ada, "resource", mail, work).status == 200

    assert share(ada, work, shares.add(betty, OWNER), taking(work, ada)).status == 200

    assert [parent(who, "resource", mail) for who in (ada, betty)] == [None, None]
    check_invariants(store)
