"""Secret revisions: of each resource the active one, and settings that promise no more."""

from __future__ import annotations

import pytest

from chalicelib.bodies.items.secret_revisions import EMPTY, INVALID
from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.holdings import Holding
from tests.conftest import Time
from tests.support.faults.hooks import FAULTS, WRITES, Failing
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import make
from tests.support.world.items import resources, shares
from tests.support.world.items.resources import (
    MISSING,
    actions,
    created,
    delete_type,
    secret_of,
    secrets,
    stored,
    take,
    v5,
)
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
UNKNOWN = "8e3874ae-4b40-590b-968a-418f704b9d9a"
SETTINGS = "/secret-revisions/settings.json"
KEPT = {"max_revisions": 1, "allow_sharing_revisions": False}
START, LATER = "2026-11-21T12:00:00+00:00", "2026-11-21T12:01:00+00:00"


def path(resource_id: str, *contained: str) -> str:
    query = "&".join(f"contain[{name}]=1" for name in contained)
    return f"/secret-revisions/resource/{resource_id}.json?{query}"


def revision_of(who: Somebody, resource_id: str, *contained: str):
    response = who.client.get(path(resource_id, *contained))
    assert (response.status, response.message) == (200, "The operation was successful.")
    [revision] = response.body
    return revision


def renew(who: Somebody, resource_id: str, *holders: Somebody) -> None:
    body = {"name": "new", "secrets": secrets(*holders)}
    assert who.client.put(resources.path(resource_id), body).status == 200


# Revisions


def test_the_active_revision_is_shown(time: Time, ada):
    resource_id = created(ada)["id"]

    assert revision_of(ada, resource_id) == {
        "id": stored(resource_id).secret_revision,
        "resource_id": resource_id,
        "resource_type_id": stored(resource_id).resource_type_id,
        "deleted": None,
        "created": START,
        "modified": START,
        "created_by": ada.id,
        "modified_by": ada.id,
    }


def test_new_secrets_are_a_new_revision_and_the_old_one_is_gone(time: Time, ada, betty):
    resource_id = make.resource(ada, {betty: UPDATE})
    old, text = revision_of(ada, resource_id), secret_of(ada, resource_id)
    time.pass_by(minutes=1)

    renew(betty, resource_id, ada, betty)

    for who in (ada, betty):
        new = revision_of(who, resource_id, "secret")
        assert new["id"] != old["id"]
        assert (new["created"], new["created_by"]) == (LATER, betty.id)
        assert (new["modified"], new["modified_by"]) == (LATER, betty.id)
        assert new["secrets"][0]["data"] == secret_of(who, resource_id) != text


def test_a_change_without_secrets_makes_no_revision(time: Time, ada):
    resource_id = make.resource(ada)
    before = revision_of(ada, resource_id, "secret")
    time.pass_by(minutes=1)

    assert ada.client.put(resources.path(resource_id), {"name": "new"}).status == 200

    assert revision_of(ada, resource_id, "secret") == before


def test_who_is_given_access_gets_a_secret_of_the_active_revision(time: Time, ada, betty):
    resource_id = make.resource(ada)
    before = revision_of(ada, resource_id)
    time.pass_by(minutes=1)

    assert shares.share(ada, resource_id, [shares.add(betty)], secrets(betty)).status == 200

    given = revision_of(betty, resource_id)
    assert given["id"] == before["id"]
    assert (given["created"], given["created_by"]) == (LATER, ada.id)
    assert revision_of(ada, resource_id) == before


def test_a_secret_that_is_sent_again_in_a_share_is_of_the_same_revision(time: Time, ada, betty):
    resource_id = make.resource(betty, {ada: OWNER})
    before = revision_of(betty, resource_id, "secret")
    time.pass_by(minutes=1)

    assert shares.share(ada, resource_id, [], secrets(betty)).status == 200

    after = revision_of(betty, resource_id, "secret")
    assert {**after, "secrets": ...} == {**before, "secrets": ...}
    assert after["secrets"][0] == before["secrets"][0] | {
        "data": secret_of(betty, resource_id),
        "modified": LATER,
        "modified_by": ada.id,
    }
    assert after["secrets"][0]["data"] != before["secrets"][0]["data"]


