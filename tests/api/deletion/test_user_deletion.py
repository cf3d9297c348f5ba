"""Deletion of users, as administrators and those who stay see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.sign_in import logins
from chalicelib.storage import reading
from chalicelib.tables.claims import FINGERPRINT, GROUP, USERNAME
from chalicelib.tables.users.gpgkeys import Gpgkey
from tests.support.faults.hooks import WRITES, Recorder
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import groups, make, people
from tests.support.world.claims import subject_of
from tests.support.world.departures import (
    NO_MEMBERSHIP,
    NO_PERMISSION,
    TRANSFER_REFUSED,
    causes,
    delete,
    dry_run,
    held_by,
    holders_of,
    manager,
    owner,
    path_of,
)
from tests.support.world.directories import later
from tests.support.world.items.resources import actions, metadata, path, stored
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
DENIED = "You are not authorized to access that location."
MISSING = "The user does not exist or has been already deleted."
BOTH = pytest.mark.parametrize("ask", [delete, dry_run], ids=["delete", "dry run"])


@pytest.fixture
def dave(store: Any) -> Somebody:
    return make.user("dave")


@pytest.fixture
def gone(ada: Somebody, betty: Somebody, store: Any) -> Callable[..., None]:
    """Sees that the dry run finds nothing in the way, writes nothing, and Betty is deleted."""

    def ask() -> None:
        with Recorder() as seen:
            tried = dry_run(ada, betty)
        assert (tried.status, tried.body) == (200, None), tried.json
        assert tried.message == "The user can be deleted."
        assert not WRITES.intersection(seen.operations)
        assert_deleted(delete(ada, betty))

    def assert_deleted(response: Response) -> None:
        assert (response.status, response.body) == (200, None), response.json
        assert response.message == "The user has been deleted successfully."
        assert people.stored(betty.id).deleted
        assert held_by(betty) == set()
        check_invariants(store)

    return ask


@pytest.fixture
def refused(ada: Somebody, betty: Somebody, digest: Callable[[], str]) -> Callable[..., Response]:
    """Asks with a transfer, which is refused and changes nothing."""

    def ask(**transfer: Any) -> Response:
        before = digest()
        response = delete(ada, betty, **transfer)
        assert response.status == 400, response.json
        assert digest() == before
        return response

    return ask


@pytest.fixture
def blocked(ada: Somebody, betty: Somebody, refused: Any) -> Callable[[], dict[str, set[str]]]:
    """What stands in Betty's way, in the refusal and in the dry run alike."""

    def ask() -> dict[str, set[str]]:
        response, tried = refused(), dry_run(ada, betty)
        assert (tried.status, tried.body) == (400, response.body)
        return causes(response)

    return ask


# The cases


def test_who_has_nothing_is_deleted(gone):
    """DelUserCase0"""
    gone()


def test_what_they_alone_have_is_deleted_with_them(betty, gone):
    """DelUserCase1"""
    resource_id = make.resource(betty, uri="u", username="n", description="d")

    gone()

    row = stored(resource_id)
    assert (row.deleted, row.name, row.modified_by) == (True, "mail", betty.id)
    assert (row.uri, row.username, row.description, row.live_type_id) == (None,) * 4
    assert row.version == 2


def test_what_others_may_only_read_is_handed_over(ada, betty, carol, blocked, store):
    """DelUserCase2"""
    resource_id = make.resource(betty, {carol: READ})
    assert blocked() == {"resources": {resource_id}}

    response = delete(ada, betty, owners=[owner(resource_id, carol)])

    assert response.status == 200, response.json
    assert holders_of(resource_id) == {carol.id: OWNER}
    assert carol.client.get(path(resource_id)).body["personal"]
    check_invariants(store)


def test_what_is_handed_over_was_given_now_and_the_resource_is_as_it_was(
    time, ada, betty, carol, store
):
    resource_id = make.resource(betty, {carol: READ})
    before = stored(resource_id)
    time.pass_by(minutes=1)

    assert delete(ada, betty, owners=[owner(resource_id, carol)]).status == 200

    row, permission = stored(resource_id), stored(resource_id).permissions[carol.id]
    assert permission.id == before.permissions[carol.id].id
    assert (permission.created, permission.modified) == (before.created, time.now)
    assert (row.modified, row.modified_by, row.version) == (before.modified, betty.id, 2)


