"""Sharing, as clients see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Response
from tests.support.world import make, people
from tests.support.world.items.resources import (
    INVALID,
    MISSING,
    PGP,
    actions,
    delete_type,
    metadata,
    path,
    rules,
    secret_of,
    secrets,
    stored,
)
from tests.support.world.items.shares import add, change, put, remove, share, simulate
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
DENIED = "You are not authorized to share this resource."


@pytest.fixture
def refused(digest: Callable[[], str]) -> Callable[..., Response]:
    """A request that must be refused and change nothing."""

    def ask(request: Callable[[], Response]) -> Response:
        before = digest()
        response = request()
        assert response.status >= 400, response.json
        assert digest() == before
        return response

    return ask


def test_a_user_gains_access_with_their_secret(ada, betty, store):
    resource_id = make.resource(ada)
    [sent] = secrets(betty)

    response = share(ada, resource_id, [add(betty, READ)], [sent])

    assert (response.status, response.body) == (200, None)
    assert response.message == "The operation was successful."
    assert secret_of(betty, resource_id) == sent["data"]
    assert betty.client.get(path(resource_id)).status == 200
    assert "Permissions.updated" in actions(store, resource_id)
    check_invariants(store)


def test_the_resource_is_not_modified_by_sharing(ada, betty, time):
    resource_id = make.resource(ada)
    before = stored(resource_id).modified
    time.pass_by(hours=1)

    share(ada, resource_id, [add(betty, READ)], secrets(betty))

    assert stored(resource_id).modified == before


def test_each_member_of_a_group_gains_access_with_their_secret(ada, betty, carol, store):
    resource_id, team = make.resource(ada), make.group(betty, carol)

    response = share(ada, resource_id, [add(team, READ)], secrets(betty, carol))

    assert response.status == 200, response.json
    for who in (betty, carol):
        assert secret_of(who, resource_id) is not None
        assert who.client.get(path(resource_id)).status == 200
    check_invariants(store)


def test_who_has_access_already_needs_no_secret(ada, betty, carol, store):
    resource_id, team = make.resource(ada, {betty: READ}), make.group(betty, carol)

    response = share(ada, resource_id, [add(team, OWNER)], secrets(carol))

    assert response.status == 200, response.json
    check_invariants(store)


def test_a_secret_that_is_there_already_is_replaced(ada, betty, store):
    resource_id = make.resource(ada, {betty: READ})
    [sent] = secrets(betty, text="again")

    assert share(ada, resource_id, [], [sent]).status == 200

    assert secret_of(betty, resource_id) == sent["data"]
    shown = betty.client.get(f"/secrets/resource/{resource_id}.json").body
    assert (shown["data"], shown["modified_by"]) == (sent["data"], ada.id)
    check_invariants(store)


def test_of_two_secrets_that_replace_one_the_last_stays(ada, betty, store):
    resource_id = make.resource(ada, {betty: READ})
    first, last = secrets(betty, text="first") + secrets(betty, text="last")

    assert share(ada, resource_id, [], [first, last]).status == 200

    assert secret_of(betty, resource_id) == last["data"]
    check_invariants(store)


def test_an_extra_member_of_a_secret_is_passed_over(ada, betty):
    resource_id = make.resource(ada)
    [sent] = secrets(betty)

    sent["resource_id"] = resource_id

    assert share(ada, resource_id, [add(betty, READ)], [sent]).status == 200


def test_losing_access_takes_secret_and_favorite(ada, betty, store):
    """I8, AC20"""
    resource_id = make.resource(ada, {betty: READ})
    favorite = betty.client.post(f"/favorites/resource/{resource_id}.json").body["id"]

    assert share(ada, resource_id, [remove(resource_id, betty)]).status == 200

    assert secret_of(betty, resource_id) is None
    for target in (path(resource_id), f"/secrets/resource/{resource_id}.json"):
        assert betty.client.get(target).status == 404
    assert betty.client.get(f"/comments/resource/{resource_id}.json").status == 404
    assert betty.client.delete(f"/favorites/{favorite}.json").status == 404
    assert betty.client.get("/resources.json?filter[is-favorite]=1").body == []
    check_invariants(store)


def test_who_has_another_way_keeps_secret_and_favorite(ada, betty, carol, store):
    """AC32, F1"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {betty: READ, team: READ})
    betty.client.post(f"/favorites/resource/{resource_id}.json")
    held = secret_of(betty, resource_id)

    assert share(ada, resource_id, [remove(resource_id, team)]).status == 200

    assert secret_of(betty, resource_id) == held
    assert secret_of(carol, resource_id) is None
    assert len(betty.client.get("/resources.json?filter[is-favorite]=1").body) == 1
    check_invariants(store)


