"""Signing in and out: the GPG handshake for a session cookie, a signed challenge for tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote_plus

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import UNSET
from chalicelib.bodies.sign_in.auth import (
    Handshake,
    HandshakeBody,
    LoginBody,
    LogoutBody,
    RefreshBody,
)
from chalicelib.crypto import tokens
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.errors import Conflict, Invalid, Unauthenticated
from chalicelib.services.operator import server_key, signing_keys
from chalicelib.services.sign_in import handshake, logins, refresh_tokens, sessions
from chalicelib.services.sign_in.handshake import KeyOwner, UnknownKey, WrongNonce
from chalicelib.services.users.people import people
from chalicelib.settings import settings
from chalicelib.views.sign_in import auth as views
from chalicelib.views.users import users as user_views
from chalicelib.web import access
from chalicelib.web.access import REFRESH_COOKIE, SECOND_FACTOR_COOKIE, SESSION_COOKIE
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.reply import Bare, Moved, Reply, moved
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_FAILED = "The authentication failed."
_MALFORMED = "Bad Request"
_SIGNED_OUT = "You are successfully logged out."


@endpoints.get("/auth/verify.json", action="AuthVerify.verifyGet", access=Access.PUBLIC)
def server_public_key() -> views.ServerKeyJson:
    """Show the server's public key."""
    key = server_key.in_use()
    return {"fingerprint": key.fingerprint, "keydata": key.armored_public_key}


@endpoints.post(
    "/auth/verify.json",
    action="AuthLogin.loginPost",
    access=Access.ANYONE,
    body=HandshakeBody,
    view=user_views.signed_in,
    csrf=False,
    before_second_factor=True,
)
def verify(
    actor: Actor | None, body: Draft[HandshakeBody], caller: Caller, cookies: Mapping[str, str]
) -> Reply:
    """Take a step of the sign-in for a session cookie, most often the first."""
    return _step(actor, body, caller, cookies)


@endpoints.post(
    "/auth/login.json",
    action="AuthLogin.loginPost",
    access=Access.ANYONE,
    body=HandshakeBody,
    view=user_views.signed_in,
    csrf=False,
    before_second_factor=True,
    no_bearer="The route /auth/login is not permitted with JWT authentication.",
)
def login(
    actor: Actor | None, body: Draft[HandshakeBody], caller: Caller, cookies: Mapping[str, str]
) -> Reply:
    """Take a step of the sign-in for a session cookie."""
    return _step(actor, body, caller, cookies)


@endpoints.route(
    "/auth/logout.json",
    ("GET", "POST") if settings.get_logout else ("POST",),
    action="AuthLogout.logout",
    access=Access.ANYONE,
    message=_SIGNED_OUT,
    view=nothing,
    no_bearer="The route /auth/logout is not permitted with JWT authentication.",
    extends_session=False,
    before_second_factor=True,
)
def logout(actor: Actor | None) -> Reply:
    """End the session of the cookie."""
    if actor is not None:
        sessions.end(actor)
    return Reply(cookies=(access.expired_cookie(SESSION_COOKIE),))


@endpoints.get(
    "/auth/is-authenticated.json",
    action="AuthIsAuthenticated.isAuthenticated",
    access=Access.USER,
    extends_session=False,
)
def is_authenticated() -> None:
    """Say whether the caller is signed in, without extending their session."""


@endpoints.post(
    "/auth/jwt/login.json",
    action="JwtLogin.loginPost",
    access=Access.PUBLIC,
    body=LoginBody,
    message="The authentication was a success.",
    view=views.challenge,
)
def jwt_login(body: Draft[LoginBody], caller: Caller, cookies: Mapping[str, str]) -> Reply:
    """Sign in for an access token, by a challenge signed with the caller's key."""
    sent = body.read(_MALFORMED)
    remembered = cookies.get(SECOND_FACTOR_COOKIE)
    signed_in = logins.log_in(sent.user_id, sent.challenge, remembered, caller)
    stale = (SESSION_COOKIE, access.CSRF_COOKIE)
    expired = tuple(access.expired_cookie(name) for name in stale if name in cookies)
    again = access.second_factor_cookies(signed_in.given)
    return Reply(signed_in.challenge, cookies=(*expired, *again))


@endpoints.post(
    "/auth/jwt/refresh.json",
    action="RefreshToken.refreshPost",
    access=Access.PUBLIC,
    body=RefreshBody,
    needs_object=True,
    view=views.access_token,
    csrf=False,
)
def jwt_refresh(
    body: Draft[RefreshBody],
    caller: Caller,
    cookies: Mapping[str, str],
    require_csrf: Callable[[], None],
) -> Reply:
    """Spend a refresh token, for the next one and a new access token."""
    sent = body.read(_MALFORMED)
    token, user_id = sent.refresh_token, sent.user_id
    if token is UNSET and user_id is UNSET and REFRESH_COOKIE in cookies:
        token = cookies[REFRESH_COOKIE]
        user_id = refresh_tokens.owner_of(token, caller)
        require_csrf()
    given = cookies.get(SECOND_FACTOR_COOKIE)
    renewed = refresh_tokens.refresh(user_id, token, given, caller)
    cookie = access.refresh_cookie(renewed.refresh_token)
    again = access.second_factor_cookies(renewed.given)
    return Reply(renewed.access_token, cookies=(cookie, *again))


