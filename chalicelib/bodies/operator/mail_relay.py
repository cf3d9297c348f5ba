"""Bodies of the organisation's own mail server: its settings, and the trial of them."""

from __future__ import annotations

from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import (
    UNSET,
    Rule,
    TakenAs,
    Unset,
    ascii_only,
    boolean,
    email,
    in_list,
    max_length,
    not_empty,
    required,
    utf8,
    utf8_extended,
)
from chalicelib.bodies.servers import LONGEST_CERTIFICATES, certificates, host, numeric, port_from
from chalicelib.domain.light import dataclass

INVALID = "Could not validate the SMTP settings."
LONGEST = 256
LONGEST_PASSWORD = 4_096

_one_line = Rule(
    "singleLine",
    "The {field} should be on one line.",
    lambda value: not isinstance(value, str) or value.splitlines() in ([], [value]),
)
_in_tls = Rule(
    "tls",
    "The {field} should be true: mails leave over TLS alone, as their links stand for accounts.",
    lambda value: value is not False,
)
_no_oauth = Rule(
    "ensureEmpty",
    "The {field} cannot be set: of ways to sign in there are a name and a password.",
    lambda value: value in (None, ""),
)
_none_where_empty = TakenAs(lambda sent: None if sent == "" else sent)
_kept_unless_sent = TakenAs(lambda sent: UNSET if sent is None else None if sent == "" else sent)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class MailRelayBody:
    sender_name: Annotated[str, required, not_empty, utf8, max_length(LONGEST), _one_line]
    sender_email: Annotated[str, required, not_empty, email, ascii_only, max_length(LONGEST)]
    host: Annotated[str, required, not_empty, host]
    tls: Annotated[bool, required, not_empty, boolean, _in_tls]
    port: Annotated[int, required, not_empty, numeric, port_from(1)]
    username: Annotated[
        str | None, _none_where_empty, required, utf8_extended, max_length(LONGEST), _one_line
    ]
    password: Annotated[
        str | None,
        _none_where_empty,
        required,
        utf8_extended,
        max_length(LONGEST_PASSWORD),
        _one_line,
    ]
    client: Annotated[str | None, _none_where_empty, host] = None
    client_id: Annotated[Any, _no_oauth] = None
    ca_certificate: Annotated[
        str | Unset | None, _kept_unless_sent, max_length(LONGEST_CERTIFICATES), certificates
    ] = UNSET
    """Most clients do not know of it; an empty text takes it away."""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class MailTrialBody(MailRelayBody):
    email_test_to: Annotated[str, required, not_empty, email]


@dataclass(frozen=True, slots=True)
class PageBody:
    """What the buttons of the page ask for; the settings are beside it."""

    do: Annotated[str, in_list("save", "test")] = "save"


def settings_sent(page: Draft[PageBody]) -> dict[str, Any]:
    """The settings as a form has them, which ends lines in its own way."""
    certificate = page.members.get("ca_certificate")
    if not isinstance(certificate, str):
        return {**page.members}
    return {**page.members, "ca_certificate": certificate.replace("\r\n", "\n")}