def test_a_type_is_changed_and_another_holder_in_the_row_is_passed_over(ada, betty, carol):
    resource_id = make.resource(ada, {betty: READ})
    row = {**change(resource_id, betty, UPDATE), "aro_foreign_key": carol.id, "delete": False}

    assert share(ada, resource_id, [row]).status == 200

    held = stored(resource_id).permissions
    assert held[betty.id].type is UPDATE
    assert carol.id not in held


@pytest.mark.parametrize("sent", [1, "1"])
def test_a_type_may_come_as_text(ada, betty, sent):
    resource_id = make.resource(ada)

    assert share(ada, resource_id, [{**add(betty), "type": sent}], secrets(betty)).status == 200


def test_the_first_row_may_remove_the_owner_whom_the_second_replaces(ada, betty, store):
    resource_id = make.resource(ada)
    rows = [remove(resource_id, ada), add(betty, OWNER)]

    assert share(ada, resource_id, rows, secrets(betty)).status == 200

    assert ada.client.get(path(resource_id)).status == 404
    check_invariants(store)


def test_an_owner_may_leave_the_ownership_to_a_group(ada, betty, store):
    team = make.group(betty)
    resource_id = make.resource(ada, {team: READ})
    rows = [change(resource_id, ada, READ), change(resource_id, team, OWNER)]

    assert share(ada, resource_id, rows).status == 200
    assert share(betty, resource_id, [remove(resource_id, ada)]).status == 200
    check_invariants(store)


@pytest.mark.parametrize(
    "body",
    [None, {}, {"permissions": None}, {"permissions": {}}, {"permissions": [], "secrets": []}],
)
def test_a_share_of_nothing_changes_nothing(ada, digest, body):
    resource_id = make.resource(ada)
    before = digest()

    assert put(ada, resource_id, body).status == 200
    assert digest() == before


def test_rows_may_stand_under_numbers(ada, betty):
    resource_id = make.resource(ada)
    body = {"permissions": {"0": add(betty)}, "secrets": {"0": secrets(betty)[0]}}

    assert put(ada, resource_id, body).status == 200


def test_a_row_under_a_number_is_refused_by_it(ada, betty, refused):
    resource_id = make.resource(ada)
    for body, where in (
        ({"permissions": {"4": add(betty), "7": {}}}, ("permissions", "7", "aro")),
        ({"permissions": [add(betty)], "secrets": {"9": {}}}, ("secrets", "9", "data")),
    ):
        response = refused(lambda body=body: put(ada, resource_id, body))
        assert rules(response, *where) == {"_empty"}


# Who may


def test_only_owners_share(ada, betty, carol, refused):
    """AC06, AC09: the same refusal for a simulation"""
    dave = make.user("dave")
    resource_id = make.resource(ada, {betty: UPDATE, carol: READ})
    rows = [add(dave)]
    for ask in (share, simulate):
        for who in (betty, carol):
            response = refused(lambda ask=ask, who=who: ask(who, resource_id, rows))
            assert (response.status, response.message) == (403, DENIED)
            assert response.body == ""
        response = refused(lambda ask=ask: ask(dave, resource_id, rows))
        assert (response.status, response.message, response.body) == (404, MISSING, "")


def test_an_updater_cannot_make_themselves_owner(ada, betty, refused):
    """AC07"""
    resource_id = make.resource(ada, {betty: UPDATE})
    row = change(resource_id, betty, OWNER)

    assert refused(lambda: share(betty, resource_id, [row])).status == 403


def test_an_owner_through_a_group_shares(ada, betty, carol, store):
    resource_id = make.resource(ada, {make.group(betty): OWNER})

    assert share(betty, resource_id, [add(carol)], secrets(carol)).status == 200
    check_invariants(store)


def test_what_is_no_resource_is_refused(ada, refused):
    deleted = make.resource(ada)
    ada.client.delete(path(deleted))
    for target, status, message in (
        ("abc", 400, "The resource identifier should be a valid UUID."),
        (new_id(), 404, MISSING),
        (deleted, 404, MISSING),
    ):
        for ask in (share, simulate):
            response = refused(lambda ask=ask, target=target: ask(ada, target, []))
            assert (response.status, response.message) == (status, message)


