"""When administrators may allow the v5 format, and what it takes to end zero knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import (
    INVALID_SETTINGS,
    KeysSettings,
    ServerCopies,
    TypesSettings,
    read_types_settings,
    require_something,
)
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Invalid, InvalidAsAWhole, NotFound
from chalicelib.domain.operator.notices import Event
from chalicelib.services.items.metadata import (
    beginnings,
    key_set,
    metadata_keys,
    metadata_settings,
    private_keys,
)
from chalicelib.services.items.metadata.private_keys import Copy
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import (
    METADATA_KEY_SET,
    METADATA_KEYS,
    METADATA_TYPES,
    Setting,
    as_read,
)
from chalicelib.tables.users.users import User

_NO_KEY = "An active metadata key is required to allow the v5 format: create one first."
_TOO_MANY_KEYS = (
    "There are too many metadata keys to do this at once: delete those that have expired first."
)
_NO_COPIES = "The server's copies of the metadata keys could not be validated."


def save_types(actor: Actor, draft: Draft[TypesSettings]) -> TypesSettings:
    """Say which formats may be created; v5 only while there is an active key."""
    settings = read_types_settings(draft)
    stored = reading.read(metadata_settings.KEYS)
    with Transaction() as tx:
        if _allows_v5(settings):
            metadata_keys.require_active(tx, InvalidAsAWhole(_NO_KEY))
        _save(tx, actor, METADATA_TYPES, asdict(settings), stored)
    return settings


def save_keys(actor: Actor, draft: Draft[KeysSettings]) -> KeysSettings:
    """Say whose keys metadata may be for, and whether the server gets copies of shared ones.

    With zero knowledge all the server's copies go. Whoever ends it sends them again, of which those
    are stored that the server does not have. Whether it ends is said by the settings as they were
    read, which the write requires.
    """
    require_something(draft)
    settings = draft.read(INVALID_SETTINGS)
    stored = reading.read((*metadata_settings.KEYS, key_set.KEY))
    was_zero = metadata_settings.of(stored).keys.zero_knowledge_key_share
    ends = was_zero and not settings.zero_knowledge_key_share
    copies, keys = _server_copies(draft) if ends else ([], {})
    with Transaction() as tx:
        _save(tx, actor, METADATA_KEYS, asdict(settings), stored)
        for key in keys.values():
            tx.require(key.is_unchanged())
        for copy in copies:
            tx.create(private_keys.new(copy, actor))
        if copies:
            key_set.raise_for_server(tx)
        if settings.zero_knowledge_key_share:
            _take_server_copies(tx, stored.find(Setting, METADATA_KEY_SET))
        if len(tx) > MAX_ROWS:
            raise InvalidAsAWhole(_TOO_MANY_KEYS)
    return settings


def _take_server_copies(tx: Transaction, before: Setting | None) -> None:
    """Remove the server's copies of all keys, while it is given no other.

    The keys are read first: a large change that is yet to write copies is met by the keys that
    it holds. What it is yet to write counts as a copy, and is not there: so the change is carried
    out before.
    """
    tx.require(key_set.unchanged(before))
    MetadataKey.every_row()
    for copy in MetadataPrivateKey.keys_of(None):
        tx.delete(copy, provided=MetadataPrivateKey.present())


def _save(tx: Transaction, actor: Actor, name: str, value: dict[str, Any], stored: Rows) -> None:
    """Write a document in place of the one that was read."""
    as_it_was = as_read(stored.find(Setting, name))
    tx.require(User.is_administrator(actor.id, clock.now()))
    tx.update(Setting.named(name), *Setting.says(value, actor.id), provided=as_it_was)
    before = metadata_settings.of(stored)
    said = asdict(before.types if name == METADATA_TYPES else before.keys)
    log, changes = "MetadataSettings.updated", differences.between(said, value)
    tx.create(ActionLog.of(name, log, actor.id, actor.caller, changes=changes))
    if not beginnings.is_first_setup(stored.find(Setting, name)):
        notices.tell_of_settings(tx, Event.METADATA_SETTINGS_SAVED, actor)


def _allows_v5(settings: TypesSettings) -> bool:
    closed = replace(
        settings,
        allow_creation_of_v5_resources=False,
        allow_creation_of_v5_folders=False,
        allow_creation_of_v5_tags=False,
        allow_creation_of_v5_comments=False,
        allow_v4_v5_upgrade=False,
    )
    return settings != closed


def _server_copies(draft: Draft[Any]) -> tuple[list[Copy], Mapping[str, MetadataKey]]:
    """The copies that come with the end of zero knowledge, of keys the server has no copy of.

    Clients send one of each key they know, so there may be several. That a key exists is looked
    at before what its copy says; what is wrong is told by its place among all that were sent.
    """
    body = Draft(ServerCopies, draft.payload).read(INVALID_SETTINGS)
    copies = [Copy(each.metadata_key_id, None, each.data) for each in body.metadata_private_keys]
    known = private_keys.read_known(copies)
    wanted = {str(at): copy for at, copy in enumerate(copies) if copy.key not in known.existing}
    keys = _read_keys([*wanted.values()])
    broken: dict[str, FieldErrors] = private_keys.errors(copies, known)
    if refused := {at: broken[at] for at in wanted if at in broken}:
        raise Invalid(_NO_COPIES, {"metadata_private_keys": refused})
    return [*wanted.values()], keys


def _read_keys(copies: Sequence[Copy]) -> dict[str, MetadataKey]:
    keys = private_keys.keys_of(copies)
    if any(copy.metadata_key_id not in keys for copy in copies):
        raise NotFound(private_keys.NO_KEY)
    return keys
