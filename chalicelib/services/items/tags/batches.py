"""Batches of tags: what administrators encrypt anew, or for the first time, for everybody.

A batch is one transaction, over the tags as they were read; what is larger is refused. While it
is written, its shared key is the only active one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import refused_at
from chalicelib.bodies.items.metadata import EMPTY, TagRotation, TagUpgrade
from chalicelib.bodies.items.tags import TagMetadata
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Conflict, FieldErrors, Invalid, NotFound
from chalicelib.domain.ids import UserId
from chalicelib.domain.light import dataclass
from chalicelib.services.items.batches.metadata_batches import log, read_sent
from chalicelib.services.items.batches.waiting import Waiting, first_of
from chalicelib.services.items.metadata import key_set, metadata_settings, recipients
from chalicelib.services.items.tags import storing
from chalicelib.services.items.tags.encryption import Encryption
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import TOO_MUCH
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse, MetadataUseRow
from chalicelib.tables.items.tags import KIND, SHARED, Tag, noted
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User

_NOT_UPDATED = "The tag metadata could not be updated."

Entry = TagRotation | TagUpgrade


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry, the tag as it is stored, and the keys it may be for."""

    position: int
    entry: Entry
    tag: Tag
    keys: Encryption

    @property
    def changed(self) -> Tag:
        entry = self.entry
        return self.tag.encrypted(entry.metadata, entry.metadata_key_id, entry.metadata_key_type)


def to_rotate() -> Waiting[Tag]:
    """Return the first tags that are encrypted to an expired key, and how many there are."""
    return _waiting(
        [use for key_id in MetadataKey.expired_ids() for use in MetadataUse.of_kind(key_id, KIND)]
    )


def to_upgrade(is_shared: bool | None) -> Waiting[Tag]:  # noqa: FBT001
    """Return the first tags in clear: all, those that everybody shares, or the others."""
    uses = MetadataUse.of_kind(CLEAR, KIND)
    wanted = [use for use in uses if is_shared in (None, use["owner"]["S"] == SHARED)]
    return _waiting(wanted)


def rotate(actor: Actor, draft: Draft[Any]) -> None:
    """Write a batch of tags that are encrypted to another shared key now."""
    _apply(actor, TagRotation, "rotated", MetadataKey.expired_ids, draft)


def upgrade(actor: Actor, draft: Draft[Any]) -> None:
    """Write a batch of tags that were in clear."""
    _apply(actor, TagUpgrade, "upgraded", lambda: [CLEAR], draft)


def _waiting(uses: Sequence[MetadataUseRow]) -> Waiting[Tag]:
    """The first tags that are noted so still."""
    in_order = sorted(uses, key=lambda use: use["item_id"]["S"])
    return first_of(in_order, lambda page: noted(page)[0], at_once=reading.BATCH // 2)


def _apply(
    actor: Actor,
    body: type[Entry],
    verb: str,
    noted_under: Callable[[], list[str]],
    draft: Draft[Any],
) -> None:
    """Write the metadata of a batch of tags, whole or not at all.

    Each tag says what it did when it was read, its owner is not being deleted, and the shared
    key that it is noted with may be used.
    """
    sent = read_sent(draft)
    before = key_set.read()
    tags, owners = _tags(noted_under(), [each["id"] for each in sent])
    read = _entries(actor, body, sent, tags, owners, before)
    _require_storable(read)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.create(log(actor, verb, [each.tag.id for each in read]))
        _hold_owners(tx, read, owners)
        read[0].keys.hold(tx, [each.changed for each in read])
        for each in read:
            storing.replace_content(tx, each.tag, each.changed)
        if len(tx) > MAX_ROWS:
            raise Invalid(TOO_MUCH)


def _tags(key_ids: Iterable[str], ids: Sequence[str]) -> tuple[dict[str, Tag], Rows]:
    """The tags of these identifiers that are noted under one of these keys, and their owners."""
    wanted = [MetadataUse.of(key_id, tag_id) for key_id in key_ids for tag_id in ids]
    uses = MetadataUse.among(reading.read(wanted), wanted)
    found, owners = noted([use for use in uses if use["kind"]["S"] == KIND])
    return {tag.id: tag for tag in found}, owners


def _entries(
    actor: Actor,
    body: type[Entry],
    sent: Sequence[Mapping[str, Any]],
    tags: Mapping[str, Tag],
    owners: Rows,
    before: Setting | None,
) -> list[_Read]:
    """Entries that are whole, of tags that there are, each once."""
    settings = metadata_settings.read().keys
    shared = {key.id: key for key in MetadataKey.every()}
    users = [owners.find(User, tag.owner) for tag in tags.values() if not tag.is_shared]
    gpgkeys = recipients.keys_of(user for user in users if user)
    read: list[_Read] = []
    for position, members in enumerate(sent):
        tag = tags.get(members["id"])
        if tag is None:
            raise NotFound(f"The tag with the id {members['id']} does not exist.")
        draft: Draft[Any] = Draft(body, members)
        if errors := draft.errors():
            message = f"The data of the tag with the id {tag.id} is not valid."
            raise refused_at(message, position, errors)
        keys = Encryption(actor, settings, gpgkeys.get(tag.owner), shared, before)
        read.append(_Read(position, draft.read(EMPTY), tag, keys))
    if len({each.tag.id for each in read}) < len(read):
        raise Conflict("The tag was changed meanwhile: it is sent twice.")
    return read


def _require_storable(read: Sequence[_Read]) -> None:
    """Refuse the first entry whose metadata are none, and then the first for the wrong key."""
    for each in read:
        names = ("metadata", "metadata_key_id", "metadata_key_type")
        draft = Draft(TagMetadata, {name: getattr(each.entry, name) for name in names})
        _refuse_if(each, draft.errors())
    for each in read:
        _refuse_if(each, each.keys.errors(each.entry))


def _refuse_if(read: _Read, errors: Mapping[str, FieldErrors]) -> None:
    if errors:
        raise refused_at(_NOT_UPDATED, read.position, errors)


def _hold_owners(tx: Transaction, read: Sequence[_Read], owners: Rows) -> None:
    """Hold that nobody whose tags these are is being deleted."""
    for owner in sorted({each.tag.owner for each in read} - {SHARED}):
        lock = owners.lock(User.by_id(UserId(owner)))
        tx.require(User.may_be_given(UserId(owner), lock))
