"""What encrypted metadata must be: for exactly one key, which may be used for it."""

from __future__ import annotations

from chalicelib.bodies.resources import V5Creation, V5Update
from chalicelib.domain.armor import read_message
from chalicelib.domain.errors import FieldErrors
from chalicelib.services.metadata.metadata_settings import MetadataSettings
from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.tables.resources import Resource

USER_KEY = "user_key"
_NOT_ALLOWED = {
    "isMetadataKeyTypeAllowedBySettings": (
        "The settings selected by your administrator prevent from using that key type."
    )
}
_ON_SHARED = {
    "isMetadataKeyTypeSharedOnSharedItem": (
        "A resource of type personal cannot be shared with other users or a group."
    )
}
_NO_KEY = {"metadata_key_exists": "The metadata key does not exist or was deleted."}
_EXPIRED = {"isMetadataKeyNotExpired": "The metadata key is marked as expired."}
_FOR_ANOTHER = {
    "isValidEncryptedResourceMetadata": "The resource metadata provided can not be decrypted."
}


def errors(
    body: V5Creation | V5Update,
    gpgkey: Gpgkey | None,
    settings: MetadataSettings,
    *,
    shared_item: Resource | None = None,
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
        found["metadata_key_type"] = {**found.get("metadata_key_type", {}), **_ON_SHARED}
    if not is_personal or gpgkey is None or gpgkey.deleted or gpgkey.id != body.metadata_key_id:
        return {**found, "metadata_key_id": {**_NO_KEY, **_EXPIRED}, "metadata": _FOR_ANOTHER}
    if gpgkey.expires is not None:
        found["metadata_key_id"] = _EXPIRED
    if not is_for(body.metadata, gpgkey):
        found["metadata"] = _FOR_ANOTHER
    return found


def is_for(armored: str, gpgkey: Gpgkey) -> bool:
    """Whether a message names this key, and no other, as its recipient."""
    message = read_message(armored)
    if message.has_extra_blank_line or len(message.recipients) != 1:
        return False
    return message.recipients[0] in gpgkey.encryption_key_ids


def is_private(resource: Resource) -> bool:
    """Whether a single user, and no group, has access."""
    permissions = list(resource.permissions.values())
    return len(permissions) == 1 and permissions[0].aro == "User"
