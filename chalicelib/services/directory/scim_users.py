"""People whom a directory provisions by SCIM: added, taken over, changed, suspended and deleted.

A directory changes people by the same changes as administrators do, in the name of the user whom
its settings name. What it calls somebody is nobody else's name, from the transaction that adds or
renames them; the name goes with the person. Administrators are neither suspended, brought back nor
deleted by a directory: whoever rules the directory would rule the service.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from chalicelib.bodies.directory.scim import read_names, read_new
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import NewUser, Provisioned, Transfer, UserChange
from chalicelib.domain.directory.scim import patches, states
from chalicelib.domain.directory.scim.states import PersonState
from chalicelib.domain.directory.scim.versions import Versions, version_of
from chalicelib.domain.directory.scim.words import Hindered, OnlySuspended, Taken
from chalicelib.domain.errors import Blocked, Forbidden, NotFound, Stale
from chalicelib.domain.folding import is_key
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.services.deletion import user_deletion
from chalicelib.services.deletion.departures import Obstacles
from chalicelib.services.directory.provisioners import Provisioner
from chalicelib.services.users.people import scim_names, user_edits, users
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key
from chalicelib.storage.changes.transaction import Besides, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import SCIM_NAME, USERNAME, Claim
from chalicelib.tables.users.users import User

MISSING = NotFound("The user does not exist, or has been deleted.")
_SHOWN = ("username", "first_name", "last_name", "disabled", "scim_name", "external_id")
"""What the version of a user speaks of."""
_NO_ADMINISTRATORS = Forbidden(
    "Administrators are neither suspended, brought back nor deleted by a directory."
)
_MOST_NAMED = 10
"""Groups that are named of those that stand in the way."""


@dataclass(frozen=True, slots=True)
class Found:
    """A user as a directory sees them."""

    user: User
    state: PersonState

    @property
    def version(self) -> str:
        state, user = self.state, self.user
        said = (state.user_name, state.external_id, state.given_name, state.family_name)
        return version_of(user.id, *said, state.active, user.username)


def seen(user: User) -> Found:
    """A user as a directory sees them, by their address where it has no other name for them."""
    state = PersonState(
        user_name=user.scim_name or user.username,
        external_id=user.external_id,
        given_name=user.first_name,
        family_name=user.last_name,
        active=not user.is_suspended(clock.now()),
        address=user.username,
    )
    return Found(user, state)


def view(user: str) -> Found:
    return seen(_require(user))


def everybody() -> list[Found]:
    """The people whom a directory provisions, in the order in which it began to."""
    ids = [claim.subject for claim in Claim.of_kind(SCIM_NAME)]
    rows = reading.gather(User, ids, lambda _, row: User.from_raw(row))
    return _in_order(user for user in rows if not user.deleted and user.scim_name)


def named(name: str) -> list[Found]:
    """The one whom a directory calls so, if there is one."""
    if not is_key(name):
        return []
    key = Claim.scim_name(name, "").key
    claim = reading.read([key]).find(Claim, key.hash_key, key.range_key)
    if claim is None:
        return []
    user = reading.read([User.by_id(claim.subject)]).find(User, claim.subject)
    return [] if user is None or user.deleted else [seen(user)]


def create(provisioner: Provisioner, sent: Any) -> Found:
    """Add somebody, or take over who has an account of this address already.

    One person has one address and one name in the directory, whoever adds them at the same moment.
    """
    state = read_new(states.person(sent))
    assert state.user_name is not None and state.address is not None  # noqa: S101, PT018 - read
    keys = (Claim.scim_name(state.user_name, "").key, Claim.username(state.address, "").key)
    rows = reading.read([provisioner.key, *keys])
    actor = provisioner.actor(rows)
    if rows.find(Claim, SCIM_NAME, keys[0].range_key) is not None:
        raise scim_names.TAKEN
    account = rows.find(Claim, USERNAME, keys[1].range_key)
    if account is None:
        return _added(provisioner, actor, state)
    return _adopted(provisioner, actor, account.subject, state)


def replace(provisioner: Provisioner, user: str, sent: Any, versions: Versions) -> Found:
    stored, actor = _read(provisioner, user)
    before = seen(stored)
    versions.require(before.version)
    after = states.person(sent, before.state)
    return _called(provisioner, actor, before, after, is_asked=True)


def patch(provisioner: Provisioner, user: str, sent: Any, versions: Versions) -> Found:
    stored, actor = _read(provisioner, user)
    before = seen(stored)
    versions.require(before.version)
    after = patches.person(before.state, sent)
    is_asked = _asks_for_a_name(stored, after)
    return _called(provisioner, actor, before, after, is_asked=is_asked)


def delete(provisioner: Provisioner, user: str, versions: Versions) -> None:
    """Delete somebody, or suspend them where something stands in the way, and say what does.

    Whoever has left the company is signed out and stays out in either case.
    """
    stored, actor = _read(provisioner, user)
    before = seen(stored)
    versions.require(before.version)
    if stored.is_admin:
        raise _NO_ADMINISTRATORS
    besides = _besides(provisioner, before)
    try:
        user_deletion.apply(actor, stored, Transfer(), besides)
    except Blocked as error:
        cause = " ".join(_in_the_way(error))
        if not before.state.active:
            raise Hindered(cause) from None
        user_edits.apply(actor, stored, {"disabled": clock.now()}, besides=besides)
        raise OnlySuspended(cause) from None


def _require(user: str) -> User:
    key = _key_of(user)
    return _live(reading.read([key]), key)


def _read(provisioner: Provisioner, user: str) -> tuple[User, Actor]:
    """Read a user who is to be changed, and in whose name."""
    key = _key_of(user)
    rows = reading.read([provisioner.key, key])
    actor = provisioner.actor(rows)
    return _live(rows, key), actor


def _key_of(user: str) -> Key:
    user_id = find_uuid(user)
    if user_id is None:
        raise MISSING
    return User.by_id(user_id)


def _live(rows: Rows, key: Key) -> User:
    row = rows.find(User, key.hash_key)
    if row is None or row.deleted:
        raise MISSING
    return row


def _added(provisioner: Provisioner, actor: Actor, state: PersonState) -> Found:
    """Add somebody; an account that somebody else adds at this moment is taken over instead."""
    new = NewUser(
        str(state.address),
        str(state.given_name),
        str(state.family_name),
        is_suspended=not state.active,
        provisioned=Provisioned(str(state.user_name), state.external_id),
    )

    def besides(tx: Transaction, _: str) -> None:
        tx.require(provisioner.still_provisions())

    return seen(users.apply(actor, new, besides, taken=Stale()).user)


def _adopted(provisioner: Provisioner, actor: Actor, user_id: str, state: PersonState) -> Found:
    """Take over an account that no directory provisions. Whoever is suspended stays so."""
    user = reading.read([User.by_id(user_id)]).find(User, user_id)
    if user is None or user.deleted:
        raise Stale  # with an account goes its address, which is free by now
    if user.scim_name:
        raise Taken("The user of this e-mail address is provisioned already, by another userName.")
    before = seen(user)
    stays_suspended = state.active and not before.state.active
    wanted = state if not stays_suspended else _suspended(state)
    return _changed(provisioner, actor, before, wanted)


def _asks_for_a_name(user: User, after: PersonState) -> bool:
    """Whether a change is of somebody whom the directory has a name for, or gives one."""
    is_named = bool(user.scim_name) or after.user_name != user.username
    return is_named or (after.active and after.external_id is not None)


def _called(
    provisioner: Provisioner, actor: Actor, before: Found, after: PersonState, *, is_asked: bool
) -> Found:
    """Change somebody, who is called so from now on, unless another is already.

    Where that was asked for it is refused. Else, and where they are suspended, they are changed
    and called as before, if by any name: whoever is to be suspended must not stay for that.
    """
    try:
        return _changed(provisioner, actor, seen(before.user.copy()), after)
    except Taken:
        is_suspended_now = before.state.active and not after.active
        if is_asked and not is_suspended_now:
            raise
        as_before = dataclasses.replace(after, user_name=before.user.scim_name)
        return _changed(provisioner, actor, before, as_before)


def _suspended(state: PersonState) -> PersonState:
    return state.with_attribute("active", value=False)


def _changed(provisioner: Provisioner, actor: Actor, before: Found, after: PersonState) -> Found:
    """Change a user, and what a directory calls them, provided that they are as they were read."""
    user, was = before.user, before.state
    named = read_names(after)
    change: UserChange = {
        "first_name": str(named.given_name),
        "last_name": str(named.family_name),
    }
    if named.user_name is not None:
        change["scim_name"] = named.user_name
        change["external_id"] = named.external_id
        change["scim_created"] = user.scim_created or clock.now()
    if named.active != was.active:
        if user.is_admin:
            raise _NO_ADMINISTRATORS
        change["disabled"] = None if named.active else clock.now()
    user_edits.apply(actor, user, change, besides=_besides(provisioner, before))
    return seen(user)


def _besides(provisioner: Provisioner, before: Found) -> Besides:
    """Holds that the directory may still do so, and that the version is the one that was read."""
    as_read = Check(before.user.key, before.user.as_read(*_SHOWN))

    def hold(tx: Transaction, _: str) -> None:
        tx.require(provisioner.still_provisions())
        tx.require(as_read)

    return hold


def _in_the_way(error: Blocked) -> Iterator[str]:
    """What has to be done before the user can be deleted, for whoever runs the directory."""
    yield error.message
    found = error.obstacles
    assert isinstance(found, Obstacles)  # noqa: S101 - it is what the deletion of users tells
    if found.items:
        yield f"Items without another owner: {len(found.items)}."
    names = [group.row["name"]["S"] for group in found.groups.groups]
    if names:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield f"Groups without another manager: {', '.join(names[:_MOST_NAMED])}{more}."
    yield "The user is suspended, and signed out everywhere."


def _in_order(found: Iterator[User]) -> list[Found]:
    rows = sorted(found, key=lambda user: (str(user.scim_created), str(user.scim_name)))
    return [seen(user) for user in rows]
