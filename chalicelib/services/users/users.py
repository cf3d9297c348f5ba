"""Users: who is there, and how one is invited, changed and brought back."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users import INVALID, InvitationBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.errors import FieldErrors, Forbidden, Invalid, NotFound
from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.roles import USER
from chalicelib.services.users import invitations, people, roles
from chalicelib.services.users.people import Person
from chalicelib.storage.transaction import Transaction
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.claims import Claim
from chalicelib.tables.users import User

_TAKEN = {"username": {"uniqueUsername": "The username is already in use."}}
_MISSING_KEYS_DENIED = "The missing_metadata_key_ids contain is only allowed for administrators."


def view(actor: Actor, user: str) -> Person:
    """Return the user of this identifier, or of `me`."""
    user_id = actor.id if user == "me" else find_uuid(user)
    if user_id is None:
        raise Invalid('The user identifier should be a valid UUID or "me".')
    person = people.find(user_id, actor.gpgkey_id if user_id == actor.id else None)
    if person is None or not _is_visible(actor, person.user):
        raise NotFound("The user does not exist.")
    return person


def may_see_private(actor: Actor, user_id: str | None = None) -> bool:
    """Whether the actor is shown what others are not of this user; without one, of everybody."""
    return actor.is_admin or actor.id == user_id


def require_sight_of_missing_keys(actor: Actor, user_id: str | None = None) -> None:
    """Refuse to tell others than administrators which metadata keys somebody else lacks."""
    if not may_see_private(actor, user_id):
        raise Forbidden(_MISSING_KEYS_DENIED)


def invite(actor: Actor, draft: Draft[InvitationBody]) -> Person:
    """Add a user who has yet to complete the setup, and send the link to do it.

    An address belongs to one user, however it is written; who invites is an
    administrator when it happens.
    """
    body = draft.read(INVALID)
    user = new_user(body.username, body.profile.first_name, body.profile.last_name)
    known = roles.read_for(body.role_id)
    user.role_id = body.role_id or USER.id
    if broken := known.broken(user.role_id):
        raise Invalid(INVALID, {**_clash(user), **broken})
    with Transaction() as tx:
        tx.makes(user.id)
        tx.require(User.is_administrator(actor.id, clock.now()))
        known.give(tx, user.role_id)
        add(tx, user, actor.id, actor.caller)
    return Person(user, known.role_of(user.role_id))


def add(tx: Transaction, user: User, inviter: str | None, caller: Caller) -> invitations.Link:
    """Write a new user, the claim of their address and the link to their setup."""
    link = invitations.setup_link(user, invitations.WELCOME)
    tx.create(Claim.username(user.username, user.id), otherwise=Invalid(INVALID, _TAKEN))
    tx.create(user)
    link.add_to(tx)
    tx.create(ActionLog.of(user.id, "Users.created", inviter, caller))
    return link


def _clash(user: User) -> FieldErrors:
    """What is wrong with the address, for a refusal that has another reason too."""
    return _TAKEN if Claim.find_user_id(user.username) else {}


def new_user(username: str, first_name: str, last_name: str) -> User:
    return User(
        new_id(),
        username=username,
        role_id=USER.id,
        profile_id=new_id(),
        first_name=first_name,
        last_name=last_name,
        created=clock.now(),
        modified=clock.now(),
    )


def _is_visible(actor: Actor, user: User) -> bool:
    return not user.deleted and (user.active or actor.is_admin)
