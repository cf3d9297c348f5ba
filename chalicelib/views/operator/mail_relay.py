"""How the organisation's own mail server looks, and what was said to it in a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

from chalicelib.bodies.servers import MASK
from chalicelib.domain.errors import Blocked, Invalid
from chalicelib.domain.operator.mail_relays import Exchange
from chalicelib.services.operator.mail_relay import OWN_HOST, OWN_PORT
from chalicelib.services.users.policies.policies import about
from chalicelib.settings import settings as environment
from chalicelib.tables.settings import Setting, value_of
from chalicelib.views import pages
from chalicelib.views.shapes import Moment, Uuid

Trace = Sequence[Exchange]


class MailRelayJson(TypedDict):
    id: NotRequired[Uuid]
    source: str
    host: str
    port: int
    tls: bool
    client: str | None
    username: str | None
    password: str | None
    sender_name: str
    sender_email: str
    ca_certificate: NotRequired[str]
    created: NotRequired[Moment]
    created_by: NotRequired[Uuid]
    modified: NotRequired[Moment]
    modified_by: NotRequired[Uuid]


class AnswerJson(TypedDict):
    code: int
    message: str


class ExchangeJson(TypedDict):
    cmd: str
    response: list[AnswerJson]


class TrialJson(TypedDict):
    debug: list[ExchangeJson]


def settings(row: Setting | None) -> MailRelayJson:
    """The server without its password; SES, where there is none of the organisation's own."""
    if row is None:
        return {
            "source": "env",
            "host": OWN_HOST,
            "port": OWN_PORT,
            "tls": True,
            "client": None,
            "username": None,
            "password": None,
            "sender_name": "Keyhaven",
            "sender_email": environment.mail_sender,
        }
    value = value_of(row)
    form = {name: said for name, said in value["form"].items() if name != "ca_certificate" or said}
    password = None if value["password"] is None else MASK
    return {**form, **about(row), "source": "db", "tls": True, "password": password}  # type: ignore[typeddict-item]


def form(row: Setting | None) -> Mapping[str, Any]:
    """What the form of a page is filled with."""
    return {"port": 587} if row is None else settings(row)


def tested(trace: Trace) -> TrialJson:
    return {"debug": [_exchange(each) for each in trace]}


def typed(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was typed into the form, but for a password: it is to be given again."""
    kept = {name: said for name, said in members.items() if isinstance(said, str)}
    password = kept.pop("password", "")
    return {
        **kept,
        "password": password if password == MASK else "",
        "again": password not in ("", MASK),
    }


def refused(error: Invalid) -> str:
    """Why something is refused, as HTML; of a trial with what was said to the server."""
    trace = error.obstacles if isinstance(error, Blocked) else ()
    return pages.mail_server_told(pages.told_of(error), _lines(cast(Trace, trace)), is_done=False)


def was_sent(trace: Trace) -> str:
    """That a test mail has left, as HTML."""
    message = "The server has taken the test mail. Nothing was saved."
    return pages.mail_server_told(message, _lines(trace), is_done=True)


def said(told: str) -> str:
    return pages.mail_server_told(told, (), is_done=True)


def _lines(trace: Trace) -> list[tuple[str, str]]:
    return [
        (each.said, " ".join(f"{code} {message}" for code, message in each.answered))
        for each in trace
    ]


def _exchange(exchange: Exchange) -> ExchangeJson:
    answers: list[AnswerJson] = [
        {"code": code, "message": message} for code, message in exchange.answered
    ]
    return {"cmd": exchange.said, "response": answers}
