"""How a user is invited, by an address that is free, and what is shown of one to whom."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.users import INVALID, InvitationBody, read_invitation
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.changes import NewUser
from chalicelib.domain.errors import FieldErrors, Forbidden, Invalid, NotFound, Refusal
from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.users.roles import USER
from chalicelib.services.users.people import administrators, invitations, people, scim_names
from chalicelib.services.users.people.people import Person
from chalicelib.services.users.roles import roles
from chalicelib.storage.changes.transaction import Besides, Transaction, nothing_besides
from chalicelib.tables.claims import Claim
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.users.users import User

_CLASH: FieldErrors = {"username": {"uniqueUsername": "The username is already in use."}}
TAKEN = Invalid(INVALID, _CLASH)
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
    """Add a user who has yet to complete the setup, and send the link to do it."""
    return apply(actor, read_invitation(draft))


def apply(
    actor: Actor,
    new: NewUser,
    besides: Besides = nothing_besides,
    taken: Refusal = TAKEN,
) -> Person:
    """Invite a user.

    An address belongs to one user, however it is written: raises `taken` where it is another's by
    then. Whoever invites is an administrator when it happens. `besides` writes what else goes with
    it.
    """
    user = new_user(new.username, new.first_name, new.last_name)
    known = roles.read_for(new.role_id)
    user.role_id = new.role_id or USER.id
    _say_whence(user, new)
    if broken := known.broken(user.role_id):
        raise Invalid(INVALID, {**_clash(user), **broken})
    with Transaction() as tx:
        tx.makes(user.id)
        tx.require(administrators.still_acts(actor, clock.now()))
        known.give(tx, user.role_id)
        add(tx, user, actor.id, actor.caller, taken)
        besides(tx, user.id)
    return Person(user, known.role_of(user.role_id))


def add(
    tx: Transaction,
    user: User,
    inviter: str | None,
    caller: Caller,
    taken: Refusal = TAKEN,
    template: str = invitations.WELCOME,
) -> invitations.Link:
    """Write a new user, the claim of their address and the link to their setup.

    Who is suspended from the beginning gets none: it is for whoever lets them in.
    """
    link = invitations.setup_link(user, template)
    tx.create(Claim.username(user.username, user.id), otherwise=taken)
    tx.create(user)
    if not user.disabled:
        link.add_to(tx)
    scim_names.exchange(tx, user.id, None, user.scim_name)
    tx.create(ActionLog.of(user.id, "Users.created", inviter, caller))
    return link


def _say_whence(user: User, new: NewUser) -> None:
    """Note of a new user whether they are suspended, and what a directory calls them."""
    user.disabled = clock.now() if new.is_suspended else None
    if new.provisioned is not None:
        user.scim_name, user.external_id = new.provisioned.name, new.provisioned.external_id
        user.scim_created = clock.now()


def _clash(user: User) -> FieldErrors:
    """What is wrong with the address, for a refusal that has another reason too."""
    return _CLASH if Claim.find_user_id(user.username) else {}


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
