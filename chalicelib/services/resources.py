"""Resources: what a user may do with the passwords he can see.

Every change is guarded by the version of the resource it was decided from, and writes
what belongs together in one transaction: the resource with its access list, and the
holding of each user with access, which has his secret.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from chalicelib.bodies import resources as bodies
from chalicelib.bodies.draft import Draft
from chalicelib.bodies.resources import INVALID, SecretBody
from chalicelib.bodies.rules import UNSET
from chalicelib.domain import clock, resource_types
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Forbidden, Invalid, NotFound, Stale
from chalicelib.domain.ids import ResourceId, ResourceTypeId, UserId, new_id
from chalicelib.domain.permissions import PermissionType
from chalicelib.domain.resource_types import Format
from chalicelib.services import access, metadata, metadata_settings, people
from chalicelib.services.metadata_settings import MetadataSettings
from chalicelib.tables import reading
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.base import Grant, Key, RawRow
from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.tables.holdings import Holding
from chalicelib.tables.permissions import Permission
from chalicelib.tables.reading import Rows
from chalicelib.tables.resources import Resource
from chalicelib.tables.settings import RESOURCE_TYPES, Setting
from chalicelib.tables.transaction import Transaction
from chalicelib.tables.users import User

MISSING = "The resource does not exist."
_TYPES = Setting.named(RESOURCE_TYPES)
_DELETED_TYPE = {"resource_type_is_not_soft_deleted": "The resource type should not be deleted."}
_NO_DEPRECATED_TYPE = {
    "isNotV5PasswordStringType": "It is not allowed to create v5-password-string resource types."
}
_NO_FOLDER = {"folder_exists": "The folder parent does not exist."}
_NO_DOWNGRADE = {
    "v5_to_v4_downgrade_allowed": (
        "The settings selected by your administrator prevent from downgrading resource type."
    )
}
_NO_UPGRADE = {
    "v4_to_v5_upgrade_allowed": (
        "The settings selected by your administrator prevent from upgrading v4 to v5."
    )
}
_INCOMPLETE = {
    "secrets_provided": (
        "The secrets should contain the secrets of all the users having access to the resource."
    )
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A resource as one user sees it: its row, and his holding of it."""

    row: RawRow
    holding: RawRow
    users: Mapping[UserId, User] = field(default_factory=dict)
    """Rows of the users that are shown with it."""


def view(actor: Actor, resource_id: ResourceId) -> Seen:
    """Return a resource the actor may see."""
    return _load(actor, resource_id).seen


def create(actor: Actor, draft: Draft[Any]) -> Seen:
    """Store a new resource that its creator owns.

    A resource is never stored without an owner, nor an owner without his secret: the
    resource (its permissions inside) and the owner's holding are written together or
    not at all. So is the type it has: none that was deleted meanwhile.
    """
    keys = [User.by_id(actor.id), _TYPES, *metadata_settings.KEYS, *_own_key(actor)]
    rows = reading.read(keys)
    settings = metadata_settings.of(rows)
    _require_creatable(bodies.format_of(draft.members, actor.gpgkey_id), settings)
    body = bodies.read_creation(draft, actor.gpgkey_id)
    _refuse_if(_creation_errors(actor, body, rows, settings))
    resource = _new_resource(actor, body)
    holding = _new_holding(actor, resource, body.secrets[0].data)
    with Transaction() as tx:
        tx.require(User.is_active(actor.id), otherwise=Forbidden("The user is not active."))
        _require_live_type(tx, resource)
        tx.create(resource)
        tx.create(holding)
        tx.create(ActionLog.of(resource.id, "Resources.created", actor.id, actor.caller))
    return _seen(resource, holding, rows.find(User, actor.id))


