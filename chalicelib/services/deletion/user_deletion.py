"""Deletion of users: of whom it is refused, what has to be handed over, and what goes along."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from chalicelib.bodies.deletion.transfers import UserDeletion, read_transfer
from chalicelib.bodies.draft import Draft
from chalicelib.domain import changes, clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import Transfer, due
from chalicelib.domain.errors import Blocked, Invalid, NotFound, Refusal, Stale
from chalicelib.domain.ids import GroupId, ItemId, UserId, find_uuid
from chalicelib.domain.items import ownership
from chalicelib.domain.items.ownership import Managing
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import expiry
from chalicelib.services.access.expiry import Expiring
from chalicelib.services.deletion import departures
from chalicelib.services.deletion.departures import TRANSFER_REFUSED, Departure, Items
from chalicelib.services.users.people import administrators, avatars, scim_names
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key
from chalicelib.storage.changes import operations, unversioned
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.changes.transaction import Besides, nothing_besides
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items import kinds
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from chalicelib.tables.items.session_keys import SessionKey
from chalicelib.tables.items.tags import keys_of_user
from chalicelib.tables.logs.action_logs import ActionLog, HandedOver
from chalicelib.tables.operator import notices
from chalicelib.tables.users import people
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User

MISSING = "The user does not exist or has been already deleted."
BLOCKED = "The user cannot be deleted."
_SOLE_MANAGER = "They are the only manager of groups: name another manager first."
_SOLE_OWNER = "They are the only owner of items that others have access to: hand these over first."
_MOST_NOTED = 50
"""How many names of groups that go along are noted. The notes are part of the commit, which has 100
rows: whoever finishes another's large change may not write claims, only remove them."""


@dataclass(frozen=True, slots=True)
class _UserDeletion:
    """A user, their groups with the members, and the items they leave."""

    user: User
    groups: Mapping[GroupId, Group]
    members: Mapping[GroupId, Sequence[Membership]]
    held: Sequence[Key]
    """All items they have access to."""
    alone: Sequence[Key]
    """Their rows other than items: copies of metadata private keys, session keys, tags."""
    departure: Departure
    found: Rows
    promoted: Sequence[Membership] = ()
    """Memberships in which others become managers."""

    @property
    def unmanaged(self) -> list[Group]:
        """The groups that would be left without a manager."""
        return [
            group
            for group_id, group in self.groups.items()
            if ownership.is_only_manager(self.user.id, _managing(self.members[group_id]))
            and all(each.group_id != group_id for each in self.promoted)
        ]

    @property
    def lonely(self) -> list[Group]:
        """The groups that nobody else belongs to: they are deleted with the user."""
        return [group for id_, group in self.groups.items() if id_ in self.departure.gone]

    @property
    def handed_over(self) -> list[HandedOver]:
        """Who gets what, as logs tell it."""
        managers = [
            HandedOver("Group", each.group_id, "User", each.user_id) for each in self.promoted
        ]
        return [*managers, *self.departure.handed_over]

    def lost(self, items: Items, others: Items) -> Iterator[tuple[UserId, Item]]:
        """All they have access to, also what they only have by groups."""
        return ((UserId(self.user.id), item) for item in {**items, **others}.values())

    def require_free(self) -> None:
        """Refuse where a group would be left without a manager, or an item without an owner."""
        groups, items = self.unmanaged, self.departure.blocking
        if not groups and not items:
            return
        sentences = [BLOCKED]
        sentences += [_SOLE_MANAGER] if groups else []
        sentences += [_SOLE_OWNER] if items else []
        members = [(group, self.members[GroupId(group.id)]) for group in groups]
        raise Blocked(" ".join(sentences), departures.obstacles(items, members, self.lonely))

    def with_managers(self, named: changes.HandedOver) -> _UserDeletion:
        """The same with a manager for each group that lacks one, and for no other."""
        if not named:
            return self
        unmanaged = [group.id for group in self.unmanaged]
        if not named.are_for(unmanaged):
            raise Invalid(f"{TRANSFER_REFUSED}.")
        others = (
            each
            for group_id in unmanaged
            for each in self.members[GroupId(group_id)]
            if each.user_id != self.user.id
        )
        return replace(self, promoted=[each for each in others if each.id in named.ids])


def dry_run(actor: Actor, user: str) -> None:
    """Say whether the user can be deleted, and do nothing."""
    stored = _find(_require_deletable(actor, user))
    rehearse(stored)
    if administrators.stays(stored):
        administrators.find_another(stored, _last(actor))


