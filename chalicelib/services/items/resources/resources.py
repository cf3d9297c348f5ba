"""Resources seen, made and deleted: which permission each takes, and what is written along.

Every change is guarded by the version of the resource it was decided from, and writes
what belongs together at once: the resource with its access list, and the holding of each
user with access, which has their secret.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import resources as bodies
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, NotFound, Stale
from chalicelib.domain.ids import ResourceId, UserId, new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import disclosure, grants, memberships
from chalicelib.services.access.disclosure import Disclosed, Undisclosed
from chalicelib.services.items.metadata import item_metadata, metadata_settings
from chalicelib.services.items.resources import resource_rules
from chalicelib.services.items.resources.endings import take_from_all
from chalicelib.services.items.resources.resource_rules import TYPES
from chalicelib.services.items.trees import parents, places
from chalicelib.storage import reading
from chalicelib.storage.base import Grant, Key
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.holdings import Holding, HoldingRow
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource, ResourceRow
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

MISSING = "The resource does not exist."


class SeenResource(NamedTuple):
    """A resource as one user sees it: its row, and their holding of it.

    A tuple, since a list makes thousands.
    """

    row: ResourceRow
    holding: HoldingRow
    users: Mapping[UserId, User] = MappingProxyType({})
    """Rows of the users that are shown with it."""
    secret: Disclosed | None = None

    @property
    def undisclosed(self) -> Undisclosed:
        return Undisclosed(self.row.get("secret_revision"), self.holding)

    @property
    def marks(self) -> frozenset[str]:
        """What links it to tags, for whoever sees it."""
        own, shared = self.holding.get("tags"), self.row.get("shared_tags")
        return frozenset((own["SS"] if own else []) + (shared["SS"] if shared else []))

    def disclosed_by(self, change: ActionLog) -> SeenResource:
        """The same with the secret, for whoever has just made this change of it."""
        return self._replace(secret=disclosure.logged_by(change).disclose(self.undisclosed))


@dataclass(frozen=True, slots=True)
class Loaded:
    """A resource and what was read with it."""

    resource: Resource
    rows: Rows
    seen: SeenResource
    has_deleted_type: bool

    def require(self, actor: Actor, at_least: PermissionType, denied: str) -> Grant:
        """Return what lets the actor do this, to be held while they do it."""
        return grants.require(actor, self.resource, at_least, missing=MISSING, denied=denied)


def load(
    actor: Actor,
    resource_id: ResourceId,
    *others: Key,
    hidden_by_type: bool = True,
    missing: str = MISSING,
) -> Loaded:
    """Read a resource the actor may see, and other rows with it, in one step.

    `missing` is said of what they may not see.
    """
    place = Holding.of(actor.id, resource_id)
    rows = reading.read([Resource.by_id(resource_id), place, TYPES, *others])
    resource = rows.find(Resource, resource_id)
    grants.require(actor, resource, PermissionType.READ, missing=missing, denied=missing)
    if resource is None:
        raise NotFound(missing)
    row, holding = Resource.among(rows, resource.key), Holding.among(rows, actor.id, resource_id)
    has_deleted_type = resource.resource_type_id in resource_rules.deleted_types(rows)
    if row is None or holding is None or (has_deleted_type and hidden_by_type):
        raise NotFound(missing)
    return Loaded(resource, rows, SeenResource(row, holding), has_deleted_type)


def view(actor: Actor, resource_id: ResourceId) -> SeenResource:
    """Return a resource the actor may see."""
    seen = load(actor, resource_id).seen
    return seen._replace(holding=places.settled(actor.id, seen.holding))


def create(actor: Actor, draft: Draft[Any]) -> SeenResource:
    """Store a new resource that its creator owns.

    A resource is never stored without an owner, nor an owner without their secret: the
    resource (its permissions inside) and the owner's holding are written together or
    not at all. So is the type it has: none that was deleted meanwhile.
    """
    parent_keys = parents.keys(draft.members.get("folder_parent_id"))
    keys = [*item_metadata.keys_named(actor, draft), *parent_keys]
    others = [*metadata_settings.KEYS, notices.SWITCHES, *keys]
    rows = reading.read([User.by_id(actor.id), TYPES, *others])
    body, parent = resource_rules.read_creation(actor, draft, rows)
    creator = rows.find(User, actor.id)
    if creator is None:
        raise Stale
    resource = _new_resource(actor, body)
    secret = Holding.new_secret(body.secrets[0].data, actor.id, str(resource.secret_revision))
    holding = Holding(actor.id, ResourceId(resource.id), **secret)
    log = ActionLog.of(resource.id, "Resources.created", actor.id, actor.caller)
    with Transaction() as tx:
        tx.makes(resource.id)
        tx.require(User.may_be_given(actor.id, rows.lock(creator.key)))
        resource_rules.require_live_type(tx, resource)
        if parent is not None:
            parent.receive(tx, resource, holding)
        item_metadata.hold_key(tx, resource)
        tx.create(resource)
        tx.create(holding)
        tx.create(log)
        if notices.are_wanted(rows, Event.RESOURCE_CREATED):
            notices.tell_of(tx, Event.RESOURCE_CREATED, resource, actor=actor.id)
    return SeenResource(resource.row, holding.row, {actor.id: creator}).disclosed_by(log)


def created(actor: Actor, resource_id: ResourceId) -> SeenResource:
    """Return a resource with the secret and the users that are shown when it is created."""
    [seen] = with_users(
        [view(actor, resource_id)],
        lambda seen: [seen.row["created_by"]["S"], seen.row["modified_by"]["S"]],
    )
    return seen._replace(secret=disclosure.disclose_to_author(actor, seen.undisclosed))


def delete(actor: Actor, resource_id: ResourceId) -> None:
    """Delete a resource for everybody: with it go all that users hold of it.

    What describes it stays in the row, for the log; there is no way back.
    """
    loaded = load(actor, resource_id, hidden_by_type=False)
    denied = "You do not have the permission to delete this resource."
    grant = loaded.require(actor, PermissionType.UPDATE, denied)
    resource = loaded.resource
    if loaded.has_deleted_type:
        raise Invalid("Could not delete the resource.", resource_rules.NO_TYPE_TO_DELETE)
    members, _ = memberships.read(memberships.group_holders(resource.permissions))
    with Change(resource, _deleted(actor, resource)) as tx:
        tx.hold(grant)
        members.raise_versions(tx)
        take_from_all(tx, resource, members)
        tx.create(ActionLog.of(resource_id, "Resources.deleted", actor.id, actor.caller))
        told = notices.users(members.with_access(resource.permissions), but=[actor.id])
        notices.tell_of(tx, Event.RESOURCE_DELETED, resource, actor=actor.id, to=told)


def with_users(
    seen: Collection[SeenResource], wanted: Callable[[SeenResource], list[str]]
) -> list[SeenResource]:
    """The same resources with the users' rows that are shown with them, read once each."""
    users = people.by_id(user_id for each in seen for user_id in wanted(each))
    return [each._replace(users=users) for each in seen] if users else list(seen)