def update(actor: Actor, resource_id: ResourceId, draft: Draft[Any]) -> Seen:
    """Change a resource, and with it, where they are sent, the secrets of all with access.

    Metadata and secrets come from one request: both are written under the version the
    request was decided from, or neither.
    """
    loaded = _load(actor, resource_id, *metadata_settings.KEYS, *_own_key(actor))
    denied = "You are not allowed to update this resource."
    grant = loaded.require(actor, PermissionType.UPDATE, denied)
    stored = loaded.resource
    body = bodies.read_update(draft, actor.gpgkey_id, Format.V5 if stored.is_v5 else Format.V4)
    settings = metadata_settings.of(loaded.rows)
    changed = _changed(actor, loaded, body)
    users = people.by_id([stored.created_by, actor.id, *access.user_holders(stored)])
    _refuse_if(_update_errors(actor, loaded, changed, body, settings))
    secrets: list[SecretBody] = [] if body.secrets is UNSET else body.secrets
    if body.secrets is not UNSET:
        _require_all_secrets(stored, users, secrets)
    holdings = _write_update(actor, loaded, changed, secrets, grant)
    return Seen(changed.serialize(), holdings.get(actor.id, loaded.seen.holding), users)


def delete(actor: Actor, resource_id: ResourceId) -> None:
    """Delete a resource for everybody: with it go all that users hold of it.

    What describes it stays in the row, for the log; there is no way back.
    """
    loaded = _load(actor, resource_id, hidden_by_type=False)
    denied = "You do not have the permission to delete this resource."
    grant = loaded.require(actor, PermissionType.UPDATE, denied)
    resource = loaded.resource
    if loaded.has_deleted_type:
        gone = "The resource type for this resource does not exist."
        raise Invalid(
            "Could not delete the resource.",
            {"resource_type_id": {"resource_type_not_exists": gone}},
        )
    unchanged = resource.unchanged()
    holders = access.user_holders(resource)
    resource.permissions = {}
    resource.deleted = True
    resource.live_type_id = resource.username = resource.uri = resource.description = None
    _stamp(actor, resource)
    with Transaction() as tx:
        tx.hold(grant)
        tx.put(resource, provided=unchanged)
        for user_id in holders:
            tx.delete(Holding.of(user_id, resource_id))
        tx.create(ActionLog.of(resource_id, "Resources.deleted", actor.id, actor.caller))


