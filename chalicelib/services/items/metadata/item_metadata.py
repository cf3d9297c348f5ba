"""What encrypted metadata must be: for exactly one key, which may be used for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.folders import V5Folder, V5NewFolder
from chalicelib.bodies.items.metadata import KeysSettings, Redescription, TagUpgrade
from chalicelib.bodies.items.resources import V5Creation, V5Update
from chalicelib.bodies.items.tags import NewTag, V5TagEdit
from chalicelib.domain.actor import Actor
from chalicelib.domain.armor import read_message
from chalicelib.domain.errors import FieldErrors
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.storage.base import Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.metadata_keys import SHARED_KEY, MetadataKey
from chalicelib.tables.items.metadata_uses import MetadataUse
from chalicelib.tables.users.gpgkeys import Gpgkey

USER_KEY = "user_key"
Described = (
    V5Creation | V5Update | V5Folder | V5NewFolder | Redescription | NewTag | V5TagEdit | TagUpgrade
)
Named = Gpgkey | MetadataKey
_NOT_ALLOWED = {
    "isMetadataKeyTypeAllowedBySettings": (
        "The settings selected by your administrator prevent from using that key type."
    )
}
_SEVERAL = {"isSharedMetadataKeyUniqueActive": "More than one shared metadata key is active."}
_EXPIRED = {"isMetadataKeyNotExpired": "The metadata key is marked as expired."}


class Recipient(Protocol):
    """A key that a message may be encrypted to."""

    @property
    def encryption_key_ids(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of the metadata of one kind of items."""

    no_key: FieldErrors
    for_another: FieldErrors
    on_shared: FieldErrors


def _on_shared(noun: str) -> FieldErrors:
    said = f"A {noun} of type personal cannot be shared with other users or a group."
    return {"isMetadataKeyTypeSharedOnSharedItem": said}


OF_A_RESOURCE = Words(
    {"metadata_key_exists": "The metadata key does not exist or was deleted."},
    {"isValidEncryptedResourceMetadata": "The resource metadata provided can not be decrypted."},
    _on_shared("resource"),
)
OF_A_FOLDER = Words(
    {"metadata_key_exists": "The metadata key does not exist."},
    {"isValidEncryptedMetadata": "The folder metadata provided cannot be decrypted."},
    _on_shared("folder"),
)


def keys_named(actor: Actor, draft: Draft[Any]) -> list[Key]:
    """The rows of the keys that metadata may be for: the actor's, and a shared one if named."""
    own = [] if actor.gpgkey_id is None else [Gpgkey.by_id(actor.gpgkey_id)]
    shared = find_uuid(draft.members.get("metadata_key_id"))
    is_shared = shared and draft.members.get("metadata_key_type") == SHARED_KEY
    return [*own, MetadataKey.by_id(str(shared))] if is_shared else own


def named_key(actor: Actor, body: Described, rows: Rows) -> Named | None:
    """The key that a body names, if it is the actor's own or a shared one."""
    if body.metadata_key_type == SHARED_KEY:
        return MetadataKey.find(rows, str(body.metadata_key_id))
    if actor.gpgkey_id is None or body.metadata_key_id != actor.gpgkey_id:
        return None
    return rows.find(Gpgkey, actor.gpgkey_id)


def errors(
    body: Described,
    key: Named | None,
    settings: KeysSettings,
    words: Words,
    *,
    shared_item: Item | None = None,
) -> dict[str, FieldErrors]:
    """What is wrong with the metadata of a body, for this key."""
    found: dict[str, FieldErrors] = {}
    is_personal = body.metadata_key_type == USER_KEY
    if is_personal and not settings.allow_usage_of_personal_keys:
        found["metadata_key_type"] = _NOT_ALLOWED
    if is_personal and shared_item is not None and not is_private(shared_item):
        found["metadata_key_type"] = {**found.get("metadata_key_type", {}), **words.on_shared}
    if key is None or bool(key.deleted):
        return {
            **found,
            "metadata_key_id": {**words.no_key, **_EXPIRED},
            "metadata": words.for_another,
        }
    if bool(key.expires if isinstance(key, Gpgkey) else key.expired):
        found["metadata_key_id"] = _EXPIRED
    if not is_for(body.metadata, key):
        found["metadata"] = words.for_another
    return found


def errors_beside(
    found: Mapping[str, FieldErrors], key_type: str, shared: Iterable[MetadataKey]
) -> dict[str, FieldErrors]:
    """The same, and that there is one shared key alone, where metadata are for a shared one."""
    if key_type != SHARED_KEY or sum(key.is_active for key in shared) <= 1:
        return dict(found)
    return {**found, "metadata_key_id": {**found.get("metadata_key_id", {}), **_SEVERAL}}


def hold_key(tx: Transaction, item: Item, stored: Item | None = None) -> None:
    """Note which shared key a new or changed item is encrypted to, while that may be used.

    What stays as it was may be encrypted to a key that has expired.
    """
    before, after = None if stored is None else stored.noted_under, item.noted_under
    if _shared_metadata(item) not in (None, _shared_metadata(stored)):
        tx.require(MetadataKey.may_be_used(str(after)))
    if before == after:
        return
    if before is not None:
        tx.delete(MetadataUse.of(before, item.id))
    if after is not None:
        tx.put(MetadataUse(after, item.id, kind=item.kind))


def _shared_metadata(item: Item | None) -> tuple[str, str] | None:
    """Metadata that are for a shared key, and this key."""
    if getattr(item, "metadata_key_type", None) != SHARED_KEY:
        return None
    return getattr(item, "metadata"), getattr(item, "metadata_key_id")  # noqa: B009


def is_for(armored: str, key: Recipient) -> bool:
    """Whether a message names this key, and no other, as its recipient."""
    message = read_message(armored)
    if message.has_extra_blank_line or len(message.recipients) != 1:
        return False
    return message.recipients[0] in key.encryption_key_ids


def is_private(item: Item) -> bool:
    """Whether a single user, and no group, has access."""
    permissions = list(item.permissions.values())
    return len(permissions) == 1 and permissions[0].aro == "User"


def is_for_one(item: Item) -> bool:
    """Whether an item's metadata are for one user's own key, so that nobody else can read them."""
    return getattr(item, "metadata_key_type", None) == USER_KEY
