"""What a resource must be to be stored: its type, the formats that are allowed, all its secrets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import resources as bodies
from chalicelib.bodies.items.metadata import TypesSettings
from chalicelib.bodies.items.resources import INVALID, SecretBody
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.ids import ResourceTypeId
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.resource_types import Format
from chalicelib.services.items.metadata import item_metadata, metadata_settings
from chalicelib.services.items.trees import parents
from chalicelib.services.items.trees.parents import Parent
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.settings import RESOURCE_TYPES, Setting

Errors = dict[str, FieldErrors]

TYPES = Setting.named(RESOURCE_TYPES)
"""The row that says which types are deleted."""
NO_TYPE_TO_DELETE: Errors = {
    "resource_type_id": {
        "resource_type_not_exists": "The resource type for this resource does not exist."
    }
}
_DELETED_TYPE = {"resource_type_is_not_soft_deleted": "The resource type should not be deleted."}
_NO_DEPRECATED_TYPE = {
    "isNotV5PasswordStringType": "It is not allowed to create v5-password-string resource types."
}
NO_FOLDER = {"folder_exists": "The folder parent does not exist."}
_NO_NAME = {"_required": "A name is required."}
_NO_DOWNGRADE = {
    "v5_to_v4_downgrade_allowed": (
        "The settings selected by your administrator prevent from downgrading resource type."
    )
}
NO_UPGRADE = {
    "v4_to_v5_upgrade_allowed": (
        "The settings selected by your administrator prevent from upgrading v4 to v5."
    )
}
_INCOMPLETE = {
    "secrets_provided": (
        "The secrets should contain the secrets of all the users having access to the resource."
    )
}


def read_creation(
    actor: Actor, draft: Draft[Any], rows: Rows
) -> tuple[bodies.Creation, Parent | None]:
    """Return the body of a creation, in a format and of a type that may be created.

    With it the folder it is put into. `rows` has the types, the metadata settings, the keys that
    may be named and the folder.
    """
    settings = metadata_settings.of(rows).types
    _require_creatable(bodies.format_of(draft.members, actor.gpgkey_id), settings)
    body = bodies.read_creation(draft, actor.gpgkey_id)
    errors = type_errors(rows, body.resource_type_id)
    if body.resource_type_id == resource_types.V5_PASSWORD_STRING.id:
        errors = merged(errors, {"resource_type_id": _NO_DEPRECATED_TYPE})
    if isinstance(body, bodies.V5Creation):
        errors |= _metadata_errors(actor, body, rows)
    parent = parents.find(actor, body.folder_parent_id, rows, no_folder=NO_FOLDER)
    if parent is not None and not isinstance(parent, Parent):
        errors["folder_parent_id"] = parent
    refuse_if(errors)
    return body, parent if isinstance(parent, Parent) else None


def update_errors(
    actor: Actor, rows: Rows, stored: Resource, changed: Resource, body: bodies.Update
) -> Errors:
    """What is wrong with an update, given the resource as it was and as it would be."""
    settings = metadata_settings.of(rows).types
    errors = type_errors(rows, changed.resource_type_id)
    if isinstance(body, bodies.V5Update):
        errors |= _metadata_errors(actor, body, rows, stored)
    if changed.is_v5 and not stored.is_v5 and not settings.allow_v4_v5_upgrade:
        errors = merged(errors, {"metadata": NO_UPGRADE})
    if stored.is_v5 and not changed.is_v5:
        errors = merged(errors, _downgrade_errors(changed, settings))
    return errors


def secrets_errors(entitled: Collection[str], secrets: Collection[SecretBody]) -> Errors:
    """The secrets are for exactly the users who are entitled to one, one each."""
    is_complete = sorted(secret.user_id for secret in secrets) == sorted(entitled)
    return {} if is_complete else {"secrets": _INCOMPLETE}


def refuse_if(errors: Errors) -> None:
    if errors:
        raise Invalid(INVALID, errors)


def require_live_type(tx: Transaction, resource: Resource) -> None:
    """Hold that the resource's type is not deleted."""
    refusal = Invalid(INVALID, {"resource_type_id": _DELETED_TYPE})
    tx.require(is_live(resource.resource_type_id), otherwise=refusal)


def is_live(type_id: str) -> Check:
    """The type is not deleted."""
    kind = resource_types.BY_ID[ResourceTypeId(type_id)]
    return Setting.is_unmarked(RESOURCE_TYPES, kind.slug)


def deleted_types(rows: Rows) -> frozenset[str]:
    """Identifiers of the types an administrator has deleted; `rows` has the row of types."""
    row = rows.find(Setting, RESOURCE_TYPES)
    marks = (row and row.marks) or {}
    return frozenset(kind.id for kind in resource_types.RESOURCE_TYPES if kind.slug in marks)


def _metadata_errors(
    actor: Actor,
    body: bodies.V5Creation | bodies.V5Update,
    rows: Rows,
    stored: Resource | None = None,
) -> Errors:
    key, settings = item_metadata.named_key(actor, body, rows), metadata_settings.of(rows).keys
    words = item_metadata.OF_A_RESOURCE
    return item_metadata.errors(body, key, settings, words, shared_item=stored)


def _require_creatable(format_: Format | None, settings: TypesSettings) -> None:
    if format_ is Format.V5 and not settings.allow_creation_of_v5_resources:
        raise Invalid("Resource creation/modification with encrypted metadata not allowed.")
    if format_ is not Format.V5 and not settings.allow_creation_of_v4_resources:
        raise Invalid("Resource creation with cleartext metadata not allowed.")


def type_errors(rows: Rows, type_id: str) -> Errors:
    """What is wrong with a type that an administrator has deleted."""
    return {"resource_type_id": _DELETED_TYPE} if type_id in deleted_types(rows) else {}


def _downgrade_errors(changed: Resource, settings: TypesSettings) -> Errors:
    errors: Errors = {} if changed.name else {"name": _NO_NAME}
    if not settings.allow_v5_v4_downgrade:
        errors["resource_type_id"] = _NO_DOWNGRADE
    return errors


def merged(errors: Errors, more: Errors) -> Errors:
    """Both, where the same field may break rules of either."""
    together = {name: {**errors.get(name, {}), **broken} for name, broken in more.items()}
    return {**errors, **together}
