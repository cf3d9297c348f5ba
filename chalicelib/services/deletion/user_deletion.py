"""Deletion of users, with their keys, memberships and all that they alone have access to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.transfers import UserDeletion, read_transfer
from chalicelib.domain import audit, clock, ownership
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import HandedOver, Transfer, due
from chalicelib.domain.errors import Blocked, Invalid, NotFound, Refusal, Stale
from chalicelib.domain.ids import GroupId, ItemId, UserId, find_uuid
from chalicelib.domain.ownership import Managing
from chalicelib.services.deletion import departures
from chalicelib.services.deletion.departures import TRANSFER_REFUSED, Departure
from chalicelib.services.users import administrators, avatars, people
from chalicelib.storage import operations, reading, unversioned
from chalicelib.storage.base import Check, Key
from chalicelib.storage.operations import Begun, Change
from chalicelib.tables import kinds
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.claims import Claim
from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.tables.groups import Group
from chalicelib.tables.holdings import Holding
from chalicelib.tables.memberships import Membership
from chalicelib.tables.metadata_private_keys import MetadataPrivateKey
from chalicelib.tables.session_keys import SessionKey
from chalicelib.tables.tags import keys_of_user
from chalicelib.tables.users import User

MISSING = "The user does not exist or has been already deleted."
BLOCKED = "The user cannot be deleted."
_SOLE_MANAGER = "They are the only manager of groups: name another manager first."
_SOLE_OWNER = "They are the only owner of items that others have access to: hand these over first."


@dataclass(frozen=True, slots=True)
class _UserDeletion:
    """A user, their groups with the members, and the items they leave."""

    user: User
    groups: Mapping[GroupId, Group]
    members: Mapping[GroupId, Sequence[Membership]]
    held: Sequence[Key]
    """All items they have access to."""
    alone: Sequence[Key]
    """Rows of theirs that no item is: copies of metadata private keys, session keys, tags."""
    departure: Departure
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

    def transferred(self, transfer: Transfer) -> _UserDeletion:
        """The same with the managers and owners that are named."""
        managed = self._with_managers(due(transfer.managers))
        return replace(managed, departure=managed.departure.transferred(transfer))

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

    def _with_managers(self, named: HandedOver) -> _UserDeletion:
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
    _read(_find(_require_deletable(actor, user))).require_free()


def delete(actor: Actor, user: str, draft: Draft[UserDeletion]) -> None:
    """Delete a user, and hand over what would be left without an owner or a manager."""
    stored = _find(_require_deletable(actor, user))
    apply(actor, stored, read_transfer(draft))


def apply(actor: Actor, stored: User, transfer: Transfer) -> None:
    """Delete a user, and hand over what this says.

    They are gone with all they have in one change. It rests on every item that names them, on
    the groups they belong to, and on nobody giving them anything meanwhile: it begins before
    that is read for good. What can be refused is refused before, and writes nothing.
    """
    _read(stored).transferred(transfer).require_free()
    with operations.begun(stored) as begun:
        deletion = _read(begun.row).transferred(transfer)
        deletion.require_free()
        with avatars.removed(begun.row):
            _write(actor, deletion, begun)
    audit.succeeded("deletion", actor, stored.id)


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


def _read(user: User) -> _UserDeletion:
    """Read what the user has: their groups before the members, their holdings before the items.

    The items of a group are theirs as well, also those that are about to be shared with it.
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
    members, shared = _members_and_items_of(groups)
    lonely = {
        id_ for id_, each in members.items() if ownership.is_only_member(user_id, _managing(each))
    }
    held = sorted({*own, *shared}, key=lambda item: item.hash_key)
    departure, _ = departures.read({user_id, *lonely}, held)
    staying = {id_: group for id_, group in groups.items() if id_ not in lonely}
    departure = replace(departure, groups={**departure.groups, **staying})
    rows = [key for keys in alone for key in keys]
    return _UserDeletion(user, groups, members, held, rows, departure)


def _members_and_items_of(
    groups: Collection[GroupId],
) -> tuple[dict[GroupId, Sequence[Membership]], set[Key]]:
    """Who belongs to these groups, and what is shared with any of them."""
    if not groups:
        return {}, set()
    members, items = reading.side_by_side(
        [partial(Membership.in_group, group_id) for group_id in groups],
        [partial(kinds.shared_with, group_id) for group_id in groups],
    )
    shared = {item for each in items for item in each}
    return dict(zip(groups, members, strict=True)), shared


def _managing(members: Sequence[Membership]) -> Managing:
    return {each.user_id: each.is_admin for each in members}


def _write(actor: Actor, deletion: _UserDeletion, begun: Begun[User]) -> None:
    user = deletion.user
    with Change(user, _deleted(user), within=begun) as tx:
        tx.require(Check(user.key, user.as_read(*unversioned.names(User))))
        tx.require(User.is_administrator(actor.id, clock.now()))
        if administrators.stays(user):
            administrators.require_another(tx, user, _last(actor))
        tx.delete(Claim.username(user.username, user.id))
        if user.gpgkey_id:
            tx.update(Gpgkey.by_id(user.gpgkey_id), *Gpgkey.deletion(), provided=Gpgkey.present())
        tx.create(ActionLog.of(user.id, "Users.deleted", actor.id, actor.caller))
        _write_groups(tx, actor, deletion)
        deletion.departure.write(tx)
        for item in deletion.held:
            tx.then_delete(Holding.of(UserId(user.id), ItemId(item.hash_key)))
        for row in deletion.alone:
            tx.then_delete(row)


def _last(actor: Actor) -> Refusal:
    """What an administrator is told who alone would remain, with a suspension of their own set."""
    row = people.by_id([actor.id]).get(actor.id)
    if row is None or not (row.is_admin and row.may_sign_in(clock.now())):
        return Stale()  # who is none any more is told that
    return Invalid("The last active administrator cannot be deleted.")


def _deleted(user: User) -> User:
    deleted = user.copy()
    deleted.deleted = True
    deleted.groups = {}
    deleted.avatar_id = deleted.avatar_created = None
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
    _promote(tx, deletion.promoted)


def _promote(tx: Change, memberships: Sequence[Membership]) -> None:
    users = people.by_id(each.user_id for each in memberships)
    for user_id, user in users.items():
        own = [each for each in memberships if each.user_id == user_id]
        if any(each.group_id not in user.groups for each in own):
            raise Stale  # they have left since the members were read
        tx.then_update(user, *User.managing(dict.fromkeys((each.group_id for each in own), True)))
        for each in own:
            tx.then_update(each, Membership.is_admin.set(True))
