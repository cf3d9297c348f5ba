"""Who may share an item, who gains and loses it, and what lay in a folder that is opened by it.

Who gains access gets a secret.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.resources import INVALID
from chalicelib.bodies.items.shares import (
    FolderShareBody,
    ShareBody,
    SimulationBody,
    read_permissions,
    read_sharing,
)
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import Sharing, due
from chalicelib.domain.errors import FieldErrors, Invalid, NotFound
from chalicelib.domain.ids import FolderId, GroupId, ItemId, ResourceId, UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import expiry, grants, memberships
from chalicelib.services.access.expiry import Expiring
from chalicelib.services.access.memberships import Members
from chalicelib.services.items.folders import folders
from chalicelib.services.items.folders.folders import SeenFolder
from chalicelib.services.items.metadata.item_metadata import is_for_one, is_private
from chalicelib.services.items.resources.resources import load
from chalicelib.services.items.sharing import access_lists
from chalicelib.services.items.sharing.access_lists import Candidates, Permissions
from chalicelib.services.items.trees import arrivals, places
from chalicelib.services.items.trees.arrivals import Arrival
from chalicelib.storage import reading
from chalicelib.storage.base import Grant
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.reading import Rows
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import FOLDER, Holding
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs.action_logs import SECRETS_UPDATED, ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

_NO_SHARE_OF_FOLDER = "You are not allowed to update the permissions of this folder."
DENIED = "You are not authorized to share this resource."
_ACCESS_DENIED = {"resource_id": {"has_resource_access": "Access denied."}}
_SECOND = "A secret already exists for the given user and resource."
_TWICE = {"user_id": {"secret_unique": _SECOND, "secret_revision_unique": _SECOND}}
_NOBODY = "The user does not exist."
_UNKNOWN = {
    "user_id": {"user_exists": _NOBODY, "user_is_not_soft_deleted": _NOBODY},
    **_ACCESS_DENIED,
}
_DELETED = {"user_id": {"user_is_not_soft_deleted": _NOBODY}, **_ACCESS_DENIED}
_INCOMPLETE = {
    "secrets_provided": ("The secrets of all the users having access to the resource are required.")
}


@dataclass(frozen=True, slots=True)
class Simulation:
    """Who would gain and who would lose access."""

    added: list[UserId]
    removed: list[UserId]


@dataclass(frozen=True, slots=True)
class _Plan:
    """An access list before and after, and what was read to decide on it."""

    item: Item
    grant: Grant
    after: Permissions
    members: Members
    added_users: Collection[User]
    found: Rows
    """What was read besides, settings among it."""

    @property
    def had_access(self) -> set[UserId]:
        return self.members.with_access(self.item.permissions)

    @property
    def has_access(self) -> set[UserId]:
        return self.members.with_access(self.after)

    @property
    def gaining(self) -> set[UserId]:
        return self.has_access - self.had_access

    @property
    def losing(self) -> set[UserId]:
        return self.had_access - self.has_access

    def shared(self, expiring: Expiring) -> Item:
        """The item as it will be: it expires where somebody loses it who was given its secret."""
        item = self.item.copy()
        item.permissions = self.after
        if isinstance(item, Resource) and expiring.among((each, self.item) for each in self.losing):
            expiring.expire(item, item.permissions.values())
            item.expired = expiring.moment
        return item


def simulate(actor: Actor, resource_id: ResourceId, draft: Draft[SimulationBody]) -> Simulation:
    """Say what a share with these permissions would do, and do nothing."""
    resource, grant = shareable(actor, resource_id)
    plan = _plan(resource, grant, Sharing(read_permissions(draft, resource.kind)))
    return Simulation(added=sorted(plan.gaining), removed=sorted(plan.losing))


def share(actor: Actor, resource_id: ResourceId, draft: Draft[ShareBody]) -> None:
    """Change who has access, with a secret for exactly those who gain it."""
    resource, grant = shareable(actor, resource_id)
    apply(actor, resource, grant, read_sharing(draft))


def share_folder(actor: Actor, folder_id: FolderId, draft: Draft[FolderShareBody]) -> SeenFolder:
    """Change who has a folder; what lies in it stays whose it is."""
    loaded = folders.load(actor, folder_id)
    grant = loaded.require(actor, PermissionType.OWNER, _NO_SHARE_OF_FOLDER)
    if is_for_one(loaded.folder):
        raise Invalid("Folder can not be shared")
    seen = loaded.seen._replace(holding=places.settled(actor.id, loaded.seen.holding))
    changes = read_permissions(draft, FOLDER)
    if not changes:
        return seen
    shared = apply(actor, loaded.folder, grant, Sharing(changes))
    return seen._replace(row=Folder.typed(shared.serialize()))


def shareable(actor: Actor, resource_id: ResourceId) -> tuple[Resource, Grant]:
    """A resource the actor may share, and what lets them."""
    loaded = load(actor, resource_id, hidden_by_type=False)
    grant = loaded.require(actor, PermissionType.OWNER, DENIED)
    if is_for_one(loaded.resource):
        raise Invalid("Resource metadata key type is invalid.")
    if loaded.has_deleted_type:
        raise NotFound("The resource types associated to this resource does not exist.")
    return loaded.resource, grant


def apply(actor: Actor, item: Item, grant: Grant, sharing: Sharing) -> Item:
    """Change who has access to an item, as the grant allows; return it as it is then.

    Access list and holdings are one change, and with them that a resource expires. It rests on
    the version of the item, on the members of all groups in its list, and on the rows of the
    users who are added: none of them is deleted meanwhile, and nobody joins a group without
    hearing of this.
    """
    plan = _plan(item, grant, sharing)
    secrets = _secrets(plan, sharing)
    if plan.after == item.permissions and not secrets:
        reading.require_one_moment()
        return item
    arrival, expiring = _arrival(actor, plan), Expiring(plan.found)
    changed = plan.shared(expiring)
    with Change(item, changed) as tx:
        tx.hold(plan.grant)
        plan.members.raise_versions(tx)
        tx.rest_on(*plan.added_users)
        tx.create(_log(actor, plan, secrets))
        _tell(tx, actor, plan)
        _note_groups(tx, plan)
        _write_holdings(tx, actor, plan, secrets, arrival)
        apart = {(item.id, each) for each in plan.losing | secrets.keys()}
        arrival.write(tx, of=item, raised=plan.members.groups, apart=apart)
        expiring.tell(tx, actor.id)
    audit.succeeded("share", actor, item.id)
    return changed


def _plan(item: Item, grant: Grant, sharing: Sharing) -> _Plan:
    named = {UserId(each) for each in access_lists.holders(sharing.permissions, "User")}
    others = map(GroupId, access_lists.holders(sharing.permissions, "Group"))
    groups = memberships.group_holders(item.permissions).union(others)
    members, found = memberships.read(groups, expiry.KEY, *map(User.by_id, sorted(named)))
    users = people.among(found, named)
    candidates = _candidates(members, users, found, groups)
    after = access_lists.changed(item.kind, item.permissions, sharing.permissions, candidates)
    added = [users[UserId(holder)] for holder in after.keys() & users.keys()]
    return _Plan(item, grant, after, members, added, found)


def _candidates(
    members: Members, users: Mapping[UserId, User], found: Rows, groups: Collection[GroupId]
) -> Candidates:
    live = {user_id for user_id, user in users.items() if user.active and not user.deleted}
    gone = {each for each in groups if found.raw(Group.by_id(each)) and each not in members.groups}
    return Candidates(live, members.groups.keys(), gone | users.keys() - live)


def _secrets(plan: _Plan, sharing: Sharing) -> dict[UserId, str]:
    """The messages by user: one for each who gains access, and for nobody without.

    What has no secrets gets none.
    """
    if not plan.item.has_secrets:
        return {}
    had, has = plan.had_access, plan.has_access
    secrets: dict[UserId, str] = {}
    for secret in map(due, due(sharing.secrets)):
        user_id = secret.user_id
        if user_id not in has:
            raise _wrong_secret(secret.position, _reason(user_id))
        if user_id in secrets and user_id not in had:
            raise _wrong_secret(secret.position, _TWICE)
        secrets[user_id] = secret.data
    if plan.gaining - secrets.keys():
        raise NotFound(INVALID, {"secrets": _INCOMPLETE})
    return secrets


def _reason(user_id: UserId) -> FieldErrors:
    """Why a secret is for nobody who has access."""
    user = people.by_id([user_id]).get(user_id)
    if user is None:
        return _UNKNOWN
    return _DELETED if user.deleted else _ACCESS_DENIED


def _wrong_secret(position: str, errors: FieldErrors) -> NotFound:
    return NotFound(INVALID, {"secrets": {position: errors}})


def _arrival(actor: Actor, plan: _Plan) -> Arrival:
    """Where those who gain the item find it, and what gives way to that.

    A folder that was its owner's alone is no place any more for what they only filed there, and may
    not change. Whoever loses a folder has lost it before others are given it; of a resource, they
    still count.
    """
    item, given = plan.item, plan.after.keys() - plan.item.permissions.keys()
    had, has = plan.had_access, plan.has_access
    gained = {user_id: [item.id] for user_id in plan.gaining}
    opened = isinstance(item, Folder) and len(had) == 1 and bool(given)
    content = places.content(actor.id, item.id) if opened else []
    filed = {each.id for each in content if not grants.may_change(actor, each)}
    noted = {each.id for each in content} - filed if is_private(item) else set()
    return arrivals.placed(
        actor,
        gained,
        [item, *content],
        plan.members,
        to_root=[(id_, actor.id) for id_ in filed],
        within={item.id: noted} if opened else {},
        keeping={item.id: had & has} if isinstance(item, Folder) else {},
    )


def _log(actor: Actor, plan: _Plan, secrets: Collection[UserId]) -> ActionLog:
    """What is logged of a share: each permission as it is then, or was until then.

    Auditors are also told whose secrets it has replaced. Where only secrets are sent again, the
    log of the resource tells nothing of it.
    """
    before, after = _by_id(plan.item.permissions), _by_id(plan.after)
    told = {
        "added": [each.told for id_, each in after.items() if id_ not in before],
        "updated": [
            each.told
            for id_, each in after.items()
            if id_ in before and each.type != before[id_].type
        ],
        "removed": [each.told for id_, each in before.items() if id_ not in after],
    }
    changes = any(told.values())
    action, details = ("Permissions.updated", told) if changes else (SECRETS_UPDATED, None)
    log = ActionLog.of(plan.item.id, action, actor.id, actor.caller, details)
    log.names_renewed(plan.had_access.intersection(secrets))
    return log


def _tell(tx: Change, actor: Actor, plan: _Plan) -> None:
    """Tell those who gain the item."""
    event = Event.RESOURCE_SHARED if plan.item.has_secrets else Event.FOLDER_SHARED
    notices.tell_of(tx, event, plan.item, actor=actor.id, to=notices.users(plan.gaining))


def _by_id(permissions: Permissions) -> Mapping[str, Permission]:
    """Permissions in the order of their holders: one that is given anew is another."""
    return {permissions[holder].id: permissions[holder] for holder in sorted(permissions)}


def _note_groups(tx: Change, plan: _Plan) -> None:
    """Let the groups that gain or lose access know by their items."""
    item_id, kind = ItemId(plan.item.id), plan.item.kind
    before = memberships.group_holders(plan.item.permissions)
    after = memberships.group_holders(plan.after)
    for group_id in after - before:
        tx.then_put(GroupItem(group_id, item_id, kind=kind))
    for group_id in before - after:
        tx.then_delete(GroupItem.of(group_id, item_id))


def _write_holdings(
    tx: Change, actor: Actor, plan: _Plan, secrets: Mapping[UserId, str], arrival: Arrival
) -> None:
    item_id, kind = ItemId(plan.item.id), plan.item.kind
    for user_id in plan.gaining:
        secret = plan.item.new_secret(secrets.get(user_id), actor.id)
        place = arrival.place(item_id, user_id)
        tx.then_put(Holding(user_id, item_id, kind=kind, place=place, **secret))
    for user_id in plan.had_access & secrets.keys():
        renewed = {"secret_data": secrets[user_id], "secret_modified": clock.now()}
        actions = Holding.setting({**renewed, "secret_modified_by": actor.id})
        tx.then_update(Holding.of(user_id, item_id), *actions, *arrival.moves(item_id, user_id))
    for user_id in plan.losing:
        tx.then_delete(Holding.of(user_id, item_id))
