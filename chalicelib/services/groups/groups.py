"""How a group comes to be: who may make one, and that its name is free.

What becomes of it is `group_updates` and `group_deletion`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.groups.groups import INVALID, GroupBody, read_creation
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import NewGroup
from chalicelib.domain.directory.scim.provisioned import ProvisionedGroup
from chalicelib.domain.errors import FieldErrors, Forbidden, Invalid, Stale
from chalicelib.domain.ids import GroupId, UserId, new_id
from chalicelib.domain.operator import audit
from chalicelib.domain.users.rbacs import GROUPS_ADD
from chalicelib.services.access import allowances
from chalicelib.services.groups import group_members, group_notices
from chalicelib.services.groups.group_lists import Found
from chalicelib.services.groups.group_members import Roster
from chalicelib.storage import reading
from chalicelib.storage.base import Grant, Key
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Besides, nothing_besides
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import GROUP, Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

DENIED = "You are not authorized to access that location."
TAKEN = {"group_unique": "The name is already used by another group."}


def create(actor: Actor, draft: Draft[GroupBody]) -> Found:
    """Store a new group with all its members, one of whom manages it."""
    grant = allowances.require(actor, GROUPS_ADD, Forbidden(DENIED))
    return apply(actor, grant, read_creation(draft))


def apply(actor: Actor, grant: Grant, new: NewGroup, besides: Besides = nothing_besides) -> Found:
    """Store a new group.

    Its name is no other group's, however it is written. Whoever is made a member is not deleted
    meanwhile, and who makes the group may do so when it happens. `besides` writes what else
    goes with it.
    """
    user_ids = [member.user_id for member in new.members]
    rows = reading.read([claim_of(new.name), *map(User.by_id, user_ids)])
    _require_fit(new, rows)
    users = people.among(rows, user_ids)
    roster: Roster = {}
    for member in new.members:
        group_members.add(roster, member, users)
    group_members.require_room(roster)
    group = new_group(actor, new.name, new.provisioned)
    _write(actor, grant, group, roster, users, besides)
    tell(actor, group)
    return _found(group, roster, users.get(actor.id))


def claim_of(name: str) -> Key:
    """The claim by which a group of this name is found."""
    return Claim.group(name, "").key


def is_taken(rows: Rows, name: str, group_id: str | None = None) -> bool:
    """Whether another group has the name; the rows have its claim, if there is one.

    Who has it is looked at as well: the claim of a group that went with its only member goes
    by a line of that change, and the group's row tells of it.
    """
    claim = rows.find(Claim, GROUP, claim_of(name).range_key)
    if claim is None or claim.subject == group_id:
        return False
    group = reading.read([Group.by_id(claim.subject)]).find(Group, claim.subject)
    if group is None or group.deleted:
        raise Stale
    return True


def tell(actor: Actor, group: Group) -> None:
    audit.succeeded("group-change", actor, group.id)


def log(actor: Actor, group: Group, verb: str, before: Roster, after: Roster) -> ActionLog:
    """What is logged of a change: the name, and who joins, stays in another role, or leaves."""
    told = {
        "name": group.name,
        "added": _told(after, after.keys() - before.keys()),
        "updated": _told(
            after,
            {
                user_id
                for user_id in after.keys() & before.keys()
                if after[user_id].is_admin != before[user_id].is_admin
            },
        ),
        "removed": _told(before, before.keys() - after.keys()),
    }
    return ActionLog.of(group.id, f"Groups.{verb}", actor.id, actor.caller, told)


def _told(roster: Roster, user_ids: Collection[UserId]) -> list[tuple[UserId, bool]]:
    return [(user_id, roster[user_id].is_admin) for user_id in sorted(user_ids)]


def _require_fit(new: NewGroup, rows: Rows) -> None:
    errors: dict[str, FieldErrors] = {}
    if is_taken(rows, new.name):
        errors["name"] = TAKEN
    if not any(member.is_admin for member in new.members):
        errors["groups_users"] = group_members.NO_MANAGER
    if errors:
        raise Invalid(INVALID, errors)


def new_group(actor: Actor, name: str, provisioned: ProvisionedGroup | None = None) -> Group:
    now, by = clock.now(), actor.id
    group = Group(new_id(), name=name, created=now, modified=now, created_by=by, modified_by=by)
    if provisioned is not None:
        group.scim_created = now
        group.provision(provisioned)
    return group


def _write(
    actor: Actor,
    grant: Grant,
    group: Group,
    roster: Roster,
    users: Mapping[UserId, User],
    besides: Besides,
) -> None:
    with Change(None, group) as tx:
        tx.makes(group.id)
        tx.hold(grant)
        claim = Claim.group(group.name, group.id)
        tx.create(claim, otherwise=Invalid(INVALID, {"name": TAKEN}))
        tx.create(log(actor, group, "created", {}, roster))
        group_notices.tell_of_creation(tx, actor, group, roster)
        for user_id, belonging in roster.items():
            group_members.write(tx, GroupId(group.id), users[user_id], belonging)
        besides(tx, group.id)


def _found(group: Group, roster: Roster, own: User | None) -> Found:
    by_user = {user_id: roster[user_id] for user_id in sorted(roster)}  # as they are stored
    seen = [group_members.seen(group, by_user)]
    if own is None:
        return Found(seen)
    own.groups = {**own.groups, group.id: roster[UserId(own.id)]}
    return Found(seen, own.row)