def describe(resource: Resource, body: bodies.Creation | bodies.Update) -> None:
    """Give a resource the descriptive fields of a body, in the body's format."""
    for name, value in bodies.description(body).items():
        setattr(resource, name, value)
    if resource.resource_type_id == resource_types.PASSWORD_AND_DESCRIPTION.id:
        resource.description = None  # it is in the secret


def stamp(actor: Actor, resource: Resource) -> None:
    """Note who changes it now."""
    resource.modified = clock.now()
    resource.modified_by = actor.id


def tell_if_expired(tx: Change, actor: Actor, before: Resource, after: Resource) -> None:
    """Tell the owners of a resource which the actor lets expire now, and which had not before."""
    now = clock.now()
    if after.has_expired(now) and not before.has_expired(now):
        owners = notices.owners(after, but=[actor.id])
        notices.tell_of(tx, Event.EXPIRED_BY_USER, after, actor=actor.id, to=owners)


def _new_resource(actor: Actor, body: bodies.Creation) -> Resource:
    now = clock.now()
    owner = Permission(new_id(), "User", actor.id, PermissionType.OWNER, now, now)
    resource = Resource(
        new_id(),
        resource_type_id=body.resource_type_id,
        live_type_id=body.resource_type_id,
        expired=body.expired,
        permissions={actor.id: owner},
        secret_revision=new_id(),
        created=now,
        modified=now,
        created_by=actor.id,
        modified_by=actor.id,
    )
    describe(resource, body)
    return resource


def _deleted(actor: Actor, resource: Resource) -> Resource:
    deleted = resource.copy()
    deleted.deleted = True
    deleted.permissions = {}
    deleted.above = None
    deleted.live_type_id = deleted.username = deleted.uri = deleted.description = None
    deleted.shared_tags = None
    stamp(actor, deleted)
    return deleted
