"""The second factor: giving it, setting it up, removing it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import CodeBody, SetupBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Refusal
from chalicelib.domain.ids import UserId
from chalicelib.services.sign_in import codes, factor_setup
from chalicelib.services.sign_in.codes import SessionEnded
from chalicelib.services.sign_in.factor_setup import Choices
from chalicelib.views import pages
from chalicelib.views.sign_in import mfa as views
from chalicelib.web import access
from chalicelib.web.access import CSRF_COOKIE, SECOND_FACTOR_COOKIE, SESSION_COOKIE
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.envelope import SECOND_FACTOR_MISSING, SECOND_FACTOR_PAGE, SIGN_IN_PAGE
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply, led, page
from chalicelib.web.route import nothing, page_of

endpoints = Endpoints(__name__)

_MISSING = "MFA authentication is required."
_SET_UP = "Multi Factor Authentication is configured!"
_REMOVED = "The configuration was deleted."
_NOTHING_TO_REMOVE = "No configuration found for this provider. Nothing to delete."
_RESET = "The multi-factor authentication settings for the user were deleted."
_ENDED = (access.expired_cookie(SESSION_COOKIE), access.expired_cookie(SECOND_FACTOR_COOKIE))
_PATH = re.compile(r"/[\w./?=&%~:+,-]*", re.ASCII)
"""A path of this service, with a query: nothing that a header could end at."""
_PAGE: dict[str, Any] = {
    "path": SECOND_FACTOR_PAGE,
    "access": Access.ANYONE,
    "before_second_factor": True,
    "query": Options(texts=frozenset({"redirect"})),
}
_NOTHING_TO_RESET = "No multi-factor authentication settings defined for the user."


@endpoints.route(
    SECOND_FACTOR_MISSING,
    ("GET", "POST", "PUT", "DELETE"),
    action="MfaVerifyAjaxError.get",
    access=Access.USER,
    before_second_factor=True,
    extends_session=False,
    csrf=False,
    status=HTTPStatus.FORBIDDEN,
    view=views.missing,
)
def missing(actor: Actor, cookies: Mapping[str, str]) -> Reply:
    """Say by which providers the caller can give their second factor, whatever they asked for.

    Clients are led here by the method they asked with, and need a CSRF cookie to go on.
    Who only asks whether they are signed in is led here too, so the session is not extended.
    """
    is_stale = SECOND_FACTOR_COOKIE in cookies and actor.pending
    expired = (access.expired_cookie(SECOND_FACTOR_COOKIE),) if is_stale else ()
    is_first = not cookies.get(CSRF_COOKIE)
    fresh = (access.csrf_cookie(access.new_csrf_token()),) if is_first else ()
    return Reply(
        codes.missing(actor),
        message=_MISSING,
        status=HTTPStatus.FORBIDDEN,
        is_failure=True,
        cookies=(*expired, *fresh),
    )


def _target(query: Query) -> str:
    """Where the browser wanted to go."""
    wanted = query.texts.get("redirect", "")
    return wanted if _PATH.fullmatch(wanted) else "/app"


def _form(cookies: Mapping[str, str], refused: str = "") -> Reply:
    token, brought = access.form_token(cookies)
    return page(pages.second_factor(token, refused), cookies=brought)


def _ask_by_form(actor: Actor | None, query: Query, cookies: Mapping[str, str]) -> Reply:
    if actor is None:
        return led(SIGN_IN_PAGE)
    return _form(cookies) if actor.pending else led(_target(query))


def _give_by_form(actor: Actor | None, query: Query, body: Draft[CodeBody]) -> Reply:
    if actor is None:
        return led(SIGN_IN_PAGE)
    if not actor.pending:  # the form was open in two tabs, or their app was reset meanwhile
        return led(_target(query))
    try:
        given = codes.give(actor, body)
    except SessionEnded:
        return led(SIGN_IN_PAGE, cookies=_ENDED)
    return led(_target(query), cookies=(access.second_factor_cookie(given),))


def _refused(error: Refusal, cookies: Mapping[str, str]) -> Reply:
    """The form again, with why the code was not taken."""
    return _form(cookies, error.message)


@endpoints.get(
    "/mfa/verify/totp.json",
    action="TotpVerifyGet.get",
    access=Access.USER,
    before_second_factor=True,
    page=page_of(_ask_by_form, method="GET", action="TotpVerifyGet.get", **_PAGE),
    message="Please provide the one-time password.",
    view=nothing,
)
def ask(actor: Actor) -> None:
    """Say whether a code is wanted."""
    codes.require_missing(actor)


@endpoints.post(
    "/mfa/verify/totp.json",
    action="TotpVerifyPost.post",
    access=Access.USER,
    before_second_factor=True,
    body=CodeBody,
    page=page_of(
        _give_by_form,
        method="POST",
        action="TotpVerifyPost.post",
        body=CodeBody,
        refused=_refused,
        **_PAGE,
    ),
    message="The multi-factor authentication was a success.",
    view=nothing,
)
def give(actor: Actor, body: Draft[CodeBody]) -> Reply:
    """Give a code of an authenticator app."""
    try:
        given = codes.give(actor, body)
    except SessionEnded as error:
        return Reply(message=error.message, status=400, is_failure=True, cookies=_ENDED)
    return Reply(cookies=(access.second_factor_cookie(given),))


@endpoints.get(
    "/mfa/setup/select.json",
    action="MfaSetupSelectProvider.get",
    access=Access.USER,
    view=views.choices,
)
def choose(actor: Actor) -> Choices:
    """Show which providers the organisation has turned on, and which the caller has set up."""
    return factor_setup.choices(actor)


@endpoints.get(
    "/mfa/setup/totp.json",
    action="TotpSetupGet.get",
    access=Access.USER,
    view=views.offered,
)
def offer(actor: Actor) -> Reply:
    """Show what an authenticator app can be set up with, or that one is."""
    offered = factor_setup.offer(actor)
    is_new = offered.uri is not None
    return Reply(offered, message="Please setup the TOTP application." if is_new else _SET_UP)


@endpoints.post(
    "/mfa/setup/totp.json",
    action="TotpSetupPost.post",
    access=Access.USER,
    body=SetupBody,
    message=_SET_UP,
    view=views.verified,
)
def set_up(actor: Actor, body: Draft[SetupBody]) -> Reply:
    """Set up an authenticator app, proven by a code of it."""
    done = factor_setup.set_up(actor, body)
    return Reply(done, cookies=(access.second_factor_cookie(done.given),))


@endpoints.delete(
    "/mfa/setup/totp.json",
    action="TotpSetupDelete.delete",
    access=Access.USER,
    view=nothing,
)
def remove(actor: Actor) -> Reply:
    """Remove the caller's authenticator app."""
    return Reply(message=_REMOVED if factor_setup.remove(actor) else _NOTHING_TO_REMOVE)


@endpoints.delete(
    "/mfa/setup/{user_id}.json",
    action="MfaUserSettingsDelete.delete",
    access=Access.USER,
    ids={"user_id": factor_setup.NO_USER},
    view=nothing,
)
def reset(actor: Actor, user_id: UserId) -> Reply:
    """Remove a user's second factor: their own, or as an administrator anybody's."""
    return Reply(message=_RESET if factor_setup.reset(actor, user_id) else _NOTHING_TO_RESET)
