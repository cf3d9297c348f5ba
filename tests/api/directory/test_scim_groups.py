"""Groups that a directory provisions by SCIM, under the rules that hold for all groups."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from chalicelib.domain import clock
from chalicelib.domain.directory.scim import words
from chalicelib.domain.ids import GroupId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.directory.scim_groups import MOST_WAITING
from chalicelib.storage import writing
from tests.support.world import groups, make, people, scim
from tests.support.world.items import shares
from tests.support.world.make import Team
from tests.support.world.scim import add, person, remove, replace, team

READ = PermissionType.READ


@pytest.fixture
def directory(ada):
    return scim.directory(ada)


def members_of(shown):
    return {each["value"] for each in shown.get("members", [])}


def inside(ada, group_id):
    """Who really belongs to a group, each with whether they manage it."""
    path = f"/groups/{group_id}.json?contain[groups_users]=1"
    return {each["user_id"]: each["is_admin"] for each in ada.client.get(path).body["groups_users"]}


def refusal(response):
    return response.status, response.json.get("scimType")


def as_team(made, *members):
    """The same group as the tests' world knows one."""
    return Team(GroupId(made["id"]), members)


def test_a_group_is_made_and_the_user_of_the_settings_manages_it(directory, ada, betty, carol):
    answer = directory.post("/Groups", team("crew", betty.id, carol.id, externalId="x-1"))
    made = answer.json
    assert answer.status == 201
    assert answer.headers["location"] == made["meta"]["location"]
    assert made["schemas"] == [words.GROUP]
    assert (made["displayName"], made["externalId"]) == ("crew", "x-1")
    assert members_of(made) == {betty.id, carol.id}
    for each in made["members"]:
        assert each["type"] == "User"
        assert each["$ref"].endswith(f"/Users/{each['value']}")
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False, carol.id: False}
    assert directory.get(f"/Groups/{made['id']}").json == made


def test_a_group_needs_no_members(directory, ada):
    made = directory.grouped("crew")
    assert "members" not in made
    assert inside(ada, made["id"]) == {ada.id: True}


@pytest.mark.parametrize(
    ("sent", "status", "kind"),
    [
        ({}, 400, "invalidSyntax"),
        ({"schemas": [words.GROUP]}, 400, "invalidValue"),
        (team(""), 400, "invalidValue"),
        (team("a" * 256), 400, "invalidValue"),
        (team("crew", "nobody"), 400, "invalidValue"),
        (team("crew", "8e3874ae-4b40-590b-968a-418f704b9d9a"), 400, "invalidValue"),
        (team("crew", shoeSize=7), 400, "invalidPath"),
    ],
)
def test_a_group_that_is_said_wrongly_is_refused(directory, digest, sent, status, kind):
    """NP28"""
    before = digest()
    assert refusal(directory.post("/Groups", sent)) == (status, kind)
    assert digest() == before


def test_a_group_of_people_is_not_taken_over(directory, ada, betty, digest):
    """What people look after is theirs: a directory neither sees nor takes it."""
    group = make.group(betty, ada)
    name = ada.client.get(f"/groups/{group.id}.json").body["name"]
    before = digest()
    assert refusal(directory.post("/Groups", team(name.upper()))) == (409, "uniqueness")
    for response in (
        directory.get(f"/Groups/{group.id}"),
        directory.patch(f"/Groups/{group.id}", add("members", [{"value": ada.id}])),
        directory.put(f"/Groups/{group.id}", team("crew")),
        directory.delete(f"/Groups/{group.id}"),
    ):
        assert response.status == 404
    assert directory.get("/Groups").json["totalResults"] == 0
    assert digest() == before


def test_members_are_added_and_removed(directory, ada, betty, carol):
    made = directory.grouped("crew")
    path = f"/Groups/{made['id']}"
    both = directory.patch(path, add("members", [{"value": betty.id}, {"value": carol.id}]))
    assert members_of(both.json) == {betty.id, carol.id}
    one = directory.patch(path, remove(f'members[value eq "{betty.id}"]'))
    assert members_of(one.json) == {carol.id}
    other = directory.patch(path, replace("members", [{"value": betty.id}]))
    assert members_of(other.json) == {betty.id}
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False}
    none = directory.patch(path, remove("members"))
    assert "members" not in none.json
    assert inside(ada, made["id"]) == {ada.id: True}