def test_a_revision_is_of_the_type_the_resource_has(ada):
    resource_id = make.resource(ada, resource_type_id=resource_types.TOTP.id)

    assert revision_of(ada, resource_id)["resource_type_id"] == resource_types.TOTP.id


def test_a_resource_of_the_v5_format_has_revisions_too(ada):
    resources.allow(allow_creation_of_v5_resources=True)
    resource_id = created(ada, v5(ada))["id"]

    revision = revision_of(ada, resource_id, "secret")

    assert revision["resource_type_id"] == resources.V5_DEFAULT
    assert revision["secrets"][0]["data"] == secret_of(ada, resource_id)


def test_the_creator_is_shown_to_who_asks(ada, betty):
    resource_id = make.resource(ada, {betty: UPDATE})
    renew(betty, resource_id, ada, betty)

    assert "creator" not in revision_of(ada, resource_id)
    creator = revision_of(ada, resource_id, "creator")["creator"]
    assert (creator["id"], creator["username"]) == (betty.id, betty.user.username)
    assert "profile" not in creator
    for asked in (["creator.profile"], ["creator", "creator.profile"]):
        creator = revision_of(ada, resource_id, *asked)["creator"]
        assert creator["id"] == betty.id
        assert creator["profile"]["first_name"] == "Betty"


def test_unknown_members_are_passed_over(ada):
    """The extension asks for them."""
    resource_id = make.resource(ada)

    asked = revision_of(ada, resource_id, "owner_accessors", "owner_accessors.profile")

    assert asked == revision_of(ada, resource_id)


# Secrets of revisions


def test_everybody_is_shown_their_own_secret_alone(ada, betty, carol):
    resource_id = make.resource(ada, {betty: READ, make.group(carol): READ})

    for who in (ada, betty, carol):
        response = who.client.get(path(resource_id, "secret"))
        [revision] = response.body
        assert revision["secrets"] == [who.client.get(f"/secrets/resource/{resource_id}.json").body]
        assert revision["secrets"][0]["data"] == secret_of(who, resource_id)
        assert revision["secrets"][0]["user_id"] == who.id
        assert response.content.count(b"BEGIN PGP MESSAGE") == 1


def test_a_secret_is_shown_to_who_asks(ada, store):
    resource_id = make.resource(ada)

    for asked in ([], ["creator"], ["creator.profile"]):
        response = ada.client.get(path(resource_id, *asked))
        assert "secrets" not in response.body[0]
        assert b"PGP" not in response.content
    assert "secrets" not in ada.client.get(path(resource_id) + "contain[secret]=0").body[0]
    assert actions(store, resource_id) == []


def test_a_secret_names_its_revision_wherever_it_is_shown(ada):
    body = created(ada)
    resource_id = body["id"]
    revision = revision_of(ada, resource_id, "secret")
    [listed] = ada.client.get("/resources.json?contain[secret]=1").body
    viewed = ada.client.get(resources.path(resource_id) + "?contain[secret]=1").body

    shown = [
        *(*body["secrets"], *listed["secrets"], *viewed["secrets"], *revision["secrets"]),
        ada.client.get(f"/secrets/resource/{resource_id}.json").body,
    ]

    assert shown == [shown[0]] * 5
    assert (shown[0]["secret_revision_id"], shown[0]["deleted"]) == (revision["id"], None)


def test_a_secret_that_is_shown_is_on_record(ada, betty, store):
    """HD10"""
    resource_id = make.resource(ada, {betty: READ})

    for _ in range(2):
        revision_of(betty, resource_id, "secret")

    assert actions(store, resource_id) == ["Resource.Secrets.read"] * 2


@pytest.mark.parametrize("fault", FAULTS)
def test_no_secret_leaves_without_a_record(ada, store, fault):
    resource_id = make.resource(ada)

    with Failing(fault, times=1_000, only=WRITES):
        response = ada.client.get(path(resource_id, "secret"))

    assert response.status == 503
    assert b"PGP" not in response.content
    assert actions(store, resource_id) == []


