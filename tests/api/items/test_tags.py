"""Tags in clear: a user's own, and those that everybody shares."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.items.tags.known import MOST_MADE
from chalicelib.services.items.tags.tags import MOST_MARKS
from chalicelib.storage import reading, writing
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.metadata_uses import MetadataUse
from chalicelib.tables.items.tags import SET, SHARED, Tag
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.views.logs import log_events
from tests.conftest import START
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.world import groups, make
from tests.support.world.items import shares
from tests.support.world.items.metadata import shared
from tests.support.world.items.resources import allow, created, delete_type, path, secrets, v5
from tests.support.world.items.tags import allow_v5_tags, index, listed, rename, slugs, tag, tagged
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
INVALID = "Could not validate request data."
INVALID_TAGS = "Could not validate tags data."
NO_SHARED = "You do not have the permission to edit shared tags on this resource."
MISSING = "The tag does not exist."
NO_SHARING = "You do not have the permission to change a personal tag into shared tag."


def assert_refused(response: Response, status: int, message: str, body: Any = "") -> None:
    assert (response.status, response.message, response.body) == (status, message, body)


def forbid_v4(admin: Somebody) -> None:
    shared(admin)
    allow_v5_tags(admin, allow_creation_of_v4_tags=False, default_tag_type="v5")


def stored(store: Storage) -> list[Any]:
    return [row for row in store.rows(Tag.stored_as()) if row["id"] != {"S": SET}]


# Setting


def test_a_resource_gets_tags_in_the_order_of_their_slugs(ada):
    resource_id = make.resource(ada)

    response = tag(ada, resource_id, "work", "#team", "Home")

    assert response.status == 200
    assert [(row["slug"], row["is_shared"]) for row in response.body] == [
        ("#team", True),
        ("Home", False),
        ("work", False),
    ]
    assert {*map(frozenset, response.body)} == {frozenset({"id", "slug", "is_shared"})}
    assert ada.client.get(f"{path(resource_id)}?contain[tag]=1").body["tags"] == response.body
    assert listed(ada, resource_id) == response.body
    assert index(ada) == response.body


def test_a_change_is_answered_with_the_tags_and_a_creation_with_none(ada, betty):
    allow()
    resource_id = make.resource(ada, {betty: UPDATE})
    tags = tag(ada, resource_id, "#team", "home").body
    tag(betty, resource_id, "#team", "hers")

    assert created(ada)["tags"] == []
    assert ada.client.put(path(resource_id), {"name": "new"}).body["tags"] == tags
    seen_by_betty = betty.client.put(path(resource_id), {"secrets": secrets(ada, betty)}).body
    assert [each["slug"] for each in seen_by_betty["tags"]] == ["#team", "hers"]
    assert created(ada, v5(ada))["tags"] == []


def test_who_sees_a_resource_sees_its_shared_tags_and_their_own(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    tagged(ada, resource_id, "mine", "#ours")
    tagged(betty, resource_id, "mine", "hers", "#ours")

    assert slugs(ada, resource_id) == ["#ours", "mine"]
    assert slugs(betty, resource_id) == ["#ours", "hers", "mine"]
    own = {row["slug"]: row["id"] for row in index(ada)}
    hers = {row["slug"]: row["id"] for row in index(betty)}
    assert own["#ours"] == hers["#ours"]
    assert own["mine"] != hers["mine"]


def test_a_slug_is_one_tag_of_its_owner_at_all_resources(ada, store):
    first, second = make.resource(ada), make.resource(ada)

    one, two = tagged(ada, first, "work", "#team"), tagged(ada, second, "#team", "work")

    assert one == two
    assert len(stored(store)) == 2


def test_slugs_are_compared_letter_by_letter_and_kept_as_sent(ada):
    resource_id = make.resource(ada)

    tagged(ada, resource_id, "Work", "work", "#", "  two words ", "🔑")

    assert {*slugs(ada, resource_id)} == {"Work", "work", "#", "  two words ", "🔑"}


def test_a_slug_that_is_sent_twice_is_one_tag(ada):
    resource_id = make.resource(ada)

    assert len(tag(ada, resource_id, "work", "work").body) == 1


@pytest.mark.parametrize("body", [{}, {"tags": []}, {"tags": None}, None, {"Tags": []}])
def test_without_a_list_all_tags_go_that_the_caller_may_take(ada, body):
    resource_id = make.resource(ada)
    tagged(ada, resource_id, "work", "#team")

    response = ada.client.post(f"/tags/{resource_id}.json", body)

    assert (response.status, response.body) == (200, [])
    assert slugs(ada, resource_id) == []


def test_the_old_form_is_taken(ada):
    resource_id = make.resource(ada)

    ada.client.post(f"/tags/{resource_id}.json", {"Tags": ["work"]})

    assert slugs(ada, resource_id) == ["work"]


def test_a_tag_goes_with_its_last_link(ada, store):
    first, second = make.resource(ada), make.resource(ada)
    tagged(ada, first, "work", "#team")
    ids = tagged(ada, second, "work", "#team")
    tagged(ada, first)
    assert tagged(ada, second, "work", "#team") == ids

    tagged(ada, second)

    assert stored(store) == []
    assert store.rows(MetadataUse.stored_as()) == []
    assert tagged(ada, second, "work").keys() == {"work"}


def test_tagging_changes_nothing_else_of_a_resource(ada, time):
    resource_id = make.resource(ada)
    before = ada.client.get(path(resource_id)).body
    time.pass_by(seconds=60)

    tagged(ada, resource_id, "work", "#team")

    assert ada.client.get(path(resource_id)).body == before


def test_tags_of_others_are_never_touched(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    tagged(betty, resource_id, "hers")

    tagged(ada, resource_id)

    assert slugs(betty, resource_id) == ["hers"]


# Refusals of setting


def test_a_resource_that_is_no_uuid(ada):
    expected = "The resource identifier should be a valid UUID."
    assert_refused(tag(ada, "nonsense", "work"), 400, expected)


@pytest.mark.parametrize(
    ("entries", "body"),
    [
        ([5], [["The tag should be a text or an object."]]),
        (["fine", None], {"1": ["The tag should be a text or an object."]}),
        ("text", {"tags": {"array": "The tags should be a list."}}),
    ],
)
def test_what_is_neither_text_nor_object_is_refused(ada, entries, body):
    resource_id = make.resource(ada)

    response = ada.client.post(f"/tags/{resource_id}.json", {"tags": entries})

    assert_refused(response, 400, INVALID, body)


def test_objects_and_texts_only_as_far_as_settings_allow_them(ada):
    resource_id = make.resource(ada)
    expected = "Tag creation/modification with encrypted metadata not allowed."
    assert_refused(tag(ada, resource_id, "fine", {}), 400, expected)
    forbid_v4(ada)

    refused = tag(ada, resource_id, "work")

    assert_refused(refused, 400, "Tag creation with cleartext metadata not allowed.")


def test_too_many_tags_at_once(ada):
    resource_id = make.resource(ada)

    response = tag(ada, resource_id, *(str(number) for number in range(41)))

    assert response.status == 413
    assert slugs(ada, resource_id) == []


def test_forty_tags_are_set_and_exchanged_in_parts(ada):
    resource_id = make.resource(ada)
    tagged(ada, resource_id, *(f"first {number}" for number in range(40)))
    others = [f"second {number}" for number in range(40)]

    response = tag(ada, resource_id, *others)

    assert_refused(response, 400, "This is too much for one request; please send it in several.")
    tagged(ada, resource_id)
    assert tagged(ada, resource_id, *others).keys() == {*others}


def test_an_owner_of_tags_has_at_most_two_thousand(ada):
    resource_id = make.resource(ada)
    writing.put_all(Tag.new(SHARED, f"#{number}") for number in range(1_999))
    assert tag(ada, resource_id, "#one more").status == 200

    response = tag(ada, resource_id, "#one more", "#another")

    assert (response.status, response.message) == (400, INVALID_TAGS)
    assert [*response.body["tags"]] == ["hasAtMost"]
    assert tag(ada, resource_id, "#one more", "#5", "personal").status == 200


def test_nobody_makes_so_many_shared_tags_that_others_have_no_room_for_theirs(ada, betty):
    """They stay when their resource is deleted, and nobody else deletes them."""
    for _ in range(2):
        resource_id = make.resource(ada)
        tagged(ada, resource_id, *(f"#{new_id()}" for _ in range(40)))
        ada.client.delete(path(resource_id))
    tags = [Tag.new(SHARED, f"#{number}") for number in range(MOST_MADE - 81)]
    for each in tags:
        each.made_by = ada.id
    writing.put_all(tags)
    resource_id = make.resource(ada)
    assert tag(ada, resource_id, "#one more").status == 200

    response = tag(ada, resource_id, "#one more", "#another")

    assert (response.status, response.message) == (400, INVALID_TAGS)
    assert [*response.body["tags"]] == ["hasAtMost"]
    assert tag(ada, resource_id, "#one more", "#5", "personal").status == 200
    assert tag(betty, make.resource(betty), "#another").status == 200
    assert tag(ada, resource_id, "#another").status == 200


def test_a_resource_that_the_caller_may_not_see(ada, betty):
    hidden, gone = make.resource(betty), make.resource(ada)
    ada.client.delete(path(gone))
    for resource_id in (hidden, gone, new_id()):
        assert_refused(tag(ada, resource_id, "work"), 404, "The resource does not exist.")


@pytest.mark.parametrize("permission", [READ, UPDATE])
def test_only_owners_change_the_shared_tags_of_a_resource(ada, betty, permission):
    resource_id = make.resource(ada, {betty: permission})
    tagged(ada, resource_id, "#ours")

    assert_refused(tag(betty, resource_id), 400, NO_SHARED)
    assert_refused(tag(betty, resource_id, "#ours", "#more"), 400, NO_SHARED)
    assert_refused(tag(betty, resource_id, "#more"), 400, NO_SHARED)
    assert tag(betty, resource_id, "#ours", "hers").status == 200
    assert slugs(ada, resource_id) == ["#ours"]


def test_who_changes_the_shared_tags_of_a_resource_is_told_to_auditors(ada, betty):
    """HD10: not who sets their own, nor in the log of the resource."""
    resource_id = make.resource(ada, {betty: READ})
    tagged(betty, resource_id, "hers")
    changed = tag(ada, resource_id, "#ours", "mine")
    assert tag(ada, resource_id, "#ours").status == 200

    [event] = map(log_events.of_row, ActionLog.between(START, START + timedelta(days=1)))
    assert (event["action"], event["object_kind"]) == ("Resources.tagged", "resource")
    assert (event["object_id"], event["actor_id"]) == (resource_id, ada.id)
    assert event["request_id"] == changed.header["id"]
    assert [row["id"] for row in ada.client.get("/actionlog/logs.json").body] == [
        changed.header["id"]
    ]
    assert ada.client.get(f"/actionlog/resource/{resource_id}.json").body == []


def test_an_owner_by_group_changes_shared_tags(ada, betty):
    resource_id = make.resource(ada, {make.group(betty): OWNER})

    tagged(betty, resource_id, "#ours")

    assert slugs(ada, resource_id) == ["#ours"]


@pytest.mark.parametrize(
    ("entries", "position", "broken"),
    [
        (("fine", ""), 1, {"slug": ["_empty"], "is_shared": ["_required"]}),
        (("x" * 129,), 0, {"slug": ["maxLength"]}),
        (("a\x01b",), 0, {"slug": ["utf8Extended"]}),
    ],
)
def test_slugs_that_cannot_be_stored(ada, entries, position, broken):
    resource_id = make.resource(ada)

    response = tag(ada, resource_id, *entries)

    assert (response.status, response.message) == (400, INVALID_TAGS)
    errors = response.body[position] if position == 0 else response.body[str(position)]
    assert {field: [*rules] for field, rules in errors.items()} == broken
    assert slugs(ada, resource_id) == []


def test_the_longest_slug(ada):
    resource_id = make.resource(ada)

    tagged(ada, resource_id, "🔑" * 128)

    assert slugs(ada, resource_id) == ["🔑" * 128]


# Renaming


def test_a_tag_gets_another_slug_and_another_identifier(ada, store):
    first, second = make.resource(ada), make.resource(ada)
    tagged(ada, first, "work")
    [before] = tagged(ada, second, "work").values()

    response = rename(ada, before, "job")

    assert (response.status, response.message) == (200, "The tag has been updated successfully.")
    assert response.body == {"id": response.body["id"], "slug": "job", "is_shared": False}
    assert response.body["id"] != before
    assert slugs(ada, first) == slugs(ada, second) == ["job"]
    assert_refused(rename(ada, before, "again"), 404, MISSING)
    tagged(ada, first)
    tagged(ada, second)
    assert stored(store) == []


def test_the_same_slug_keeps_the_identifier(ada):
    [tag_id] = tagged(ada, make.resource(ada), "work").values()

    assert rename(ada, tag_id, "work").body["id"] == tag_id


def test_two_tags_become_one(ada, store):
    first, second = make.resource(ada), make.resource(ada)
    ids = tagged(ada, first, "work", "job")
    tagged(ada, second, "work")

    response = rename(ada, ids["work"], "job")

    assert response.body["id"] == ids["job"]
    assert slugs(ada, first) == slugs(ada, second) == ["job"]
    assert [row["slug"] for row in index(ada)] == ["job"]
    tagged(ada, first)
    assert slugs(ada, second) == ["job"]
    tagged(ada, second)
    assert stored(store) == []


def test_tags_that_become_one_again_and_again_leave_one_mark_each(ada, betty, store):
    """Else a reader fills their holding, and nobody changes its secret or takes it away."""
    resource_id = make.resource(ada, {betty: READ})
    for number in range(3):
        ids = tagged(betty, resource_id, "work", *(f"{number}{each}" for each in range(9)))
        for slug, tag_id in ids.items():
            if slug != "work":
                assert rename(betty, tag_id, "work").body["id"] == ids["work"]

    tagged(betty, resource_id, "work", "home")

    [marks] = [
        row["tags"]["SS"]
        for row in store.rows(Holding.stored_as())
        if (row["item_id"]["S"], row["user_id"]["S"]) == (resource_id, betty.id)
    ]
    assert len(marks) == 2
    assert slugs(betty, resource_id) == ["home", "work"]
    tagged(betty, resource_id)
    assert stored(store) == []


def test_a_tag_that_very_many_became_takes_no_other(ada, store):
    first, second = make.resource(ada), make.resource(ada)
    ids = tagged(ada, first, "work", "job")
    tagged(ada, second, "job")
    found = reading.read([Tag.of(ada.id, ids["job"])]).find(Tag, ada.id, ids["job"])
    found.marks |= {new_id() for _ in range(MOST_MARKS - 1)}  # as so many renames leave it
    writing.put_all([found])

    response = rename(ada, ids["work"], "job")

    assert (response.status, response.message) == (400, "Could not validate tag data.")
    assert [*response.body["slug"]] == ["hasAtMost"]
    assert slugs(ada, first) == ["job", "work"]


@pytest.mark.parametrize(
    ("slug", "rule"), [("", "_empty"), (None, "_empty"), ("x" * 129, "maxLength")]
)
def test_a_slug_that_is_none(ada, slug, rule):
    [tag_id] = tagged(ada, make.resource(ada), "work").values()

    response = rename(ada, tag_id, slug)

    assert (response.status, response.message) == (400, "Could not validate tag data.")
    assert [*response.body["slug"]] == [rule]


def test_a_body_that_says_nothing_is_refused(ada):
    [tag_id] = tagged(ada, make.resource(ada), "work").values()

    response = ada.client.put(f"/tags/{tag_id}.json", {})

    assert (response.status, response.message) == (400, "Could not validate tag data.")


def test_no_personal_tag_becomes_a_shared_one(ada):
    [tag_id] = tagged(ada, make.resource(ada), "work").values()

    assert_refused(rename(ada, tag_id, "#work"), 400, NO_SHARING)


def test_no_slug_in_clear_where_settings_forbid_it(ada):
    [tag_id] = tagged(ada, make.resource(ada), "work").values()
    forbid_v4(ada)

    expected = "Tag creation with cleartext metadata not allowed."
    assert_refused(rename(ada, tag_id, "job"), 400, expected)


# Renaming and deleting what is not one's own


@pytest.mark.parametrize(
    ("method", "verb"), [("put", "update"), ("delete", "delete")], ids=["rename", "delete"]
)
def test_shared_tags_and_those_of_others(ada, betty, method, verb):
    resource_id = make.resource(ada, {betty: READ})
    ids = tagged(ada, resource_id, "mine", "#ours")

    def ask(tag_id: str) -> Response:
        sent = () if method == "delete" else ({"slug": "job"},)
        return getattr(betty.client, method)(f"/tags/{tag_id}.json", *sent)

    assert_refused(ask("nonsense"), 400, "The tag id is not valid.")
    assert_refused(ask(new_id()), 404, MISSING)
    assert_refused(ask(ids["mine"]), 404, MISSING)
    denied = f"You do not have the permission to {verb} shared tags."
    assert_refused(ask(ids["#ours"]), 403, denied)
    assert slugs(ada, resource_id) == ["#ours", "mine"]


def test_a_deleted_tag_is_gone_from_all_resources(ada, store):
    first, second = make.resource(ada), make.resource(ada)
    tagged(ada, first, "work", "home")
    ids = tagged(ada, second, "work")

    response = ada.client.delete(f"/tags/{ids['work']}.json")

    expected = (200, "The tag has been deleted successfully.", None)
    assert (response.status, response.message, response.body) == expected
    assert (slugs(ada, first), slugs(ada, second)) == (["home"], [])
    assert [row["slug"] for row in index(ada)] == ["home"]
    assert_refused(ada.client.delete(f"/tags/{ids['work']}.json"), 404, MISSING)
    assert tagged(ada, first, "work")["work"] != ids["work"]
    assert slugs(ada, second) == []


# Access


def test_losing_access_takes_the_tags_of_the_user(ada, betty):
    """I8"""
    resource_id = make.resource(ada, {betty: READ})
    tagged(betty, resource_id, "hers")
    shares.share(ada, resource_id, [shares.remove(resource_id, betty)])
    assert index(betty) == []

    shares.share(ada, resource_id, [shares.add(betty)], secrets(betty))

    assert slugs(betty, resource_id) == []


def test_tags_of_deleted_resources_are_not_listed(ada):
    resource_id = make.resource(ada)
    tagged(ada, resource_id, "work", "#team")

    ada.client.delete(path(resource_id))

    assert index(ada) == []


def test_tags_of_deleted_types_are_not_listed(ada):
    resource_id = make.resource(ada)
    tagged(ada, resource_id, "work")

    delete_type(resource_types.PASSWORD_STRING)

    assert index(ada) == []


def test_with_a_user_go_their_tags(ada, betty, store):
    kept = make.resource(ada, {betty: READ})
    tagged(ada, kept, "#ours", "mine")
    tagged(betty, kept, "#ours", "hers")
    tagged(betty, make.resource(betty), "alone")

    assert ada.client.delete(f"/users/{betty.id}.json").status == 200

    assert {row["slug"]["S"] for row in stored(store)} == {"#ours", "mine"}
    assert not [row for row in store.rows(Tag.stored_as()) if row["owner"]["S"] == betty.id]
    noted = {row.get("owner", {}).get("S") for row in store.rows(MetadataUse.stored_as())}
    assert betty.id not in noted


# Lists


@pytest.mark.parametrize("value", ["0", "1"])
def test_tags_are_a_member_of_resources_with_the_value_0_too(ada, value):
    resource_id = make.resource(ada)
    tagged(ada, resource_id, "work")
    [plain] = ada.client.get("/resources.json").body
    assert "tags" not in plain

    [row] = ada.client.get(f"/resources.json?contain[tag]={value}").body

    assert [each["slug"] for each in row["tags"]] == ["work"]


def test_resources_are_found_by_a_tag(ada, betty):
    first, second, third = (make.resource(ada, {betty: READ}) for _ in range(3))
    tagged(ada, first, "Work", "#team")
    tagged(ada, second, "work")
    tagged(betty, third, "work")

    def found(who: Any, slug: str) -> set[str]:
        rows = who.client.get(f"/resources.json?filter[has-tag]={slug}").body
        assert all("tags" not in row for row in rows)
        return {row["id"] for row in rows}

    assert found(ada, "work") == {first, second}
    assert found(betty, "work") == {third}
    assert found(betty, "%23team") == {first}
    assert found(ada, "wor") == set()


@pytest.mark.parametrize("query", ["filter[has-tag]=", "filter[has-tag][]=work"])
def test_a_tag_to_find_resources_by_is_one_text(ada, query):
    assert ada.client.get(f"/resources.json?{query}").status == 400


def test_a_member_of_a_group_tags_what_the_group_has(ada, betty):
    team = make.group(ada, betty)
    resource_id = make.resource(ada, {team: READ})
    tagged(betty, resource_id, "hers")
    assert slugs(betty, resource_id) == ["hers"]

    groups.update(ada, team, groups.remove(team, betty))

    assert index(betty) == []
