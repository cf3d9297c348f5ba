"""Users: who is there, and how one is invited, changed and brought back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.setup import RecoveryBody
from chalicelib.bodies.users.users import InvitationBody, UserEditBody
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.errors import Forbidden, NotFound, Refusal
from chalicelib.domain.folding import folded
from chalicelib.services.items.metadata.private_keys import Lacking
from chalicelib.services.sign_in import recovery
from chalicelib.services.users.people import user_edits, user_lists, users
from chalicelib.services.users.people.people import Person
from chalicelib.services.users.people.user_lists import WantedUsers
from chalicelib.services.users.policies import mfa_settings
from chalicelib.services.users.policies.mfa_settings import SecondFactors
from chalicelib.services.users.roles.roles import Known
from chalicelib.tables.users.users import UserRow
from chalicelib.views import pages
from chalicelib.views.users import gpgkeys
from chalicelib.views.users import users as views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import either, flag, ids, one_id, search
from chalicelib.web.query import Options, Query, paginate
from chalicelib.web.reply import Reply, page
from chalicelib.web.route import nothing, page_of, text

endpoints = Endpoints(__name__)

CONTAINS = frozenset({"gpgkey", "profile", "role", "groups_users", "last_logged_in"})
SORTS: dict[str, Callable[[views.PersonJson], str]] = {
    "Users.username": lambda user: folded(user["username"]),
    "Users.created": lambda user: user["created"],
    "Users.modified": lambda user: user["modified"],
    "Users.last_logged_in": lambda user: user["last_logged_in"] or "",
    "Profiles.first_name": lambda user: folded(user["profile"]["first_name"]),
    "Profiles.last_name": lambda user: folded(user["profile"]["last_name"]),
    "Profiles.created": lambda user: user["profile"]["created"],
    "Profiles.modified": lambda user: user["profile"]["modified"],
}
LIST = Options(
    contains=CONTAINS | {views.MFA, views.MISSING_KEYS, views.SCIM_ENTRY},
    default_contains=CONTAINS,
    aliases={"LastLoggedIn": "last_logged_in"},
    filters={
        "search": search,
        "has-access": one_id("resource id", "Multiple has-access filters are not supported."),
        "has-groups": ids("group id"),
        "is-admin": flag,
        "is-active": either,
        "is-mfa-enabled": either,
    },
    sortable=tuple(SORTS),
    default_order=(("Users.username", False),),
    is_paginated=True,
)


@endpoints.get(
    "/users.json",
    action="UsersIndex.index",
    access=Access.USER,
    query=LIST,
    shape=list[views.ListedJson],
)
def index(actor: Actor, query: Query) -> Reply:
    """List users; those who have yet to set up only for administrators."""
    if query.contains(views.MISSING_KEYS):
        users.require_sight_of_missing_keys(actor)
    lacking = Lacking(query.contains(views.MISSING_KEYS))
    factors = mfa_settings.SecondFactors(_is_factor_asked(actor, query))
    entries: dict[str, views.ScimEntryJson | None] = {}
    found = _found(actor, query, lacking, factors, entries)
    page, pagination = paginate(_sorted(found, query), query)
    if query.contains("gpgkey"):
        page = user_lists.with_keys(page, gpgkeys.gpgkey_of)
    shown = views.listed(page, query.contained)
    if query.contains(views.MFA) and users.may_see_private(actor):
        views.add_second_factors(shown, factors.users)
    if query.contains(views.MISSING_KEYS):
        views.add_missing_keys(shown, lacking.keys)
    if query.contains(views.SCIM_ENTRY) and actor.is_admin:
        views.add_scim_entries(shown, entries)
    return Reply(shown, pagination=pagination)


@endpoints.get("/users/csrf-token.json", action="GetCsrfToken.get", access=Access.PUBLIC, view=text)
def csrf_token(cookies: Mapping[str, str]) -> Reply:
    """Show the token a change by cookie carries in its header."""
    token = cookies.get(access.CSRF_COOKIE)
    if token:
        return Reply(token)
    token = access.new_csrf_token()
    return Reply(token, cookies=(access.csrf_cookie(token),))


@endpoints.get(
    "/users/{user}.json",
    action="UsersView.view",
    access=Access.USER,
    query=Options(contains=frozenset({views.MISSING_KEYS, views.SCIM_ENTRY})),
)
def view(actor: Actor, user: str, query: Query) -> views.ViewedJson:
    """Show a user, or with `me` the caller."""
    found = users.view(actor, user)
    if query.contains(views.MISSING_KEYS):
        users.require_sight_of_missing_keys(actor, found.user.id)
    private = {views.MFA} if users.may_see_private(actor, found.user.id) else frozenset()
    lacking = Lacking(query.contains(views.MISSING_KEYS))
    lacking.note(found.user.row)
    unseen = frozenset() if actor.is_admin else {views.SCIM_ENTRY}
    contained = (query.contained | private) - unseen
    return views.viewed(found, contained, lacking.keys[found.user.id])


def _person(actor: Actor, made: str) -> Person:
    return users.view(actor, made)


def _nothing_more() -> None:
    """A mail that was sent is not sent again."""


@endpoints.post(
    "/users.json",
    action="UsersAdd.addPost",
    access=Access.ADMIN,
    denied="Only administrators can add new users.",
    body=InvitationBody,
    again=_person,
    view=views.person,
    message="The user was successfully added. This user now need to complete the setup.",
)
def invite(actor: Actor, body: Draft[InvitationBody]) -> Person:
    """Invite a person by mail."""
    return users.invite(actor, body)


def _recover(actor: Actor | None, body: Draft[RecoveryBody], caller: Caller) -> None:
    if actor is not None and not actor.is_admin:
        raise Forbidden("Only guests are allowed to recover an account. Please logout first.")
    recovery.recover(actor, body, caller)


def _sent(actor: Actor | None, body: Draft[RecoveryBody], caller: Caller) -> Reply:
    """Send a link to whoever asked for it by the form."""
    _recover(actor, body, caller)
    return page(pages.sent())


@endpoints.page("/users/recover", action="UsersRecover.recoverGet", access=Access.PUBLIC)
def recovery_form(cookies: Mapping[str, str]) -> Reply:
    """The form that asks for a link, with the token of the CSRF cookie or a new one."""
    return _form(cookies)


def _refused(error: Refusal, cookies: Mapping[str, str]) -> Reply:
    """The form again, with why no link was sent. Whoever is not found may register."""
    return _form(cookies, error.message, may_register=isinstance(error, NotFound))


def _form(cookies: Mapping[str, str], refused: str = "", *, may_register: bool = False) -> Reply:
    token, brought = access.form_token(cookies)
    return page(pages.recover(token, refused, may_register=may_register), cookies=brought)


@endpoints.post(
    "/users/recover.json",
    action="UsersRecover.recoverPost",
    access=Access.ANYONE,
    body=RecoveryBody,
    again=_nothing_more,
    view=nothing,
    page=page_of(
        _sent,
        method="POST",
        path="/users/recover",
        action="UsersRecover.recoverPost",
        access=Access.ANYONE,
        body=RecoveryBody,
        refused=_refused,
    ),
    message="Recovery process started, check your email.",
)
def recover(actor: Actor | None, body: Draft[RecoveryBody], caller: Caller) -> None:
    """Send a person a new link, by mail."""
    _recover(actor, body, caller)


@endpoints.route(
    "/users/{user}.json",
    ("PUT", "POST"),
    action="UsersEdit.editPost",
    access=Access.USER,
    body=UserEditBody,
    again=_person,
    view=views.person,
    message="The user has been updated successfully.",
)
def edit(actor: Actor, user: str, body: Draft[UserEditBody]) -> Person:
    """Change a user's names and avatar and, for administrators, their role and suspension."""
    return user_edits.edit(actor, user, body)