def delete(actor: Actor, user: str, draft: Draft[UserDeletion]) -> None:
    """Delete a user, and hand over what would be left without an owner or a manager."""
    stored = _find(_require_deletable(actor, user))
    apply(actor, stored, read_transfer(draft))


def apply(
    actor: Actor, stored: User, transfer: Transfer, besides: Besides = nothing_besides
) -> Sequence[Group]:
    """Delete a user, and hand over what this says; returns the groups that go along.

    They are gone with all they have in one change. It rests on every item that names them, on
    the groups they belong to, and on nobody giving them anything meanwhile: it begins before
    that is read for good. What can be refused is refused before, and writes nothing. `besides`
    writes what else goes with it.
    """
    _read(stored, transfer).require_free()
    with operations.begun(stored) as (user, operation):
        deletion = _read(user, transfer)
        deletion.require_free()
        with avatars.removed(user):
            _write(actor, deletion, operation, besides)
    audit.succeeded("deletion", actor, stored.id)
    return deletion.lonely


def rehearse(user: User, gone: Collection[str] = ()) -> Sequence[Group]:
    """Refuse where something stands in the way of a deletion, and do nothing.

    Returns the groups that would go along. `gone` are users and groups that count as deleted.
    """
    deletion = _read(user, Transfer(), gone)
    deletion.require_free()
    return deletion.lonely


def _require_deletable(actor: Actor, user: str) -> UserId:
    user_id = find_uuid(user)
    if user_id is None:
        raise Invalid("The user identifier should be a valid UUID.")
    if user_id == actor.id:
        raise Invalid("You are not allowed to delete yourself.")
    return UserId(user_id)


def _find(user_id: UserId) -> User:
    user = reading.read([User.by_id(user_id)]).find(User, user_id)
    if user is None:
        raise NotFound(MISSING)
    if user.deleted:
        raise NotFound(MISSING)
    return user


def _read(user: User, transfer: Transfer, gone: Collection[str] = ()) -> _UserDeletion:
    """Read what the user has: their groups before the members, their holdings before the items.

    The items of a group are theirs as well, also those that are about to be shared with it. Whoever
    is gone counts as no member and has access to nothing.
    """
    user_id = UserId(user.id)
    [groups], (own, *alone) = reading.side_by_side(
        [partial(departures.groups_by_id, user.groups)],
        [
            partial(kinds.held_by, user_id),
            partial(MetadataPrivateKey.keys_of, user_id),
            partial(SessionKey.keys_of, user_id),
            partial(keys_of_user, user_id),
        ],
    )
    members, shared = _members_and_items_of(groups, gone)
    lonely = {
        id_ for id_, each in members.items() if ownership.is_only_member(user_id, _managing(each))
    }
    held = sorted({*own, *shared}, key=lambda item: item.hash_key)
    others = (expiry.KEY, notices.SWITCHES)
    departure, found = departures.read({user_id, *lonely, *gone}, held, transfer, *others)
    staying = {id_: group for id_, group in groups.items() if id_ not in lonely}
    departure = replace(departure, groups={**departure.groups, **staying}, left=staying.keys())
    rows = [key for keys in alone for key in keys]
    deletion = _UserDeletion(user, groups, members, held, rows, departure, found)
    deletion = deletion.with_managers(due(transfer.managers))
    departure.require_named(transfer)
    return deletion


def _members_and_items_of(
    groups: Collection[GroupId], gone: Collection[str]
) -> tuple[dict[GroupId, Sequence[Membership]], set[Key]]:
    """Who belongs to these groups and is not gone, and what is shared with any of them."""
    if not groups:
        return {}, set()
    members, items = reading.side_by_side(
        [partial(Membership.in_group, group_id) for group_id in groups],
        [partial(kinds.shared_with, group_id) for group_id in groups],
    )
    staying = ([each for each in found if each.user_id not in gone] for found in members)
    shared = {item for each in items for item in each}
    return dict(zip(groups, staying, strict=True)), shared


def _managing(members: Sequence[Membership]) -> Managing:
    return {each.user_id: each.is_admin for each in members}


