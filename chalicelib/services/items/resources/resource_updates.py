"""Updates of resources, and of the secrets of all who have access to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import resources as bodies
from chalicelib.bodies.rules import UNSET
from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import ResourceId, UserId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.items.resource_types import Format
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import memberships
from chalicelib.services.access.disclosure import reading_by_change, require_whole
from chalicelib.services.access.memberships import Members
from chalicelib.services.items.metadata import item_metadata, metadata_settings
from chalicelib.services.items.resources import resource_rules
from chalicelib.services.items.resources.resources import (
    Loaded,
    SeenResource,
    describe,
    load,
    stamp,
    tell_if_expired,
)
from chalicelib.services.items.trees import places
from chalicelib.storage.base import Grant
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.stamps import lift_row
from chalicelib.tables.items.holdings import Holding, HoldingRow
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

Secrets = Mapping[UserId, Mapping[str, Any]]
"""The new secret of each user, as the attributes of their holding."""


def update(actor: Actor, resource_id: ResourceId, draft: Draft[Any]) -> SeenResource:
    """Change a resource, and with it, where they are sent, the secrets of all with access.

    Metadata and secrets come from one request: both are written under the version the
    request was decided from, or neither. So is the type it has: none that was deleted
    meanwhile. Whoever is shown a secret that others wrote was given it: that is noted along.

    What is shown is read, and known to belong together, before anything is written: what was
    written is not decided again.
    """
    keys = item_metadata.keys_named(actor, draft)
    loaded = load(actor, resource_id, *metadata_settings.KEYS, *keys)
    denied = "You are not allowed to update this resource."
    grant = loaded.require(actor, PermissionType.UPDATE, denied)
    stored = loaded.resource
    body = bodies.read_update(draft, actor.gpgkey_id, Format.V5 if stored.is_v5 else Format.V4)
    changed = _changed(actor, stored, body)
    groups = set() if body.secrets is UNSET else memberships.group_holders(stored.permissions)
    shown = [User.by_id(user_id) for user_id in (stored.created_by, actor.id)]
    members, rows = memberships.read(groups, *shown)
    _require_fit(actor, loaded, changed, body, members)
    if body.secrets is UNSET:
        require_whole(loaded.seen.undisclosed)
    else:
        changed.secret_revision = new_id()
    secrets = _secrets(actor, body, changed.secret_revision)
    holding = _renewed(places.settled(actor.id, loaded.seen.holding), secrets.get(actor.id))
    log = ActionLog.of(resource_id, "Resources.updated", actor.id, actor.caller)
    if secrets:
        log.names_secrets((str(new["secret_id"]), user_id) for user_id, new in secrets.items())
    _write(actor, loaded, changed, secrets, members, grant, log)
    users = people.among(rows, [key.hash_key for key in shown])
    return SeenResource(changed.row, holding, users).disclosed_by(log)


def _changed(actor: Actor, stored: Resource, body: bodies.Update) -> Resource:
    """The resource as the body would have it."""
    changed = stored.copy()
    type_id = body.resource_type_id or stored.resource_type_id
    changed.resource_type_id = changed.live_type_id = type_id
    if body.expired is not UNSET:
        changed.expired = body.expired
    describe(changed, body)
    stamp(actor, changed)
    return changed


def _require_fit(
    actor: Actor, loaded: Loaded, changed: Resource, body: bodies.Update, members: Members
) -> None:
    """Refuse what may not be stored: each user with access has their secret, nobody else."""
    stored = loaded.resource
    errors = resource_rules.update_errors(actor, loaded.rows, stored, changed, body)
    if body.secrets is not UNSET:
        entitled = members.with_access(stored.permissions)
        errors |= resource_rules.secrets_errors(entitled, body.secrets)
    resource_rules.refuse_if(errors)


def _secrets(actor: Actor, body: bodies.Update, revision: str) -> Secrets:
    sent = [] if body.secrets is UNSET else body.secrets
    return {
        UserId(each.user_id): Holding.new_secret(each.data, actor.id, revision) for each in sent
    }


def _write(
    actor: Actor,
    loaded: Loaded,
    changed: Resource,
    secrets: Secrets,
    members: Members,
    grant: Grant,
    log: ActionLog,
) -> None:
    resource_id = ResourceId(changed.id)
    with Change(loaded.resource, changed) as tx:
        tx.hold(grant)
        members.raise_versions(tx)
        resource_rules.require_live_type(tx, changed)
        item_metadata.hold_key(tx, changed, loaded.resource)
        tx.create(log)
        if actor.id not in secrets and (read := reading_by_change(actor, loaded.seen.undisclosed)):
            tx.create(read)
        tell_if_expired(tx, actor, loaded.resource, changed)
        notices.tell_of(tx, Event.RESOURCE_UPDATED, changed, actor=actor.id)
        for user_id, secret in secrets.items():
            tx.then_update(Holding.of(user_id, resource_id), *Holding.setting(secret))


def _renewed(holding: HoldingRow, secret: Mapping[str, Any] | None) -> HoldingRow:
    """The holding with its new secret, if there is one."""
    before, row = Holding.of_row(holding), Holding.of_row(holding)
    for name, value in (secret or {}).items():
        setattr(row, name, value)
    lift_row(row, before)
    return row.row