def test_metadata_for_ones_own_key_cannot_be_shared(ada, betty, refused):
    """IN13"""
    own = metadata(ada)
    resource_id = make.resource(ada, resource_type_id=resource_types.V5_DEFAULT.id, **own)
    for ask in (share, simulate):
        response = refused(lambda ask=ask: ask(ada, resource_id, [add(betty)]))
        assert (response.status, response.message) == (
            400,
            "Resource metadata key type is invalid.",
        )


def test_a_resource_of_a_deleted_type_cannot_be_shared(ada, betty, refused):
    resource_id = make.resource(ada)
    delete_type(resource_types.DEFAULT)

    response = refused(lambda: share(ada, resource_id, [add(betty)], secrets(betty)))

    assert (response.status, response.message) == (
        404,
        "The resource types associated to this resource does not exist.",
    )


# Rows of permissions


@pytest.mark.parametrize(
    ("permissions", "message"),
    [
        ("text", "The permissions data must be an array."),
        ("", "The permissions data must be an array."),
        (7, "The permissions data must be an array."),
        (["text"], "The permissions data must be an array."),
        ([None], "The permissions data must be an array."),
        ([[]], "The permissions data must be an array."),
        ({"a": {}}, "The permissions data array keys must be integers."),
    ],
)
def test_permissions_that_are_no_rows_are_refused(ada, refused, permissions, message):
    """NP25"""
    resource_id = make.resource(ada)

    for ask in (
        lambda: put(ada, resource_id, {"permissions": permissions}),
        lambda: simulate(ada, resource_id, permissions),
    ):
        response = refused(ask)
        assert (response.status, response.message) == (400, message)


@pytest.mark.parametrize(
    ("member", "sent", "broken"),
    [
        ("aro", ..., {"_empty"}),
        ("aro", None, {"_empty"}),
        ("aro", "Role", {"inList"}),
        ("aro", ["User"], {"inList"}),
        ("aro_foreign_key", ..., {"_empty"}),
        ("aro_foreign_key", "", {"_empty"}),
        ("aro_foreign_key", "abc", {"uuid"}),
        ("aro_foreign_key", 7, {"uuid"}),
        ("type", ..., {"_empty"}),
        ("type", None, {"_empty"}),
        ("type", "", {"_empty"}),
        *(("type", wrong, {"inList"}) for wrong in (0, 2, 3, 8, 16, -1, 15.5, "owner", True, [1])),
    ],
)
def test_a_row_is_refused_by_field(ada, betty, refused, member, sent, broken):
    """IN10"""
    resource_id = make.resource(ada)
    row = {name: value for name, value in {**add(betty), member: sent}.items() if value is not ...}

    response = refused(lambda: share(ada, resource_id, [row], secrets(betty)))

    assert rules(response, "permissions", "0", member) == broken


@pytest.mark.parametrize(
    ("sent", "broken"), [(None, "_empty"), ("", "_empty"), (3, "inList"), (True, "inList")]
)
def test_a_type_that_is_none_is_not_given(ada, betty, refused, sent, broken):
    """IN10"""
    resource_id = make.resource(ada, {betty: READ})
    row = {**change(resource_id, betty, UPDATE), "type": sent}

    response = refused(lambda: share(ada, resource_id, [row]))

    assert rules(response, "permissions", "0", "type") == {broken}


@pytest.mark.parametrize("sent", [{}, {"type": 1}, {"type": "1"}, {"delete": False, "aro": "x"}])
def test_a_row_without_another_type_changes_nothing(ada, betty, digest, sent):
    resource_id = make.resource(ada, {betty: READ})
    row = {"id": change(resource_id, betty, READ)["id"], **sent}
    before = digest()

    assert share(ada, resource_id, [row]).status == 200
    assert digest() == before


@pytest.mark.parametrize(
    "sent", ["", "abc", 7, True, [], {}, "00000000-0000-4000-8000-000000000000"]
)
def test_a_row_of_an_unknown_permission_is_refused(ada, refused, sent):
    resource_id = make.resource(ada)

    response = refused(lambda: share(ada, resource_id, [{"id": sent, "type": 1}]))

    assert rules(response, "permissions", "0", "id") == {"exists"}