def test_a_transfer_of_another_resource_is_refused(betty, carol, refused):
    """DelUserCase2, TransferOwnersOfAnotherResource"""
    mine, other = make.resource(betty, {carol: READ}), make.resource(carol, {betty: READ})

    for entries in (
        [owner(other, carol)],
        [owner(mine, carol), owner(other, carol)],
        [owner(mine, carol), owner(mine, carol)],
        [{"id": owner(mine, carol)["id"]}],
        [{"id": owner(mine, carol)["id"], "aco_foreign_key": "abc"}],
    ):
        response = refused(owners=entries)
        assert (response.message, response.body) == (TRANSFER_REFUSED, "")


def test_a_permission_that_is_no_uuid_is_refused(betty, carol, refused):
    """DelUserCase2, TransferOwnersBadGroupUserId"""
    entry = owner(make.resource(betty, {carol: READ}), carol)

    for bad in ({**entry, "id": "abc"}, {"aco_foreign_key": entry["aco_foreign_key"]}, None, "x"):
        response = refused(owners=[bad])
        assert (response.message, response.body) == (NO_PERMISSION, "")


def test_what_somebody_else_owns_stays(betty, carol, gone):
    """DelUserCase3"""
    resource_id = make.resource(carol, {betty: READ})

    gone()

    assert holders_of(resource_id) == {carol.id: OWNER}
    assert carol.client.get(path(resource_id)).status == 200


def test_what_a_group_reads_is_handed_over_to_it(ada, betty, carol, blocked, store):
    """DelUserCase4"""
    team = make.group(carol)
    resource_id = make.resource(betty, {team: READ})
    assert blocked() == {"resources": {resource_id}}

    assert delete(ada, betty, owners=[owner(resource_id, team)]).status == 200

    assert holders_of(resource_id) == {team.id: OWNER}
    check_invariants(store)


@pytest.mark.parametrize("type_", [READ, OWNER])
def test_what_their_own_group_has_is_deleted_with_both(betty, gone, type_):
    """DelUserCase5, DelUserCase6"""
    team = make.group(betty)
    resource_id = make.resource(betty, {team: type_})

    gone()

    assert groups.stored(team).deleted
    assert stored(resource_id).deleted


def test_what_only_their_own_group_has_is_deleted_with_both(ada, betty, gone):
    """DelUserCase7"""
    team = make.group(betty, name="Team")
    resource_id = make.resource(team)

    gone()

    row = groups.stored(team)
    assert (row.deleted, row.name, row.modified_by) == (True, "Team", ada.id)
    assert subject_of(GROUP, "team") is None
    assert stored(resource_id).deleted


def test_a_group_gets_another_manager(ada, betty, carol, blocked, store):
    """DelUserCase9"""
    team = make.group(betty, carol)
    assert blocked() == {"groups": {team.id}}

    assert delete(ada, betty, managers=[manager(team, carol)]).status == 200

    assert groups.membership(team, carol).is_admin
    assert people.stored(carol.id).groups[team.id].is_admin
    assert not groups.stored(team).deleted
    check_invariants(store)


@pytest.mark.parametrize("owns_too", [True, False])
def test_a_group_that_owns_needs_a_manager_and_no_owner(
    ada, betty, carol, blocked, store, owns_too
):
    """DelUserCase10, DelUserCase11"""
    team = make.group(betty, carol)
    resource_id = make.resource(betty, {team: OWNER}) if owns_too else make.resource(team)
    assert blocked() == {"groups": {team.id}}

    assert delete(ada, betty, managers=[manager(team, carol)]).status == 200

    assert holders_of(resource_id) == {team.id: OWNER}
    check_invariants(store)


def test_a_membership_that_is_no_uuid_is_refused(betty, carol, refused):
    """DelUserCase11"""
    team = make.group(betty, carol)
    make.resource(team)

    for bad in ({**manager(team, carol), "id": "abc"}, {"group_id": team.id}, None, []):
        response = refused(managers=[bad])
        assert (response.message, response.body) == (NO_MEMBERSHIP, "")


def test_what_their_own_group_owns_and_another_reads_is_handed_over(
    ada, betty, carol, blocked, store
):
    """DelUserCase12"""
    team = make.group(betty)
    resource_id = make.resource(team, {carol: READ})
    assert blocked() == {"resources": {resource_id}}

    assert delete(ada, betty, owners=[owner(resource_id, carol)]).status == 200

    assert holders_of(resource_id) == {carol.id: OWNER}
    assert groups.stored(team).deleted
    check_invariants(store)


