"""A relay of the organisation's own: the mail server that its mails leave by, in place of SES."""

from __future__ import annotations

from dataclasses import field

from chalicelib.domain.light import dataclass

_TLS_FROM_THE_BEGINNING = 465
"""The port of submission over TLS (RFC 8314); at every other, STARTTLS is demanded."""


@dataclass(frozen=True, slots=True)
class MailRelay:
    host: str
    port: int
    sender_name: str
    sender_email: str
    client: str | None = None
    """What we call ourselves to it."""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_certificate: str | None = None
    """The authority that its certificate is verified by, where it is none that everybody knows."""

    @property
    def begins_with_tls(self) -> bool:
        return self.port == _TLS_FROM_THE_BEGINNING


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was said to a relay, without what signs in, and the lines of its answer."""

    said: str
    answered: list[tuple[int, str]] = field(default_factory=list)
