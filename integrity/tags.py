"""What must be true of tags: of whom they are, what they are called, and what links to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from chalicelib.tables.items.metadata_keys import SHARED_KEY
from chalicelib.tables.items.metadata_uses import CLEAR
from chalicelib.tables.items.tags import SET, SHARED
from integrity.stored import Row, Stored, Violation


def all_of(stored: Stored) -> list[Row]:
    return [row for row in stored.rows("tags") if row["id"] != SET]


def noted_under(tag: Row) -> str | None:
    if tag["metadata"] is None:
        return CLEAR
    return str(tag["metadata_key_id"]) if tag["metadata_key_type"] == SHARED_KEY else None


def tags_are_of_somebody(stored: Stored) -> Iterator[Violation]:
    for row in stored.rows("tags"):
        if row["owner"] != SHARED and row["owner"] not in stored.live_users:
            yield Violation("I9", row["id"], "a tag is of no user there is")


def tags_are_whole(stored: Stored) -> Iterator[Violation]:
    """They are in one format, and a slug says whether its tag is shared."""
    for tag in all_of(stored):
        v5 = [tag[name] is not None for name in ("metadata", "metadata_key_id")]
        if any(v5) != all(v5) or all(v5) != (tag["slug"] is None):
            yield Violation("I13", tag["id"], "the tag is half in one format")
        if tag["slug"] is not None and tag["slug"].startswith("#") != (tag["owner"] == SHARED):
            yield Violation("I13", tag["id"], "the slug and the owner of the tag differ")


def slugs_are_single(stored: Stored) -> Iterator[Violation]:
    tags = all_of(stored)
    slugs = Counter((tag["owner"], tag["slug"]) for tag in tags if tag["slug"] is not None)
    for (owner, _), count in slugs.items():
        if count > 1:
            yield Violation("I10", owner, "two tags of one owner have one slug")
    marks = Counter(mark for tag in tags for mark in tag["marks"] or ())
    for mark, count in marks.items():
        if count > 1:
            yield Violation("I10", mark, "two tags have this mark")


def links_are_counted(stored: Stored) -> Iterator[Violation]:
    """No tag has more links than it counts, nor is there one that counts none."""
    own = Counter(
        (row["user_id"], mark) for row in stored.rows("holdings") for mark in row["tags"] or ()
    )
    shared = Counter(
        (SHARED, mark) for row in stored.resources.values() for mark in row["shared_tags"] or ()
    )
    for tag in all_of(stored):
        links = sum((own + shared)[tag["owner"], mark] for mark in tag["marks"] or ())
        if not tag["marks"] or tag["links"] < max(links, 1):
            yield Violation("I13", tag["id"], "more links to the tag than it counts")
