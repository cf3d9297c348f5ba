"""Self-registration: who may register without an invitation, and the registration."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.registration import EmailBody, RegistrationBody, SelfRegistrationBody
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.ids import UserId
from chalicelib.services.sign_in import registration
from chalicelib.services.users.policies import self_registration
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User
from chalicelib.views.users import self_registration as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

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


@endpoints.post(
    "/users/register.json",
    action="UsersRegister.registerPost",
    access=Access.ANYONE,
    body=RegistrationBody,
    again=_registered,
    view=views.registered,
)
def register(actor: Actor | None, body: Draft[RegistrationBody], caller: Caller) -> User:
    """Add a person of an allowed domain, and send them the link to their setup."""
    return registration.register(actor, body, caller)