def test_what_their_own_group_and_another_own_stays(betty, carol, gone):
    """DelUserCase12"""
    team = make.group(betty)
    resource_id = make.resource(team, {carol: OWNER})

    gone()

    assert groups.stored(team).deleted
    assert holders_of(resource_id) == {carol.id: OWNER}


def test_what_two_groups_of_their_own_have_is_deleted_with_all(betty, gone):
    """DelUserCase13"""
    one, other = make.group(betty), make.group(betty)
    resource_id = make.resource(one, {other: OWNER})

    gone()

    assert groups.stored(one).deleted
    assert groups.stored(other).deleted
    assert stored(resource_id).deleted


def test_what_a_group_owns_and_another_reads_stays(ada, betty, carol, dave, blocked, store):
    """DelUserCase14"""
    team = make.group(betty, carol)
    resource_id = make.resource(team, {dave: READ})
    assert blocked() == {"groups": {team.id}}

    assert delete(ada, betty, managers=[manager(team, carol)]).status == 200

    assert holders_of(resource_id) == {team.id: OWNER, dave.id: READ}
    check_invariants(store)


def test_manager_and_owner_are_named_together(ada, betty, carol, blocked, refused, store):
    """DelUserCase15"""
    team = make.group(betty, carol)
    resource_id = make.resource(betty, {team: READ})
    assert blocked() == {"groups": {team.id}, "resources": {resource_id}}
    managers, owners = [manager(team, carol)], [owner(resource_id, team)]
    assert causes(refused(managers=managers)) == {"resources": {resource_id}}
    assert causes(refused(owners=owners)) == {"groups": {team.id}}

    assert delete(ada, betty, managers=managers, owners=owners).status == 200

    assert groups.membership(team, carol).is_admin
    assert holders_of(resource_id) == {team.id: OWNER}
    check_invariants(store)


# Transfers


def test_the_managers_are_judged_before_the_owners(betty, carol, refused):
    team = make.group(betty, carol)
    make.resource(betty, {team: READ})

    assert refused(managers=["x"], owners=["x"]).message == NO_MEMBERSHIP
    other = {**manager(team, carol), "group_id": new_id()}
    assert refused(managers=[other], owners=["x"]).message == f"{TRANSFER_REFUSED}."
    assert refused(managers=[manager(team, carol)], owners=["x"]).message == NO_PERMISSION


def test_each_group_that_blocks_needs_one_entry(betty, carol, refused):
    one, other = make.group(betty, carol), make.group(betty, carol)
    managed = make.group(carol, betty)
    entries = [manager(team, carol) for team in (one, other)]

    for wrong in (
        entries[:1],
        [*entries, entries[0]],
        [*entries, manager(managed, carol)],
        [entries[0], {"id": entries[1]["id"]}],
    ):
        response = refused(managers=wrong)
        assert (response.message, response.body) == (f"{TRANSFER_REFUSED}.", "")


def test_an_identifier_that_is_nobodys_changes_nothing(betty, carol, refused):
    team = make.group(betty, carol)
    resource_id = make.resource(betty, {carol: READ})
    owners, managers = [owner(resource_id, carol)], [manager(team, carol)]
    nobody = {"id": new_id()}

    assert causes(refused(managers=[managers[0] | nobody], owners=owners)) == {"groups": {team.id}}
    found = causes(refused(managers=managers, owners=[owners[0] | nobody]))
    assert found == {"resources": {resource_id}}


def test_nothing_is_handed_over_to_who_goes(betty, carol, refused):
    own, team = make.group(betty), make.group(betty, carol)
    resource_id = make.resource(betty, {carol: READ, own: READ})
    managers = [manager(team, carol)]

    for holder in (betty, own):
        refusal = refused(managers=managers, owners=[owner(resource_id, holder)])
        assert causes(refusal) == {"resources": {resource_id}}
    refusal = refused(managers=[manager(team, betty)], owners=[owner(resource_id, carol)])
    assert causes(refusal) == {"groups": {team.id}}


