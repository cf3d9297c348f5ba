"""Groups: what each transaction holds, and what becomes of requests that meet each other."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextvars import Context
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from tests.support.environment import ENGINE
from tests.support.faults.hooks import Around, Killed, Killing, Once
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Client, Response
from tests.support.world import groups, make, people
from tests.support.world.groups import (
    add,
    at,
    created,
    demote,
    errors,
    promote,
    remove,
    secret,
    shared,
)
from tests.support.world.items import shares
from tests.support.world.items.resources import PGP, actions, secret_of, secrets, secrets_of
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
DENIED = "You are not authorized to access that location."
MANY = 150 if ENGINE == "embedded" else 105
"""More members than one transaction has rows."""
MOST = 500 if ENGINE == "embedded" else 120
"""As many as come to one group; moto takes minutes for them."""


def given(who: Somebody, *resource_ids: str) -> dict[str, Any]:
    return {"secrets": [secret(who, each) for each in resource_ids]}


def update(who: Somebody, team: Team | str, *changes: Any, **fields: Any) -> Response:
    response = groups.update(who, team, *changes, **fields)
    assert response.status == 200, response.json
    return response


def touch(team: Team) -> None:
    """Change a group in a way nobody sees."""
    row = groups.stored(team)
    row.version += 1
    row.save()


# Creation


def test_a_creation_writes_the_group_its_members_its_claim_and_its_record(ada, betty, carol, store):
    before = people.counts(store)

    group = created(ada, betty, carol)

    after = people.counts(store)
    written = {name: after[name] - before.get(name, 0) for name in after}
    assert {name: count for name, count in written.items() if count} == {
        "groups": 1,
        "memberships": 2,
        "claims": 1,
        "action_logs": 1,
        "outbox": 1,
    }
    assert people.stored(betty.id).groups[group["id"]].is_admin
    assert not people.stored(carol.id).groups[group["id"]].is_admin
    assert actions(store, group["id"]) == ["Groups.created"]
    check_invariants(store)


def test_who_is_no_administrator_any_more_creates_nothing(ada, betty, refused_after):
    response = refused_after(
        lambda: people.change(ada.id, role_id=betty.user.role_id),
        lambda: groups.create(ada, groups.body(betty)),
    )

    assert (response.status, response.message) == (403, DENIED)


def test_a_name_that_is_taken_meanwhile_is_not_given(ada, betty, refused_after):
    """RA10"""
    response = refused_after(
        lambda: created(ada, betty, name="TEAM"),
        lambda: groups.create(ada, groups.body(betty, name="team")),
    )

    assert errors(response) == {"name": {"group_unique"}}


def test_who_is_deleted_meanwhile_becomes_no_member(ada, betty, carol, refused_after):
    """IN25"""

    def delete() -> None:
        people.delete(carol)
        people.change(carol.id, version=people.stored(carol.id).version + 1)

    response = refused_after(delete, lambda: groups.create(ada, groups.body(betty, carol)))

    assert errors(response) == at(1, "user_id", rules={"user_is_not_soft_deleted"})


def test_memberships_that_are_new_meanwhile_are_kept(ada, betty, store):
    with Meanwhile(lambda: created(ada, betty, name="other")):
        created(ada, betty, name="team")

    assert len(people.stored(betty.id).groups) == 2
    check_invariants(store)


# Updates


def test_an_update_writes_each_thing_where_it_belongs(ada, betty, carol, store):
    dave = make.user("dave")
    team = make.group(betty, dave)
    mail = shared(betty, team)

    update(betty, team, add(carol), remove(team, dave), **given(carol, mail))

    assert groups.members(team) == {betty.id: True, carol.id: False}
    assert people.stored(carol.id).groups[team.id].id == groups.membership(team, carol).id
    assert people.stored(dave.id).groups == {}
    assert [people.stored(who.id).version for who in (betty, carol, dave)] == [1, 2, 2]
    assert groups.stored(team).version == 2
    assert [secret_of(who, mail) is None for who in (betty, carol, dave)] == [False, False, True]
    assert actions(store, team.id) == ["Groups.updated"]
    check_invariants(store)


def test_a_secret_that_is_given_is_of_the_revision_there_is(betty, carol):
    team = make.group(betty)
    mail = shared(betty, team)
    sent = {"name": "new", "secrets": secrets(betty)}
    assert betty.client.put(f"/resources/{mail}.json", sent).status == 200

    update(betty, team, add(carol), **given(carol, mail))

    found = carol.client.get(f"/resources/{mail}.json?contain[secret]=1")
    assert found.status == 200


@pytest.mark.parametrize("who", ["ada", "betty"])
def test_who_may_not_any_more_changes_nothing(ada, betty, carol, refused_after, who):
    """AC16"""
    dave = make.user("dave")
    team = make.group(betty, carol, dave, managers=2)
    caller, taken = {
        "ada": (ada, lambda: people.change(ada.id, role_id=betty.user.role_id)),
        "betty": (betty, lambda: update(carol, team, demote(team, betty))),
    }[who]

    response = refused_after(taken, lambda: groups.update(caller, team, promote(team, dave)))

    assert (response.status, response.message) == (403, DENIED)


def test_who_is_demoted_before_the_group_is_read_changes_nothing(betty, carol):
    """AC16: the group's version then does not tell."""
    dave = make.user("dave")
    team = make.group(betty, carol, managers=2)
    betty.client.get("/groups.json")  # reads the signing keys, which are then kept

    with Once(1, lambda: update(carol, team, demote(team, betty))):
        response = groups.update(betty, team, add(dave))

    assert (response.status, response.message) == (403, DENIED)
    assert groups.members(team) == {betty.id: False, carol.id: True}


