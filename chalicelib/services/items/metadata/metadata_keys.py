"""Shared metadata keys: who is shown which copies, and when one may be deleted.

At most two are active. What is encrypted to a key is noted with it in the same transaction, which
requires that the key has not expired; so once it has, nothing is added, and it can be said for
good that nothing uses it any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, NotFound
from chalicelib.domain.ids import MetadataKeyId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.notices import Event
from chalicelib.services.items.metadata import key_set
from chalicelib.storage import reading
from chalicelib.storage.base import Key, in_chunks
from chalicelib.storage.changes import operations
from chalicelib.storage.changes.operations import MOST_HELD, Change
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.claims import USERNAME, Claim
from chalicelib.tables.items.items import among, keys_of
from chalicelib.tables.items.metadata_keys import MetadataKey, MetadataKeyRow
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey, MetadataPrivateKeyRow
from chalicelib.tables.items.metadata_uses import MetadataUse, MetadataUseRow
from chalicelib.tables.items.tags import KIND, noted
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User

MISSING = "The metadata key does not exist or has been deleted."
DELETED = "The metadata key has already been deleted."
_NOT_EXPIRED = "The metadata key should be marked as expired first."
_USED = "The metadata key is still used by some items: rotate them first."


class SeenKey(NamedTuple):
    """A shared key, with copies of its private half."""

    row: MetadataKeyRow
    copies: Sequence[MetadataPrivateKeyRow]


@dataclass(frozen=True, slots=True)
class WantedKeys:
    """Which of the keys somebody asks for: with or without a date of the kind; all without."""

    is_deleted: bool | None = None
    is_expired: bool | None = None

    def includes(self, row: MetadataKeyRow) -> bool:
        return self.is_deleted in (None, "deleted" in row) and self.is_expired in (
            None,
            "expired" in row,
        )


def search(actor: Actor, wanted: WantedKeys) -> list[SeenKey]:
    """Return the keys, each with the actor's own copy, if they have one; oldest first."""
    rows, copies = reading.together(
        MetadataKey.every_row, partial(MetadataPrivateKey.held_by, actor.id)
    )
    own = {copy["metadata_key_id"]["S"]: copy for copy in copies}
    found = sorted(filter(wanted.includes, rows), key=lambda row: row["created"]["S"])
    return [SeenKey(row, [own[id_]] if (id_ := row["id"]["S"]) in own else []) for row in found]


def view(key_id: MetadataKeyId, holders: Sequence[str | None]) -> SeenKey:
    """Return a key with the copies of these users, or the server, for whoever made them."""
    keys = [MetadataPrivateKey.of(holder, key_id) for holder in holders]
    key, rows = fetch(key_id), reading.read(keys)
    found = (MetadataPrivateKey.among(rows, each) for each in keys)
    return SeenKey(key.row, [each for each in found if each])


def delete(actor: Actor, key_id: MetadataKeyId) -> None:
    """Delete an expired key that nothing uses, with all copies of its private half.

    The deletion begins before it reads who may have a copy, and holds the key meanwhile: nobody
    is given one whom it does not know of.
    """
    before, key = key_set.read(), fetch(key_id)
    if key.is_deleted:
        raise NotFound(DELETED)
    if not key.is_expired:
        raise Invalid(_NOT_EXPIRED)
    if _is_used(key_id):
        raise Invalid(_USED)
    with operations.begun(key) as (held, operation):
        _write_deletion(actor, held, operation, before)


def require_active(tx: Transaction, refusal: Invalid) -> None:
    """Hold that there is an active key; refuse where there is none."""
    before = key_set.read()
    if not any(key.is_active for key in MetadataKey.every()):
        raise refusal
    tx.require(key_set.unchanged(before))


def fetch(key_id: MetadataKeyId) -> MetadataKey:
    """Return a key, a deleted one too."""
    key = MetadataKey.find(reading.read([MetadataKey.by_id(key_id)]), key_id)
    if key is None:
        raise NotFound(MISSING)
    return key


def _write_deletion(
    actor: Actor, key: MetadataKey, operation: Part, before: Setting | None
) -> None:
    deleted = key.copy()
    deleted.deleted = clock.now()
    stamp(actor, deleted)
    with Change(key, deleted, within=operation) as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        key_set.raise_version(tx, before)
        tx.create(log(actor, deleted.id, "deleted"))
        told = notices.administrators()
        notices.tell(tx, Event.METADATA_KEY_DELETED, to=told, actor=actor.id)
        for holder in (None, *_everybody()):
            tx.then_delete(MetadataPrivateKey.of(holder, deleted.id))


def _everybody() -> list[UserId]:
    """The users who may have a copy of a key."""
    return [UserId(claim.subject) for claim in Claim.of_kind(USERNAME)]


def _is_used(key_id: MetadataKeyId) -> bool:
    """Whether anything that is not deleted is encrypted to a key."""
    uses = MetadataUse.of_key(key_id)
    of_tags = [row for row in uses if row["kind"]["S"] == KIND]
    items = keys_of(row for row in uses if row["kind"]["S"] != KIND)
    return _is_named_by_items(key_id, items) or _is_named_by_tags(of_tags)


def _is_named_by_items(key_id: str, items: list[Key]) -> bool:
    return any(
        not item.deleted and getattr(item, "metadata_key_id", None) == key_id
        for page in in_chunks(items, MOST_HELD)
        for item in among(reading.read(page), page)
    )


def _is_named_by_tags(uses: list[MetadataUseRow]) -> bool:
    return any(noted(page)[0] for page in in_chunks(uses, MOST_HELD))


def stamp(actor: Actor, key: MetadataKey) -> None:
    """Note who changes it now."""
    key.modified, key.modified_by = clock.now(), actor.id


def log(actor: Actor, key_id: str, verb: str) -> ActionLog:
    """What is logged of a change."""
    return ActionLog.of(key_id, f"MetadataKeys.{verb}", actor.id, actor.caller)
