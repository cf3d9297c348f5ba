"""Users: who is there, and how one is invited, changed and brought back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.setup import RecoveryBody
from chalicelib.bodies.users import INVALID, InvitationBody
from chalicelib.domain import clock, roles
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.errors import Forbidden, Invalid, NotFound
from chalicelib.domain.ids import ResourceId, RoleId, UserId, find_uuid, new_id
from chalicelib.services import access, invitations, people, sources
from chalicelib.services.people import Person
from chalicelib.tables import reading
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.claims import USERNAME, Claim
from chalicelib.tables.resources import Resource
from chalicelib.tables.transaction import Transaction
from chalicelib.tables.users import User

_TAKEN = {"username": {"uniqueUsername": "The username is already in use."}}
_NO_ROLE = {"role_id": {"_existsIn": "The role does not exist."}}
_NOT_A_ROLE = {"role_id": {"validRole": "The role cannot be given to a user."}}


@dataclass(frozen=True, slots=True)
class CountedRole:
    role: roles.Role
    user_count: int | None = None
    """How many users who are not deleted have it, where that was asked for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of the users he may see somebody asks for; all that is set must hold."""

    search: str | None = None
    """Part of the username, the first or the last name, in any letter case."""
    groups: Collection[str] = ()
    """Groups they all belong to."""
    resource_id: str | None = None
    """Resource they have access to."""
    is_admin: bool = False
    is_active: bool | None = None
    """Whether they have set up, for administrators, who alone see both."""


def search(actor: Actor, wanted: Wanted) -> list[User]:
    """Return, by username, whom the actor may see and asks for."""
    if wanted.resource_id is None:
        users: Iterable[User] = people.everybody()
    else:
        users = _with_access(actor, ResourceId(wanted.resource_id))
    return [user for user in users if _is_visible(actor, user) and _is_wanted(actor, user, wanted)]


def view(actor: Actor, user: str) -> Person:
    """Return the user of this identifier, or of `me`."""
    user_id = actor.id if user == "me" else find_uuid(user)
    if user_id is None:
        raise Invalid('The user identifier should be a valid UUID or "me".')
    person = people.find(user_id, actor.gpgkey_id if user_id == actor.id else None)
    if person is None or not _is_visible(actor, person.user):
        raise NotFound("The user does not exist.")
    return person


def invite(actor: Actor, draft: Draft[InvitationBody]) -> Person:
    """Add a user who has yet to complete the setup, and send the link to do it.

    An address belongs to one user, whatever its letter case; who invites is an
    administrator when it happens.
    """
    body = draft.read(INVALID)
    user = new_user(body.username, body.profile.first_name, body.profile.last_name)
    user.role_id = roles.USER.id if body.role_id is None else require_role(body.role_id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        add(tx, user, actor.id, actor.caller)
    return Person(user)


def add(tx: Transaction, user: User, inviter: str | None, caller: Caller) -> invitations.Link:
    """Write a new user, the claim of his address and the link to his setup."""
    link = invitations.setup_link(user, invitations.WELCOME)
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


def roles_with_counts(*, counted: bool) -> list[CountedRole]:
    """Return the built-in roles, with how many users have each where that is asked for."""
    if not counted:
        return [CountedRole(role) for role in roles.BUILT_IN]
    users = people.by_id(claim.subject for claim in Claim.of_kind(USERNAME)).values()
    counts = Counter(user.role_id for user in users)
    return [CountedRole(role, counts[role.id]) for role in roles.BUILT_IN]


def recover(actor: Actor | None, draft: Draft[RecoveryBody], caller: Caller) -> None:
    """Send the user of this address a link. Who asks cannot tell whether there is one.

    An address nobody has, or whose user is suspended, costs the same calls and writes as
    many rows.
    """
    body = draft.read(INVALID)
    username, case = body.require_username(), body.require_case()
    sources.take_turn(caller)
    user_id = UserId(Claim.find_subject(USERNAME, username.casefold()) or new_id())
    user = reading.read([User.by_id(user_id)]).find(User, user_id)
    now = clock.now()
    with Transaction() as tx:
        if user is None or user.deleted or user.is_suspended(now):
            invitations.add_decoy(tx)
        elif user.active:
            tx.require(User.is_able(user_id, now))
            invitations.recovery_link(user, case).add_to(tx)
        else:
            template = invitations.REMINDER if actor is None else invitations.WELCOME
            tx.require(User.is_waiting(user_id, now))
            invitations.setup_link(user, template).add_to(tx)


def require_role(role_id: str) -> RoleId:
    """Return a role a user may have."""
    role = roles.BY_ID.get(RoleId(role_id))
    if role is None:
        raise Invalid(INVALID, _NO_ROLE)
    if role is roles.GUEST:
        raise Invalid(INVALID, _NOT_A_ROLE)
    return role.id


def _is_visible(actor: Actor, user: User) -> bool:
    return not user.deleted and (user.active or actor.is_admin)


def _is_wanted(actor: Actor, user: User, wanted: Wanted) -> bool:
    return (
        (wanted.search is None or _says(user, wanted.search.casefold()))
        and all(group in user.groups for group in wanted.groups)
        and (user.is_admin or not wanted.is_admin)
        and (wanted.is_active in (None, user.active) or not actor.is_admin)
    )


def _says(user: User, folded: str) -> bool:
    texts = (user.username, user.first_name, user.last_name)
    return any(folded in text.casefold() for text in texts)


def _with_access(actor: Actor, resource_id: ResourceId) -> list[User]:
    """Return who has access, by username; refuse an actor who has none himself."""
    resource = reading.read([Resource.by_id(resource_id)]).find(Resource, resource_id)
    if resource is None or resource.deleted or access.find_permission(actor, resource) is None:
        raise Forbidden("This operation is not allowed for this user.")
    direct = access.user_holders(resource)
    if len(direct) == len(resource.permissions):
        return sorted(people.by_id(direct).values(), key=lambda user: user.username.casefold())
    holders = resource.permissions.keys()
    return [u for u in people.everybody() if u.id in holders or holders & u.groups.keys()]
