"""What people's browsers see: pages beside the API, at paths that clients know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from urllib.parse import quote

from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Refusal
from chalicelib.settings import settings
from chalicelib.views import pages as views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints, Handler
from chalicelib.web.reply import Reply
from chalicelib.web.route import page_of

endpoints = Endpoints(__name__)


def shown(content: str, cookies: tuple[str, ...] = ()) -> Reply:
    """The answer that is a page."""
    return Reply(
        content,
        content_type=views.HTML_TYPE,
        headers={"Content-Security-Policy": views.CONTENT_POLICY},
        cookies=cookies,
    )


def _home(path: str) -> Callable[[Handler], Handler]:
    return endpoints.page(path, action="Home.apiApp", access=Access.ANYONE)


@_home("/")
@_home("/app")
@_home("/app/{proxy+}")
def home(actor: Actor | None, target: str) -> Reply:
    """Where the extension shows everything; who is not signed in is led to do so first."""
    if actor is not None:
        return shown(views.home())
    location = f"{settings.base_url}/auth/login?redirect={quote(target, safe='/')}"
    return Reply(status=HTTPStatus.FOUND, headers={"Location": location})


@endpoints.page("/auth/login", action="AuthLogin.loginGet", access=Access.PUBLIC)
def sign_in() -> Reply:
    """Where the extension asks for the passphrase."""
    return shown(views.sign_in())


@endpoints.page("/users/recover", action="UsersRecover.recoverGet", access=Access.PUBLIC)
def recover(cookies: Mapping[str, str]) -> Reply:
    """The form that asks for a link by mail."""
    return recovery_form(cookies)


def refused_recovery(error: Refusal, cookies: Mapping[str, str]) -> Reply:
    """The form again, with why no link was sent."""
    return recovery_form(cookies, error.message)


def recovery_form(cookies: Mapping[str, str], refused: str = "") -> Reply:
    """The form with the token of the CSRF cookie, which comes with it where there is none."""
    known = cookies.get(access.CSRF_COOKIE)
    token = known or access.new_csrf_token()
    brought = () if known else (access.csrf_cookie(token),)
    return shown(views.recover(token, refused), brought)


def _start_setup() -> Reply:
    return shown(views.setup())


def _start_recovery() -> Reply:
    return shown(views.recovery())


SETUP = page_of(
    _start_setup, method="GET", path="/setup/start", action="SetupStart.start", access=Access.PUBLIC
)
RECOVERY = page_of(
    _start_recovery,
    method="GET",
    path="/setup/recover/start",
    action="RecoverStart.start",
    access=Access.PUBLIC,
)
