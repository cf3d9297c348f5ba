"""The organisation's own mail server: its settings, and the trial of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.operator.mail_relay import (
    MailRelayBody,
    MailTrialBody,
    PageBody,
    settings_sent,
)
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Invalid, Refusal
from chalicelib.domain.operator.mail_relays import Exchange
from chalicelib.services.operator import mail_relay
from chalicelib.tables.settings import Setting
from chalicelib.views import pages
from chalicelib.views.operator import mail_relay as views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply, led, page
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

PAGE = "/app/administration/smtp-settings"
"""Where the browser extension sends administrators; it draws nothing there."""
_DENIED = "You are not allowed to access this location."
_NO_FORM = "The form does not say what is to be done."


@endpoints.get(
    "/smtp/settings.json",
    action="SmtpSettingsGet.get",
    access=Access.ADMIN,
    is_known_bare=False,
    denied=_DENIED,
    view=views.settings,
)
def view() -> Setting | None:
    """Show by which server mails leave, without its password."""
    return mail_relay.view()


@endpoints.post(
    "/smtp/settings.json",
    action="SmtpSettingsPost.post",
    access=Access.ADMIN,
    is_known_bare=False,
    denied=_DENIED,
    body=MailRelayBody,
    view=views.settings,
)
def save(actor: Actor, body: Draft[MailRelayBody]) -> Setting:
    """Let mails leave by a server of the organisation's own, once it says that it takes them."""
    return mail_relay.save(actor, body)


@endpoints.delete(
    "/smtp/settings.json",
    action="SmtpSettingsDelete.delete",
    access=Access.ADMIN,
    is_known_bare=False,
    denied=_DENIED,
    view=nothing,
)
def delete(actor: Actor) -> None:
    """Let mails leave by the service itself again."""
    mail_relay.delete(actor)


@endpoints.post(
    "/smtp/email.json",
    action="SmtpSettingsEmail.sendTestEmail",
    access=Access.ADMIN,
    is_known_bare=False,
    denied=_DENIED,
    body=MailTrialBody,
    view=views.tested,
    blocked=views.tested,
)
def try_out(body: Draft[MailTrialBody]) -> Sequence[Exchange]:
    """Send a test mail by these settings, and show what was said to the server and its answers."""
    return mail_relay.try_out(body)


def _not_shown(error: Refusal, _: Mapping[str, str]) -> Reply:
    return page(pages.not_shown(error, PAGE))


def _refused(error: Refusal, _: Mapping[str, str]) -> Reply:
    return page(pages.refused(pages.told_of(error), PAGE))


@endpoints.page(
    PAGE,
    action="SmtpSettingsGet.get",
    access=Access.ADMIN,
    denied=_DENIED,
    query=Options(flags=frozenset({"saved"})),
    refused=_not_shown,
)
def show_form(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators name a mail server."""
    told = "Saved." if "saved" in query.flags else ""
    return _shown(cookies, views.said(told), views.form(mail_relay.view()))


@endpoints.page(
    PAGE,
    ("POST",),
    action="SmtpSettingsPost.post",
    access=Access.ADMIN,
    denied=_DENIED,
    body=PageBody,
    refused=_refused,
)
def send_form(actor: Actor, body: Draft[PageBody], cookies: Mapping[str, str]) -> Reply:
    """Save what the form says or send a test mail by it, as the button says, and show it again."""
    sent, does_test = settings_sent(body), body.read(_NO_FORM).do == "test"
    try:
        if not does_test:
            mail_relay.save(actor, Draft(MailRelayBody, sent))
            return led(f"{PAGE}?saved=1")
        trace = mail_relay.try_out(Draft(MailTrialBody, sent))
    except Invalid as error:
        told = views.refused(error)
        return replace(_shown(cookies, told, views.typed(sent)), status=HTTPStatus.BAD_REQUEST)
    return _shown(cookies, views.was_sent(trace), views.typed(sent))


def _shown(cookies: Mapping[str, str], told: str, form: Mapping[str, object]) -> Reply:
    token, brought = access.form_token(cookies)
    return page(pages.mail_server(token, told, form), cookies=brought)
