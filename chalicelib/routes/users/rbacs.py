"""Role-based access control: what roles are allowed to do and to see."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.rbacs import RbacBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.users.rbacs import UI_ACTIONS, Rbac
from chalicelib.services.users.roles import rbacs
from chalicelib.views.users import rbacs as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query, paginate
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)

_PAGES = Options(is_paginated=True)
_NAME = "UiActions.name"


@endpoints.get(
    "/rbacs.json",
    action="RbacsIndex.index",
    access=Access.ADMIN,
    query=_PAGES,
    view=views.rbacs,
)
def index(query: Query) -> Reply:
    """List what each role is allowed, but for administrators and guests."""
    return _page(rbacs.everything(), query)


@endpoints.get(
    "/rbacs/me.json",
    action="RbacsView.viewForCurrentRole",
    access=Access.ANYONE,
    refuses_dead_tokens=True,
    query=_PAGES,
    view=views.rbacs,
)
def view_own(actor: Actor | None, query: Query) -> Reply:
    """List what the caller's role is allowed; nothing for administrators and guests."""
    return _page(rbacs.of_caller(actor), query)


@endpoints.route(
    "/rbacs.json",
    ("PUT", "POST"),
    action="RbacsUpdate.update",
    access=Access.ADMIN,
    body=list[RbacBody],
    view=views.rbacs,
)
def update(actor: Actor, body: Draft[Any]) -> list[Rbac]:
    """Allow or deny something to roles: all that is named, or nothing."""
    return rbacs.update(actor, body)


@endpoints.get(
    "/rbacs/uiactions.json",
    action="UiActionsIndex.index",
    access=Access.ADMIN,
    query=Options(sortable=(_NAME,), is_paginated=True),
    view=views.ui_actions,
)
def index_ui_actions(query: Query) -> Reply:
    """List what clients show or hide by role."""
    found = sorted(UI_ACTIONS, key=lambda each: each.id)
    for _, descends in query.order:
        found.sort(key=lambda each: each.name, reverse=descends)
    shown, pagination = paginate(found, query)
    return Reply(shown, pagination=pagination)


def _page(entries: list[Rbac], query: Query) -> Reply:
    shown, pagination = paginate(entries, query)
    return Reply(shown, pagination=pagination)
