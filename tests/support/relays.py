"""Mail servers on the loopback: real ones by SMTP, over TLS, with people who may sign in."""

from __future__ import annotations

import atexit
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope

from chalicelib.domain.operator.mail_relays import MailRelay
from tests.support.company.certificates import Authority, Certificate
from tests.support.leaks import watch

HOST = "127.0.0.1"
USERNAME = "keyhaven@example.com"
PASSWORD = "the relay's pässword"
SENDER = "passwords@example.com"


@dataclass
class MailServer:
    """A server, what it has taken, and what it says to some commands in place of what it would."""

    port: int
    authority: str
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    sessions: set[Any] = field(default_factory=set)
    says: dict[str, str] = field(default_factory=dict)
    repeats: bool = False
    """Whether it says aloud how somebody signed in."""

    def form(self, **further: Any) -> dict[str, Any]:
        """What an administrator sends who lets mails leave by this server."""
        return {
            "sender_name": "Passwörter",
            "sender_email": SENDER,
            "host": HOST,
            "port": self.port,
            "tls": True,
            "client": None,
            "username": USERNAME,
            "password": PASSWORD,
            "ca_certificate": self.authority,
            **further,
        }

    def settings(self, **further: Any) -> MailRelay:
        form = self.form(**further)
        del form["tls"]
        return MailRelay(**form)

    # What aiosmtpd asks.

    async def handle_MAIL(  # noqa: N802
        self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if "MAIL" in self.says:
            return self.says["MAIL"]
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if "RCPT" in self.says:
            return self.says["RCPT"]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802
        if self.says.get("DATA") == "nothing":
            server.transport.abort()
        elif "DATA" in self.says:
            return self.says["DATA"]
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append(message_from_bytes(content, policy=policy.SMTP))  # type: ignore[arg-type]
        parts = [part for part in self.mails[-1].walk() if part.get_content_maintype() == "text"]
        text = "\n".join(str(part.get_content()) for part in parts)
        watch.posted(envelope.rcpt_tos, f"{self.mails[-1].items()}\n{text}")
        self.recipients += envelope.rcpt_tos
        self.senders.append(str(envelope.mail_from))
        self.sessions.add(session)
        return "250 taken"

    def signs_in(self, server: Any, session: Any, envelope: Any, how: str, data: Any) -> AuthResult:
        name, password = data.login.decode(), data.password.decode()
        is_known = (name, password) == (USERNAME, PASSWORD)
        said = f"535 nobody signs in by {password}" if self.repeats else None
        return AuthResult(success=is_known, handled=False, message=said)


@contextmanager
def serving(
    certificate: Certificate | None = None,
    *,
    speaks_tls: bool = True,
    begins_with_tls: bool = False,
) -> Iterator[MailServer]:
    """A mail server, for as long as a test takes."""
    certificate = certificate or Authority().signs(HOST)
    server = MailServer(0, certificate.authority)
    context = _context(certificate)
    controller = _Controller(
        server,
        hostname=HOST,
        port=0,
        ssl_context=context if begins_with_tls else None,
        tls_context=context if speaks_tls and not begins_with_tls else None,
        require_starttls=speaks_tls and not begins_with_tls,
        authenticator=server.signs_in,
        auth_required=not begins_with_tls,
        auth_require_tls=not begins_with_tls,
    )
    controller.start()
    try:
        server.port = controller.port
        yield server
    finally:
        controller.stop()


class _Controller(Controller):  # type: ignore[misc]
    """A server at whichever port is free, which it knows once it listens."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


def _context(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        cert, key = Path(folder, "cert.pem"), Path(folder, "key.pem")
        cert.write_text(certificate.certificate)
        key.write_text(certificate.key)
        context.load_cert_chain(cert, key)
    return context


@cache
def shared() -> MailServer:
    """One server for all tests of a process that only need some server to be asked."""
    held = ExitStack()
    atexit.register(held.close)
    return held.enter_context(serving())