def with_users(seen: Collection[Seen], wanted: Callable[[Seen], list[str]]) -> list[Seen]:
    """The same resources with the users' rows that are shown with them, read once each."""
    users = people.by_id(user_id for each in seen for user_id in wanted(each))
    return [replace(each, users=users) for each in seen] if users else list(seen)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A resource and what was read with it."""

    resource: Resource
    rows: Rows
    seen: Seen
    has_deleted_type: bool

    def require(self, actor: Actor, at_least: PermissionType, denied: str) -> Grant:
        return access.require(actor, self.resource, at_least, missing=MISSING, denied=denied)


def _load(
    actor: Actor, resource_id: ResourceId, *others: Key, hidden_by_type: bool = True
) -> Loaded:
    """Read a resource the actor may see, and other rows with it, in one step."""
    place = Holding.of(actor.id, resource_id)
    rows = reading.read([Resource.by_id(resource_id), place, _TYPES, *others])
    resource = rows.find(Resource, resource_id)
    access.require(actor, resource, PermissionType.READ, missing=MISSING, denied=MISSING)
    row, holding = rows.raw(Resource.by_id(resource_id)), rows.raw(place)
    has_deleted_type = resource is not None and is_type_deleted(rows, resource.resource_type_id)
    if resource is None or row is None or holding is None or (has_deleted_type and hidden_by_type):
        raise NotFound(MISSING)
    return Loaded(resource, rows, Seen(row, holding), has_deleted_type)


def is_type_deleted(rows: Rows, type_id: str) -> bool:
    types = rows.find(Setting, RESOURCE_TYPES)
    kind = resource_types.BY_ID.get(ResourceTypeId(type_id))
    return kind is None or (types is not None and types.is_marked(kind.slug))


def _require_creatable(format_: Format | None, settings: MetadataSettings) -> None:
    if format_ is Format.V5 and not settings.allow_creation_of_v5_resources:
        raise Invalid("Resource creation/modification with encrypted metadata not allowed.")
    if format_ is not Format.V5 and not settings.allow_creation_of_v4_resources:
        raise Invalid("Resource creation with cleartext metadata not allowed.")


def _creation_errors(
    actor: Actor,
    body: bodies.V4Creation | bodies.V5Creation,
    rows: Rows,
    settings: MetadataSettings,
) -> dict[str, FieldErrors]:
    errors: dict[str, FieldErrors] = {}
    if is_type_deleted(rows, body.resource_type_id):
        errors["resource_type_id"] = _DELETED_TYPE
    if body.resource_type_id == resource_types.V5_PASSWORD_STRING.id:
        errors["resource_type_id"] = {**errors.get("resource_type_id", {}), **_NO_DEPRECATED_TYPE}
    if isinstance(body, bodies.V5Creation):
        errors |= metadata.errors(body, _gpgkey(actor, rows), settings)
    if body.folder_parent_id is not None:
        errors["folder_parent_id"] = _NO_FOLDER
    return errors


def _update_errors(
    actor: Actor,
    loaded: Loaded,
    changed: Resource,
    body: bodies.V4Update | bodies.V5Touch | bodies.V5Update,
    settings: MetadataSettings,
) -> dict[str, FieldErrors]:
    errors: dict[str, FieldErrors] = {}
    if is_type_deleted(loaded.rows, changed.resource_type_id):
        errors["resource_type_id"] = _DELETED_TYPE
    was_v5, is_v5 = loaded.resource.is_v5, changed.is_v5
    if was_v5 and not is_v5 and not settings.allow_v5_v4_downgrade:
        errors["resource_type_id"] = _NO_DOWNGRADE
    if isinstance(body, bodies.V5Update):
        gpgkey = _gpgkey(actor, loaded.rows)
        errors |= metadata.errors(body, gpgkey, settings, shared_item=loaded.resource)
    if was_v5 and not is_v5 and not changed.name:
        errors["name"] = {"_required": "A name is required."}
    if is_v5 and not was_v5 and not settings.allow_v4_v5_upgrade:
        errors["metadata"] = {**errors.get("metadata", {}), **_NO_UPGRADE}
    return errors


def _refuse_if(errors: FieldErrors) -> None:
    if errors:
        raise Invalid(INVALID, errors)


def _new_resource(actor: Actor, body: bodies.V4Creation | bodies.V5Creation) -> Resource:
    now = clock.now()
    owner = Permission(new_id(), "User", actor.id, PermissionType.OWNER, now, now)
    resource = Resource(
        new_id(),
        resource_type_id=body.resource_type_id,
        live_type_id=body.resource_type_id,
        expired=body.expired,
        permissions={actor.id: owner},
        created=now,
        modified=now,
        created_by=actor.id,
        modified_by=actor.id,
    )
    _describe(resource, body)
    return resource


def _describe(resource: Resource, body: Any) -> None:
    """Give a resource the descriptive fields of a body, in the body's format."""
    if isinstance(body, bodies.V5Creation | bodies.V5Update):
        for name in bodies.V4_FIELDS:
            setattr(resource, name, None)
        for name in bodies.V5_FIELDS:
            setattr(resource, name, getattr(body, name))
    elif isinstance(body, bodies.V4Creation | bodies.V4Update):
        for name in bodies.V5_FIELDS:
            setattr(resource, name, None)
        for name in bodies.V4_FIELDS:
            if getattr(body, name) is not UNSET:
                setattr(resource, name, getattr(body, name))
    if resource.resource_type_id == resource_types.PASSWORD_AND_DESCRIPTION.id:
        resource.description = None  # it is in the secret


def _changed(
    actor: Actor, loaded: Loaded, body: bodies.V4Update | bodies.V5Touch | bodies.V5Update
) -> Resource:
    """The resource as the body would have it, at its next version."""
    changed = Resource.from_raw(loaded.seen.row)
    type_id = body.resource_type_id or _kept_type(loaded.resource, body)
    changed.resource_type_id = changed.live_type_id = type_id
    if body.expired is not UNSET:
        changed.expired = body.expired
    _describe(changed, body)
    _stamp(actor, changed)
    return changed