def _is_factor_asked(actor: Actor, query: Query) -> bool:
    """Whether the client asks whose sign-in takes a second factor, and may know."""
    is_asked = query.contains(views.MFA) or query.filter("is-mfa-enabled") is not None
    return is_asked and users.may_see_private(actor)


def _found(
    actor: Actor,
    query: Query,
    lacking: Lacking,
    factors: SecondFactors,
    entries: dict[str, views.ScimEntryJson | None],
) -> list[views.ListedPerson]:
    """Whom the client asks for; with their keys, where those of all are shown."""

    def show(row: UserRow, known: Known) -> views.PersonJson:
        lacking.note(row)
        factors.note(row)
        if query.contains(views.SCIM_ENTRY):
            entries[row["id"]["S"]] = views.scim_entry_of(row)
        return views.person_of(row, known)

    wanted = _wanted(query, factors)
    if query.contains("gpgkey") and query.limit is None:
        return user_lists.search_with_keys(actor, wanted, show, gpgkeys.gpgkey_of)
    return user_lists.search(actor, wanted, show)


def _sorted(found: list[views.ListedPerson], query: Query) -> list[views.ListedPerson]:
    """The users in the order asked for; those that are equal by username, on every page."""
    for name, descends in reversed((*query.order, ("Users.username", False))):
        key = SORTS[name]
        found.sort(key=lambda each: key(each.user), reverse=descends)
    return found


def _wanted(query: Query, factors: SecondFactors) -> WantedUsers:
    return WantedUsers(
        search=query.filter("search"),
        groups=frozenset(query.filter("has-groups") or ()),
        resource_id=query.filter("has-access"),
        is_admin=bool(query.filter("is-admin")),
        is_active=query.filter("is-active"),
        is_mfa_enabled=query.filter("is-mfa-enabled") if factors.providers else None,
        providers=factors.providers,
    )