def test_a_permission_of_another_resource_is_unknown(ada, betty, refused):
    """AC08"""
    resource_id, other = make.resource(ada), make.resource(ada, {betty: READ})

    response = refused(lambda: share(ada, resource_id, [remove(other, betty)]))

    assert rules(response, "permissions", "0", "id") == {"exists"}


@pytest.mark.parametrize("noun", ["resource", "folder"])
def test_a_type_that_is_changed_there_and_back_changes_nothing(ada, betty, digest, time, noun):
    """HD10: neither is it logged, nor is the permission another one since."""
    item_id = (make.resource if noun == "resource" else make.folder)(ada, {betty: READ})
    shown = ada.client.get(f"/{noun}s/{item_id}.json?contain[permissions]=1").body["permissions"]
    rows = [{"id": each["id"], "type": type_} for each in shown for type_ in (7, each["type"])]
    before = digest()
    time.pass_by(seconds=1)

    response = ada.client.put(f"/share/{noun}/{item_id}.json", {"permissions": rows})

    assert response.status == 200, response.json
    assert digest() == before


def test_who_is_not_there_gains_nothing(ada, betty, refused, store):
    """IN09"""
    resource_id, team = make.resource(ada), make.group(betty)
    gone, waiting, left = make.user("carol"), people.waiting("dave"), make.group(betty)
    people.delete(gone)
    assert ada.client.delete(f"/groups/{left.id}.json").status == 200
    for row, broken in (
        ({"aro": "User", "aro_foreign_key": new_id()}, {"aro_exists", "_existsIn"}),
        ({"aro": "User", "aro_foreign_key": gone.id}, {"aro_exists"}),
        ({"aro": "User", "aro_foreign_key": waiting.id}, {"aro_exists"}),
        ({"aro": "Group", "aro_foreign_key": new_id()}, {"aro_exists", "_existsIn"}),
        ({"aro": "Group", "aro_foreign_key": left.id}, {"aro_exists"}),
        ({"aro": "User", "aro_foreign_key": team.id}, {"aro_exists", "_existsIn"}),
        ({"aro": "Group", "aro_foreign_key": betty.id}, {"aro_exists", "_existsIn"}),
    ):
        response = refused(lambda row=row: share(ada, resource_id, [{**row, "type": 1}]))
        assert rules(response, "permissions", "0", "aro_foreign_key") == broken


def test_a_suspended_user_can_be_given_access(ada, betty, store):
    resource_id = make.resource(ada)
    people.suspend(betty)

    assert share(ada, resource_id, [add(betty)], secrets(betty)).status == 200
    check_invariants(store)


@pytest.mark.parametrize("is_new", [True, False, None])
def test_a_holder_has_one_permission(ada, betty, refused, is_new):
    """IN11"""
    resource_id = make.resource(ada, {betty: READ})
    row = {**add(betty, UPDATE), "is_new": is_new}

    response = refused(lambda: share(ada, resource_id, [row]))

    assert rules(response, "permissions", "0", "aco_foreign_key") == {"permission_unique"}


def test_a_holder_is_added_once_in_a_request(ada, betty, refused):
    """IN11"""
    resource_id = make.resource(ada)

    response = refused(lambda: share(ada, resource_id, [add(betty), add(betty)], secrets(betty)))

    assert rules(response, "permissions", "1", "aco_foreign_key") == {"permission_unique"}


def test_the_first_row_that_fails_is_the_only_one_reported(ada, betty, refused):
    """IN12"""
    resource_id = make.resource(ada)
    rows = [add(betty), {"id": new_id()}, {}]

    response = refused(lambda: share(ada, resource_id, rows, secrets(betty)))

    assert set(response.body["permissions"]) == {"1"}


def test_the_last_owner_stays(ada, betty, refused):
    """IN08"""
    resource_id = make.resource(ada, {betty: UPDATE})
    for row in (remove(resource_id, ada), change(resource_id, ada, UPDATE)):
        response = refused(lambda row=row: share(ada, resource_id, [row]))
        assert rules(response, "permissions") == {"at_least_one_owner"}


@pytest.mark.parametrize("sent", [True, 1, "1", "false", [0]])
def test_delete_is_true_whatever_true_value_it_has(ada, betty, sent):
    resource_id = make.resource(ada, {betty: READ})
    row = {**remove(resource_id, betty), "delete": sent}

    assert share(ada, resource_id, [row]).status == 200
    assert betty.id not in stored(resource_id).permissions


