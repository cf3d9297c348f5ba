"""Self-registration: who may register without an invitation, and the registration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.registration import EmailBody, RegistrationBody, SelfRegistrationBody
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.errors import Invalid, Refusal
from chalicelib.domain.ids import UserId
from chalicelib.services.sign_in import registration
from chalicelib.services.users.policies import self_registration
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User
from chalicelib.views import pages
from chalicelib.views.users import self_registration as views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.reply import Reply, page
from chalicelib.web.route import nothing, page_of

endpoints = Endpoints(__name__)


@endpoints.get(
    "/self-registration/settings.json",
    action="SelfRegistrationGetSettings.getSettings",
    access=Access.ADMIN,
    view=views.settings,
)
def view() -> Setting | None:
    """Show of which domains people may register by themselves."""
    return self_registration.find()


@endpoints.route(
    "/self-registration/settings.json",
    ("POST", "PUT"),
    action="SelfRegistrationSetSettings.setSettings",
    access=Access.ADMIN,
    body=SelfRegistrationBody,
    view=views.stored,
)
def save(actor: Actor, body: Draft[SelfRegistrationBody]) -> Setting:
    """Let people of these domains register by themselves."""
    return self_registration.save(actor, body)


@endpoints.delete(
    "/self-registration/settings/{setting_id}.json",
    action="SelfRegistrationDeleteSettings.deleteSettings",
    access=Access.ADMIN,
    ids={"setting_id": "The self registration setting id should be a valid UUID."},
    view=nothing,
)
def delete(actor: Actor, setting_id: str) -> None:
    """Let nobody register without an invitation any more."""
    self_registration.delete(actor, setting_id)


@endpoints.post(
    "/self-registration/dry-run.json",
    action="SelfRegistrationDryRun.dryRun",
    access=Access.GUEST,
    denied="Access restricted to unauthenticated users.",
    body=EmailBody,
    view=nothing,
)
def try_out(body: Draft[EmailBody], caller: Caller) -> None:
    """Say whether a person of this address may register."""
    registration.try_out(body, caller)


def _registered(made: str) -> User:
    return registration.view(UserId(made))


@endpoints.page("/users/register", action="UsersRegister.registerGet", access=Access.PUBLIC)
def registration_form(cookies: Mapping[str, str]) -> Reply:
    """The form by which a guest registers, whether or not anybody may at the moment."""
    return _form(cookies)


def _sent(
    actor: Actor | None, body: Draft[RegistrationBody], caller: Caller, cookies: Mapping[str, str]
) -> Reply:
    """Register who asks for it by the form; shown again with what was typed, if that is wrong."""
    try:
        registration.register(actor, body, caller)
    except Invalid as error:
        shown = _form(cookies, pages.told_of(error), views.typed(body.members))
        return replace(shown, status=HTTPStatus.BAD_REQUEST)
    return page(pages.registered())


def _refused(error: Refusal, cookies: Mapping[str, str]) -> Reply:
    """The form again, empty, with why nobody was registered."""
    return _form(cookies, error.message)


def _form(
    cookies: Mapping[str, str], refused: str = "", typed: Mapping[str, str] | None = None
) -> Reply:
    token, brought = access.form_token(cookies)
    return page(pages.register(token, refused, typed or {}), cookies=brought)


@endpoints.post(
    "/users/register.json",
    action="UsersRegister.registerPost",
    access=Access.ANYONE,
    body=RegistrationBody,
    again=_registered,
    view=views.registered,
    page=page_of(
        _sent,
        method="POST",
        path="/users/register",
        action="UsersRegister.registerPost",
        access=Access.ANYONE,
        body=RegistrationBody,
        refused=_refused,
    ),
)
def register(actor: Actor | None, body: Draft[RegistrationBody], caller: Caller) -> User:
    """Add a person of an allowed domain, and send them the link to their setup."""
    return registration.register(actor, body, caller)