def test_who_is_suspended_meanwhile_changes_nothing(betty, carol, refused_after):
    team = make.group(betty)

    response = refused_after(
        lambda: people.suspend(betty), lambda: groups.update(betty, team, add(carol))
    )

    assert response.status == 403


def test_an_administrator_who_managed_until_now_adds_nobody(ada, betty, carol, store):
    """W5: the rest of what they ask for is done."""
    team = make.group(ada, betty, managers=2)

    with Meanwhile(lambda: update(betty, team, demote(team, ada))):
        update(ada, team, add(carol), name="crew")

    assert groups.members(team) == {ada.id: False, betty.id: True}
    assert groups.stored(team).name == "crew"
    check_invariants(store)


def test_a_name_that_is_taken_meanwhile_is_not_taken_twice(ada, betty, refused_after):
    """RA10"""
    team = make.group(betty, name="team")

    response = refused_after(
        lambda: created(ada, betty, name="CREW"), lambda: groups.update(ada, team, name="crew")
    )

    assert errors(response) == {"name": {"group_unique"}}


def test_a_group_that_is_renamed_meanwhile_leaves_no_claim(ada, betty, store):
    team = make.group(betty, name="team")

    with Meanwhile(lambda: update(ada, team, name="staff")):
        update(ada, team, name="crew")

    assert groups.stored(team).name == "crew"
    check_invariants(store)


def test_who_is_deleted_meanwhile_is_not_added(betty, carol, refused_after):
    """IN25"""
    team = make.group(betty)

    def delete() -> None:
        people.delete(carol)
        people.change(carol.id, version=people.stored(carol.id).version + 1)

    response = refused_after(delete, lambda: groups.update(betty, team, add(carol)))

    assert errors(response) == at(0, "user_id", rules={"user_is_not_soft_deleted"})


def test_who_is_added_meanwhile_is_not_added_twice(betty, carol, refused_after):
    """IN25"""
    team = make.group(betty)

    response = refused_after(
        lambda: update(betty, team, add(carol)), lambda: groups.update(betty, team, add(carol))
    )

    assert errors(response) == at(0, "group_id", rules={"group_user_unique"})


def test_what_the_group_gets_meanwhile_needs_a_secret_too(ada, betty, carol, refused_after):
    """RA01, I1"""
    team = make.group(betty)
    mail = make.resource(ada)

    response = refused_after(
        lambda: shares.share(ada, mail, [shares.add(team)], secrets(betty)),
        lambda: groups.update(betty, team, add(carol)),
    )

    assert errors(response) == at(0, "secrets", rules={"all_missing"})


