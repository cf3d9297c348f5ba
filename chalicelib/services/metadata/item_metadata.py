"""What encrypted metadata must be: for exactly one key, which may be used for it."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.bodies.folders import V5Folder, V5NewFolder
from chalicelib.bodies.resources import V5Creation, V5Update
from chalicelib.domain.armor import read_message
from chalicelib.domain.errors import FieldErrors
from chalicelib.services.metadata.metadata_settings import MetadataSettings
from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.tables.items import Item

USER_KEY = "user_key"
Described = V5Creation | V5Update | V5Folder | V5NewFolder
_NOT_ALLOWED = {
    "isMetadataKeyTypeAllowedBySettings": (
        "The settings selected by your administrator prevent from using that key type."
    )
}
_EXPIRED = {"isMetadataKeyNotExpired": "The metadata key is marked as expired."}


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


def errors(
    body: Described,
    gpgkey: Gpgkey | None,
    settings: MetadataSettings,
    words: Words,
    *,
    shared_item: Item | None = None,
) -> dict[str, FieldErrors]:
    """What is wrong with the metadata of a body, given the caller's own key.

    Of the keys an item's metadata may be for, only users' own exist so far: a shared
    key is never found.
    """
    found: dict[str, FieldErrors] = {}
    is_personal = body.metadata_key_type == USER_KEY
    if is_personal and not settings.allow_usage_of_personal_keys:
        found["metadata_key_type"] = _NOT_ALLOWED
    if is_personal and shared_item is not None and not is_private(shared_item):
        found["metadata_key_type"] = {**found.get("metadata_key_type", {}), **words.on_shared}
    if not is_personal or gpgkey is None or gpgkey.deleted or gpgkey.id != body.metadata_key_id:
        return {
            **found,
            "metadata_key_id": {**words.no_key, **_EXPIRED},
            "metadata": words.for_another,
        }
    if gpgkey.expires is not None:
        found["metadata_key_id"] = _EXPIRED
    if not is_for(body.metadata, gpgkey):
        found["metadata"] = words.for_another
    return found


def is_for(armored: str, gpgkey: Gpgkey) -> bool:
    """Whether a message names this key, and no other, as its recipient."""
    message = read_message(armored)
    if message.has_extra_blank_line or len(message.recipients) != 1:
        return False
    return message.recipients[0] in gpgkey.encryption_key_ids


def is_private(item: Item) -> bool:
    """Whether a single user, and no group, has access."""
    permissions = list(item.permissions.values())
    return len(permissions) == 1 and permissions[0].aro == "User"


def is_for_one(item: Item) -> bool:
    """Whether an item's metadata are for one user's own key, so that nobody else can read them."""
    return getattr(item, "metadata_key_type", None) == USER_KEY
