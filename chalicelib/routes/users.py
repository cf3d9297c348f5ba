"""Users: who is there, and how one is invited and brought back."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.setup import RecoveryBody
from chalicelib.bodies.users import InvitationBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Forbidden
from chalicelib.services import users
from chalicelib.services.people import Person
from chalicelib.views import users as views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints, nothing, text
from chalicelib.web.filters import boolean, ids, one_id, search
from chalicelib.web.query import Options, Query, paginate
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)

_CONTAINS = frozenset({"gpgkey", "profile", "role", "groups_users", "last_logged_in"})
LIST = Options(
    contains=_CONTAINS,
    default_contains=_CONTAINS,
    aliases={"LastLoggedIn": "last_logged_in"},
    filters={
        "search": search,
        "has-access": one_id("resource id"),
        "has-groups": ids("group id"),
        "is-admin": boolean,
        "is-active": boolean,
    },
    sortable=(
        "Users.username",
        "Users.created",
        "Users.modified",
        "Users.last_logged_in",
        "Profiles.first_name",
        "Profiles.last_name",
        "Profiles.created",
        "Profiles.modified",
    ),
    default_order=(("Users.username", False),),
    is_paginated=True,
)


@endpoints.get(
    "/users.json", action="UsersIndex.index", access=Access.USER, query=LIST, view=views.people
)
def index(actor: Actor, query: Query) -> Reply:
    """List users; those who have yet to set up only for administrators."""
    page, pagination = paginate(users.everybody(actor), query)
    return Reply(page, pagination=pagination)


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
def recover(actor: Actor | None, body: Draft[RecoveryBody]) -> None:
    """Send a person a new link, by mail."""
    if actor is not None and not actor.is_admin:
        raise Forbidden("Only guests are allowed to recover an account. Please logout first.")
    users.recover(body)
