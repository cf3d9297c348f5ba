"""Who is calling and who may at all, the check of CSRF, and the cookies with their attributes."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterator, Mapping
from email.utils import formatdate

from chalicelib.domain import clock
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.errors import Forbidden, Refusal, SecondFactorMissing, Unauthenticated
from chalicelib.services.directory import provisioners
from chalicelib.services.directory.provisioners import Provisioner
from chalicelib.services.sign_in import sessions
from chalicelib.services.sign_in.second_factor import Given
from chalicelib.settings import settings
from chalicelib.web.request import CSRF_MEMBER, Request
from chalicelib.web.route import Route

SESSION_COOKIE = "passbolt_session"
SECOND_FACTOR_COOKIE = "passbolt_mfa"
CSRF_COOKIE = "csrfToken"
REFRESH_COOKIE = "refresh_token"
REFRESH_SECONDS = 30 * 24 * 3600
SAFE_METHODS = frozenset({"GET", "HEAD"})
PROTECTED = frozenset({Access.USER, Access.ADMIN})
NO_CSRF_COOKIE = Forbidden("Missing or incorrect CSRF cookie type.")
MIXED = Forbidden("The token of a directory and a session cannot be used together.")
CSRF_MISMATCH = Forbidden(
    "CSRF token from either the request body or request headers did not match or is missing."
)
_SECURE = "; secure" if settings.base_url.startswith("https://") else ""


def find_actor(route: Route, request: Request, caller: Caller) -> Actor | None:
    """Return who is signed in. An access token decides alone, whatever the cookies say.

    One that does not hold is refused where somebody must be signed in, or where the route says so.
    Elsewhere it counts as none: a client may still send it when its user begins a recovery.
    """
    token = request.bearer()
    given = request.cookies.get(SECOND_FACTOR_COOKIE)
    try:
        if token is not None:
            return sessions.by_bearer(token, given, caller)
        cookie = request.cookies.get(SESSION_COOKIE)
        return sessions.by_cookie(cookie, given, caller) if cookie else None
    except Unauthenticated:
        if token is not None and (route.access in PROTECTED or route.refuses_dead_tokens):
            raise
        return None


def find_provisioner(setting_id: str, request: Request, caller: Caller) -> Provisioner:
    """Return who provisions by these settings, by the token that they say and by nothing else.

    A browser in which somebody is signed in has no business here: what one of the two may do is
    not done in the name of the other.
    """
    found = provisioners.authenticated(setting_id, request.bearer(), caller)
    cookie = request.cookies.get(SESSION_COOKIE)
    if cookie and _is_signed_in(cookie, caller):
        raise MIXED
    return found


def _is_signed_in(cookie: str, caller: Caller) -> bool:
    try:
        sessions.by_cookie(cookie, None, caller)
    except Unauthenticated:
        return False
    return True


def require(
    access: Access, actor: Actor | None, *, denied: str | None, unauthenticated: Refusal | None
) -> None:
    """Refuse a caller who may not call endpoints of this access at all."""
    if access is Access.GUEST and actor is not None:
        raise Forbidden(denied or "Access restricted to unauthenticated users.")
    if access in PROTECTED and actor is None:
        raise unauthenticated or Unauthenticated()
    if access is Access.ADMIN and actor is not None and not actor.is_admin:
        raise Forbidden(denied or "Access restricted to administrators.")


def require_second_factor(actor: Actor | None) -> None:
    """Refuse an actor who has yet to give their second factor."""
    if actor is not None and actor.pending:
        raise SecondFactorMissing


def is_cookie_mode(request: Request) -> bool:
    """Whether cookies may stand for the caller; then headers and CSRF of that mode apply."""
    is_jwt_endpoint = request.path.startswith("/auth/jwt/") and request.method not in SAFE_METHODS
    return "authorization" not in request.headers and not is_jwt_endpoint


def require_csrf(request: Request) -> None:
    """Refuse a change whose sender cannot read our cookie: the token must come twice."""
    cookie = request.cookies.get(CSRF_COOKIE)
    if not cookie:
        raise NO_CSRF_COOKIE
    if not any(hmac.compare_digest(each.encode(), cookie.encode()) for each in _sent(request)):
        raise CSRF_MISMATCH


def new_csrf_token() -> str:
    return secrets.token_hex(64)


def csrf_cookie(token: str) -> str:
    return f"{CSRF_COOKIE}={token}; path=/{_SECURE}"


def form_token(cookies: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The token for a form, that of the CSRF cookie or a new one, and the cookie that brings it."""
    known = cookies.get(CSRF_COOKIE)
    if known:
        return known, ()
    token = new_csrf_token()
    return token, (csrf_cookie(token),)


def session_cookie(value: str) -> str:
    return f"{SESSION_COOKIE}={value}; path=/; HttpOnly; SameSite=Lax{_SECURE}"


def refresh_cookie(token: str) -> str:
    lifetime = _lifetime(clock.timestamp() + REFRESH_SECONDS)
    return f"{REFRESH_COOKIE}={token}{lifetime}; path=/; HttpOnly; SameSite=Lax{_SECURE}"


def second_factor_cookie(given: Given) -> str:
    """The cookie by which a second factor is known as given, in this session or on this device."""
    lifetime = "" if given.expires is None else _lifetime(given.expires)
    return (
        f"{SECOND_FACTOR_COOKIE}={given.value}{lifetime}; path=/; HttpOnly; SameSite=Lax{_SECURE}"
    )


def second_factor_cookies(given: Given | None) -> tuple[str, ...]:
    return () if given is None else (second_factor_cookie(given),)


def expired_cookie(name: str) -> str:
    gone = "expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0"
    return f"{name}=deleted; {gone}; path=/; HttpOnly; SameSite=Lax{_SECURE}"


def _lifetime(expires: int) -> str:
    ends = formatdate(expires, usegmt=True)
    return f"; expires={ends}; Max-Age={expires - clock.timestamp()}"


def _sent(request: Request) -> Iterator[str]:
    """The token beside the cookie, in a header or in the body: a form is sent with a stale one."""
    yield request.headers.get("x-csrf-token", "")
    token = request.body.get(CSRF_MEMBER) if isinstance(request.body, dict) else None
    if isinstance(token, str):
        yield token