def _kept_type(stored: Resource, body: bodies.V4Update | bodies.V5Touch | bodies.V5Update) -> str:
    """The type of a resource whose update names none: the stored one, where it fits."""
    if isinstance(body, bodies.V5Update) and not stored.is_v5:
        raise Invalid(INVALID, {"resource_type_id": bodies.NOT_A_V5_TYPE})
    if isinstance(body, bodies.V4Update) and stored.is_v5:
        return resource_types.DEFAULT.id
    return stored.resource_type_id


def _stamp(actor: Actor, resource: Resource) -> None:
    """Note who changes it now; times never go back, whatever another machine's clock says."""
    resource.version += 1
    resource.modified = max(clock.now(), resource.modified)
    resource.modified_by = actor.id


def _require_all_secrets(
    resource: Resource, users: Mapping[UserId, User], secrets: Iterable[SecretBody]
) -> None:
    """The secrets are for exactly the users with access, one each."""
    entitled = sorted(
        user_id
        for user_id in access.user_holders(resource)
        if user_id in users and users[user_id].active and not users[user_id].deleted
    )
    if sorted(secret.user_id for secret in secrets) != entitled:
        raise Invalid(INVALID, {"secrets": _INCOMPLETE})


def _write_update(
    actor: Actor, loaded: Loaded, changed: Resource, secrets: list[SecretBody], grant: Grant
) -> dict[str, RawRow]:
    """Write the resource and the new secrets; return the holdings that have them."""
    with Transaction() as tx:
        tx.hold(grant)
        _require_live_type(tx, changed)
        tx.put(changed, provided=loaded.resource.unchanged())
        for secret in secrets:
            _renew_secret(tx, actor, changed, secret)
        tx.create(ActionLog.of(changed.id, "Resources.updated", actor.id, actor.caller))
    if not secrets:
        return {}
    own = Holding.of(actor.id, ResourceId(changed.id))
    row = reading.find(own)
    return {} if row is None else {actor.id: row}


def _renew_secret(tx: Transaction, actor: Actor, resource: Resource, secret: SecretBody) -> None:
    now = clock.now()
    tx.update(
        Holding.of(UserId(secret.user_id), ResourceId(resource.id)),
        Holding.secret_id.set(new_id()),
        Holding.secret_data.set(secret.data),
        Holding.secret_created.set(now),
        Holding.secret_modified.set(now),
        Holding.secret_created_by.set(actor.id),
        Holding.secret_modified_by.set(actor.id),
        provided=Holding.present(),
    )


def _require_live_type(tx: Transaction, resource: Resource) -> None:
    kind = resource_types.BY_ID[ResourceTypeId(resource.resource_type_id)]
    tx.require(
        Setting.is_unmarked(RESOURCE_TYPES, kind.slug),
        otherwise=Invalid(INVALID, {"resource_type_id": _DELETED_TYPE}),
    )


def _new_holding(actor: Actor, resource: Resource, data: str) -> Holding:
    now: datetime = resource.created
    return Holding(
        actor.id,
        resource.id,
        secret_id=new_id(),
        secret_data=data,
        secret_created=now,
        secret_modified=now,
        secret_created_by=actor.id,
        secret_modified_by=actor.id,
    )


def _seen(resource: Resource, holding: Holding, creator: User | None) -> Seen:
    if creator is None:
        raise Stale
    return Seen(resource.serialize(), holding.serialize(), {UserId(creator.id): creator})


def _own_key(actor: Actor) -> list[Key]:
    return [] if actor.gpgkey_id is None else [Gpgkey.by_id(actor.gpgkey_id)]


def _gpgkey(actor: Actor, rows: Rows) -> Gpgkey | None:
    return None if actor.gpgkey_id is None else rows.find(Gpgkey, actor.gpgkey_id)