@endpoints.post(
    "/auth/jwt/logout.json",
    action="JwtLogout.logoutPost",
    access=Access.USER,
    body=LogoutBody,
    view=nothing,
    csrf=False,
)
def jwt_logout(actor: Actor, body: Draft[LogoutBody], cookies: Mapping[str, str]) -> Reply:
    """End the session of a refresh token, or all sessions where none is sent."""
    if actor.session is None or not actor.session.is_bearer:
        raise Unauthenticated
    if not body.is_object:  # it must not pass for "no token", which ends all sessions
        raise Invalid(_MALFORMED)
    sent = body.read(_MALFORMED).refresh_token
    token = cookies.get(REFRESH_COOKIE, UNSET) if sent is UNSET else sent
    if token is UNSET:
        refresh_tokens.log_out_everywhere(actor)
    else:
        refresh_tokens.log_out(actor, token)
    expired = (access.expired_cookie(REFRESH_COOKIE),) if REFRESH_COOKIE in cookies else ()
    return Reply(cookies=expired)


@endpoints.get("/auth/jwt/jwks.json", action="Jwks.jwks", access=Access.PUBLIC, view=views.key_set)
def jwks() -> Bare:
    """Show the keys that verify access tokens, as a JSON Web Key set."""
    return Bare(list(signing_keys.stored().keys))


@endpoints.get("/auth/jwt/rsa.json", action="Jwks.rsa", access=Access.PUBLIC)
def rsa() -> views.PublicKeyJson:
    """Show the key that signs access tokens, as PEM; there may be further ones, in the set."""
    return {"keydata": tokens.public_pem(signing_keys.signing())}


@endpoints.get(
    "/.well-known/jwks.json",
    action="Jwks.jwks",
    access=Access.PUBLIC,
    is_known_bare=False,
    view=nothing,
)
def well_known() -> Moved:
    """Say where the keys of access tokens are found."""
    return moved("/auth/jwt/jwks.json")


def _step(
    actor: Actor | None, body: Draft[HandshakeBody], caller: Caller, cookies: Mapping[str, str]
) -> Reply:
    """One stage of the handshake, told by what the client sent."""
    if actor is not None:
        raise Conflict("You are already logged in.")
    sent = body.read(_MALFORMED).handshake
    try:
        owner = handshake.owner_of(sent.keyid, caller)
        return _known_step(owner, sent, caller, cookies.get(SECOND_FACTOR_COOKIE))
    except UnknownKey as error:
        debug = {"X-GPGAuth-Error": "true", "X-GPGAuth-Debug": error.message}
        return _stage("stage0", message=error.message, status=400, headers=debug)


def _known_step(owner: KeyOwner, sent: Handshake, caller: Caller, remembered: str | None) -> Reply:
    if sent.server_verify_token is not UNSET:
        return _verified(sent.server_verify_token)
    if sent.user_token_result is not UNSET:
        return _signed_in(owner, sent.user_token_result, caller, remembered)
    return _challenged(owner, caller)


def _challenged(owner: KeyOwner, caller: Caller) -> Reply:
    token = _as_header(handshake.issue_nonce(owner, caller))
    return _stage("stage1", headers={"X-GPGAuth-User-Auth-Token": token})


def _verified(armored: object) -> Reply:
    nonce = handshake.open_nonce(armored)
    if nonce is None:
        return _stage("stage0", headers={"X-GPGAuth-Error": "true"})
    return _stage("stage0", headers={"X-GPGAuth-Verify-Response": nonce})


def _signed_in(owner: KeyOwner, result: object, caller: Caller, remembered: str | None) -> Reply:
    try:
        cookie, given = handshake.sign_in(owner, result, remembered, caller)
    except WrongNonce:
        return _stage("stage2", status=400, headers={"X-GPGAuth-Error": "true"})
    headers = {"X-GPGAuth-Authenticated": "true", "X-GPGAuth-Progress": "complete"}
    return Reply(
        people.Person(owner.user, owner.role, owner.gpgkey),
        message="You are successfully logged in.",
        headers={**headers, "X-GPGAuth-Refer": "/"},
        cookies=(access.session_cookie(cookie), *access.second_factor_cookies(given)),
    )


def _stage(
    progress: str, *, headers: Mapping[str, str], message: str = _FAILED, status: int = 200
) -> Reply:
    where = {"X-GPGAuth-Authenticated": "false", "X-GPGAuth-Progress": progress}
    return Reply(message=message, status=status, is_failure=True, headers={**where, **headers})


def _as_header(armored: str) -> str:
    """A message as deployed clients undo it: form-encoded, then `+` and `.` behind a backslash."""
    encoded = quote_plus(armored, safe="").replace("~", "%7E")
    return encoded.replace("+", "\\+").replace(".", "\\.")
