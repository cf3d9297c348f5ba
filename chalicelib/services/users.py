"""Users: who is there, and how one is invited, changed and brought back."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.setup import RecoveryBody
from chalicelib.bodies.users import INVALID, InvitationBody
from chalicelib.domain import clock, roles
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.errors import Forbidden, Invalid, NotFound
from chalicelib.domain.ids import RoleId, UserId, find_uuid, new_id
from chalicelib.services import invitations, people
from chalicelib.services.people import Person
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.claims import USERNAME, Claim
from chalicelib.tables.transaction import Transaction
from chalicelib.tables.users import User

_TAKEN = {"username": {"uniqueUsername": "The username is already in use."}}
_NO_ROLE = {"role_id": {"_existsIn": "The role does not exist."}}
_NOT_A_ROLE = {"role_id": {"validRole": "The role cannot be given to a user."}}


def everybody(actor: Actor) -> list[Person]:
    """Return whom the actor may see: active users, for administrators also invited ones."""
    return [p for p in people.everybody() if p.user.active or actor.is_admin]


def view(actor: Actor, user: str) -> Person:
    """Return the user of this identifier, or of `me`."""
    user_id = actor.id if user == "me" else find_uuid(user)
    if user_id is None:
        raise Invalid('The user identifier should be a valid UUID or "me".')
    person = people.find(user_id)
    if person is None or not (person.user.active or actor.is_admin):
        raise NotFound("The user does not exist.")
    return person


def invite(actor: Actor, draft: Draft[InvitationBody]) -> Person:
    """Add a user who has yet to complete the setup, and send the link to do it."""
    body = draft.read(INVALID)
    user = new_user(body.username, body.profile.first_name, body.profile.last_name)
    user.role_id = _require_role(body.role_id)
    with Transaction() as tx:
        tx.require(User.is_active(actor.id), otherwise=Forbidden("The user is not active."))
        add(tx, user, actor.id, actor.caller)
    return Person(user)


def add(tx: Transaction, user: User, inviter: str | None, caller: Caller) -> invitations.Link:
    """Write a new user, the claim of his address and the link to his setup."""
    link = invitations.setup_link(user)
    tx.create(Claim.username(user.username, user.id), otherwise=Invalid(INVALID, _TAKEN))
    tx.create(user)
    link.add_to(tx)
    tx.create(ActionLog.of(user.id, "Users.created", inviter, caller))
    return link


def new_user(username: str, first_name: str, last_name: str) -> User:
    return User(
        new_id(),
        username=username,
        role_id=roles.USER.id,
        profile_id=new_id(),
        first_name=first_name,
        last_name=last_name,
        created=clock.now(),
        modified=clock.now(),
    )


def recover(draft: Draft[RecoveryBody]) -> None:
    """Send the user of this address a link. Who asks cannot tell whether there is one.

    An unknown address costs the same reads and a write as well.
    """
    body = draft.read(INVALID)
    username, case = body.require_username(), body.require_case()
    user_id = Claim.find_subject(USERNAME, username.casefold())
    person = people.find(user_id or new_id())
    with Transaction() as tx:
        if person is None or person.user.is_suspended(clock.now()):
            tx.create(invitations.decoy())
        elif person.user.active:
            tx.require(User.is_active(UserId(person.user.id)))
            invitations.recovery_link(person.user, case).add_to(tx)
        else:
            tx.require(User.is_waiting(UserId(person.user.id)))
            invitations.setup_link(person.user).add_to(tx)


def _require_role(role_id: str | None) -> RoleId:
    if role_id is None:
        return roles.USER.id
    role = roles.BY_ID.get(RoleId(role_id))
    if role is None:
        raise Invalid(INVALID, _NO_ROLE)
    if role is roles.GUEST:
        raise Invalid(INVALID, _NOT_A_ROLE)
    return role.id