def test_a_group_is_replaced(directory, ada, betty, carol):
    made = directory.grouped("crew", betty.id)
    answer = directory.put(f"/Groups/{made['id']}", team("team", carol.id, externalId="x"))
    assert (answer.json["displayName"], answer.json["externalId"]) == ("team", "x")
    assert inside(ada, made["id"]) == {ada.id: True, carol.id: False}
    assert directory.grouped("crew")["id"] != made["id"]


def test_a_name_of_another_group_is_refused(directory, betty, digest):
    made = directory.grouped("crew", betty.id)
    directory.grouped("team")
    before = digest()
    rename = directory.patch(f"/Groups/{made['id']}", replace("displayName", "TEAM"))
    assert refusal(rename) == (409, "uniqueness")
    assert digest() == before


def test_what_changes_nothing_writes_nothing(directory, betty, digest):
    made = directory.grouped("crew", betty.id)
    before = digest()
    again = directory.patch(f"/Groups/{made['id']}", add("members", [{"value": betty.id}]))
    assert again.json == made
    assert directory.put(f"/Groups/{made['id']}", made).json == made
    assert digest() == before


def test_groups_are_listed_filtered_and_shown_in_part(directory, betty, time):
    directory.grouped("crew", betty.id)
    time.pass_by(seconds=1)
    directory.grouped("team")

    def names(query):
        return [each["displayName"] for each in directory.get(query).json["Resources"]]

    assert names("/Groups") == ["crew", "team"]
    assert names("/Groups?startIndex=2") == ["team"]
    assert names('/Groups?filter=displayName eq "CREW"') == ["crew"]
    assert names(f'/Groups?filter=members[value eq "{betty.id}"]') == ["crew"]
    assert names(f'/Groups?filter=members eq "{betty.id}"') == ["crew"]
    [without, _] = directory.get("/Groups?excludedAttributes=members").json["Resources"]
    assert "members" not in without
    assert "version" not in without["meta"]  # it speaks of the members
    [alone, _] = directory.get("/Groups?attributes=members").json["Resources"]
    assert members_of(alone) == {betty.id}
    assert "displayName" not in alone
    search = {"schemas": [words.SEARCH], "filter": 'displayName sw "te"'}
    assert directory.post("/Groups/.search", search).json["totalResults"] == 1


def test_all_resources_are_searched_at_once(directory):
    directory.made("dora")
    directory.grouped("crew")
    search = {"schemas": [words.SEARCH], "attributes": ["displayName", "userName"]}
    found = directory.post("/.search", search).json
    assert found["totalResults"] == 2
    shown = [set(each) - {"schemas", "id"} for each in found["Resources"]]
    assert shown == [{"userName"}, {"displayName"}]


def test_a_version_is_a_condition(directory, betty):
    made = directory.grouped("crew")
    path, version = f"/Groups/{made['id']}", made["meta"]["version"]
    assert directory.get(path, headers={"if-none-match": version}).status == 304
    join = add("members", [{"value": betty.id}])
    fresh = directory.patch(path, join, headers={"if-match": version})
    assert (fresh.status, fresh.headers["etag"] != version) == (200, True)
    stale = {"if-match": version}
    assert directory.patch(path, remove("members"), headers=stale).status == 412
    assert directory.put(path, team("x"), headers=stale).status == 412
    assert directory.delete(path, headers=stale).status == 412


def test_groups_are_found_by_their_version(directory, betty):
    """It speaks of the members, who are read for it."""
    made = directory.grouped("crew", betty.id)
    other = directory.grouped("team")
    for text, found in (
        ("meta.version pr", {made["id"], other["id"]}),
        (f"META.VERSION eq {json.dumps(made['meta']['version'])}", {made["id"]}),
    ):
        search = {"schemas": [words.SEARCH], "filter": text, "excludedAttributes": ["members"]}
        listed = directory.post("/Groups/.search", search).json
        assert {each["id"] for each in listed["Resources"]} == found


def _joins(directory, path, ada, who):
    return directory.patch(path, add("members", [{"value": who.id}]))


def _leaves(directory, path, ada, who):
    return directory.patch(path, remove("members"))


def _is_known_otherwise(directory, path, ada, who):
    return directory.patch(path, replace("externalId", "x-2"))


def _is_taken_out_by_a_manager(directory, path, ada, who):
    path = f"/groups/{path.rsplit('/', 1)[1]}.json"
    members = ada.client.get(f"{path}?contain[groups_users]=1").body["groups_users"]
    [own] = [each["id"] for each in members if each["user_id"] != ada.id]
    return ada.client.put(path, {"groups_users": [{"id": own, "delete": True}]})


