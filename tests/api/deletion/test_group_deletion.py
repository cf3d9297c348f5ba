"""Deletion of groups, as managers, administrators and members see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.claims import GROUP
from tests.support.faults.hooks import WRITES, Recorder
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Response
from tests.support.world import groups, make, people
from tests.support.world.claims import subject_of
from tests.support.world.departures import (
    NO_PERMISSION,
    TRANSFER_REFUSED,
    causes,
    delete,
    dry_run,
    held_by,
    holders_of,
    owner,
    path_of,
)
from tests.support.world.items.resources import actions, metadata, path, secret_of, stored
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
DENIED = "You are not authorized to access that location."
MISSING = "The group does not exist or has been already deleted."
BOTH = pytest.mark.parametrize("ask", [delete, dry_run], ids=["delete", "dry run"])
PLAIN = {
    *("id", "resource_type_id", "deleted", "expired", "created", "modified", "created_by"),
    *("modified_by", "name", "username", "uri", "description"),
}


@pytest.fixture
def team(carol: Somebody) -> Team:
    """Carol manages it, and Dave belongs to it."""
    return make.group(carol, make.user("dave"), name="Team")


@pytest.fixture
def dave(team: Team) -> Somebody:
    return team.members[1]


@pytest.fixture
def gone(ada: Somebody, team: Team, store: Any) -> Callable[[], set[str]]:
    """Sees that the team is deleted; returns the resources the dry run has named before."""

    def ask() -> set[str]:
        with Recorder() as seen:
            tried = dry_run(ada, team)
        assert (tried.status, tried.message) == (200, "The group can be deleted."), tried.json
        assert not WRITES.intersection(seen.operations)
        response = delete(ada, team)
        assert (response.status, response.body) == (200, None), response.json
        assert response.message == "The group has been deleted successfully."
        assert groups.stored(team).deleted
        check_invariants(store)
        return {shown["id"] for shown in tried.body}

    return ask


@pytest.fixture
def refused(ada: Somebody, team: Team, digest: Callable[[], str]) -> Callable[..., Response]:
    """Asks with a transfer, which is refused and changes nothing."""

    def ask(**transfer: Any) -> Response:
        before = digest()
        response = delete(ada, team, **transfer)
        assert response.status == 400, response.json
        assert digest() == before
        return response

    return ask


# The cases


def test_a_group_without_access_is_deleted(ada, team, gone, store):
    """DelGroupCase0"""
    assert gone() == set()

    row = groups.stored(team)
    assert (row.name, row.modified_by, row.version) == ("Team", ada.id, 2)
    assert [people.stored(who.id).groups for who in team.members] == [{}, {}]
    assert actions(store, team.id) == ["Groups.deleted"]


def test_what_a_user_owns_and_the_group_reads_stays(betty, team, gone):
    """DelGroupCase1"""
    resource_id = make.resource(betty, {team: READ})

    assert gone() == {resource_id}

    assert holders_of(resource_id) == {betty.id: OWNER}
    assert [secret_of(who, resource_id) for who in team.members] == [None, None]
    assert betty.client.get(path(resource_id)).body["personal"]


def test_what_the_group_alone_has_is_deleted_with_it(carol, team, gone, store):
    """DelGroupCase2"""
    resource_id = make.resource(team, uri="u", username="n", description="d")

    assert gone() == {resource_id}

    row = stored(resource_id)
    assert (row.deleted, row.name, row.modified_by) == (True, "mail", carol.id)
    assert (row.uri, row.username, row.description, row.live_type_id) == (None,) * 4
    assert actions(store, resource_id) == []


def test_what_others_may_only_read_is_handed_over(ada, betty, team, refused, store):
    """DelGroupCase3, IN27"""
    resource_id = make.resource(team, {betty: READ})
    assert causes(refused()) == {"resources": {resource_id}}
    assert (dry_run(ada, team).status, dry_run(ada, team).body) == (400, refused().body)

    response = delete(ada, team, owners=[owner(resource_id, betty)])

    assert response.status == 200, response.json
    assert holders_of(resource_id) == {betty.id: OWNER}
    check_invariants(store)


def test_what_another_group_reads_is_handed_over_to_it(ada, betty, team, refused, store):
    """DelGroupCase3"""
    other = make.group(betty)
    resource_id = make.resource(team, {other: READ})
    assert causes(refused()) == {"resources": {resource_id}}

    assert delete(ada, team, owners=[owner(resource_id, other)]).status == 200

    assert holders_of(resource_id) == {other.id: OWNER}
    assert groups.stored(other).version == 2
    check_invariants(store)


def test_a_transfer_of_another_resource_is_refused(betty, team, refused):
    """DelGroupCase3, TransferOwnersOfAnotherResource"""
    mine, other = make.resource(team, {betty: READ}), make.resource(betty, {team: READ})

    for entries in (
        [owner(other, betty)],
        [owner(mine, betty), owner(other, betty)],
        [owner(mine, betty), owner(mine, betty)],
        [{"id": owner(mine, betty)["id"]}],
    ):
        response = refused(owners=entries)
        assert (response.message, response.body) == (TRANSFER_REFUSED, "")


def test_a_permission_that_is_no_uuid_is_refused(betty, team, refused):
    """DelGroupCase3, TransferOwnersBadGroupUserId"""
    entry = owner(make.resource(team, {betty: READ}), betty)

    for bad in ({**entry, "id": "abc"}, {"aco_foreign_key": entry["aco_foreign_key"]}, None):
        response = refused(owners=[bad])
        assert (response.message, response.body) == (NO_PERMISSION, "")


def test_what_the_group_owns_together_with_a_user_stays(betty, team, gone):
    """DelGroupCase4"""
    resource_id = make.resource(team, {betty: OWNER})

    assert gone() == {resource_id}

    assert holders_of(resource_id) == {betty.id: OWNER}


@BOTH
def test_a_manager_may_ask(carol, team, ask):
    """AsGroupOwnerSuccess"""
    make.resource(team)
    response = ask(carol, team)
    assert response.status == 200
    assert groups.stored(team).deleted == (ask is delete)


@BOTH
def test_who_neither_manages_the_group_nor_the_tenant_may_not_ask(betty, dave, team, digest, ask):
    """NotAdminError, AC18"""
    make.resource(team, {betty: READ})
    make.group(betty)
    before = digest()
    for who in (dave, betty):
        response = ask(who, team)
        assert (response.status, response.message, response.body) == (403, DENIED, "")
    assert digest() == before


# The refusal, and transfers


def test_nothing_is_handed_over_to_the_group_itself(betty, team, refused):
    resource_id = make.resource(team, {betty: READ})
    for entry in (owner(resource_id, team), {**owner(resource_id, betty), "id": new_id()}):
        assert causes(refused(owners=[entry])) == {"resources": {resource_id}}


def test_managers_of_a_transfer_are_not_looked_at(ada, team):
    response = delete(ada, team, managers=[{"id": "x"}])
    assert response.status == 200


def test_the_refusal_shows_what_the_transfer_is_made_from(betty, team, refused):
    """IN27"""
    resource_id = make.resource(team, {betty: READ}, username="n")

    response = refused()

    assert response.message.startswith("The group cannot be deleted.")
    assert set(response.body) == {"errors"}
    [shown] = response.body["errors"]["resources"]["sole_owner"]
    assert (shown["id"], shown["username"], shown["personal"]) == (resource_id, "n", False)
    assert shown["folder_parent_id"] is None
    permissions = {each["aro_foreign_key"]: each for each in shown["permissions"]}
    assert permissions[betty.id]["id"] == owner(resource_id, betty)["id"]
    assert permissions[betty.id]["group"] is None
    assert permissions[betty.id]["user"]["profile"]["avatar"]["url"]["medium"]
    assert (permissions[team.id]["user"], permissions[team.id]["group"]["name"]) == (None, "Team")


def test_what_the_group_alone_has_does_not_stand_in_the_way(betty, team, refused):
    blocking = make.resource(team, {betty: READ})
    make.resource(team)
    assert causes(refused()) == {"resources": {blocking}}


def test_a_dry_run_shows_plain_resources(ada, betty, team):
    make.resource(betty, {team: READ}, uri="u")
    encrypted = {**metadata(betty), "metadata_key_type": "shared_key"}
    v5 = make.resource(team, **encrypted)

    shown = {each["id"]: each for each in dry_run(ada, team).body}

    assert len(shown) == 2
    assert shown.pop(v5)["metadata"] == encrypted["metadata"]
    [v4] = shown.values()
    assert set(v4) == PLAIN
    assert v4["uri"] == "u"


def test_a_dry_run_of_a_group_whose_items_are_deleted_shows_none_of_them(ada, team):
    resource_id = make.resource(team)
    assert team.members[0].client.delete(path(resource_id)).status == 200
    assert dry_run(ada, team).body == []


# Which group


@pytest.mark.parametrize("suffix", ["", "/dry-run"])
def test_what_is_no_group_is_not_deleted(ada, team, digest, suffix):
    """AC30, IN33"""
    assert delete(ada, team).status == 200
    before = digest()
    bad = ada.client.delete(f"/groups/abc{suffix}.json")
    assert (bad.status, bad.message) == (400, "The group identifier should be a valid UUID.")
    for group_id in (new_id(), team.id):
        response = ada.client.delete(f"/groups/{group_id}{suffix}.json")
        assert (response.status, response.message, response.body) == (404, MISSING, "")
    assert digest() == before


@pytest.mark.parametrize("suffix", ["", "/dry-run"])
def test_others_do_not_learn_whether_there_is_a_group(ada, carol, team, suffix):
    """AC18, AC30"""
    assert delete(ada, team).status == 200
    for group_id in ("abc", new_id(), team.id):
        response = carol.client.delete(f"/groups/{group_id}{suffix}.json")
        assert (response.status, response.message) == (403, DENIED)


def test_a_manager_may_name_the_group_in_upper_case(carol, team):
    assert carol.client.delete(f"/groups/{team.id.upper()}.json").status == 200


# What is left


def test_members_keep_what_they_reach_in_another_way(ada, betty, carol, dave, team, store):
    """AC32, I8"""
    other = make.group(betty, dave)
    own = make.resource(betty, {team: READ, carol: UPDATE})
    through_other = make.resource(betty, {team: READ, other: READ})
    lost = make.resource(betty, {team: READ})
    carol.client.post(f"/favorites/resource/{own}.json")

    assert delete(ada, team).status == 200

    assert held_by(carol) == {own}
    assert held_by(dave) == {through_other}
    assert dave.client.get(path(lost)).status == 404
    assert carol.client.get(f"{path(own)}?contain[favorite]=1").body["favorite"] is not None
    check_invariants(store)


def test_favorites_of_what_is_lost_are_gone(ada, betty, carol, team):
    resource_id = make.resource(betty, {team: READ})
    marked = carol.client.post(f"/favorites/resource/{resource_id}.json").body["id"]

    assert delete(ada, team).status == 200

    assert carol.client.delete(f"/favorites/{marked}.json").status == 404
    assert carol.client.get("/resources.json?filter[is-favorite]=1").body == []


def test_the_name_of_a_deleted_group_can_be_taken(ada, carol, team, store):
    """RA10"""
    assert delete(ada, team).status == 200
    assert subject_of(GROUP, "team") is None

    members = [{"user_id": carol.id, "is_admin": True}]
    again = ada.client.post("/groups.json", {"name": "Team", "groups_users": members})

    assert again.status == 200
    check_invariants(store)


def test_a_deleted_group_is_nowhere_to_be_seen(ada, team):
    assert delete(ada, team).status == 200
    assert ada.client.get("/groups.json").body == []
    assert ada.client.get(f"/groups/{team.id}.json").status == 404


def test_a_deletion_is_told_to_the_log(ada, team, caplog):
    """HD10"""
    caplog.set_level("INFO")
    response = delete(ada, team)

    [line] = [each.message for each in caplog.records if '"deletion"' in each.message]
    for told in (ada.id, team.id, "success", response.header["id"]):
        assert told in line


def test_the_versions_of_members_and_of_groups_that_share_are_raised(ada, betty, carol, team):
    other, untouched = make.group(betty), make.group(betty)
    make.resource(betty, {team: READ, other: READ})

    assert delete(ada, team).status == 200

    assert [people.stored(who.id).version for who in (carol, betty)] == [2, 1]
    assert [groups.stored(each).version for each in (other, untouched)] == [2, 1]


@pytest.mark.parametrize("body", [{}, {"transfer": None}, {"transfer": {"owners": []}}])
def test_a_body_without_a_transfer_says_nothing(ada, team, body):
    assert ada.client.request("DELETE", f"{path_of(team)}.json", json=body).status == 200


@pytest.mark.parametrize("body", [[], "x", [{"transfer": {}}]], ids=repr)
def test_a_body_that_is_no_object_hands_nothing_over(ada, betty, team, digest, body):
    make.resource(team, {betty: READ})
    before = digest()

    response = ada.client.request("DELETE", f"{path_of(team)}.json", json=body)

    assert (response.status, set(response.body)) == (400, {"errors"})
    assert digest() == before
