"""Races over tags: two requests at once, in every order of their storage calls."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage.connection import Json, Send
from chalicelib.tables.items.tags import SET, Tag
from tests.support.faults.hooks import Around
from tests.support.races.at_once import Ask
from tests.support.world import groups, make
from tests.support.world.items import shares
from tests.support.world.items.metadata import SharedKey, described, expire, expiry, shared
from tests.support.world.items.resources import path
from tests.support.world.items.tags import (
    allow_v5_tags,
    common,
    index,
    listed,
    own,
    rename,
    slugs,
    tag,
    tagged,
)
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType


def tagging(who: Somebody, resource_id: str, *entries: Any) -> Ask:
    return lambda: tag(who, resource_id, *entries)


def renaming(who: Somebody, tag_id: str, slug: str) -> Ask:
    return lambda: rename(who, tag_id, slug)


def removing(who: Somebody, tag_id: str) -> Ask:
    return lambda: who.client.delete(f"/tags/{tag_id}.json")


def unsharing(who: Somebody, resource_id: str, other: Somebody) -> Ask:
    body = {"permissions": [shares.remove(resource_id, other)]}
    return lambda: shares.put(who, resource_id, body)


def deleting(who: Somebody, path: str) -> Ask:
    return lambda: who.client.delete(path)


def rotating(who: Somebody, tag_id: str, key: SharedKey) -> Ask:
    body = [{"id": tag_id, **described(key, "rotated")}]
    return lambda: who.client.post("/metadata/rotate-key/tags.json", body)


def count(store: Any) -> int:
    return sum(row["id"] != {"S": SET} for row in store.rows(Tag.stored_as()))


def require_count(store: Any, expected: int) -> None:
    assert count(store) == expected


def test_two_owners_make_one_shared_tag(ada, betty, store, race):
    """I10"""
    first = make.resource(ada, {betty: OWNER})
    second = make.resource(betty)

    assert race(tagging(ada, first, "#ours"), tagging(betty, second, "#ours")) == {(200, 200)}
    assert count(store) == 1
    assert slugs(ada, first) == slugs(betty, second) == ["#ours"]


def test_two_owners_change_the_shared_tags_of_one_resource(ada, betty, race):
    """I14"""
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(tagging(ada, resource_id, "#a"), tagging(betty, resource_id, "#b")) == {(200, 200)}
    assert len(slugs(ada, resource_id)) == 1


def test_an_owner_takes_all_tags_away_while_another_exchanges_the_shared_one(ada, betty, race):
    """I14: what is made after the tags were read is taken away as well"""
    resource_id = make.resource(ada, {betty: OWNER})
    tagged(ada, resource_id, "#before")

    assert race(tagging(betty, resource_id), tagging(ada, resource_id, "#after")) == {(200, 200)}


def test_a_user_takes_their_tags_away_while_they_make_one(ada, store, race):
    """I14, and no tag is left that nothing links to"""
    resource_id = make.resource(ada)
    tagged(ada, resource_id, "before")

    assert race(
        tagging(ada, resource_id),
        tagging(ada, resource_id, "before", "after"),
        then=lambda: require_count(store, len(slugs(ada, resource_id))),
    ) == {(200, 200)}


def test_a_reader_sets_their_tags_while_a_shared_one_is_exchanged(ada, betty, race):
    resource_id = make.resource(ada, {betty: READ})
    tagged(ada, resource_id, "#before")

    assert race(tagging(betty, resource_id, "hers"), tagging(ada, resource_id, "#after")) == {
        (400, 200)
    }


def test_two_users_tag_one_resource_each_for_themselves(ada, betty, race):
    resource_id = make.resource(ada, {betty: READ})

    assert race(tagging(ada, resource_id, "x"), tagging(betty, resource_id, "x")) == {(200, 200)}
    assert slugs(ada, resource_id) == slugs(betty, resource_id) == ["x"]


def test_a_user_tags_two_resources_alike(ada, store, race):
    """I10"""
    first, second = make.resource(ada), make.resource(ada)

    assert race(tagging(ada, first, "x"), tagging(ada, second, "x")) == {(200, 200)}
    assert count(store) == 1


def test_a_user_tags_one_resource_twice(ada, race):
    """I14"""
    resource_id = make.resource(ada)

    assert race(tagging(ada, resource_id, "x"), tagging(ada, resource_id, "y")) == {(200, 200)}
    assert len(slugs(ada, resource_id)) == 1


def test_a_tag_is_linked_while_its_last_link_goes(ada, race):
    first, second = make.resource(ada), make.resource(ada)
    tagged(ada, first, "x")

    assert race(tagging(ada, first), tagging(ada, second, "x")) == {(200, 200)}
    assert (slugs(ada, first), slugs(ada, second)) == ([], ["x"])


def test_access_is_taken_away_while_a_user_tags(ada, betty, race):
    """I8"""
    resource_id = make.resource(ada, {betty: READ})

    found = race(unsharing(ada, resource_id, betty), tagging(betty, resource_id, "hers"))

    assert found == {(200, 200), (200, 404)}
    assert index(betty) == []


def test_ownership_is_taken_away_while_a_shared_tag_is_set(ada, betty, race):
    resource_id = make.resource(ada, {betty: OWNER})
    demoted = {"permissions": [shares.change(resource_id, betty, READ)]}

    found = race(
        lambda: shares.put(ada, resource_id, demoted), tagging(betty, resource_id, "#ours")
    )

    assert found == {(200, 200), (200, 400)}


def test_a_member_leaves_who_tags_what_the_group_has(ada, betty, race):
    """I8"""
    team = make.group(ada, betty)
    resource_id = make.resource(ada, {team: READ})
    leaving = groups.remove(team, betty)

    found = race(lambda: groups.update(ada, team, leaving), tagging(betty, resource_id, "hers"))

    assert found == {(200, 200), (200, 404)}
    assert index(betty) == []


def test_a_resource_is_deleted_while_it_is_tagged(ada, race):
    """RA07, I9"""
    resource_id = make.resource(ada)

    found = race(deleting(ada, path(resource_id)), tagging(ada, resource_id, "x", "#y"))

    assert found == {(200, 200), (200, 404)}
    assert index(ada) == []


def test_a_user_is_deleted_while_they_tag(ada, betty, store, race):
    """I9"""
    resource_id = make.resource(ada, {betty: READ})

    found = race(deleting(ada, f"/users/{betty.id}.json"), tagging(betty, resource_id, "hers"))

    assert found == {(200, 200), (200, 403)}
    assert count(store) == 0


def test_a_tag_is_renamed_while_it_is_linked(ada, race):
    first, second = make.resource(ada), make.resource(ada)
    [tag_id] = tagged(ada, first, "x").values()

    assert race(renaming(ada, tag_id, "y"), tagging(ada, second, "x")) == {(200, 200)}
    assert slugs(ada, first) == ["y"]
    assert slugs(ada, second) in (["x"], ["y"])


def test_a_tag_is_renamed_to_what_is_made_meanwhile(ada, store, race):
    """I10"""
    first, second = make.resource(ada), make.resource(ada)
    [tag_id] = tagged(ada, first, "x").values()

    assert race(renaming(ada, tag_id, "y"), tagging(ada, second, "y")) == {(200, 200)}
    assert (slugs(ada, first), slugs(ada, second)) == (["y"], ["y"])
    assert count(store) == 1


def test_two_tags_get_one_slug(ada, store, race):
    """I10"""
    resource_id = make.resource(ada)
    ids = tagged(ada, resource_id, "x", "y")

    assert race(renaming(ada, ids["x"], "z"), renaming(ada, ids["y"], "z")) == {(200, 200)}
    assert slugs(ada, resource_id) == ["z"]
    assert count(store) == 1


def test_a_tag_is_deleted_while_it_is_linked(ada, race):
    first, second = make.resource(ada), make.resource(ada)
    [tag_id] = tagged(ada, first, "x").values()

    assert race(removing(ada, tag_id), tagging(ada, second, "x")) == {(200, 200)}
    assert slugs(ada, first) == []


@pytest.fixture
def key(ada, betty) -> SharedKey:
    made = shared(ada, betty)
    allow_v5_tags(ada)
    return made


def test_a_key_expires_while_a_tag_is_encrypted_to_it(ada, betty, key, race):
    """RA08, I7"""
    resource_id = make.resource(betty)
    body = expiry(key)

    found = race(lambda: ada.client.put(key.path, body), tagging(betty, resource_id, common(key)))

    assert found == {(200, 200), (200, 400)}


def test_a_tag_is_rotated_while_it_is_encrypted_anew(ada, betty, key, race):
    """RA09"""
    resource_id = make.resource(betty)
    [tag_id] = tagged(betty, resource_id, common(key, is_shared=False)).values()
    second = shared(ada, betty, number=2)
    assert expire(ada, key).status == 200
    body = own(betty, "mine")

    found = race(
        rotating(ada, tag_id, second), lambda: betty.client.put(f"/tags/{tag_id}.json", body)
    )

    assert found == {(200, 200), (404, 200)}


def test_a_user_is_deleted_while_their_tag_is_rotated(ada, betty, key, store, race):
    """I9"""
    resource_id = make.resource(ada, {betty: READ})
    [tag_id] = tagged(betty, resource_id, common(key, is_shared=False)).values()
    second = shared(ada, betty, number=2)
    assert expire(ada, key).status == 200

    found = race(deleting(ada, f"/users/{betty.id}.json"), rotating(ada, tag_id, second))

    assert found == {(200, 200), (200, 404)}
    assert count(store) == 0


class Between(Around):
    """Asks something once, after the first query of tags has been answered."""

    def __init__(self, ask: Ask) -> None:
        self._ask: Ask | None = ask

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        answer = send()
        ask = self._ask
        if ask and operation == "Query" and parameters["TableName"] == Tag.stored_as():
            self._ask = None
            assert ask().status == 200
        return answer


def test_who_reads_tags_sees_them_before_or_after_they_are_exchanged(ada, store):
    """I13"""
    resource_id = make.resource(ada)
    tagged(ada, resource_id, "#before")
    before = store.contents()
    for read in (
        lambda: slugs(ada, resource_id),
        lambda: [row["slug"] for row in listed(ada, resource_id)],
        lambda: [row["slug"] for row in index(ada)],
    ):
        store.put_back(before)
        with Between(tagging(ada, resource_id, "#after")):
            assert read() in (["#before"], ["#after"])
