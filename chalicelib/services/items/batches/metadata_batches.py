"""Items that administrators encrypt for everybody: how many at once, and over which change.

A batch is written whole or not at all, and only over what the client has read: each entry names
the last change it knows of. While it is written, its shared key is the only active one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import refused_at
from chalicelib.bodies.items.metadata import (
    EMPTY,
    Redescription,
    Rotation,
    Upgrade,
    require_something,
)
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Conflict, FieldErrors, Invalid, NotFound
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.services.items.metadata import item_metadata, key_set, metadata_settings, recipients
from chalicelib.services.items.metadata.item_metadata import Named, Words
from chalicelib.services.items.resources import resource_rules
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.items import Item, find
from chalicelib.tables.items.metadata_keys import SHARED_KEY, MetadataKey
from chalicelib.tables.items.metadata_uses import MetadataUse
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User

MOST_ENTRIES = 200

_TOO_MANY = f"A request may have at most {MOST_ENTRIES} of these entries."
_NO_OBJECT = "Each entry should be an object."
_NO_ID = "Each entry should have a valid id."

Entry = Rotation | Upgrade


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of items, and what is said of it."""

    table: type[Item]
    noun: str
    words: Words

    @property
    def noted(self) -> str:
        return self.table.kind


RESOURCES = Kind(Resource, "resource", item_metadata.OF_A_RESOURCE)
FOLDERS = Kind(Folder, "folder", item_metadata.OF_A_FOLDER)


