"""Users: who is there, and how one is invited, changed and brought back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.setup import RecoveryBody
from chalicelib.bodies.users import InvitationBody, UserEditBody
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.errors import Forbidden
from chalicelib.services import people, user_edits, users
from chalicelib.services.people import Person
from chalicelib.services.users import Wanted
from chalicelib.tables.users import User
from chalicelib.views import users as views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints, nothing, text
from chalicelib.web.filters import boolean, ids, one_id, search
from chalicelib.web.query import Options, Query, paginate
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)

_NEVER = datetime.min.replace(tzinfo=UTC)
CONTAINS = frozenset({"gpgkey", "profile", "role", "groups_users", "last_logged_in"})
SORTS: dict[str, Callable[[User], Any]] = {
    "Users.username": lambda user: user.username.casefold(),
    "Users.created": lambda user: user.created,
    "Users.modified": lambda user: user.modified,
    "Users.last_logged_in": lambda user: user.last_logged_in or _NEVER,
    "Profiles.first_name": lambda user: user.first_name.casefold(),
    "Profiles.last_name": lambda user: user.last_name.casefold(),
    "Profiles.created": lambda user: user.created,
    "Profiles.modified": lambda user: user.modified,
}
LIST = Options(
    contains=CONTAINS,
    default_contains=CONTAINS,
    aliases={"LastLoggedIn": "last_logged_in"},
    filters={
        "search": search,
        "has-access": one_id("resource id", "Multiple has-access filters are not supported."),
        "has-groups": ids("group id"),
        "is-admin": boolean,
        "is-active": boolean,
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
    found = users.search(actor, _wanted(query))
    for name, descends in reversed(query.order):
        found.sort(key=SORTS[name], reverse=descends)
    page, pagination = paginate(found, query)
    shown = people.with_keys(page) if query.contains("gpgkey") else map(Person, page)
    return Reply(views.listed(shown, query.contained), pagination=pagination)


@endpoints.get("/users/csrf-token.json", action="GetCsrfToken.get", access=Access.PUBLIC, view=text)
def csrf_token(cookies: Mapping[str, str]) -> Reply:
    """Show the token a change by cookie carries in its header."""
    token = cookies.get(access.CSRF_COOKIE)
    if token:
        return Reply(token)
    token = access.new_csrf_token()
    return Reply(token, cookies=(access.csrf_cookie(token),))


@endpoints.get("/users/{user}.json", action="UsersView.view", access=Access.USER, view=views.person)
def view(actor: Actor, user: str) -> Person:
    """Show a user, or with `me` the caller."""
    return users.view(actor, user)


@endpoints.post(
    "/users.json",
    action="UsersAdd.addPost",
    access=Access.ADMIN,
    denied="Only administrators can add new users.",
    body=InvitationBody,
    view=views.person,
    message="The user was successfully added. This user now need to complete the setup.",
)
def invite(actor: Actor, body: Draft[InvitationBody]) -> Person:
    """Invite a person by mail."""
    return users.invite(actor, body)


@endpoints.post(
    "/users/recover.json",
    action="UsersRecover.recoverPost",
    access=Access.ANYONE,
    body=RecoveryBody,
    view=nothing,
    message="Recovery process started, check your email.",
)
def recover(actor: Actor | None, body: Draft[RecoveryBody], caller: Caller) -> None:
    """Send a person a new link, by mail."""
    if actor is not None and not actor.is_admin:
        raise Forbidden("Only guests are allowed to recover an account. Please logout first.")
    users.recover(actor, body, caller)


@endpoints.route(
    "/users/{user}.json",
    ("PUT", "POST"),
    action="UsersEdit.editPost",
    access=Access.USER,
    body=UserEditBody,
    view=views.person,
    message="The user has been updated successfully.",
)
def edit(actor: Actor, user: str, body: Draft[UserEditBody]) -> Person:
    """Change a user's names and, for administrators, his role and suspension."""
    return user_edits.edit(actor, user, body)


def _wanted(query: Query) -> Wanted:
    return Wanted(
        search=query.filter("search"),
        groups=query.filter("has-groups") or (),
        resource_id=query.filter("has-access"),
        is_admin=query.filter("is-admin") is not None,
        is_active=query.filter("is-active"),
    )