def _is_deleted(directory, path, ada, who):
    [member] = directory.get(path).json["members"]
    return ada.client.delete(f"/users/{member['value']}.json")


@pytest.mark.parametrize(
    "change", [_joins, _leaves, _is_known_otherwise, _is_taken_out_by_a_manager, _is_deleted]
)
def test_a_directory_is_told_when_what_it_sees_was_changed_last(
    directory, ada, betty, carol, time, change
):
    """People are shown when the group itself was."""
    made = directory.grouped("crew", betty.id)
    path, own = f"/Groups/{made['id']}", f"/groups/{made['id']}.json"
    modified = ada.client.get(own).body["modified"]
    time.pass_by(seconds=10)
    assert change(directory, path, ada, carol).status in (200, 204)
    time.pass_by(seconds=10)
    meta = directory.get(path).json["meta"]
    assert _since(meta, made["meta"]["created"]) == 10
    [listed] = directory.get("/Groups?excludedAttributes=members").json["Resources"]
    assert listed["meta"]["lastModified"] == meta["lastModified"]
    assert ada.client.get(own).body["modified"] == modified


def _since(meta, moment):
    last, first = (datetime.fromisoformat(each) for each in (meta["lastModified"], moment))
    return (last - first).total_seconds()


def test_a_group_that_nobody_of_goes_is_not_changed(directory, ada, betty, carol, time):
    made = directory.grouped("crew", betty.id)
    make.resource(ada, {carol: READ, as_team(made, ada, betty): READ})
    time.pass_by(seconds=10)
    assert ada.client.delete(f"/users/{carol.id}.json").status == 200
    assert directory.get(f"/Groups/{made['id']}").json == made


def test_a_group_is_deleted(directory, ada, betty):
    made = directory.grouped("crew", betty.id)
    assert directory.delete(f"/Groups/{made['id']}").status == 204
    assert directory.get(f"/Groups/{made['id']}").status == 404
    assert ada.client.get(f"/groups/{made['id']}.json").status == 404
    assert directory.grouped("crew")["id"] != made["id"]


def test_a_group_that_owns_what_nobody_else_does_is_not_deleted(
    directory, ada, betty, carol, digest
):
    """I2"""
    made = directory.grouped("crew", betty.id)
    resource = make.resource(ada, {as_team(made, ada, betty): PermissionType.OWNER, carol: READ})
    assert shares.put(ada, resource, {"permissions": [shares.remove(resource, ada)]}).status == 200
    before = digest()
    answer = directory.delete(f"/Groups/{made['id']}")
    assert answer.status == 409
    assert digest() == before


# Who has yet to set up


def test_who_has_yet_to_set_up_waits_and_joins_with_the_next_change(directory, ada, betty):
    dora = directory.made("dora")
    made = directory.grouped("crew", dora["id"])
    assert members_of(made) == {dora["id"]}
    assert inside(ada, made["id"]) == {ada.id: True}
    people.change(dora["id"], active=True)
    path = f"/Groups/{made['id']}"
    assert "members" not in directory.get(path).json
    changed = directory.patch(path, add("members", [{"value": betty.id}]))
    assert members_of(changed.json) == {dora["id"], betty.id}
    assert inside(ada, made["id"]) == {ada.id: True, dora["id"]: False, betty.id: False}


def test_a_group_is_of_another_version_when_who_waited_is_not_shown_any_more(directory):
    """A directory that asks by the version that it has sees that they are missing."""
    dora = directory.made("dora")
    made = directory.grouped("crew", dora["id"])
    path, version = f"/Groups/{made['id']}", made["meta"]["version"]
    assert directory.get(path, headers={"if-none-match": version}).status == 304
    people.change(dora["id"], active=True)
    seen = directory.get(path, headers={"if-none-match": version})
    assert seen.status == 200
    assert "members" not in seen.json
    assert seen.headers["etag"] == seen.json["meta"]["version"] != version
    current = {"if-match": seen.headers["etag"]}
    assert directory.patch(path, replace("displayName", "team"), headers=current).status == 200


def test_who_has_set_up_joins_when_the_directory_names_them_again(directory, ada):
    """A directory that compares sees that they are missing, and sends them once more."""
    dora = directory.made("dora")
    made = directory.grouped("crew", dora["id"])
    people.change(dora["id"], active=True)
    path = f"/Groups/{made['id']}"
    changed = directory.patch(path, add("members", [{"value": dora["id"]}]))
    assert members_of(changed.json) == {dora["id"]}
    assert inside(ada, made["id"]) == {ada.id: True, dora["id"]: False}