def test_an_entry_counts_for_the_item_its_permission_is_of(ada, betty, carol, dave, refused):
    one, other = (make.resource(betty, {carol: READ, dave: READ}) for _ in range(2))
    both_of_one = [owner(one, carol), {**owner(one, dave), "aco_foreign_key": other}]
    assert causes(refused(owners=both_of_one)) == {"resources": {other}}

    crossed = [owner(one, carol), owner(other, dave)]
    for entry, item in zip(crossed, (other, one), strict=True):
        entry["aco_foreign_key"] = item
    assert delete(ada, betty, owners=crossed).status == 200

    assert holders_of(one) == {carol.id: OWNER, dave.id: READ}
    assert holders_of(other) == {carol.id: READ, dave.id: OWNER}


def test_identifiers_of_a_transfer_may_be_in_upper_case(ada, betty, carol, store):
    team, resource_id = make.group(betty, carol), make.resource(betty, {carol: READ})
    entries = [manager(team, carol), owner(resource_id, carol)]
    managers, owners = ([{k: v.upper() for k, v in each.items()}] for each in entries)

    assert delete(ada, betty, managers=managers, owners=owners).status == 200
    check_invariants(store)


def test_one_becomes_manager_of_several_groups(ada, betty, carol, store):
    teams = [make.group(betty, carol) for _ in range(3)]

    managers = [manager(team, carol) for team in teams]
    assert delete(ada, betty, managers=managers).status == 200

    assert all(entry.is_admin for entry in people.stored(carol.id).groups.values())
    check_invariants(store)


@pytest.mark.parametrize(
    "body",
    [
        *(None, {}, {"transfer": None}, {"transfer": {}}, {"owners": [{"id": "x"}]}),
        {"transfer": {"owners": [], "managers": None}},
    ],
)
def test_a_body_without_a_transfer_says_nothing(ada, betty, body):
    assert ada.client.request("DELETE", f"{path_of(betty)}.json", json=body).status == 200


@pytest.mark.parametrize("body", [{"transfer": []}, {"transfer": "x"}, {"transfer": 1}])
def test_a_transfer_that_is_no_object_is_refused(ada, betty, digest, body):
    """NP06, NP07"""
    before = digest()
    response = ada.client.request("DELETE", f"{path_of(betty)}.json", json=body)
    assert (response.status, response.message) == (400, "The transfer must be an object.")
    assert digest() == before


@pytest.mark.parametrize("sent", ["", "x", 1, False, {}, {"0": {}}])
def test_a_transfer_that_is_no_list_is_refused(betty, refused, sent):
    """NP07"""
    assert refused(owners=sent).message == NO_PERMISSION
    assert refused(managers=sent).message == NO_MEMBERSHIP


def test_a_transfer_of_too_many_is_refused(ada, betty, digest):
    """NP24"""
    before = digest()
    response = delete(ada, betty, owners=[{}] * 10_001)
    assert (response.status, digest()) == (413, before)


def test_a_transfer_where_nothing_blocks_is_refused(betty, carol, refused):
    resource_id = make.resource(carol, {betty: READ})
    assert refused(owners=[owner(resource_id, carol)]).message == TRANSFER_REFUSED


# The refusal


def test_the_refusal_shows_what_the_transfer_is_made_from(ada, betty, carol, refused):
    """IN28"""
    own, team = make.group(betty, name="Own"), make.group(betty, carol, name="Team")
    resource_id = make.resource(betty, {team: READ, carol: UPDATE}, username="n")

    response = refused()

    assert response.message.startswith("The user cannot be deleted.")
    assert "only manager" in response.message
    assert "only owner" in response.message
    assert set(response.body) == {"errors", "groups_to_delete"}
    [alone] = response.body["groups_to_delete"]
    assert (alone["id"], alone["name"], "groups_users" in alone) == (own.id, "Own", False)
    [shown] = response.body["errors"]["groups"]["sole_manager"]
    members = {entry["user_id"]: entry for entry in shown["groups_users"]}
    assert members.keys() == {betty.id, carol.id}
    assert members[carol.id]["id"] == groups.membership(team, carol).id
    profile = members[carol.id]["user"]["profile"]
    assert (profile["first_name"], "avatar" in profile) == ("Carol", False)
    assert_shows_resource(response, resource_id, team, carol)