class Task(NamedTuple):
    """What is to be done with each entry of a batch."""

    body: type[Entry]
    verb: str
    complete: Callable[[Mapping[str, Any], Item, Known], Mapping[str, Any]]
    """Fills in what a client may leave out."""
    is_missing: Callable[[Item], bool]
    """Whether there is nothing of the kind to be done with the item."""
    form: Callable[[Item, Known], dict[str, FieldErrors]]
    """What else is wrong with doing so."""
    change: Callable[[Item], None]
    """Changes what else is to change in the item."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was read for a batch."""

    rows: Rows
    keys: Mapping[str, MetadataKey]
    gpgkeys: Mapping[str, Gpgkey]
    """Of the users of the items, by user."""
    set_version: Setting | None


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry, the item as it is stored, and as it would be."""

    position: int
    entry: Entry
    item: Item
    body: Redescription


def apply(actor: Actor, kind: Kind, task: Task, draft: Draft[Any]) -> None:
    """Write the metadata of a batch of items."""
    sent = read_sent(draft)
    known = _read(kind, sent)
    entries = [_entry(kind, task, at, each, known) for at, each in enumerate(sent)]
    described = _described(kind, entries)
    changed = [_changed(actor, kind, task, each, known) for each in described]
    pairs = [(each.item, row) for each, row in zip(described, changed, strict=True)]
    _write(actor, task, pairs, known)


def owner_of(item: Item) -> str | None:
    """The one user who has an item, if nobody else does."""
    return next(iter(item.permissions)) if item_metadata.is_private(item) else None


def read_sent(draft: Draft[Any]) -> list[dict[str, Any]]:
    """The entries of a batch, each an object that names an item."""
    require_something(draft)
    sent: list[Any] = draft.payload if isinstance(draft.payload, list) else [None]
    if len(sent) > MOST_ENTRIES:
        raise Invalid(_TOO_MANY)
    if not all(isinstance(each, dict) for each in sent):
        raise Invalid(_NO_OBJECT)
    if not all(find_uuid(each.get("id")) for each in sent):
        raise Invalid(_NO_ID)
    return [{**each, "id": find_uuid(each["id"])} for each in sent]


def log(actor: Actor, verb: str, ids: Sequence[str]) -> ActionLog:
    """What is logged of a batch: one line, in the log of its first item, that names them all."""
    details = {"items": ids}
    return ActionLog.of(ids[0], f"Metadata.{verb}", actor.id, actor.caller, details)


def _read(kind: Kind, sent: Sequence[Mapping[str, Any]]) -> Known:
    """Read the items, the keys and the settings; the version of the keys before these."""
    before = key_set.read()
    wanted = [kind.table.by_id(each["id"]) for each in sent]
    others = [*metadata_settings.KEYS, resource_rules.TYPES]
    every, rows = reading.together(MetadataKey.every, partial(reading.read, [*wanted, *others]))
    keys = {key.id: key for key in every}
    items = (find(rows, key) for key in wanted)
    owners = {owner for item in items if item and (owner := owner_of(item))}
    return Known(rows, keys, recipients.keys_by_id(owners), before)


def _entry(
    kind: Kind, task: Task, position: int, sent: Mapping[str, Any], known: Known
) -> tuple[Entry, Item]:
    """An entry that is whole, of an item that there is."""
    item = find(known.rows, kind.table.by_id(sent["id"]))
    if item is None or item.deleted or task.is_missing(item):
        raise NotFound(f"The {kind.noun} with the id {sent['id']} does not exist.")
    draft: Draft[Any] = Draft(task.body, task.complete(sent, item, known))
    errors = {**draft.errors(), **task.form(item, known)}
    if errors:
        message = f"The data of the {kind.noun} with the id {sent['id']} is not valid."
        raise refused_at(message, position, errors)
    return draft.read(EMPTY), item


def _described(kind: Kind, entries: Sequence[tuple[Entry, Item]]) -> list[_Read]:
    """What entries say of their items, each over the last change of its item."""
    seen: set[str] = set()
    found = []
    for position, (entry, item) in enumerate(entries):
        if entry.modified != item.modified:
            raise Conflict(f"The {kind.noun} was changed meanwhile: modified differs.")
        if entry.modified_by != item.modified_by or item.id in seen:
            raise Conflict(f"The {kind.noun} was changed meanwhile: modified_by differs.")
        seen.add(item.id)
        members = {name: getattr(entry, name) for name in _METADATA}
        draft: Draft[Any] = Draft(Redescription, members)
        if errors := draft.errors():
            raise refused_at(_not_updated(kind), position, errors)
        found.append(_Read(position, entry, item, draft.read(EMPTY)))
    return found


def _changed(actor: Actor, kind: Kind, task: Task, read: _Read, known: Known) -> Item:
    """The item as the entry would have it."""
    item, body = read.item.copy(), read.body
    task.change(item)
    errors: dict[str, FieldErrors] = {}
    if isinstance(item, Resource):
        errors |= resource_rules.type_errors(known.rows, item.resource_type_id)
    key = _key_of(read.item, body, known)
    settings = metadata_settings.of(known.rows).keys
    errors |= item_metadata.errors(body, key, settings, kind.words, shared_item=read.item)
    errors = item_metadata.errors_beside(errors, body.metadata_key_type, known.keys.values())
    if errors:
        raise refused_at(_not_updated(kind), read.position, errors)
    for name in _METADATA:
        setattr(item, name, getattr(body, name))
    item.modified, item.modified_by = clock.now(), actor.id
    return item


def _key_of(item: Item, body: Redescription, known: Known) -> Named | None:
    """The key a body names: a shared one, or that of the one user who has the item."""
    if body.metadata_key_type == SHARED_KEY:
        return known.keys.get(body.metadata_key_id)
    gpgkey = known.gpgkeys.get(owner_of(item) or "")
    return gpgkey if gpgkey is not None and gpgkey.id == body.metadata_key_id else None


def _write(actor: Actor, task: Task, pairs: Sequence[tuple[Item, Item]], known: Known) -> None:
    """Write all items; their shared key is held, so that it does not expire meanwhile."""
    (stored, changed), *others = pairs
    named = {item.noted_under for _, item in pairs if item.noted_under}
    with Change(stored, changed) as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.require(key_set.unchanged(known.set_version))
        tx.create(log(actor, task.verb, [row.id for _, row in pairs]))
        tx.rest_on(*(known.keys[key_id] for key_id in named))
        _require_live_types(tx, [row for _, row in pairs])
        for before, after in pairs:
            _note(tx, before, after)
        for before, after in others:
            tx.then_update(before, *after.redescription())


def _require_live_types(tx: Change, rows: Sequence[Item]) -> None:
    resources = {row.resource_type_id: row for row in rows if isinstance(row, Resource)}
    for row in resources.values():
        resource_rules.require_live_type(tx, row)


def _note(tx: Change, before: Item, after: Item) -> None:
    if before.noted_under is not None:
        tx.then_delete(MetadataUse.of(before.noted_under, before.id))
    if after.noted_under is not None:
        tx.then_put(MetadataUse(after.noted_under, after.id, kind=after.kind))


def _not_updated(kind: Kind) -> str:
    return f"The {kind.noun} metadata could not be updated."


_METADATA = ("metadata", "metadata_key_id", "metadata_key_type")