@pytest.mark.parametrize("sent", [False, None, 0, "", "0", [], {}])
def test_delete_is_false_whatever_false_value_it_has(ada, betty, digest, sent):
    resource_id = make.resource(ada, {betty: READ})
    row = {**remove(resource_id, betty), "delete": sent}
    before = digest()

    assert share(ada, resource_id, [row]).status == 200
    assert digest() == before


@pytest.mark.parametrize("name", ["permissions", "secrets"])
def test_endless_rows_are_refused(ada, refused, name):
    """NP24"""
    resource_id = make.resource(ada)
    rows = [{}] * 100_000

    assert refused(lambda: put(ada, resource_id, {name: rows})).status in (400, 413)


# Secrets


def wrong_set(response: Response) -> Any:
    assert (response.status, response.message) == (404, INVALID), response.json
    return response.body["secrets"]


def test_who_gains_access_needs_a_secret(ada, betty, refused):
    """IN06"""
    resource_id = make.resource(ada)
    for sent in (..., None, []):
        body = {"permissions": [add(betty)]} | ({} if sent is ... else {"secrets": sent})
        response = refused(lambda body=body: put(ada, resource_id, body))
        assert set(wrong_set(response)) == {"secrets_provided"}


def test_a_group_needs_a_secret_for_each_member_and_no_other(ada, betty, carol, refused):
    """IN07"""
    dave = make.user("dave")
    resource_id, team = make.resource(ada), make.group(betty, carol)
    rows = [add(team)]

    def ask(sent: list[dict[str, str]]) -> Any:
        return wrong_set(refused(lambda: share(ada, resource_id, rows, sent)))

    assert set(ask(secrets(betty))) == {"secrets_provided"}
    assert ask(secrets(betty, betty))["1"].keys() == {"user_id"}
    second = "A secret already exists for the given user and resource."
    assert ask(secrets(betty, carol, betty))["2"]["user_id"] == {
        "secret_unique": second,
        "secret_revision_unique": second,
    }
    assert set(ask(secrets(betty, carol, dave))["2"]["resource_id"]) == {"has_resource_access"}


def test_a_secret_for_who_loses_access_is_refused(ada, betty, refused):
    resource_id = make.resource(ada, {betty: READ})

    response = refused(
        lambda: share(ada, resource_id, [remove(resource_id, betty)], secrets(betty))
    )

    assert set(wrong_set(response)["0"]["resource_id"]) == {"has_resource_access"}


def test_a_secret_for_who_is_not_there_is_refused(ada, betty, refused):
    resource_id = make.resource(ada)
    gone = make.user("carol")
    people.delete(gone)
    unknown = {"user_exists", "user_is_not_soft_deleted"}
    for user_id, broken in ((new_id(), unknown), (gone.id, {"user_is_not_soft_deleted"})):
        sent = [{"user_id": user_id, "data": PGP}]
        response = refused(lambda sent=sent: share(ada, resource_id, [add(betty)], sent))
        wrong = wrong_set(response)["0"]
        assert wrong == {
            "user_id": dict.fromkeys(broken, "The user does not exist."),
            "resource_id": {"has_resource_access": "Access denied."},
        }


@pytest.mark.parametrize(
    ("member", "sent", "broken"),
    [
        ("user_id", ..., "_empty"),
        ("user_id", None, "_empty"),
        ("user_id", "abc", "uuid"),
        ("data", ..., "_empty"),
        ("data", "", "_empty"),
        ("data", "text", "isValidOpenPGPMessage"),
        ("data", 7, "isValidOpenPGPMessage"),
        ("data", "\u00e9", "ascii"),
    ],
)
def test_a_secret_is_refused_by_field(ada, betty, refused, member, sent, broken):
    """F5: also for who has a secret already"""
    for resource_id, rows in (
        (make.resource(ada), [add(betty)]),
        (make.resource(ada, {betty: READ}), []),
    ):
        usual: dict[str, Any] = {**secrets(betty)[0], member: sent}
        row = {name: value for name, value in usual.items() if value is not ...}
        response = refused(
            lambda resource_id=resource_id, rows=rows, row=row: share(ada, resource_id, rows, [row])
        )
        assert broken in rules(response, "secrets", "0", member)