def _write(actor: Actor, deletion: _UserDeletion, operation: Part, besides: Besides) -> None:
    user, expiring = deletion.user, Expiring(deletion.found)
    with Change(user, _deleted(user), within=operation) as tx:
        tx.require(Check(user.key, user.as_read(*unversioned.names(User))))
        tx.require(administrators.still_acts(actor, clock.now()))
        if administrators.stays(user):
            administrators.require_another(tx, user, _last(actor))
        tx.delete(Claim.username(user.username, user.id))
        tx.put(Claim.former_user(user.username, user.id))
        scim_names.exchange(tx, user.id, user.scim_name, None)
        if user.gpgkey_id:
            tx.update(Gpgkey.by_id(user.gpgkey_id), *Gpgkey.deletion(), provided=Gpgkey.present())
        log = ActionLog.of(user.id, "Users.deleted", actor.id, actor.caller)
        tx.create(log)
        _tell(tx, actor, deletion)
        _write_groups(tx, actor, deletion)
        gone = deletion.departure.write(tx, deletion.lost, expiring)
        log.names_gone([*(("Group", each.id) for each in deletion.lonely), *gone])
        log.names_handed_over(deletion.handed_over)
        expiring.tell(tx, actor.id)
        for item in deletion.held:
            tx.then_delete(Holding.of(UserId(user.id), ItemId(item.hash_key)))
        for row in deletion.alone:
            tx.then_delete(row)
        besides(tx, user.id)


def _last(actor: Actor) -> Refusal:
    """What the actor is told where no administrator without a set suspension would remain.

    The actor is one themselves, so this happens only where their own suspension is set.
    """
    row = people.by_id([actor.id]).get(actor.id)
    if row is None or not row.may_administer(clock.now()):
        return Stale()  # the actor is no administrator any more, which the next decision tells
    return Invalid("The last active administrator cannot be deleted.")


def _deleted(user: User) -> User:
    deleted = user.copy()
    deleted.deleted = True
    deleted.groups = {}
    deleted.avatar_id = deleted.avatar_created = None
    deleted.scim_name = deleted.external_id = deleted.scim_created = None
    deleted.session_epoch += 1
    deleted.totp = deleted.totp_verified = deleted.totp_step = None
    deleted.modified = clock.now()
    return deleted


def _write_groups(tx: Change, actor: Actor, deletion: _UserDeletion) -> None:
    """Remove the user from their groups: some are deleted too, others get new managers."""
    for group_id in deletion.groups:
        tx.then_delete(Membership.of(group_id, deletion.user.id))
    for group in deletion.lonely:
        tx.then_delete(Claim.group(group.name, group.id))
        tx.then_update(group, *group.deletion(actor.id))
    for group in deletion.lonely[:_MOST_NOTED]:
        tx.put(Claim.former_group(group.name, group.id))
    _promote(tx, deletion.promoted)


def _tell(tx: Change, actor: Actor, deletion: _UserDeletion) -> None:
    """Tell the managers of the groups that the user leaves, and administrators of one of them.

    An administrator who is told as a manager is not told twice.
    """
    user, groups = deletion.user, dict[str, list[str]]()
    promoted = {(each.group_id, each.user_id) for each in deletion.promoted}
    for group_id, group in deletion.groups.items():
        for member in deletion.members[group_id]:
            manages = member.is_admin or (member.group_id, member.user_id) in promoted
            if manages and member.user_id != user.id:
                groups.setdefault(member.user_id, []).append(group.name)
    by_groups: dict[str, list[str]] = {}
    for manager, names in groups.items():
        by_groups.setdefault("\n".join(sorted(names)[: notices.MOST_LISTED]), []).append(manager)
    name = notices.name_of(user)
    for listed, managers in by_groups.items():
        told = notices.users(managers)
        event = Event.USER_DELETED
        notices.tell(tx, event, to=told, actor=actor.id, name=name, groups=listed)
    if user.is_admin:
        told_already = groups if notices.are_wanted(deletion.found, Event.USER_DELETED) else ()
        told = notices.administrators(but=[user.id, *told_already])
        notices.tell(tx, Event.ADMINISTRATOR_DELETED, to=told, actor=actor.id, name=name)


def _promote(tx: Change, memberships: Sequence[Membership]) -> None:
    users = people.by_id(each.user_id for each in memberships)
    for user_id, user in users.items():
        own = [each for each in memberships if each.user_id == user_id]
        if any(each.group_id not in user.groups for each in own):
            raise Stale  # they have left since the members were read
        tx.then_update(user, *User.managing(dict.fromkeys((each.group_id for each in own), True)))
        for each in own:
            tx.then_update(each, Membership.is_admin.set(True))
