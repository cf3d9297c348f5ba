"""What must be true of shared metadata keys, of what is encrypted to them, and of their copies."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.metadata_keys import MOST_ACTIVE, SHARED_KEY
from chalicelib.tables.items.metadata_private_keys import SERVER
from chalicelib.tables.items.metadata_uses import CLEAR
from integrity import tags
from integrity.stored import Row, Stored, Violation


def keys_are_sound(stored: Stored) -> Iterator[Violation]:
    """At most two keys are active; none is deleted before it has expired."""
    keys = stored.by_id("metadata_keys")
    active = [id_ for id_, key in keys.items() if not (key["expired"] or key["deleted"])]
    for key_id in sorted(active)[MOST_ACTIVE:]:
        yield Violation("I7", key_id, "more shared keys are active than may be")
    for key_id, key in keys.items():
        if key["deleted"] and not key["expired"]:
            yield Violation("I7", key_id, "the key is deleted and has not expired")
    fingerprints = [key["fingerprint"] for key in keys.values()]
    if len(set(fingerprints)) < len(fingerprints):
        yield Violation("I10", SHARED_KEY, "two keys have one fingerprint")


def keys_are_there(stored: Stored) -> Iterator[Violation]:
    """What is encrypted to a shared key is noted, and the key is not deleted."""
    keys = stored.by_id("metadata_keys")
    noted = {(row["metadata_key_id"], row["item_id"]) for row in stored.rows("metadata_uses")}
    expected = set()
    for item, key_id in [*_noted_items(stored), *_noted_tags(stored)]:
        expected.add((key_id, item["id"]))
        if key_id != CLEAR and (key_id not in keys or keys[key_id]["deleted"]):
            yield Violation("I7", item["id"], "its metadata are for no key there is")
    for _, item_id in sorted(expected - noted):
        yield Violation("I7", item_id, "it is not noted what it is encrypted to")
    for _, item_id in sorted(noted - expected):
        yield Violation("I7", item_id, "it is noted to be encrypted to what it is not")


def copies_are_of_users(stored: Stored) -> Iterator[Violation]:
    """Copies are of keys there are and of users there are, whose rows know of them."""
    keys = stored.by_id("metadata_keys")
    for copy in stored.rows("metadata_private_keys"):
        holder, key_id = copy["holder"], copy["metadata_key_id"]
        if key_id not in keys or keys[key_id]["deleted"]:
            yield Violation("I7", copy["id"], "a copy is of no key there is")
        if holder == SERVER:
            continue
        user = stored.live_users.get(holder)
        if user is None:
            yield Violation("I9", copy["id"], "a copy is of no user there is")
        elif key_id not in (user["metadata_keys"] or ()):
            yield Violation("I7", copy["id"], "the user's row does not know of a copy")


def _noted_items(stored: Stored) -> Iterator[tuple[Row, str]]:
    for kind, item in stored.items:
        key_id = None if item["deleted"] else _noted_under(kind, item)
        if key_id is not None:
            yield item, key_id


def _noted_tags(stored: Stored) -> Iterator[tuple[Row, str]]:
    for tag in tags.all_of(stored):
        key_id = tags.noted_under(tag)
        if key_id is not None:
            yield tag, key_id


def _noted_under(kind: str, item: Row) -> str | None:
    if kind == Folder.kind and item["metadata"] is None:
        return CLEAR
    return item["metadata_key_id"] if item["metadata_key_type"] == SHARED_KEY else None