def test_a_revision_and_its_secret_are_of_one_time(ada):
    """I13"""
    resource_id = make.resource(ada)
    before = revision_of(ada, resource_id)

    with Meanwhile(lambda: renew(ada, resource_id, ada)) as meanwhile:
        revision = revision_of(ada, resource_id, "secret")

    assert meanwhile.happened
    assert stored(resource_id).secret_revision != before["id"]
    assert {**before, "secrets": revision["secrets"]} == revision
    assert revision["secrets"][0]["secret_revision_id"] == before["id"]


@pytest.mark.parametrize("contained", [[], ["secret"]])
def test_a_torn_revision_is_never_shown(ada, contained):
    resource_id = make.resource(ada)
    row = stored(resource_id)
    row.secret_revision = new_id()
    row.save()

    response = ada.client.get(path(resource_id, *contained))

    assert response.status == 409
    assert b"PGP" not in response.content


# Who may see them


def refused(who: Somebody, resource_id: str) -> None:
    for contained in ([], ["secret"]):
        response = who.client.get(path(resource_id, *contained))
        assert (response.status, response.message, response.body) == (404, MISSING, "")


def test_revisions_of_what_one_may_not_see_are_those_of_nothing(ada, betty, digest):
    """AC03, AC05"""
    hidden = make.resource(betty)
    before = digest()

    for resource_id in (hidden, UNKNOWN, ada.id):
        refused(ada, resource_id)
    assert digest() == before


def test_revisions_end_with_the_resource(ada, betty, digest):
    """AC30, I9"""
    resource_id = make.resource(ada, {betty: READ})
    ada.client.delete(resources.path(resource_id))
    before = digest()

    refused(ada, resource_id)
    refused(betty, resource_id)
    assert digest() == before


def test_revisions_end_with_access(ada, betty):
    """I8"""
    resource_id = make.resource(ada, {betty: READ})
    revision_of(betty, resource_id)

    take(resource_id, betty)

    refused(betty, resource_id)
    revision_of(ada, resource_id)


def test_revisions_are_shown_to_members_as_long_as_they_are_members(ada, betty):
    """AC31"""
    team = make.group(ada, betty)
    resource_id = make.resource(ada, {team: READ})
    assert revision_of(betty, resource_id)["id"] == stored(resource_id).secret_revision

    resources.leave(betty)

    refused(betty, resource_id)


def test_a_secret_that_is_left_over_is_not_shown(ada, betty):
    """FT12"""
    resource_id = make.resource(ada)
    revision = stored(resource_id).secret_revision
    Holding(betty.id, resource_id, **Holding.new_secret("left over", ada.id, revision)).save()

    refused(betty, resource_id)


def test_a_revision_in_which_one_has_no_secret_is_not_listed(ada, betty, store):
    resource_id = make.resource(ada, {betty: READ})
    Holding(betty.id, resource_id).save()

    for contained in ([], ["secret"]):
        assert betty.client.get(path(resource_id, *contained)).body == []
    assert actions(store, resource_id) == []


def test_revisions_of_a_folder_are_none(ada):
    folder = new_id()
    Holding(ada.id, folder, kind="Folder").save()

    refused(ada, folder)


def test_revisions_of_a_deleted_type_are_not_shown(ada):
    resource_id = make.resource(ada, resource_type_id=resource_types.TOTP.id)
    delete_type(resource_types.TOTP)

    refused(ada, resource_id)


def test_the_identifier_is_one(ada):
    """NP01, NP02"""
    resource_id = make.resource(ada)

    response = ada.client.get(path("abc"))
    assert (response.status, response.message) == (
        400,
        "The resource identifier should be a valid UUID.",
    )
    assert ada.client.get(path(resource_id.upper())).status == 200


# Settings


def rules(response):
    assert (response.status, response.message) == (400, INVALID), response.json
    return {name: set(broken) for name, broken in response.body.items()}


