"""Comments: what is said at a resource, who may say it, and how replies are shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from json.scanner import py_make_scanner
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import writing
from chalicelib.tables.items.comments import Comment
from tests.support.faults.hooks import Recorder, SmallPages
from tests.support.wire.client import Response
from tests.support.world import make, people
from tests.support.world.items import comments, resources
from tests.support.world.items.comments import comment, commented, content_of, listed, path
from tests.support.world.items.resources import delete_type, take
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
UNSEEN = "Could not find comments for the requested model."
NOT_YOURS = "You are not allowed to edit this comment."
NOON = "2026-11-21T12:00:00+00:00"


def edit(who: Somebody, comment_id: str, content: Any = "changed", **members: Any) -> Response:
    return who.client.put(path(comment_id), {"content": content, **members})


def remove(who: Somebody, comment_id: str) -> Response:
    return who.client.delete(path(comment_id))


def assert_refused(response: Response, status: int, message: str) -> None:
    assert (response.status, response.message, response.body) == (status, message, "")


def rules(response: Response, field: str) -> set[str]:
    """The rules the field of a refused comment breaks."""
    assert (response.status, response.message) == (400, comments.INVALID), response.json
    assert set(response.body) == {field}
    return set(response.body[field])


def tree(found: Any) -> Any:
    """What comments say, each with the replies to it."""
    return [(each["content"], tree(each["children"])) for each in found]


# Adding


def test_a_reader_comments(ada, betty):
    resource_id = make.resource(ada, {betty: READ})

    response = comment(betty, resource_id, "Is this still in use?")

    assert (response.status, response.message) == (200, "The comment was successfully added.")
    assert response.body == {
        "id": response.body["id"],
        "parent_id": None,
        "foreign_key": resource_id,
        "foreign_model": "Resource",
        "content": "Is this still in use?",
        "created": NOON,
        "modified": NOON,
        "created_by": betty.id,
        "modified_by": betty.id,
        "user_id": betty.id,
    }
    assert listed(ada, resource_id) == [{**response.body, "children": []}]


def test_a_member_of_a_group_comments_on_what_is_shared_with_it(ada, betty):
    resource_id = make.resource(ada, {make.group(betty): READ})

    assert comment(betty, resource_id).status == 200


def test_a_reply_names_what_it_replies_to(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    first = commented(ada, resource_id, "first")

    response = comment(betty, resource_id, "second", parent_id=first.upper())

    assert response.body["parent_id"] == first
    commented(ada, resource_id, "third", parent_id=response.body["id"])
    assert tree(listed(ada, resource_id)) == [("first", [("second", [("third", [])])])]


def test_members_a_client_may_not_set_are_passed_over(ada, betty):
    """NP08, W8"""
    resource_id, other = make.resource(ada), make.resource(ada)
    odd = {"__class__": "x", "constructor": 1, "$where": "1", "a.b": 2, "": 3}
    theirs = {
        "id": new_id(),
        "user_id": betty.id,
        "created_by": betty.id,
        "modified_by": betty.id,
        "foreign_key": other,
        "foreign_model": "Folder",
        "created": "2000-01-01T00:00:00+00:00",
        "modified": "2000-01-01T00:00:00+00:00",
    }

    body = comment(ada, resource_id, **theirs, **odd).body

    assert body == {
        "id": body["id"],
        "parent_id": None,
        "content": "hello",
        "foreign_key": resource_id,
        "foreign_model": "Resource",
        "created": NOON,
        "modified": NOON,
        **dict.fromkeys(("user_id", "created_by", "modified_by"), ada.id),
    }
    assert body["id"] != theirs["id"]
    assert listed(ada, other) == []


@pytest.mark.parametrize("parent", [None, ""])
def test_no_parent_may_be_said_in_two_ways(ada, parent):
    response = comment(ada, make.resource(ada), parent_id=parent)

    assert (response.status, response.body["parent_id"]) == (200, None)


CONTENTS = (
    *("x", "x" * 256, "   ", "  padded ", "é漢😀", "😀" * 256, "e\u0301" * 128, "a\tb\r\nc"),
    *("<script>alert(1)</script>", "' OR 1=1 --", "{{7*7}} ${x}", "=cmd()", '"]},{"'),
)


@pytest.mark.parametrize("content", CONTENTS)
def test_a_text_is_kept_and_shown_as_it_was_sent(ada, content):
    """NP09, NP12, D11"""
    resource_id = make.resource(ada)

    created = comment(ada, resource_id, content)
    edited = edit(ada, commented(ada, resource_id), content)

    assert created.body["content"] == edited.body["content"] == content
    assert {each["content"] for each in listed(ada, resource_id)} == {content}


REFUSED = [
    (None, {"_empty"}),
    ("", {"_empty"}),
    ([], {"utf8Extended", "lengthBetween"}),
    ("x" * 257, {"lengthBetween"}),
    ("😀" * 257, {"lengthBetween"}),
    ("x" * 100_000, {"lengthBetween"}),
    (0, {"utf8Extended"}),
    (1.5, {"utf8Extended"}),
    (True, {"utf8Extended"}),
    ({}, {"utf8Extended", "lengthBetween"}),
    ([[]], {"utf8Extended", "lengthBetween"}),
    ("a\u0000b", {"utf8Extended"}),
    ("a\u001bb", {"utf8Extended"}),
]


@pytest.mark.parametrize(("content", "broken"), REFUSED)
def test_what_is_no_text_is_refused(ada, digest, content, broken):
    """NP07, NP09, NP11, D12, F4"""
    resource_id = make.resource(ada)
    comment_id = commented(ada, resource_id)
    before = digest()

    assert rules(comment(ada, resource_id, content), "content") == broken
    assert rules(edit(ada, comment_id, content), "content") == broken
    assert digest() == before


def test_a_lone_surrogate_is_refused(ada, digest):
    """NP10"""
    resource_id = make.resource(ada)
    comment_id = commented(ada, resource_id)
    before = digest()

    for response in (
        ada.client.post(comments.of(resource_id), raw=b'{"content": "\\ud800"}'),
        ada.client.put(path(comment_id), raw=b'{"content": "\\ud800"}'),
    ):
        assert response.status == 400
    assert digest() == before


@pytest.mark.parametrize("body", [None, {}, [], "text", ["text"], 7, {"text": "hello"}])
def test_a_text_is_required(ada, digest, body):
    """NP06, F4"""
    resource_id = make.resource(ada)
    comment_id = commented(ada, resource_id)
    before = digest()

    assert rules(ada.client.post(comments.of(resource_id), body), "content") == {"_empty"}
    assert rules(ada.client.put(path(comment_id), body), "content") == {"_required"}
    assert digest() == before


@pytest.mark.parametrize("parent", ["abc", 7, True, [], {}, "\u0000", " "])
def test_a_parent_is_named_by_an_identifier(ada, digest, parent):
    """NP07"""
    resource_id = make.resource(ada)
    before = digest()

    assert rules(comment(ada, resource_id, parent_id=parent), "parent_id") == {"uuid"}
    assert digest() == before


def test_all_that_is_wrong_is_said_at_once(ada):
    response = comment(ada, make.resource(ada), "", parent_id="abc")

    assert {field: set(broken) for field, broken in response.body.items()} == {
        "content": {"_empty"},
        "parent_id": {"uuid"},
    }


def test_a_reply_needs_a_comment_of_the_same_resource(ada, digest):
    resource_id = make.resource(ada)
    elsewhere, gone = commented(ada, make.resource(ada)), commented(ada, resource_id)
    remove(ada, gone)
    before = digest()

    for parent in (new_id(), elsewhere, gone, resource_id):
        response = comment(ada, resource_id, parent_id=parent)
        assert rules(response, "parent_id") == {"has_valid_parent_id"}
        [said] = response.body["parent_id"].values()
        assert said == "The parent comment does not exist."
    assert digest() == before


def unseen(ada: Somebody, betty: Somebody) -> list[str]:
    """Identifiers of resources that Ada may not see, or that are none."""
    hidden, gone = make.resource(betty), make.resource(ada)
    commented(betty, hidden)
    commented(ada, gone)
    ada.client.delete(resources.path(gone))
    return [hidden, gone, new_id(), ada.id]


def test_on_what_one_may_not_see_one_does_not_comment(ada, betty, digest):
    """AC20, AC30, W2"""
    ids = unseen(ada, betty)
    before = digest()

    for resource_id in ids:
        assert_refused(comment(ada, resource_id), 404, resources.MISSING)
        assert_refused(comment(ada, resource_id, parent_id=new_id()), 404, resources.MISSING)
    assert digest() == before


def test_an_invalid_comment_is_refused_before_the_resource_is_looked_at(ada, betty):
    hidden = make.resource(betty)

    for resource_id in (hidden, new_id()):
        with Recorder() as seen:
            assert rules(comment(ada, resource_id, ""), "content") == {"_empty"}
        assert "resources" not in seen.tables


def test_a_resource_of_a_deleted_type_has_no_comments(ada, digest):
    resource_id = make.resource(ada, resource_type_id=resource_types.TOTP.id)
    comment_id = commented(ada, resource_id)
    delete_type(resource_types.TOTP)
    before = digest()

    assert_refused(comment(ada, resource_id), 404, resources.MISSING)
    assert_refused(ada.client.get(comments.of(resource_id)), 404, UNSEEN)
    assert_refused(edit(ada, comment_id), 404, comments.MISSING)
    assert digest() == before


@pytest.mark.parametrize("model", ["folder", "Resource", "RESOURCE", "x"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_only_resources_are_commented_on(ada, digest, method, model):
    resource_id = make.resource(ada)
    before = digest()

    response = ada.client.request(
        method, f"/comments/{model}/{resource_id}.json", json={"content": "hello"}
    )

    assert_refused(response, 404, "Not Found")
    assert digest() == before


# Listing


def test_a_resource_without_comments_has_an_empty_list(ada):
    response = ada.client.get(comments.of(make.resource(ada)))

    assert (response.status, response.body) == (200, [])
    assert "pagination" not in response.header


def test_comments_one_may_not_see_look_as_if_there_were_none(ada, betty, digest):
    """AC20, AC30, W2"""
    ids = unseen(ada, betty)
    before = digest()

    answers = [ada.client.get(comments.of(resource_id)) for resource_id in ids]

    for answer in answers:
        assert_refused(answer, 404, UNSEEN)
    assert digest() == before


def test_comments_one_may_not_see_are_not_read(ada, betty):
    hidden = make.resource(betty)
    commented(betty, hidden)

    with Recorder() as seen:
        ada.client.get(comments.of(hidden))

    assert "comments" not in seen.tables


def test_identifiers_are_looked_at_first(ada):
    """NP01"""
    resource, own = (
        "The resource identifier should be a valid UUID.",
        "The comment id is not valid.",
    )
    assert_refused(ada.client.get(comments.of("abc")), 400, "Invalid id")
    assert_refused(comment(ada, "abc", ""), 400, resource)
    assert_refused(edit(ada, "abc", ""), 400, own)
    assert_refused(remove(ada, "abc"), 400, own)


def test_identifiers_may_be_in_upper_case(ada):
    """NP02"""
    resource_id = make.resource(ada)
    comment_id = comment(ada, resource_id.upper()).body["id"]

    assert [each["id"] for each in listed(ada, resource_id.upper())] == [comment_id]
    assert edit(ada, comment_id.upper()).body["id"] == comment_id
    assert remove(ada, comment_id.upper()).status == 200


def test_what_changed_last_comes_first_at_each_level(ada, time):
    resource_id = make.resource(ada)
    ids = {}
    for name, parent in (("a", None), ("b", None), ("a1", "a"), ("a2", "a"), ("a3", "a")):
        time.pass_by(seconds=1)
        above = {"parent_id": ids[parent]} if parent else {}
        ids[name] = commented(ada, resource_id, name, **above)
    assert tree(listed(ada, resource_id)) == [
        ("b", []),
        ("a", [("a3", []), ("a2", []), ("a1", [])]),
    ]

    for name in ("a1", "a"):
        time.pass_by(seconds=1)
        edit(ada, ids[name], name)

    assert tree(listed(ada, resource_id)) == [
        ("a", [("a1", []), ("a3", []), ("a2", [])]),
        ("b", []),
    ]


def test_of_what_changed_at_one_time_the_identifier_decides(ada):
    resource_id = make.resource(ada)
    ids = {commented(ada, resource_id) for _ in range(20)}

    assert [each["id"] for each in listed(ada, resource_id)] == sorted(ids)


def test_a_reply_outlives_what_it_replies_to(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    first = commented(ada, resource_id, "first")
    second = commented(betty, resource_id, "second", parent_id=first)
    commented(ada, resource_id, "third", parent_id=second)

    remove(ada, first)

    found = listed(betty, resource_id)
    assert tree(found) == [("second", [("third", [])])]
    assert found[0]["parent_id"] == first


def test_authors_are_shown_when_asked_for(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    first = commented(ada, resource_id)
    commented(betty, resource_id, parent_id=first)
    usual = {
        *("id", "parent_id", "foreign_key", "foreign_model", "content", "children"),
        *("created", "modified", "created_by", "modified_by", "user_id"),
    }

    for query, more in (
        ("", set()),
        ("contain[creator]=0&contain[modifier]=false", set()),
        ("contain[creator]=1", {"creator"}),
        ("contain[modifier]=1", {"modifier"}),
        ("contain[creator]=1&contain[modifier]=1", {"creator", "modifier"}),
        ("contain[secret]=1&filter[x]=1&sort=y", set()),
    ):
        [above] = listed(ada, resource_id, query)
        [below] = above["children"]
        for shown, who in ((above, ada), (below, betty)):
            assert set(shown) == usual | more, query
            for member in more:
                user = shown[member]
                assert (user["id"], user["username"]) == (who.id, who.user.username)
                assert user["profile"]["first_name"] == who.user.first_name
                assert set(user["profile"]["avatar"]["url"]) == {"medium", "small"}
                assert not {"gpgkey", "role", "groups_users"} & set(user)


@pytest.mark.parametrize("value", ["2", "yes", ""])
def test_a_contain_is_on_or_off(ada, value):
    """NP21"""
    response = ada.client.get(f"{comments.of(make.resource(ada))}?contain[creator]={value}")

    assert response.status == 400
    assert response.message == f'Invalid contain. "{value}" is not a valid contain value.'


def test_the_author_is_shown_also_when_they_are_gone(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    commented(betty, resource_id)
    take(resource_id, betty)
    people.delete(betty)

    [shown] = listed(ada, resource_id, "contain[creator]=1&contain[modifier]=1")

    assert shown["creator"] == shown["modifier"]
    assert (shown["creator"]["id"], shown["creator"]["deleted"]) == (betty.id, True)
    assert shown["creator"]["profile"]["first_name"] == "Betty"


def test_each_author_is_read_once(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    for who in (ada, betty) * 3:
        commented(who, resource_id)

    with Recorder() as seen:
        listed(ada, resource_id, "contain[creator]=1&contain[modifier]=1")

    last = seen.calls[-1]
    assert (last.tables, last.rows) == (("users",), 2)


@pytest.mark.parametrize("empty", [False, True])
def test_a_list_is_read_to_its_end(ada, empty):
    """FT08"""
    resource_id = make.resource(ada)
    ids = {commented(ada, resource_id) for _ in range(7)}

    with SmallPages(2, empty=empty):
        found = listed(ada, resource_id)

    assert {each["id"] for each in found} == ids


# Many, and deep


def stored(resource_id: str, who: Somebody, count: int, *, deep: bool = False) -> list[str]:
    """So many comments at a resource, each a reply to the one before if `deep`."""
    ids = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(count)]
    rows = [
        Comment(
            resource_id,
            comment_id,
            parent_id=ids[number - 1] if deep and number else None,
            content=f"comment {number}",
            user_id=who.id,
            created=clock.now(),
            modified=clock.now(),
        )
        for number, comment_id in enumerate(ids)
    ]
    writing.put_all([*rows, *(row.locator() for row in rows)])
    return ids


def test_ten_thousand_comments_are_listed(ada):
    resource_id = make.resource(ada)
    ids = stored(resource_id, ada, 10_000)

    assert [each["id"] for each in listed(ada, resource_id)] == ids


@contextmanager
def _deep_reading() -> Iterator[None]:
    """Lets the parser of the tests follow what ours wrote."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    yield
    sys.setrecursionlimit(limit)


