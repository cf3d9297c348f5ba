"""Setup and recovery: what a person does with the link they were sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.setup import AbortBody, CompletionBody
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.ids import UserId
from chalicelib.services.sign_in import key_policies, setup
from chalicelib.services.sign_in.newcomers import Newcomer
from chalicelib.views import pages
from chalicelib.views.users import policies
from chalicelib.views.users import users as views
from chalicelib.web.endpoint import Endpoints, Handler
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply, page
from chalicelib.web.route import nothing, page_of

endpoints = Endpoints(__name__)

_TOKEN = {"token_id": "The token should be a valid UUID."}


def _setup_page() -> Reply:
    return page(pages.setup())


def _recovery_page() -> Reply:
    return page(pages.recovery())


_PAGE: dict[str, Any] = {"method": "GET", "access": Access.PUBLIC}
_SETUP_PAGE = page_of(_setup_page, path="/setup/start", action="SetupStart.start", **_PAGE)
_RECOVERY_PAGE = page_of(
    _recovery_page, path="/setup/recover/start", action="RecoverStart.start", **_PAGE
)


def _start(path: str) -> Callable[[Handler], Handler]:
    return endpoints.get(
        path,
        action="SetupStart.start",
        access=Access.GUEST,
        denied="Only guests are allowed to start setup.",
        ids=_TOKEN,
        page=_SETUP_PAGE,
        view=views.newcomer,
    )


@_start("/setup/start/{user_id}/{token_id}.json")
@_start("/setup/install/{user_id}/{token_id}.json")
def start(user_id: UserId, token_id: str) -> Newcomer:
    """Show an invited person who they are, before they set up."""
    return setup.start_setup(user_id, token_id)


def _complete(path: str) -> Callable[[Handler], Handler]:
    return endpoints.route(
        path,
        ("POST", "PUT"),
        action="SetupComplete.complete",
        access=Access.GUEST,
        denied="Only guests are allowed to complete setup.",
        body=CompletionBody,
        csrf=False,
        message="The setup was completed successfully.",
        view=nothing,
    )


@_complete("/setup/complete/{user_id}.json")
@_complete("/users/validateAccount/{user_id}.json")
def complete(user_id: UserId, body: Draft[CompletionBody], caller: Caller) -> None:
    """Store the key of an invited person, who may then sign in."""
    setup.complete_setup(user_id, body, caller)


def _recover(path: str) -> Callable[[Handler], Handler]:
    return endpoints.get(
        path,
        action="RecoverStart.start",
        access=Access.GUEST,
        denied="Only guests are allowed to proceed with account recovery.",
        ids=_TOKEN,
        page=_RECOVERY_PAGE,
        view=views.newcomer,
    )


@_recover("/setup/recover/start/{user_id}/{token_id}.json")
@_recover("/setup/recover/{user_id}/{token_id}.json")
def start_recovery(user_id: UserId, token_id: str) -> Newcomer:
    """Show a person who they are, before they set up another device."""
    return setup.start_recovery(user_id, token_id)


@endpoints.route(
    "/setup/recover/complete/{user_id}.json",
    ("POST", "PUT"),
    action="RecoverComplete.complete",
    access=Access.GUEST,
    denied="Only guests are allowed to complete account recovery.",
    body=CompletionBody,
    csrf=False,
    message="The recovery was completed successfully.",
    view=nothing,
)
def complete_recovery(user_id: UserId, body: Draft[CompletionBody], caller: Caller) -> None:
    """End a recovery by the key the person has."""
    setup.complete_recovery(user_id, body, caller)


@endpoints.route(
    "/setup/recover/abort/{user_id}.json",
    ("POST", "PUT"),
    action="RecoverAbort.abort",
    access=Access.GUEST,
    denied="Only guests are allowed to abort recovery process.",
    body=AbortBody,
    message="The recovery process was aborted.",
    view=nothing,
)
def abort_recovery(user_id: UserId, body: Draft[AbortBody], caller: Caller) -> None:
    """End a recovery of a person who has lost their key."""
    setup.abort_recovery(user_id, body, caller)


def _key_policies(path: str) -> Callable[[Handler], Handler]:
    return endpoints.get(
        path,
        action="UserKeyPoliciesGetSettings.get",
        access=Access.ANYONE,
        query=Options(texts=frozenset({"user_id", "token"})),
    )


@_key_policies("/user-key-policies/settings.json")
@_key_policies("/setup/user-key-policies/settings.json")
def view_key_policies(actor: Actor | None, query: Query) -> policies.KeyPoliciesJson:
    """Show which keys clients are to make, to users and to whoever is about to set one up."""
    asked = query.texts
    key_policies.require_allowed(actor, asked.get("user_id"), asked.get("token"))
    return policies.KEY_POLICIES
