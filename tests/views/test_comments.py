"""How comments look to a client."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.tables.items.comments import Comment, CommentRow
from chalicelib.views.items import comments as views

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def row(comment_id: str, parent_id: str | None = None, modified: int = 0) -> CommentRow:
    return Comment(
        "resource",
        comment_id,
        parent_id=parent_id,
        content='say "]}"',
        user_id="author",
        created=NOON,
        modified=NOON + timedelta(seconds=modified),
    ).row


def threads(*rows: CommentRow, members: Collection[str] = ()) -> Any:
    return json.loads(orjson.dumps(views.threads(rows, {}, members)))


def ids(found: Any) -> Any:
    return [(each["id"], ids(each["children"])) for each in found]


def test_nothing_is_an_empty_list():
    assert threads() == []


def test_a_comment_is_shown_with_its_members():
    assert threads(row("a")) == [
        {
            "id": "a",
            "parent_id": None,
            "foreign_key": "resource",
            "foreign_model": "Resource",
            "content": 'say "]}"',
            "created": "2026-11-21T12:00:00+00:00",
            "modified": "2026-11-21T12:00:00+00:00",
            "created_by": "author",
            "modified_by": "author",
            "user_id": "author",
            "children": [],
        }
    ]


def test_an_author_nobody_knows_is_null():
    [shown] = threads(row("a"), members={"creator"})

    assert shown["creator"] is None
    assert "modifier" not in shown


def test_replies_are_in_order_at_each_level():
    found = threads(
        row("a", modified=1),
        row("b", modified=3),
        row("c", "a", modified=5),
        row("d", "a", modified=6),
        row("e", "c", modified=9),
        row("f", modified=3),
        row("g", "gone", modified=2),
    )

    assert ids(found) == [
        ("b", []),
        ("f", []),
        ("g", []),
        ("a", [("d", []), ("c", [("e", [])])]),
    ]


def expected(rows: Mapping[str, tuple[str | None, int]], parent: str | None) -> Any:
    """The same by recursion, which small trees allow."""
    here = [
        comment_id
        for comment_id, (above, _) in rows.items()
        if (above if above in rows else None) == parent
    ]
    here.sort(key=lambda comment_id: (-rows[comment_id][1], comment_id))
    return [(comment_id, expected(rows, comment_id)) for comment_id in here]


@st.composite
def forests(draw: st.DrawFn) -> dict[str, tuple[str | None, int]]:
    """Comments, each with its parent, which is an earlier one or gone, and when it changed."""
    names = draw(st.permutations([f"c{number:02}" for number in range(draw(st.integers(0, 12)))]))
    above: list[str | None] = [None, "gone"]
    rows: dict[str, tuple[str | None, int]] = {}
    for name in names:
        rows[name] = (draw(st.sampled_from(above)), draw(st.integers(0, 3)))
        above.append(name)
    return rows


@given(forests(), st.randoms(use_true_random=False))
def test_every_comment_stands_where_it_belongs(rows, chance):
    stored = [row(comment_id, *above) for comment_id, above in rows.items()]
    chance.shuffle(stored)

    assert ids(threads(*stored)) == expected(rows, None)