def test_who_waits_and_is_taken_out_waits_no_more(directory, ada):
    dora = directory.made("dora")
    made = directory.grouped("crew", dora["id"])
    path = f"/Groups/{made['id']}"
    assert "members" not in directory.patch(path, remove(f'members[value eq "{dora["id"]}"]')).json
    people.change(dora["id"], active=True)
    directory.patch(path, replace("displayName", "team"))
    assert inside(ada, made["id"]) == {ada.id: True}


def test_who_waits_and_is_added_by_a_manager_waits_no_more(directory, ada, betty):
    """Whom people take out again is not added by whatever else the directory changes."""
    dora = directory.made("dora")
    made = directory.grouped("crew", dora["id"])
    people.change(dora["id"], active=True)
    added = groups.update(ada, made["id"], {"user_id": dora["id"]})
    [entry] = [each for each in added.body["groups_users"] if each["user_id"] == dora["id"]]
    assert members_of(directory.get(f"/Groups/{made['id']}").json) == {dora["id"]}
    assert groups.update(ada, made["id"], {"id": entry["id"], "delete": True}).status == 200
    changed = directory.patch(f"/Groups/{made['id']}", add("members", [{"value": betty.id}]))
    assert members_of(changed.json) == {betty.id}
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False}


def test_who_waits_and_is_deleted_is_shown_no_more(directory):
    dora = directory.made("dora")
    made = directory.grouped("crew", dora["id"])
    assert directory.delete(f"/Users/{dora['id']}").status == 204
    assert "members" not in directory.get(f"/Groups/{made['id']}").json
    renamed = directory.patch(f"/Groups/{made['id']}", replace("displayName", "team"))
    assert renamed.status == 200


# What is shared with a group


def test_who_would_need_secrets_is_not_added_and_the_managers_are_told_once_a_day(
    directory, ada, betty, carol, store, time
):
    """DS05, I1"""
    made = directory.grouped("crew", betty.id)
    make.resource(ada, {as_team(made, ada, betty): READ})
    path = f"/Groups/{made['id']}"
    for _ in range(2):
        answer = directory.patch(path, add("members", [{"value": carol.id}]))
        assert answer.status == 409
        assert "added by a manager" in answer.json["detail"]
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False}
    wanted = [m for m in people.mails(store) if m.template == "group-additions-wanted"]
    assert len(wanted) == 1
    assert carol.id not in str(inside(ada, made["id"]))
    time.pass_by(days=1)
    assert directory.patch(path, add("members", [{"value": carol.id}])).status == 409
    wanted = [m for m in people.mails(store) if m.template == "group-additions-wanted"]
    assert len(wanted) == 2


def test_who_has_the_secrets_already_is_added(directory, ada, betty):
    made = directory.grouped("crew")
    make.resource(ada, {betty: READ, as_team(made, ada): READ})
    answer = directory.patch(f"/Groups/{made['id']}", add("members", [{"value": betty.id}]))
    assert answer.status == 200
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False}


def test_who_leaves_a_group_loses_what_is_shared_with_it(directory, ada, betty):
    """I8"""
    made = directory.grouped("crew", betty.id)
    resource = make.resource(ada, {as_team(made, ada, betty): READ})
    assert betty.client.get(f"/resources/{resource}.json").status == 200
    directory.patch(f"/Groups/{made['id']}", remove("members"))
    assert betty.client.get(f"/resources/{resource}.json").status == 404


def test_who_needs_no_secrets_joins_beside_who_waits_and_needs_some(
    directory, ada, betty, carol, store
):
    """The managers are asked to add those alone for whom it takes secrets."""
    dora = directory.made("dora")
    made = directory.grouped("crew", betty.id, dora["id"])
    make.resource(ada, {as_team(made, ada, betty): READ, carol: READ})
    people.change(dora["id"], active=True)
    changed = directory.patch(f"/Groups/{made['id']}", add("members", [{"value": carol.id}]))
    assert changed.status == 200
    assert members_of(changed.json) == {betty.id, carol.id}
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False, carol.id: False}
    [mail] = [m for m in people.mails(store) if m.template == "group-additions-wanted"]
    assert "Dora" in str(mail.params)
    assert "Carol" not in str(mail.params)