def test_what_the_group_loses_meanwhile_is_not_given(ada, betty, carol, refused_after):
    """I1"""
    team = make.group(betty)
    mail = shared(ada, team)

    response = refused_after(
        lambda: shares.share(ada, mail, [shares.remove(mail, team)]),
        lambda: groups.update(betty, team, add(carol), **given(carol, mail)),
    )

    assert errors(response) == at(0, "secrets", "0", "resource_id", rules={"only_missing"})


def test_who_loses_their_own_access_meanwhile_needs_a_secret(ada, betty, carol, refused_after):
    """RA12"""
    team = make.group(betty)
    mail = make.resource(ada, {team: READ, carol: READ})

    response = refused_after(
        lambda: shares.share(ada, mail, [shares.remove(mail, carol)]),
        lambda: groups.update(betty, team, add(carol)),
    )

    assert errors(response) == at(0, "secrets", rules={"all_missing"})


def test_who_loses_another_group_meanwhile_needs_a_secret(ada, betty, carol, refused_after):
    """RA12"""
    team, other = make.group(betty), make.group(ada, carol)
    shared(betty, team, other)

    response = refused_after(
        lambda: update(ada, other, remove(other, carol)),
        lambda: groups.update(betty, team, add(carol)),
    )

    assert errors(response) == at(0, "secrets", rules={"all_missing"})


def test_who_is_removed_from_two_groups_at_once_keeps_nothing(ada, betty, carol, store):
    """I8: each of the two would have let them keep what they have through the other."""
    team, other = make.group(betty, carol), make.group(betty, carol)
    mail = shared(betty, team, other)

    with Meanwhile(lambda: update(betty, other, remove(other, carol))):
        update(betty, team, remove(team, carol))

    assert secret_of(carol, mail) is None
    check_invariants(store)


def test_of_two_managers_who_leave_at_once_one_stays(ada, betty, carol, refused_after, store):
    """IN23"""
    team = make.group(betty, carol, managers=2)

    response = refused_after(
        lambda: update(carol, team, demote(team, carol)),
        lambda: groups.update(ada, team, remove(team, betty)),
    )

    assert errors(response) == at(0, "is_admin", rules={"at_least_one_group_manager"})
    check_invariants(store)


def test_who_leaves_meanwhile_is_not_promoted(ada, betty, carol, refused_after):
    team = make.group(betty, carol)
    change = promote(team, carol)

    response = refused_after(
        lambda: update(ada, team, remove(team, carol)), lambda: groups.update(betty, team, change)
    )

    assert errors(response) == at(0, "id", rules={"exists"})


def test_new_secrets_meanwhile_are_not_mixed_with_older_ones(ada, betty, carol, store):
    """I13"""
    team = make.group(betty)
    mail = shared(ada, team)
    renewal = {"secrets": secrets(ada, betty)}

    with Meanwhile(lambda: ada.client.put(f"/resources/{mail}.json", renewal)):
        update(betty, team, add(carol), **given(carol, mail))

    check_invariants(store)


def test_a_group_that_never_rests_is_in_conflict(ada, betty, carol):
    """I14"""
    team = make.group(betty)

    class Touching(Around):
        def __call__(self, operation: str, parameters: Any, send: Any) -> Any:
            if operation == "TransactWriteItems":
                Context().run(touch, team)
            return send()

    with Touching():
        response = groups.update(betty, team, add(carol))

    assert response.status == 409
    assert groups.members(team) == {betty.id: True}


@pytest.mark.parametrize("what", ["create", "update"])
def test_a_change_leaves_a_line_in_the_log_of_the_service(ada, betty, carol, caplog, what):
    """HD10"""
    caplog.set_level(logging.INFO, logger="keyhaven")
    team = make.group(betty).id
    if what == "create":
        team = created(ada, betty)["id"]
    else:
        update(ada, team, name="crew")

    lines = [json.loads(record.message) for record in caplog.records if record.name == "keyhaven"]
    [line] = [line for line in lines if line["event"] == "group-change"]
    assert (line["actor"], line["object"], line["result"]) == (ada.id, team, "success")
    assert line["request_id"] == lines[-1]["request_id"]


Ask = Callable[[], Response]


def updating(who: Somebody, team: Team, *changes: Any, **fields: Any) -> Ask:
    return lambda: groups.update(who, team, *changes, **fields)