@pytest.mark.parametrize("sent", ["text", "", 7, True])
def test_secrets_that_are_no_rows_are_refused(ada, refused, sent):
    resource_id = make.resource(ada)

    response = refused(lambda: put(ada, resource_id, {"secrets": sent}))

    assert rules(response, "secrets")


@pytest.mark.parametrize("sent", ["text", None, 7, []])
def test_a_secret_that_is_no_object_lacks_every_member(ada, refused, sent):
    resource_id = make.resource(ada)

    response = refused(lambda: share(ada, resource_id, [], [sent]))

    assert rules(response, "secrets", "0", "user_id") == {"_empty"}


def test_errors_of_permissions_come_before_those_of_secrets(ada, refused):
    resource_id = make.resource(ada)

    response = refused(lambda: share(ada, resource_id, [{}], ["text"]))

    assert set(response.body) == {"permissions"}


# Simulation


def _ids(shown: list[Any]) -> set[str]:
    return set(shown)


def test_a_simulation_names_who_gains_and_who_loses(ada, betty, carol, digest):
    dave = make.user("dave")
    team = make.group(carol, dave)
    resource_id = make.resource(ada, {betty: READ})
    before = digest()

    response = simulate(ada, resource_id, [add(team), remove(resource_id, betty)])

    assert response.status == 200, response.json
    changes = response.body["changes"]
    assert _ids(changes["added"]) == {carol.id, dave.id}
    assert _ids(changes["removed"]) == {betty.id}
    assert digest() == before


def test_who_keeps_access_otherwise_is_in_neither_list(ada, betty, carol):
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {betty: READ, team: READ})

    changes = simulate(ada, resource_id, [remove(resource_id, team)]).body["changes"]

    assert (changes["added"], _ids(changes["removed"])) == ([], {carol.id})


def test_a_simulation_passes_over_secrets_and_takes_no_body_for_no_rows(ada):
    resource_id = make.resource(ada)
    address = f"/share/simulate/resource/{resource_id}.json"
    for body in (None, {}, {"permissions": [], "secrets": "text"}):
        assert ada.client.post(address, body).body == {"changes": {"added": [], "removed": []}}


def test_a_simulation_refuses_rows_like_a_share(ada, betty, refused):
    resource_id = make.resource(ada)
    for row in ({}, {"id": new_id()}, {**add(betty), "type": 3}, remove(resource_id, ada)):
        one = refused(lambda row=row: share(ada, resource_id, [row]))
        other = refused(lambda row=row: simulate(ada, resource_id, [row]))
        assert (one.status, one.message, one.body) == (other.status, other.message, other.body)


def test_there_is_no_simulation_for_other_things(ada):
    assert ada.client.post(f"/share/simulate/folder/{new_id()}.json", {}).status == 404
    assert ada.client.post(f"/share/resource/{new_id()}.json", {}).status == 404


# The list of permissions


def _permissions(who: Somebody, resource_id: str, query: str = "") -> Response:
    return who.client.get(f"/permissions/resource/{resource_id}.json{query}")


def test_the_permissions_of_a_resource_are_listed(ada, betty, carol):
    team = make.group(carol)
    resource_id = make.resource(ada, {betty: UPDATE, team: READ})

    shown = {each["aro_foreign_key"]: each for each in _permissions(betty, resource_id).body}

    assert {holder: (each["aro"], each["type"]) for holder, each in shown.items()} == {
        ada.id: ("User", 15),
        betty.id: ("User", 7),
        team.id: ("Group", 1),
    }
    assert {each["aco_foreign_key"] for each in shown.values()} == {resource_id}
    assert set(shown[ada.id]) == {
        *("id", "aco", "aco_foreign_key", "aro", "aro_foreign_key", "type", "created", "modified")
    }


def test_permissions_are_listed_with_who_holds_them(ada, betty):
    team = make.group(betty, name="crew")
    resource_id = make.resource(ada, {team: READ})
    query = "?contain[user.profile]=1&contain[group]=1"

    shown = {each["aro"]: each for each in _permissions(ada, resource_id, query).body}

    assert shown["User"]["user"]["profile"]["first_name"] == "Ada"
    assert "avatar" in shown["User"]["user"]["profile"]
    assert (shown["User"]["group"], shown["Group"]["user"]) == (None, None)
    assert shown["Group"]["group"]["name"] == "crew"
    [bare, _] = _permissions(ada, resource_id, "?contain[user]=1").body
    assert "profile" not in (bare["user"] or {})