def assert_shows_resource(response: Response, resource_id: str, team: Team, who: Somebody) -> None:
    [shown] = response.body["errors"]["resources"]["sole_owner"]
    assert (shown["id"], shown["name"], shown["username"]) == (resource_id, "mail", "n")
    assert (shown["personal"], shown["folder_parent_id"]) == (False, None)
    permissions = {each["aro_foreign_key"]: each for each in shown["permissions"]}
    assert len(permissions) == 3
    assert permissions[who.id]["id"] == owner(resource_id, who)["id"]
    assert permissions[who.id]["group"] is None
    assert permissions[who.id]["user"]["profile"]["avatar"]["url"]["medium"]
    assert permissions[team.id]["user"] is None
    assert permissions[team.id]["group"]["name"] == "Team"


def test_the_refusal_names_only_what_blocks(betty, carol, refused):
    make.resource(betty, {carol: READ})

    response = refused()

    assert set(response.body) == {"errors"}
    assert set(response.body["errors"]) == {"resources"}
    assert "manager" not in response.message


def test_the_refusal_shows_encrypted_metadata(betty, carol, refused):
    fields = {**metadata(betty), "metadata_key_type": "shared_key"}
    make.resource(betty, {carol: READ}, **fields, resource_type_id=resource_types.V5_DEFAULT.id)

    [shown] = refused().body["errors"]["resources"]["sole_owner"]

    assert shown["metadata"] == fields["metadata"]
    assert "name" not in shown


# Who may ask, and for whom


@BOTH
def test_only_administrators_delete_users(betty, carol, digest, ask):
    """Error_NotAdmin"""
    before = digest()
    response = ask(betty, carol)
    assert (response.status, response.message, response.body) == (403, DENIED, "")
    bad = betty.client.delete("/users/abc.json")
    assert (bad.status, bad.message) == (403, DENIED)
    assert digest() == before


@pytest.mark.parametrize("suffix", ["", "/dry-run"])
def test_nobody_deletes_themselves(ada, digest, suffix):
    """Error_CannotDeleteSelf, Error_CannotDeleteSelf_UpperCase, W9"""
    before = digest()
    for own in (ada.id, ada.id.upper()):
        response = ada.client.delete(f"/users/{own}{suffix}.json")
        assert (response.status, response.body) == (400, "")
        assert response.message == "You are not allowed to delete yourself."
    assert digest() == before


@pytest.mark.parametrize("suffix", ["", "/dry-run"])
def test_what_is_no_user_is_not_deleted(ada, betty, digest, suffix):
    """AC30, IN33"""
    assert delete(ada, betty).status == 200
    before = digest()
    bad = ada.client.delete(f"/users/abc{suffix}.json")
    assert (bad.status, bad.message) == (400, "The user identifier should be a valid UUID.")
    for user_id in (new_id(), betty.id):
        response = ada.client.delete(f"/users/{user_id}{suffix}.json")
        assert (response.status, response.message, response.body) == (404, MISSING, "")
    assert digest() == before


def test_who_is_suspended_or_has_yet_to_set_up_can_be_deleted(ada, betty, store):
    invited = people.invite(store, ada)
    people.suspend(betty)

    assert delete(ada, betty).status == 200
    assert ada.client.delete(f"/users/{invited.id}.json").status == 200

    start = f"/setup/start/{invited.id}/{invited.token}.json"
    assert Client().get(start).status == 400
    check_invariants(store)


@pytest.mark.parametrize("ask", [dry_run, delete])
def test_the_only_administrator_who_stays_is_not_deleted(ada, digest, time, ask):
    """W9: of whoever asks it is known already that they will be suspended."""
    edith = make.user("edith", admin=True)
    people.change(ada.id, disabled=later(time.now, days=1))
    before = digest()
    response = ask(ada, edith)
    message = "The last active administrator cannot be deleted."
    assert (response.status, response.message) == (400, message)
    assert digest() == before


def test_an_administrator_can_be_deleted_by_another(ada, store):
    frances = make.user("frances", admin=True)
    assert delete(ada, frances).status == 200
    check_invariants(store)


# What is left


