"""The organisation's own mail server: how it is asked, shown, tried out and given up again.

The settings are one row, which is there exactly while mails leave by that server. What is saved has
worked once: it was signed in to, and takes mails of the sender.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.operator.mail_relay import INVALID, MailRelayBody, MailTrialBody
from chalicelib.bodies.rules import UNSET
from chalicelib.bodies.servers import MASK
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Blocked, Invalid
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.mail_relays import Exchange, MailRelay
from chalicelib.domain.operator.notices import Event
from chalicelib.post.relay import NotTaken, Relay
from chalicelib.services.operator import passwords
from chalicelib.services.operator.passwords import RELAY
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import MAIL_RELAY, Setting, as_read, value_of, value_or_new
from chalicelib.tables.users.users import User

KEY = Setting.named(MAIL_RELAY)
OWN_HOST = f"email.{settings.region}.amazonaws.com"
"""Where mails leave by, without a server of the organisation's own."""
OWN_PORT = 443
MAILS_ARE_OFF = "No mails leave this installation: whoever runs it has given it no sender."
_NOT_ONE = {"host": {"relay": "That is how mails leave by themselves; it needs no settings."}}
_GIVE_AGAIN = {
    "password": {
        "_required": "The password should be given again: it was given for another server or name."
    }
}
_NAMELESS = {"username": {"_required": "The username is required beside a password."}}
_SAME = ("host", "port", "username", "ca_certificate")
"""What a password that was stored goes to; another server never gets it."""
_SUBJECT = "A test mail of Keyhaven"
_TEXT = "Keyhaven can send mails by this server: this is one of them.\n"
_HTML = f"<!doctype html>\n<title>{_SUBJECT}</title>\n<p>{_TEXT.strip()}</p>\n"

Form = Mapping[str, Any]


def find() -> MailRelay | None:
    """The server by which mails leave, with its password; none where they leave by SES."""
    row = view()
    return None if row is None else named_by(row)


def named_by(row: Setting) -> MailRelay:
    """The server that a row names, with its password."""
    value = value_of(row)
    return _relay(value["form"], _opened(value))


def view() -> Setting | None:
    return reading.read([KEY]).find(Setting, MAIL_RELAY)


def save(actor: Actor, draft: Draft[MailRelayBody]) -> Setting:
    """Let mails leave by a server, once it was asked whether it takes them.

    It is written over what was read, by whoever is an administrator then.
    """
    before = view()
    body, stored = draft.read(INVALID), value_of(before)
    relay = _wanted(body, before)
    if settings.function_name and not settings.mail_sender:
        raise Invalid(MAILS_ARE_OFF)
    with closing(Relay(relay)) as asked:
        try:
            asked.probe()
        except NotTaken as error:
            raise Invalid(f"The settings were not saved: {error.message}") from None
    value = {**value_or_new(before, actor.id), "form": _form(relay), "password": _sealed(relay)}
    changes = differences.names(stored.get("form", {}), value["form"])
    if body.password not in (MASK, stored.get("password")):
        changes.append(("password",))
    row = Setting(MAIL_RELAY, value=value, modified=clock.now(), modified_by=actor.id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(before))
        log = ("SmtpSettings.updated", actor.id, actor.caller)
        tx.create(ActionLog.of(value["id"], *log, changes=changes))
        notices.tell_of_settings(tx, Event.SMTP_SETTINGS_SAVED, actor)
    audit.succeeded("smtp-settings", actor, value["id"])
    return row


def delete(actor: Actor) -> None:
    """Let mails leave by SES again, and forget the server."""
    row = view()
    if row is None:
        return
    value = value_of(row)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.delete(KEY, provided=as_read(row))
        tx.create(ActionLog.of(value["id"], "SmtpSettings.deleted", actor.id, actor.caller))
        notices.tell_of_settings(tx, Event.SMTP_SETTINGS_SAVED, actor, off="yes")
    audit.succeeded("smtp-settings-deleted", actor, value["id"])


def try_out(draft: Draft[MailTrialBody]) -> Sequence[Exchange]:
    """Send a mail by these settings; return what was said. Nothing is stored."""
    body = draft.read(INVALID)
    with closing(Relay(_wanted(body, view()))) as asked:
        try:
            asked.send(body.email_test_to, _SUBJECT, _TEXT, _HTML)
        except NotTaken as error:
            message = f"The test mail could not be sent: {error.message}"
            raise Blocked(message, asked.trace) from None
        return asked.trace


def _wanted(body: MailRelayBody, before: Setting | None) -> MailRelay:
    """The server as a client wants it, with the password that was stored where it is to stay."""
    if body.host == OWN_HOST:
        raise Invalid(INVALID, _NOT_ONE)
    stored = value_of(before)
    form = {each.name: getattr(body, each.name) for each in fields(MailRelay)}
    if form["ca_certificate"] is UNSET:  # which most clients do not know of
        form["ca_certificate"] = stored.get("form", {}).get("ca_certificate")
    password = form.pop("password")
    if password == MASK:
        password = _kept(form, stored)
    if password is not None and form["username"] is None:
        raise Invalid(INVALID, _NAMELESS)
    return _relay(form, password)


def _kept(form: Form, stored: Mapping[str, Any]) -> str | None:
    """The stored password, for the server and the name that it was given for.

    It goes to no other: whoever may change the settings may not learn by that what they say.
    """
    before = stored.get("form", {})
    if stored.get("password") is None or any(form[name] != before.get(name) for name in _SAME):
        raise Invalid(INVALID, _GIVE_AGAIN)
    return _opened(stored)


def _relay(form: Form, password: str | None) -> MailRelay:
    return MailRelay(**form, password=password)


def _form(relay: MailRelay) -> dict[str, Any]:
    names = [each.name for each in fields(MailRelay) if each.name != "password"]
    return {name: getattr(relay, name) for name in names}


def _sealed(relay: MailRelay) -> str | None:
    if relay.password is None:
        return None
    return passwords.seal(RELAY, _connection(_form(relay)), relay.password)


def _opened(value: Mapping[str, Any]) -> str | None:
    sealed = value["password"]
    if sealed is None:
        return None
    return passwords.opened(RELAY, _connection(value["form"]), sealed)


def _connection(form: Form) -> str:
    """What a password is sealed for: in a row that names another server it does not open."""
    return f"{form['username']} at {form['host']}:{form['port']}"