def test_permissions_are_for_who_may_see_the_resource(ada, betty):
    resource_id = make.resource(ada)
    for who, target, status, message in (
        (betty, resource_id, 404, MISSING),
        (ada, new_id(), 404, MISSING),
        (ada, "abc", 400, "The identifier should be a valid UUID."),
    ):
        response = _permissions(who, target)
        assert (response.status, response.message) == (status, message)


# The search


def _found(who: Somebody, query: str = "") -> list[Any]:
    response = who.client.get(f"/share/search-aros.json{query}")
    assert response.status == 200, response.json
    return list(response.body)


def _names(shown: list[Any]) -> list[str]:
    return [each.get("username") or each["name"] for each in shown]


@pytest.fixture
def crew(ada: Somebody, betty: Somebody) -> Team:
    return make.group(betty, ada, name="Crew")


def test_users_and_groups_are_found_in_one_list_by_name(ada, betty, crew):
    assert _names(_found(betty)) == ["ada@example.com", "betty@example.com", "Crew"]
    assert _names(_found(betty, "?filter[search]=REW")) == ["Crew"]
    assert _names(_found(betty, "?filter[search]=lovelace")) == [
        "ada@example.com",
        "betty@example.com",
    ]
    assert _names(_found(betty, "?filter[search]=%25")) == []


@pytest.mark.parametrize("text", ["caf\u00e9", "Cafe\u0301"])
def test_a_search_finds_letters_however_they_are_composed(ada, betty, text):
    people.change(betty.id, first_name="Cafe\u0301")
    make.group(ada, name="caf\u00e9")

    found = _names(_found(ada, f"?filter[search]={quote(text)}"))

    assert found == ["betty@example.com", "caf\u00e9"]


def test_who_cannot_be_shared_with_is_not_found(ada, betty):
    """AC22"""
    people.waiting("dave")
    people.delete(make.user("carol"))
    people.suspend(betty)

    for who in (ada, make.user("edith")):
        assert _names(_found(who))[:2] == ["ada@example.com", "betty@example.com"]
        assert "dave@example.com" not in _names(_found(who))
        assert "carol@example.com" not in _names(_found(who))


def test_a_group_says_how_many_members_it_has(ada, betty, crew):
    [shown] = _found(ada, "?filter[search]=crew")

    assert (shown["user_count"], shown["id"]) == ("2", crew.id)
    assert "groups_users" not in shown


@pytest.mark.parametrize(
    ("query", "members"),
    [
        ("", {"gpgkey", "role", "groups_users"}),
        ("&contain[profile]=0&contain[user_count]=1", {"gpgkey", "role", "groups_users"}),
        ("&contain[gpgkey]=1", {"gpgkey"}),
        ("&contain[gpgkey]=0", set()),
        ("&contain[role]=1&contain[groups_users]=1", {"role", "groups_users"}),
    ],
)
def test_users_come_with_what_is_asked_for(ada, crew, query, members):
    [shown] = _found(ada, f"?filter[search]=ada@example{query}")

    assert set(shown) & {"gpgkey", "role", "groups_users"} == members
    assert "avatar" in shown["profile"]


def test_groups_come_with_their_members_when_these_are_asked_for(ada, betty, crew):
    [shown] = _found(ada, "?filter[search]=crew&contain[groups_users]=1")

    assert {each["user_id"] for each in shown["groups_users"]} == {ada.id, betty.id}


def test_at_most_25_of_each_are_found_the_first_by_name(ada, store):
    """F12"""
    make.crowd(30)
    for number in range(26):
        make.group(ada, name=f"group {number:02}")

    shown = _found(ada)

    users = [each for each in shown if "username" in each]
    groups = [each for each in shown if "name" in each]
    assert len(users) == len(groups) == 25
    assert users[0]["username"] == "ada@example.com"
    assert groups[-1]["name"] == "group 24"


def test_the_old_path_of_the_search_answers_the_same(ada, crew):
    old = ada.client.get("/share/search-users/resource/anything.json")

    assert old.body == _found(ada)


def test_a_search_is_between_1_and_64_characters(ada):
    for text in ("", "a" * 65):
        response = ada.client.get(f"/share/search-aros.json?filter[search]={text}")
        assert response.status == 400