def test_the_active_revision_alone_is_kept(ada, betty):
    for who in (ada, betty):
        assert who.client.get(SETTINGS).body == KEPT


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(
    "sent", [KEPT, {"max_revisions": "1", "allow_sharing_revisions": "0"}, KEPT | {"more": 1}]
)
def test_settings_that_hold_are_accepted(ada, betty, method, sent):
    response = ada.client.request(method, SETTINGS, json=sent)

    assert (response.status, response.body) == (200, KEPT)
    assert betty.client.get(SETTINGS).body == KEPT


def test_settings_can_be_taken_back(ada, betty):
    for _ in range(2):
        response = ada.client.delete(SETTINGS)
        assert (response.status, response.body) == (200, None)
    assert betty.client.get(SETTINGS).body == KEPT


@pytest.mark.parametrize("sent", [{}, {"max_revisions": None}])
def test_the_number_of_revisions_is_not_left_empty(ada, sent):
    response = ada.client.post(SETTINGS, {"allow_sharing_revisions": False, **sent})

    assert rules(response) == {"max_revisions": {"_empty"}}
    assert response.body["max_revisions"]["_empty"] == "This field cannot be left empty"


@pytest.mark.parametrize("count", [2, "2", 10, 11, 12, 10**17])
def test_a_history_is_not_promised(ada, digest, count):
    before = digest()

    response = ada.client.post(SETTINGS, KEPT | {"max_revisions": count})

    assert rules(response) == {"max_revisions": {"maxRevisionsLimit"}}
    assert response.body["max_revisions"]["maxRevisionsLimit"] == (
        "The max revisions should not exceed the max revisions limit set by the administrator. "
        "This server keeps 1 revision, the active one."
    )
    assert ada.client.get(SETTINGS).body == KEPT
    assert digest() == before


@pytest.mark.parametrize(
    ("value", "broken"),
    [
        (None, {"_empty"}),
        ("", {"_empty"}),
        (0, {"greaterThan"}),
        (-3, {"greaterThan"}),
        ("-3", {"greaterThan"}),
        (0.5, {"integer"}),
        (1.5, {"integer", "maxRevisionsLimit"}),
        *(
            (value, {"integer", "greaterThan", "maxRevisionsLimit"})
            for value in ("many", "1.0", "\u0661", " 1", "1\n", "1" * 19, True, [], {}, [1])
        ),
    ],
)
def test_the_number_of_revisions_is_one(ada, value, broken):
    response = ada.client.post(SETTINGS, KEPT | {"max_revisions": value})

    assert rules(response) == {"max_revisions": broken}


@pytest.mark.parametrize(
    ("value", "broken"),
    [
        (None, {"_empty"}),
        (True, {"isRevisionsSharingAllowed"}),
        ("1", {"isRevisionsSharingAllowed"}),
        *((value, {"boolean", "isRevisionsSharingAllowed"}) for value in ("no", 2, [], {})),
    ],
)
def test_old_revisions_are_not_shared(ada, value, broken):
    response = ada.client.post(SETTINGS, KEPT | {"allow_sharing_revisions": value})

    assert rules(response) == {"allow_sharing_revisions": broken}


def test_both_settings_are_sent_and_all_that_is_wrong_is_told(ada):
    assert rules(ada.client.post(SETTINGS, {"x": 1})) == {name: {"_empty"} for name in KEPT}
    response = ada.client.post(SETTINGS, {"max_revisions": 5, "allow_sharing_revisions": True})
    assert rules(response) == {
        "max_revisions": {"maxRevisionsLimit"},
        "allow_sharing_revisions": {"isRevisionsSharingAllowed"},
    }
    assert response.body["allow_sharing_revisions"]["isRevisionsSharingAllowed"] == (
        "The allow sharing revisions is not enabled by the administrator."
    )


@pytest.mark.parametrize("body", [{}, [], None])
def test_empty_settings_are_refused_as_such(ada, body):
    response = ada.client.post(SETTINGS, body)

    assert (response.status, response.message, response.body) == (400, EMPTY, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_settings_are_for_administrators(betty, method):
    for body in (KEPT, {"max_revisions": 5}, None):
        response = betty.client.request(method, SETTINGS, json=body)
        assert (response.status, response.body) == (403, "")
