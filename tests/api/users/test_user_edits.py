"""Edits of users: who may change what, in which order it is refused, and what stays true."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.users import roles
from chalicelib.services.sign_in import logins
from tests.conftest import Time
from tests.support.faults.hooks import Recorder
from tests.support.faults.meanwhile import Meanwhile
from tests.support.races.scheduler import races
from tests.support.wire.client import Client
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import make, people
from tests.support.world.make import Somebody
from tests.support.world.people import change, stored

UPDATED = "The user has been updated successfully."
NOT_AUTHORIZED = "You are not authorized to access that location."
LAST = "The last active administrator can neither be demoted nor suspended."
NAME = {"profile": {"first_name": "Augusta"}}
DEMOTION = {"role_id": roles.USER.id}
PROMOTION = {"role_id": roles.ADMIN.id}
SUSPENSION = {"disabled": "2026-11-21 10:00:00"}

pytestmark = pytest.mark.usefixtures("time")


def path(who: Any) -> str:
    return f"/users/{who.id}.json"


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_user_changes_their_names(betty, time: Time, method):
    time.pass_by(minutes=1)

    response = betty.client.request(method, path(betty), json=NAME)

    assert (response.status, response.message) == (200, UPDATED)
    assert response.body["profile"]["first_name"] == "Augusta"
    assert response.body["profile"]["last_name"] == "Lovelace"
    assert response.body["modified"] == "2026-11-21T12:01:00+00:00"
    assert response.body["gpgkey"]["fingerprint"] == betty.key.fingerprint
    shown = {**response.body, "is_mfa_enabled": False}
    assert betty.client.get("/users/me.json").body == shown


def test_a_whole_user_that_is_sent_back_changes_nothing(ada, digest):
    whole = {**ada.client.get("/users/me.json").body, "gpgkey": None}
    before = digest()

    response = ada.client.put(path(ada), whole)

    assert (response.status, response.message) == (200, UPDATED)
    assert digest() == before


def test_the_same_edit_again_changes_nothing_more(ada, betty, digest):
    """FT03"""
    body = {**NAME, **SUSPENSION, **PROMOTION}
    first = ada.client.put(path(betty), body)
    before = digest()

    again = ada.client.put(path(betty), body)

    assert again.body == first.body
    assert digest() == before


def test_an_edit_writes_what_differs_and_a_log_row(ada, betty, store):
    people.invite(store, ada)  # so that each table is there
    before = people.counts(store)

    ada.client.put(path(betty), NAME)

    assert people.counts(store) == before | {"action_logs": before["action_logs"] + 1}


def test_an_administrator_changes_role_and_suspension(ada, betty):
    assert ada.client.put(path(betty), PROMOTION).body["role"]["name"] == "admin"
    suspended = ada.client.put(path(betty), {"disabled": "2031-02-03T04:05:06"}).body
    assert suspended["disabled"] == "2031-02-03T04:05:06+00:00"
    assert ada.client.put(path(betty), {"disabled": ""}).body["disabled"] is None
    assert ada.client.put(path(betty), DEMOTION).body["role"]["name"] == "user"


@pytest.mark.parametrize("end", ["", "Z", "+00:00"])
def test_a_suspension_may_carry_the_zone_of_answers(ada, betty, end):
    body = {"disabled": f"2026-11-20T10:00:00{end}"}

    assert ada.client.put(path(betty), body).body["disabled"] == "2026-11-20T10:00:00+00:00"


# What is refused, in the order it is


@pytest.mark.parametrize("user", ["other", "abc", "me"])
def test_1_others_are_edited_by_administrators_alone(ada, betty, digest, user):
    """AC29, NP01"""
    before = digest()

    response = betty.client.put(f"/users/{ada.id if user == 'other' else user}.json", NAME)

    assert (response.status, response.message) == (403, NOT_AUTHORIZED)
    assert digest() == before


@pytest.mark.parametrize("user", ["abc", "me", "{}", "00000000-0000-0000-0000-00000000000%0A"])
def test_2_an_administrator_names_the_user_by_identifier(ada, digest, user):
    """NP01"""
    before = digest()

    response = ada.client.put(f"/users/{user}.json", {})

    assert response.status == 400
    assert response.message == "The user identifier should be a valid UUID."
    assert digest() == before


def test_the_own_identifier_may_be_in_capitals(betty):
    """NP02"""
    assert betty.client.put(f"/users/{betty.id.upper()}.json", NAME).status == 200


@pytest.mark.parametrize("payload", [None, {}, [], "x", 5, [NAME], {"_csrfToken": "x"}])
def test_3_an_edit_says_something(ada, betty, payload):
    """NP06"""
    for who in (ada, betty):
        response = who.client.put(path(betty), payload)
        assert response.status == 400
        assert response.message == "Some user data should be provided."


@pytest.mark.parametrize(
    ("member", "text"),
    [
        ("gpgkey", "Updating the OpenPGP key is not allowed."),
        ("groups_user", "Updating the groups is not allowed."),
    ],
)
def test_4_and_5_keys_and_groups_are_not_edited_here(ada, betty, digest, member, text):
    """AC29"""
    before = digest()

    for value in ({}, [], {"id": "x"}, "x"):
        response = betty.client.put(path(betty), {member: value, "role_id": "x", **NAME})
        assert (response.status, response.message) == (400, text)
    assert digest() == before
    assert ada.client.put(f"/users/{new_id()}.json", {member: {}}).message == text
    assert ada.client.put(path(betty), {member: None, **NAME}).status == 200


@pytest.mark.parametrize("member", ["role", "role_id"])
def test_6_a_user_does_not_edit_roles(betty, digest, member):
    """AC29"""
    before = digest()

    response = betty.client.put(path(betty), {member: roles.ADMIN.id, **NAME})

    assert response.status == 403
    assert response.message == "You are not authorized to edit the role."
    assert digest() == before


def test_7_unknown_and_deleted_users_are_not_edited(ada, betty, digest):
    """NP02, AC30"""
    people.delete(betty)
    before = digest()

    for user in (new_id(), "00000000-0000-0000-0000-000000000000", betty.id):
        response = ada.client.put(f"/users/{user}.json", {"role_id": "x"})
        assert response.status == 400
        assert response.message == "The user does not exist or has been deleted."
    assert digest() == before


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"profile": None}, {"profile": {"_empty"}}),
        ({"profile": "Betty"}, {"profile": {"_required"}}),
        ({"profile": {"first_name": ""}}, {"profile": {"first_name"}}),
        ({"profile": {"last_name": "😀"}}, {"profile": {"last_name"}}),
        ({"role_id": "admin"}, {"role_id": {"uuid"}}),
        ({"role_id": roles.GUEST.id}, {"role_id": {"validRole"}}),
        ({"role_id": new_id()}, {"role_id": {"_existsIn", "roleIsNotSoftDeleted"}}),
        ({"disabled": "2026-11-21"}, {"disabled": {"dateTime"}}),
        ({"disabled": "2025-02-30 10:00"}, {"disabled": {"dateTime"}}),
        ({"disabled": "2026-11-21T10:00:00+02:00"}, {"disabled": {"dateTime"}}),
        ({"disabled": True}, {"disabled": {"dateTime"}}),
        ({"disabled": 1700000000}, {"disabled": {"dateTime"}}),
        ({"disabled": "now"}, {"disabled": {"dateTime"}}),
    ],
)
def test_8_fields_are_refused_by_their_rules(ada, betty, digest, body, errors):
    """NP07, NP23"""
    before = digest()

    response = ada.client.put(path(betty), body)

    assert (response.status, response.message) == (400, "Could not validate user data.")
    assert {field: set(rules) for field, rules in response.body.items()} == errors
    assert digest() == before


def test_an_edit_needs_the_csrf_pair_or_a_token(api, ada, digest):
    before = digest()

    assert api.put(path(ada), NAME).status == 403
    assert api.put(path(ada), NAME, **CSRF_PAIR).status == 403
    assert digest() == before


# What nobody changes by it


def test_a_user_cannot_raise_themselves(betty):
    """AC29"""
    before = stored(betty.id).to_simple_dict()
    body = {
        "id": new_id(),
        "active": False,
        "deleted": True,
        "disabled": "2026-01-01 10:00",
        "username": "root@example.com",
        "gpgkey": None,
        "gpgkey_id": new_id(),
        "session_epoch": 5,
        "groups": {},
        "profile": {"user_id": new_id(), "id": new_id(), "created": "2020-01-01 00:00"},
    }

    assert betty.client.put(path(betty), body).status == 200

    assert stored(betty.id).to_simple_dict() == before


def test_an_administrators_own_suspension_is_passed_over(ada):
    """AC29"""
    make.user("carol", admin=True)

    response = ada.client.put(path(ada), {**SUSPENSION, **NAME})

    assert (response.status, response.body["disabled"]) == (200, None)
    assert response.body["profile"]["first_name"] == "Augusta"


# The last administrator


@pytest.mark.parametrize("way", ["alone", "invited", "suspended", "ending", "deleted"])
def test_the_last_active_administrator_is_not_demoted(ada, digest, time: Time, way):
    if way != "alone":
        other = make.user("carol", admin=True)
        changed: dict[str, dict[str, Any]] = {
            "invited": {"active": False},
            "suspended": {"disabled": time.now},
            "ending": {"disabled": time.now + timedelta(days=1)},
            "deleted": {"deleted": True},
        }
        change(other.id, **changed[way])
    before = digest()

    response = ada.client.put(path(ada), {**DEMOTION, **NAME})

    assert (response.status, response.message) == (400, LAST)
    assert list(response.body) == ["role_id"]
    assert digest() == before


@pytest.mark.parametrize("moment", ["2026-11-21 10:00:00", "2031-01-01 00:00:00"])
def test_the_last_administrator_is_not_suspended_by_one_who_leaves(ada, time: Time, moment):
    other = make.user("carol", admin=True)
    change(other.id, disabled=time.now + timedelta(days=1))

    response = other.client.put(path(ada), {"disabled": moment})

    assert (response.status, response.message) == (400, LAST)
    assert list(response.body) == ["disabled"]


def test_one_of_two_administrators_may_go(ada):
    other = make.user("carol", admin=True)

    assert ada.client.put(path(ada), DEMOTION).body["role"]["name"] == "user"
    assert other.client.put(path(other), DEMOTION).message == LAST
    assert ada.client.put(path(other), SUSPENSION).message == NOT_AUTHORIZED


def test_who_is_no_active_administrator_anyway_may_be_changed(ada):
    other = make.user("carol", admin=True)
    people.suspend(other)
    invited = people.waiting("dave")
    change(invited.id, role_id=roles.ADMIN.id)

    assert ada.client.put(path(other), DEMOTION).status == 200
    assert ada.client.put(path(invited), SUSPENSION).status == 200


def test_two_administrators_who_demote_each_other_are_not_both(store):
    """RA03: of administrators"""
    for race in races(limit=40, sampled=10):
        store.empty()
        people.start_again()
        one, other = make.user("ada", admin=True), make.user("carol", admin=True)
        race.run(
            lambda a=one, b=other: a.client.put(path(b), DEMOTION),
            lambda a=one, b=other: b.client.put(path(a), DEMOTION),
        )
        left = [who for who in (one, other) if stored(who.id).is_admin]
        assert len(left) == 1


@pytest.mark.parametrize("what", ["demoted", "suspended", "ending", "deleted"])
def test_who_stays_is_held_until_the_write(ada, time: Time, what):
    other = make.user("carol", admin=True)
    changed: dict[str, dict[str, Any]] = {
        "demoted": {"role_id": roles.USER.id},
        "suspended": {"disabled": time.now},
        "ending": {"disabled": time.now + timedelta(days=1)},
        "deleted": {"deleted": True},
    }

    with Meanwhile(lambda: change(other.id, **changed[what])):
        response = ada.client.put(path(ada), DEMOTION)

    assert (response.status, response.message) == (400, LAST)
    assert stored(ada.id).is_admin


def test_who_becomes_the_last_administrator_meanwhile_is_not_suspended(ada, betty, time: Time):
    def leave_it_to_betty() -> None:
        change(betty.id, role_id=roles.ADMIN.id)
        change(ada.id, disabled=time.now + timedelta(days=1))

    with Meanwhile(leave_it_to_betty):
        response = ada.client.put(path(betty), SUSPENSION)

    assert (response.status, response.message) == (400, LAST)
    assert stored(betty.id).disabled is None


def test_a_name_somebody_else_gives_meanwhile_is_seen_before_it_is_replaced(ada, betty):
    """I14"""
    with Recorder() as seen, Meanwhile(lambda: change(betty.id, first_name="Byron")):
        ada.client.put(path(betty), NAME)

    assert seen.operations.count("TransactWriteItems") == 2


# What is decided is still so when it is written


def test_who_is_demoted_meanwhile_edits_nobody(ada, betty):
    with Meanwhile(lambda: change(ada.id, role_id=roles.USER.id)):
        response = ada.client.put(path(betty), NAME)

    assert (response.status, response.message) == (403, NOT_AUTHORIZED)
    assert stored(betty.id).first_name == "Betty"


@pytest.mark.parametrize("who", ["actor", "user"])
def test_who_is_suspended_meanwhile_edits_nobody(ada, betty, who):
    actor = ada if who == "actor" else betty

    with Meanwhile(lambda: people.suspend(actor)):
        response = actor.client.put(path(betty), NAME)

    assert response.status == 403
    assert stored(betty.id).first_name == "Betty"


def test_who_is_deleted_meanwhile_is_not_edited(ada, betty):
    with Meanwhile(lambda: change(betty.id, deleted=True)):
        response = ada.client.put(path(betty), NAME)

    assert response.message == "The user does not exist or has been deleted."
    assert stored(betty.id).first_name == "Betty"


def test_what_others_change_meanwhile_is_kept(ada, betty):
    """I14"""
    whole = {**ada.client.get(path(betty)).body, "gpgkey": None}
    whole["profile"]["first_name"] = "Augusta"

    with Meanwhile(lambda: change(betty.id, last_name="Byron", locale="fr-FR")):
        # The last name is sent as it was when it was read, and differs now.
        response = ada.client.put(path(betty), {"profile": {"first_name": "Augusta"}})

    assert response.status == 200
    row = stored(betty.id)
    assert (row.first_name, row.last_name, row.locale) == ("Augusta", "Byron", "fr-FR")


def test_two_edits_of_different_fields_are_both_kept(store):
    """I14, RA05: of users"""
    for race in races(limit=40, sampled=10):
        store.empty()
        people.start_again()
        one, other = make.user("ada", admin=True), make.user("carol", admin=True)
        user = make.user("betty")
        outcomes = race.run(
            lambda a=one, u=user: a.client.put(path(u), NAME),
            lambda b=other, u=user: b.client.put(path(u), PROMOTION),
        )
        assert [outcome.get().status for outcome in outcomes] == [200, 200]
        row = stored(user.id)
        assert (row.first_name, row.is_admin) == ("Augusta", True)


def test_the_answer_after_a_race_is_what_is_stored(ada, betty):
    with Meanwhile(lambda: change(betty.id, first_name="Byron")):
        response = ada.client.put(path(betty), NAME)

    assert response.body["profile"]["first_name"] == stored(betty.id).first_name == "Augusta"


# What a suspension ends


def test_a_suspension_counts_on_the_next_request(api: Client, ada, betty):
    """AU29"""
    session, tokens = logins.new_session(betty.user)
    logins.open_session(betty.user, session, tokens, verify_token=new_id(), expiry=4_000_000_000)
    renewal = {"user_id": betty.id, "refresh_token": tokens.refresh_token}

    ada.client.put(path(betty), SUSPENSION)

    assert betty.client.get("/users/me.json").status == 403
    assert Client(tokens.access_token).get("/users/me.json").status == 403
    refused = api.post("/auth/jwt/refresh.json", renewal)
    assert (refused.status, refused.message) == (
        400,
        "The user is not activated or disabled.",
    )


def test_sessions_of_before_a_suspension_do_not_come_back(ada, betty):
    ada.client.put(path(betty), SUSPENSION)
    ada.client.put(path(betty), {"disabled": None})

    assert betty.client.get("/users/me.json").status == 403
    assert Client(make.access_token(stored(betty.id))).get("/users/me.json").status == 200


def test_a_suspension_that_has_begun_by_itself_ends_sessions_when_it_is_lifted(
    ada, betty, time: Time
):
    ada.client.put(path(betty), {"disabled": "2026-11-21 12:02:00"})
    assert betty.client.get("/users/me.json").status == 200
    time.pass_by(minutes=2)
    assert betty.client.get("/users/me.json").status == 403

    ada.client.put(path(betty), {"disabled": None})

    assert betty.client.get("/users/me.json").status == 403


def test_only_who_has_yet_to_set_up_and_was_suspended_is_sent_a_link_when_let_in(
    store, ada, betty, time: Time
):
    dave = people.waiting("dave")
    ada.client.put(path(betty), SUSPENSION)
    for edit in (NAME, {"disabled": "2026-11-21 12:02:00"}, {"disabled": None}, SUSPENSION):
        ada.client.put(path(dave), edit)
    ada.client.put(path(betty), {"disabled": None})
    assert invitations(store) == []

    ada.client.put(path(dave), {"disabled": "2031-01-01 00:00:00"})

    [mail] = invitations(store)
    assert mail.recipient == dave.username
    token = people.token_of(mail)
    assert Client().get(f"/setup/start/{dave.id}/{token}.json").status == 200


def test_who_sets_up_while_they_are_let_in_is_sent_no_link(store, ada):
    dave = people.waiting("dave")
    people.change(dave.id, disabled=clock.now())
    with Meanwhile(lambda: people.change(dave.id, active=True)):
        assert ada.client.put(path(dave), {"disabled": None}).status == 200

    assert (stored(dave.id).disabled, invitations(store)) == (None, [])


def invitations(store):
    return [mail for mail in people.mails(store) if mail.template == "invitation"]


def test_a_demotion_counts_on_the_next_request(ada):
    other = make.user("carol", admin=True)
    ada.client.put(path(other), DEMOTION)

    assert other.client.post("/users.json", people.invitation()).status == 403
    assert other.client.get("/users/me.json").body["role"]["name"] == "user"


def test_changes_of_role_and_suspension_leave_an_event(ada, betty: Somebody, caplog):
    """HD10"""
    ada.client.put(path(betty), {**PROMOTION, **SUSPENSION, **NAME})

    events = [r.getMessage() for r in caplog.records if '"object"' in r.getMessage()]
    assert names_of(events) == {"role-change", "suspension"}
    assert all(betty.id in event and ada.id in event for event in events)
    assert "Augusta" not in caplog.text


@pytest.mark.parametrize("until", [None, "2026-12-24T00:00:00"])
def test_the_event_of_who_is_let_in_again_is_no_suspension(ada, betty: Somebody, caplog, until):
    """HD10: also of who is let in until a later date"""
    ada.client.put(path(betty), SUSPENSION)
    caplog.clear()
    assert ada.client.put(path(betty), {"disabled": until}).status == 200

    events = [r.getMessage() for r in caplog.records if '"object"' in r.getMessage()]
    assert names_of(events) == {"suspension-lifted"}


def names_of(events):
    return {event.split('"event": "')[1].split('"')[0] for event in events}


def test_a_form_with_parts_is_for_post_alone(betty):
    raw = (
        b'--x\r\nContent-Disposition: form-data; name="profile[first_name]"\r\n\r\nEve\r\n--x--\r\n'
    )
    headers = {"content-type": "multipart/form-data; boundary=x"}
    path = f"/users/{betty.id}.json"

    refused = betty.client.request("PUT", path, raw=raw, headers=headers)
    assert (refused.status, refused.message) == (400, "Some user data should be provided.")
    accepted = betty.client.request("POST", path, raw=raw, headers=headers)
    assert accepted.body["profile"]["first_name"] == "Eve"
