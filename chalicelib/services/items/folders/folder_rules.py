"""What a folder must be to be stored: its parent, and the formats that settings allow."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import folders as bodies
from chalicelib.bodies.items.folders import INVALID, V5Folder, V5NewFolder
from chalicelib.bodies.items.metadata import TypesSettings
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.services.items.metadata import item_metadata, metadata_settings
from chalicelib.services.items.resources.resource_rules import NO_UPGRADE, Errors, merged
from chalicelib.services.items.trees import parents
from chalicelib.services.items.trees.parents import Parent
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.folders import Folder

_NO_PARENT: FieldErrors = {"folder_exists": "The folder parent must exist."}
_NO_DOWNGRADE = {
    "v5_to_v4_downgrade_allowed": (
        "The settings selected by your administrator prevent from downgrading folder."
    )
}


def read_new(actor: Actor, draft: Draft[Any], rows: Rows) -> tuple[bodies.NewFolder, Parent | None]:
    """Return the body of a creation, and the folder it is put into.

    `rows` has the metadata settings, the keys that may be named and the parent.
    """
    settings = metadata_settings.of(rows).types
    _require_creatable(bodies.is_v5(draft, actor.gpgkey_id), settings)
    body = bodies.read_new(draft, actor.gpgkey_id)
    errors = _metadata_errors(actor, body, rows)
    parent = parents.find(actor, body.folder_parent_id, rows, no_folder=_NO_PARENT)
    if parent is not None and not isinstance(parent, Parent):
        errors["folder_parent_id"] = parent
    _refuse_if(errors)
    return body, parent if isinstance(parent, Parent) else None


def read_update(actor: Actor, draft: Draft[Any], stored: Folder, rows: Rows) -> bodies.Description:
    """Return the body of an update, in a format that the folder may have."""
    settings = metadata_settings.of(rows).types
    body = bodies.read_description(draft, actor.gpgkey_id)
    errors = _metadata_errors(actor, body, rows, stored)
    if isinstance(body, V5Folder):
        if not stored.is_v5 and not settings.allow_v4_v5_upgrade:
            errors = merged(errors, {"metadata": NO_UPGRADE})
    elif stored.is_v5 and not settings.allow_v5_v4_downgrade:
        errors["name"] = _NO_DOWNGRADE
    _refuse_if(errors)
    return body


def _metadata_errors(
    actor: Actor,
    body: bodies.NewFolder | bodies.Description,
    rows: Rows,
    stored: Folder | None = None,
) -> Errors:
    if not isinstance(body, V5NewFolder | V5Folder):
        return {}
    key, settings = item_metadata.named_key(actor, body, rows), metadata_settings.of(rows).keys
    words = item_metadata.OF_A_FOLDER
    return item_metadata.errors(body, key, settings, words, shared_item=stored)


def _require_creatable(is_v5: bool, settings: TypesSettings) -> None:  # noqa: FBT001
    if is_v5 and not settings.allow_creation_of_v5_folders:
        raise Invalid("Folder creation/modification with encrypted metadata not allowed.")
    if not is_v5 and not settings.allow_creation_of_v4_folders:
        raise Invalid("Folder creation with cleartext metadata not allowed.")


def _refuse_if(errors: Errors) -> None:
    if errors:
        raise Invalid(INVALID, errors)