def _parsed(content: bytes) -> Any:
    """Parse by the parser that is written in Python: since 3.12 the one in C has a fixed depth."""
    decoder = json.JSONDecoder()
    decoder.scan_once = py_make_scanner(decoder)
    with _deep_reading():
        return decoder.decode(content.decode())["body"]


def _down(found: Any) -> Iterator[Any]:
    """The comments of a chain, from the first."""
    while found:
        [only] = found
        yield only
        found = only["children"]


def test_replies_may_be_as_deep_as_they_like(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    ids = stored(resource_id, betty, 3_000, deep=True)
    last = commented(ada, resource_id, parent_id=ids[-1])

    response = ada.client.get(f"{comments.of(resource_id)}?contain[creator]=1")

    assert response.status == 200
    chain = list(_down(_parsed(response.content)))
    assert [each["id"] for each in chain] == [*ids, last]
    assert [each["parent_id"] for each in chain] == [None, *ids]
    assert {each["creator"]["id"] for each in chain} == {ada.id, betty.id}


# Changing


def test_the_author_changes_what_they_said(ada, betty, time):
    resource_id = make.resource(ada, {betty: READ})
    created = comment(betty, resource_id).body
    time.pass_by(minutes=5)

    response = edit(betty, created["id"], "changed")

    assert (response.status, response.message) == (200, "The comment was successfully updated.")
    later = "2026-11-21T12:05:00+00:00"
    assert response.body == {**created, "content": "changed", "modified": later}
    assert listed(ada, resource_id) == [{**response.body, "children": []}]


def test_only_the_text_changes(ada, betty):
    """NP08, W8"""
    resource_id, other = make.resource(ada), make.resource(ada)
    first = commented(ada, resource_id)
    created = comment(ada, resource_id).body
    theirs = {
        "id": new_id(),
        "parent_id": first,
        "foreign_key": other,
        "foreign_model": "Folder",
        "user_id": betty.id,
        "created_by": betty.id,
        "modified_by": betty.id,
        "created": "2000-01-01T00:00:00+00:00",
    }

    response = edit(ada, created["id"], "changed", **theirs)

    assert response.body == {**created, "content": "changed"}
    assert len(listed(ada, resource_id)) == 2


def test_a_change_keeps_the_replies(ada):
    resource_id = make.resource(ada)
    first = commented(ada, resource_id, "first")
    commented(ada, resource_id, "second", parent_id=first)

    edit(ada, first, "new")

    assert tree(listed(ada, resource_id)) == [("new", [("second", [])])]


def test_times_do_not_go_back(ada, time):
    """FT17"""
    created = comment(ada, make.resource(ada)).body
    time.pass_by(seconds=-5)

    assert edit(ada, created["id"]).body["modified"] == created["modified"]


@pytest.mark.parametrize("permission", [READ, UPDATE, OWNER])
def test_the_words_of_others_are_not_changed(ada, betty, carol, digest, permission):
    """AC19, W6: by a reader, an owner and an administrator."""
    resource_id = make.resource(carol, {ada: permission, betty: READ})
    comment_id = commented(betty, resource_id)
    before = digest()

    for who in (ada, carol):
        assert_refused(edit(who, comment_id), 403, NOT_YOURS)
        assert_refused(remove(who, comment_id), 404, comments.MISSING)
    assert digest() == before


def test_comments_at_what_one_may_not_see_do_not_exist(ada, betty, digest):
    """AC19, W2: also for an administrator."""
    comment_id = commented(betty, make.resource(betty))
    before = digest()

    for unknown in (comment_id, new_id()):
        assert_refused(edit(ada, unknown), 404, comments.MISSING)
        assert_refused(remove(ada, unknown), 404, comments.MISSING)
    assert digest() == before


def test_an_invalid_text_is_refused_before_the_comment_is_looked_at(ada, betty, digest):
    comment_id = commented(betty, make.resource(betty, {ada: READ}))
    before = digest()

    for unknown in (comment_id, new_id()):
        assert rules(edit(ada, unknown, ""), "content") == {"_empty"}
        assert rules(ada.client.put(path(unknown), {}), "content") == {"_required"}
    assert digest() == before


def test_who_lost_access_can_take_their_words_back_and_no_more(ada, betty, digest):
    """AC20, F17"""
    resource_id = make.resource(ada, {betty: READ})
    comment_id = commented(betty, resource_id)
    take(resource_id, betty)
    before = digest()

    assert_refused(edit(betty, comment_id), 404, comments.MISSING)
    assert_refused(comment(betty, resource_id, parent_id=comment_id), 404, resources.MISSING)
    assert_refused(betty.client.get(comments.of(resource_id)), 404, UNSEEN)
    assert digest() == before
    assert len(listed(ada, resource_id)) == 1

    assert remove(betty, comment_id).status == 200
    assert listed(ada, resource_id) == []


def test_comments_stay_when_their_resource_is_deleted_and_lead_nowhere(ada, betty, digest):
    """AC30, I9"""
    resource_id = make.resource(ada, {betty: READ})
    comment_id = commented(betty, resource_id)
    ada.client.delete(resources.path(resource_id))
    before = digest()

    assert_refused(betty.client.get(comments.of(resource_id)), 404, UNSEEN)
    assert_refused(edit(betty, comment_id), 404, comments.MISSING)
    assert_refused(edit(ada, comment_id), 404, comments.MISSING)
    assert_refused(remove(ada, comment_id), 404, comments.MISSING)
    assert digest() == before
    assert content_of(resource_id, comment_id) == "hello"


# Removing


def test_the_author_removes_what_they_said(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    kept, comment_id = commented(ada, resource_id), commented(betty, resource_id)

    response = remove(betty, comment_id)

    assert (response.status, response.message) == (200, "The comment was deleted.")
    assert response.body is None
    assert [each["id"] for each in listed(ada, resource_id)] == [kept]


def test_what_was_removed_is_not_there_any_more(ada, digest):
    """IN33, FT03"""
    comment_id = commented(ada, make.resource(ada))
    remove(ada, comment_id)
    before = digest()

    assert_refused(remove(ada, comment_id), 404, comments.MISSING)
    assert_refused(edit(ada, comment_id), 404, comments.MISSING)
    assert digest() == before


def test_the_same_change_again_is_the_same(ada, digest):
    """FT03"""
    comment_id = commented(ada, make.resource(ada))
    first = edit(ada, comment_id)
    before = digest()

    again = edit(ada, comment_id)

    assert (again.status, again.body) == (200, first.body)
    assert digest() == before