# Large changes


@pytest.fixture
def crowd(store: Any) -> tuple[Somebody, ...]:
    return make.crowd(MANY)


def everything(crowd: tuple[Somebody, ...], *resource_ids: str) -> dict[str, Any]:
    """A secret of each of these for each of a crowd."""
    sent = [
        {"user_id": who.id, "resource_id": resource_id, "data": PGP}
        for who in crowd
        for resource_id in resource_ids
    ]
    return {"secrets": sent}


def joining(crowd: tuple[Somebody, ...]) -> list[dict[str, Any]]:
    return [add(who) for who in crowd]


def leaving(team: Team, crowd: tuple[Somebody, ...]) -> list[dict[str, Any]]:
    return [remove(team, who) for who in crowd]


def signed_in(who: Somebody) -> Client:
    return Client(make.access_token(people.stored(who.id)))


def test_a_group_of_many_is_created_whole(ada, betty, crowd, store):
    """FT10"""
    group = created(ada, betty, *crowd)

    assert len(group["groups_users"]) == MANY + 1
    assert groups.members(group["id"]).keys() == {betty.id, *(who.id for who in crowd)}
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_many_join_and_leave_together(betty, crowd, store):
    """FT10"""
    team = make.group(betty)
    mails = [shared(betty, team) for _ in range(3)]

    update(betty, team, *joining(crowd), **everything(crowd, *mails))

    assert len(groups.members(team)) == MANY + 1
    assert secrets_of(crowd, mails[2]) == {PGP}
    assert store.rows("test-operations") == []
    check_invariants(store)

    update(betty, team, *leaving(team, crowd))

    assert groups.members(team) == {betty.id: True}
    assert {each for mail in mails for each in secrets_of(crowd, mail)} == {None}
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_as_many_as_a_request_may_name_join_and_leave(ada, betty, store):
    crowd = make.crowd(MOST)
    group = created(ada, betty, *crowd[: MOST // 2])
    team = Team(group["id"], ())

    update(ada, team, *leaving(team, crowd[: MOST // 2]))
    update(betty, team, *joining(crowd))
    check_invariants(store)
    update(betty, team, *leaving(team, crowd))

    assert groups.members(team) == {betty.id: True}
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_a_refused_change_of_many_changes_nothing(betty, crowd, digest):
    """IN12"""
    team = make.group(betty)
    mail = shared(betty, team)
    sent = everything(crowd, mail)
    sent["secrets"].pop()
    before = digest()

    response = groups.update(betty, team, *joining(crowd), **sent)

    assert errors(response) == at(MANY - 1, "secrets", rules={"all_missing"})
    assert digest() == before


def test_of_many_one_is_deleted_meanwhile_and_nobody_joins(betty, crowd, store):
    """IN12, IN25"""
    team = make.group(betty)
    last = crowd[-1]

    def delete() -> None:
        people.delete(last)
        people.change(last.id, version=people.stored(last.id).version + 1)

    with Meanwhile(delete):
        response = groups.update(betty, team, *joining(crowd))

    assert errors(response) == at(MANY - 1, "user_id", rules={"user_is_not_soft_deleted"})
    assert groups.members(team) == {betty.id: True}
    assert all(people.stored(who.id).lock is None for who in crowd)
    assert store.rows("test-operations") == []
    check_invariants(store)


def after_commit(ask: Callable[[], object]) -> None:
    """Send a request whose process dies when its change is committed and not yet applied."""

    class Dying(Killing):
        def __call__(self, operation: str, parameters: Any, send: Any) -> Any:
            answer = send()
            if self.dead or any(map(_commits, parameters.get("TransactItems", ()))):
                self._die()
            return answer

    with pytest.raises(Killed), Dying(at=-1):
        ask()


def _commits(line: Any) -> bool:
    """Whether a line of a transaction says that the operation is committed."""
    changed = line.get("Update", {})
    names = changed.get("ExpressionAttributeNames", {}).values()
    return changed.get("TableName") == "test-operations" and "committed" in names


def test_who_is_removed_among_many_loses_access_with_the_commit(betty, crowd, store):
    """FT12, I8"""
    team = make.group(betty, *crowd)
    mail = shared(betty, team)
    last = crowd[-1]
    client = signed_in(last)
    assert client.get(f"/secrets/resource/{mail}.json").status == 200

    after_commit(updating(betty, team, *leaving(team, crowd)))

    assert secret_of(last, mail) is not None
    assert client.get(f"/secrets/resource/{mail}.json").status == 404
    assert client.get("/resources.json").body == []
    check_invariants(store)


@pytest.mark.parametrize("reader", ["list", "view", "update"])
def test_whoever_reads_a_half_written_group_sees_all_of_it_and_writes_nothing(
    betty, crowd, store, reader
):
    """FT10, I13: an update that changes nothing is a reading too"""
    team = make.group(betty)
    mail = shared(betty, team)
    after_commit(updating(betty, team, *joining(crowd), **everything(crowd, mail)))
    assert groups.stored(team).lock is not None
    staged = store.rows("test-operations")
    asks: dict[str, Ask] = {
        "list": lambda: betty.client.get("/groups.json?contain[groups_users]=1"),
        "view": lambda: betty.client.get(f"{groups.path(team)}?contain[groups_users]=1"),
        "update": lambda: groups.update(betty, team),
    }

    response = asks[reader]()

    [shown] = response.body if reader == "list" else [response.body]
    assert len(shown["groups_users"]) == MANY + 1
    assert store.rows("test-operations") == staged
    check_invariants(store)


def test_whoever_changes_a_half_written_group_carries_out_the_rest_first(ada, betty, crowd, store):
    """FT10, I14"""
    team = make.group(betty)
    mail = shared(betty, team)
    after_commit(updating(betty, team, *joining(crowd), **everything(crowd, mail)))

    assert groups.update(ada, team, name="Renamed").status == 200

    assert groups.stored(team).lock is None
    assert len(groups.members(team)) == MANY + 1
    assert secrets_of(crowd, mail) == {PGP}
    check_invariants(store)


def test_a_dry_run_gives_secrets_that_are_yet_to_be_written(ada, betty, carol, crowd, store):
    """FT11, I13"""
    team = make.group(betty, *crowd)
    mail = shared(ada, team)
    renewed = [{"user_id": who.id, "data": PGP} for who in (ada, betty, *crowd)]
    after_commit(lambda: ada.client.put(f"/resources/{mail}.json", {"secrets": renewed}))
    assert secret_of(betty, mail) != PGP

    found = groups.dry_run(betty, team, add(carol))

    assert found.body["dry-run"]["Secrets"] == [{"Secret": [{"resource_id": mail, "data": PGP}]}]
    check_invariants(store)


def test_a_dry_run_is_decided_again_when_the_group_loses_what_it_had(ada, betty, carol):
    team = make.group(betty)
    mail = shared(ada, team)
    betty.client.get("/groups.json")  # reads the signing keys, which are then kept
    lost = [shares.remove(mail, team)]

    with Once(4, lambda: shares.share(ada, mail, lost)):
        found = groups.dry_run(betty, team, add(carol))

    assert found.body == {"dry-run": {"SecretsNeeded": [], "Secrets": []}}


def test_who_joins_among_many_sees_themselves_with_the_commit(betty, crowd, store):
    """FT10"""
    team = make.group(betty)
    after_commit(updating(betty, team, *joining(crowd)))

    mine = signed_in(crowd[-1]).get("/groups.json?contain[my_group_user]=1").body
    found = betty.client.get(f"/groups.json?filter[has-users]={crowd[-1].id}").body

    assert mine[0]["my_group_user"]["user_id"] == crowd[-1].id
    assert [group["id"] for group in found] == [team.id]
    assert groups.stored(team).lock is not None


@pytest.mark.parametrize("kind", ["update", "create"])
def test_another_change_of_a_member_waits_for_the_large_one(ada, betty, crowd, store, kind):
    """I14: it finishes it first."""
    team, other = make.group(betty), make.group(ada)
    after_commit(updating(betty, team, *joining(crowd)))
    some = (crowd[0], crowd[-1])

    if kind == "update":
        update(ada, other, *joining(some))
        joined = other.id
    else:
        joined = created(ada, ada, *some)["id"]

    assert people.stored(crowd[-1].id).groups.keys() == {team.id, joined}
    check_invariants(store)