def test_who_waits_for_a_group_with_secrets_goes_on_waiting_and_the_managers_are_told(
    directory, ada, betty, store
):
    dora = directory.made("dora")
    made = directory.grouped("crew", betty.id, dora["id"])
    make.resource(ada, {as_team(made, ada, betty): READ})
    people.change(dora["id"], active=True)
    path = f"/Groups/{made['id']}"
    renamed = directory.patch(path, replace("displayName", "team"))
    assert renamed.status == 200
    assert members_of(renamed.json) == {betty.id}
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False}
    assert directory.patch(path, add("members", [{"value": dora["id"]}])).status == 200
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False}
    wanted = [m for m in people.mails(store) if m.template == "group-additions-wanted"]
    assert [mail.params["people"] for mail in wanted] == ["Dora Lovelace"]


def test_no_more_wait_for_a_group_than_may_where_one_of_them_needs_secrets(
    directory, ada, betty, store
):
    """Dora waited, has set up and needs secrets: she goes on waiting, beside all who are new."""
    dora = directory.made("dora")
    made = directory.grouped("crew", betty.id, dora["id"])
    make.resource(ada, {as_team(made, ada, betty): READ})
    people.change(dora["id"], active=True)
    invited = [each.user for each in make.crowd(MOST_WAITING)]
    for each in invited:
        each.active = False
    writing.put_all(invited)
    rows = [{"value": each.id} for each in invited]
    path = f"/Groups/{made['id']}"
    before = len(people.mails(store))

    refused = directory.patch(path, add("members", rows))
    assert refusal(refused) == (400, "tooMany")
    assert len(people.mails(store)) == before
    assert directory.patch(path, add("members", rows[1:])).status == 200
    assert len(groups.stored(made["id"]).waiting) == MOST_WAITING


def test_a_group_that_goes_with_its_only_member_forgets_its_directory(directory, ada, betty):
    """As one that is deleted by itself."""
    dora = directory.made("dora")
    alone, other = (
        directory.post("/Groups", team(name, dora["id"], externalId=f"x-{name}")).json
        for name in ("crew", "choir")
    )
    people.change(betty.id, role_id=make.roles.ADMIN.id)

    directory.delete(f"/Groups/{other['id']}")
    assert betty.client.delete(f"/users/{ada.id}.json").status == 200

    for each in (alone, other):
        row = groups.stored(each["id"])
        assert (row.deleted, row.waiting, row.keeper, row.external_id) == (True, None, None, None)


# Managers


def test_a_group_keeps_a_manager(ada, betty, carol, digest):
    """I3"""
    directory = scim.directory(ada, betty)
    made = directory.grouped("crew", carol.id)
    path = f"/groups/{made['id']}.json"
    [own] = [
        each["id"]
        for each in ada.client.get(f"{path}?contain[groups_users]=1").body["groups_users"]
        if each["user_id"] == carol.id
    ]
    promoted = ada.client.put(path, {"groups_users": [{"id": own, "is_admin": True}]})
    assert promoted.status == 200
    assert members_of(directory.get(f"/Groups/{made['id']}").json) == {carol.id}
    [keeper] = [
        each["id"]
        for each in ada.client.get(f"{path}?contain[groups_users]=1").body["groups_users"]
        if each["user_id"] == betty.id
    ]
    gone = ada.client.put(path, {"groups_users": [{"id": keeper, "delete": True}]})
    assert gone.status == 200
    before = digest()
    answer = directory.patch(f"/Groups/{made['id']}", remove("members"))
    assert answer.status == 409
    assert "manager" in answer.json["detail"]
    assert digest() == before


def test_a_suspended_member_stays(directory, ada, betty):
    made = directory.grouped("crew", betty.id)
    people.change(betty.id, disabled=clock.now())
    directory.patch(f"/Groups/{made['id']}", replace("displayName", "team"))
    assert inside(ada, made["id"]) == {ada.id: True, betty.id: False}


@pytest.mark.parametrize("group", ["nothing", "8e3874ae-4b40-590b-968a-418f704b9d9a"])
def test_no_group_is_found(directory, digest, group):
    """NP01"""
    before = digest()
    assert directory.get(f"/Groups/{group}").status == 404
    assert directory.put(f"/Groups/{group}", team("x")).status == 404
    assert directory.patch(f"/Groups/{group}", remove("members")).status == 404
    assert directory.delete(f"/Groups/{group}").status == 404
    assert digest() == before
    assert person("x")