def test_nothing_of_a_deleted_user_is_left(ada, betty, carol, store):
    """IN29, I9"""
    team = make.group(carol, betty)
    own, shared = make.resource(betty), make.resource(carol, {betty: UPDATE, team: READ})
    betty.client.post(f"/favorites/resource/{shared}.json")

    assert delete(ada, betty).status == 200

    row = people.stored(betty.id)
    assert (row.deleted, row.active, row.groups) == (True, True, {})
    assert row.username == betty.user.username
    assert held_by(betty) == set()
    assert stored(own).permissions == {}
    assert holders_of(shared) == {carol.id: OWNER, team.id: READ}
    assert Gpgkey.get(betty.gpgkey_id).deleted
    assert subject_of(USERNAME, "betty@example.com") is None
    assert subject_of(FINGERPRINT, betty.key.fingerprint) == betty.gpgkey_id
    assert actions(store, betty.id)[-1:] == ["Users.deleted"]
    assert actions(store, own) == []
    check_invariants(store)


def test_a_deleted_user_is_signed_out_at_once(ada, betty):
    """AU29, AU27"""
    session, tokens = logins.new_session(betty.user)
    logins.open_session(betty.user, session, tokens, verify_token=new_id(), expiry=4_000_000_000)
    assert delete(ada, betty).status == 200

    assert betty.client.get("/users/me.json").status == 403
    body = {"user_id": betty.id, "refresh_token": tokens.refresh_token}
    response = Client().post("/auth/jwt/refresh.json", body, **CSRF_PAIR)
    assert (response.status, response.message) == (400, "The user is deleted.")


def test_a_cookie_of_a_deleted_user_is_dead(ada, betty, cookie_of):
    cookies = {"passbolt_session": cookie_of(betty)}
    assert delete(ada, betty).status == 200
    assert Client().get("/users/me.json", cookies=cookies).status == 403


def test_a_deleted_user_is_nowhere_to_be_seen(ada, betty, carol):
    make.group(carol, betty)
    assert delete(ada, betty).status == 200

    assert ada.client.get(f"/users/{betty.id}.json").status == 404
    listed = ada.client.get("/users.json").body
    assert {user["id"] for user in listed} == {ada.id, carol.id}
    assert betty.gpgkey_id not in {key["id"] for key in ada.client.get("/gpgkeys.json").body}
    [group] = ada.client.get("/groups.json?contain[groups_users]=1").body
    assert [entry["user_id"] for entry in group["groups_users"]] == [carol.id]


def test_an_address_can_be_invited_again_and_a_key_never(ada, betty, store):
    """RA10, IN34"""
    assert delete(ada, betty).status == 200

    again = people.invite(store, ada, "betty")
    body = {
        "authentication_token": {"token": again.token},
        "gpgkey": {"armored_key": betty.key.public},
    }
    response = Client().post(f"/setup/complete/{again.id}.json", body, **CSRF_PAIR)
    assert response.status == 400
    assert "fingerprint" in response.body
    check_invariants(store)


def test_a_recovery_link_of_a_deleted_user_is_dead(ada, betty, store):
    people.recover(Client(), username=betty.user.username)
    [mail] = people.mails(store)
    assert delete(ada, betty).status == 200

    start = f"/setup/recover/start/{betty.id}/{people.token_of(mail)}.json"
    assert Client().get(start).status == 400


def test_what_a_deleted_user_shared_still_names_them(ada, betty, carol):
    resource_id = make.resource(betty, {carol: OWNER})
    assert delete(ada, betty).status == 200

    shown = carol.client.get(f"{path(resource_id)}?contain[creator]=1").body
    assert (shown["creator"]["id"], shown["creator"]["deleted"]) == (betty.id, True)


def test_a_deletion_is_told_to_the_log(ada, betty, caplog):
    """HD10"""
    caplog.set_level("INFO")
    response = delete(ada, betty)

    [line] = [each.message for each in caplog.records if '"deletion"' in each.message]
    for told in (ada.id, betty.id, "success", response.header["id"]):
        assert told in line


def test_the_version_of_each_group_they_leave_is_raised(ada, betty, carol):
    staying, reading_too = make.group(carol, betty), make.group(carol)
    make.resource(carol, {betty: READ, reading_too: READ})
    untouched = make.group(carol)

    assert delete(ada, betty).status == 200

    versions = [groups.stored(team).version for team in (staying, reading_too, untouched)]
    assert versions == [2, 2, 1]


def test_the_key_row_of_a_deleted_user_stays(ada, betty):
    assert delete(ada, betty).status == 200
    row = reading.find(Gpgkey.by_id(betty.gpgkey_id))
    assert row is not None
    assert row["armored_key"]["S"] == betty.key.public
