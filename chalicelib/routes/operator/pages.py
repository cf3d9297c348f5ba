"""Where clients that live in a browser show what they have; others lie beside their endpoints."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from chalicelib.domain.actor import Access, Actor
from chalicelib.views import pages as views
from chalicelib.web.endpoint import Endpoints, Handler
from chalicelib.web.reply import Reply, led, page

endpoints = Endpoints(__name__)


def _home(path: str) -> Callable[[Handler], Handler]:
    return endpoints.page(path, action="Home.apiApp", access=Access.ANYONE)


@_home("/")
@_home("/app")
@_home("/app/{proxy+}")
def home(actor: Actor | None, target: str) -> Reply:
    """Where the extension shows everything; whoever is not signed in is led to do so first."""
    if actor is not None:
        return page(views.home())
    return led(f"/auth/login?redirect={quote(target, safe='/')}")


@endpoints.page("/auth/login", action="AuthLogin.loginGet", access=Access.PUBLIC)
def sign_in() -> Reply:
    """Where the extension asks for the passphrase."""
    return page(views.sign_in())
