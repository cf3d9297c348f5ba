"""SMTP to the organisation's own mail server: over TLS alone, and how long it may take."""

from __future__ import annotations

import re
import smtplib
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime
from urllib.parse import urlsplit

from chalicelib import connections
from chalicelib.connections import ANSWER_SECONDS, Unreachable
from chalicelib.domain import clock, deadline
from chalicelib.domain.addresses import sendable
from chalicelib.domain.hosts import is_public
from chalicelib.domain.ids import new_id
from chalicelib.domain.operator.mail_relays import Exchange, MailRelay
from chalicelib.post.sending import NotSent
from chalicelib.settings import settings

LONGEST = 30.0
"""Seconds that one mail takes at worst, with the connection that it may need."""
MOST_BYTES = 100_000
"""Of a relay's answers to one mail: one that says more fills no memory."""
MOST_TOLD = 100
"""Exchanges that are told of a trial."""
_LONGEST_LINE = 500
_HIDDEN = "***"
_SIGNED_IN = frozenset({235, 503})
"""Yes, or that it was done before."""
_READY, _CONTINUE, _DONE, _LASTS = 220, 334, 250, 500
_OF_RECIPIENT = re.compile(rb"4\.(1\.[1-6]|2\.\d{1,3})\b")
"""Codes of RFC 3463 that speak of the recipient. A bare 450 is said of senders, too."""


class NotTaken(NotSent):
    """The relay has not taken a mail; `message` says why to administrators, and holds no secret."""

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        may_pass_later: bool = True,
        may_have_left: bool = False,
        is_of_recipient: bool = False,
    ) -> None:
        super().__init__(
            reason,
            may_pass_later=may_pass_later,
            may_have_left=may_have_left,
            is_of_recipient=is_of_recipient,
        )
        self.message = message


class Relay:
    """One connection for as many mails as there are; a new one after whatever failed."""

    def __init__(self, relay: MailRelay) -> None:
        self._relay = relay
        self._session: _Session | None = None
        self.trace: list[Exchange] = []

    def send(self, address: str, subject: str, text: str, html: str) -> None:
        """Hand a mail over, or raise `NotTaken`."""
        recipient = sendable(address)
        mail = _mail(self._relay, recipient, subject, text, html)
        with self._asking() as session:
            session.send_message(mail, self._relay.sender_email, [recipient])

    def probe(self) -> None:
        """Raise `NotTaken` where the relay would take no mail of this sender."""
        with self._asking() as session:
            code, answer = session.mail(self._relay.sender_email)
            if code != _DONE:
                raise smtplib.SMTPSenderRefused(code, answer, self._relay.sender_email)
            session.rset()

    def close(self) -> None:
        if self._session is not None:
            self._session.leave()
            self._session = None

    @contextmanager
    def _asking(self) -> Iterator[_Session]:
        with deadline.within(LONGEST):
            is_done = False
            try:
                yield self._connected()
                is_done = True
            except _FAILURES as error:
                is_told = self._session is not None and self._session.has_told_all
                raise _not_taken(self._relay, error, may_have_left=is_told) from None
            finally:
                if not is_done:
                    self.close()

    def _connected(self) -> _Session:
        self.trace.clear()
        if self._session is None:
            self._session = _Session(self._relay, self.trace)
            self._session.begin()
        self._session.begin_mail()
        return self._session


class _Session(smtplib.SMTP):
    """A connection to a relay that is bounded in time and bytes, and tells what was said."""

    def __init__(self, relay: MailRelay, trace: list[Exchange]) -> None:
        super().__init__(local_hostname=_own_name(relay), timeout=ANSWER_SECONDS)
        self._relay = relay
        self._trace = trace
        self._is_signing_in = False
        self._host = relay.host  # whose certificate STARTTLS verifies
        self.has_told_all = False
        """Whether a mail's content has begun to leave: it may be taken though no answer comes."""

    def begin(self) -> None:
        """Connect, speak TLS, and sign in where there is a name."""
        self._trace.append(Exchange(f"CONNECT {self._relay.host}:{self._relay.port}"))
        code, greeting = self.connect(self._relay.host, self._relay.port)
        if code != _READY:
            raise smtplib.SMTPConnectError(code, greeting)
        if not self._relay.begins_with_tls:
            self.ehlo_or_helo_if_needed()
            self.starttls(context=connections.verifying(self._relay.ca_certificate))
        self.ehlo_or_helo_if_needed()
        if self._relay.username is not None:
            self._sign_in(self._relay.username, self._relay.password or "")

    def begin_mail(self) -> None:
        self.has_told_all = False
        if self.file is not None:
            self.file.left = MOST_BYTES

    def leave(self) -> None:
        """Say goodbye and wait for nothing."""
        with suppress(OSError):
            self.putcmd("QUIT")
        self.close()

    def data(self, msg: bytes | str) -> tuple[int, bytes]:  # type: ignore[override]
        self.has_told_all = True
        answer: tuple[int, bytes] = super().data(msg)
        return answer

    def putcmd(self, cmd: str, args: str = "") -> None:
        told = f"{cmd} {args}".strip() if not self._is_signing_in else _without_proof(cmd, args)
        if len(self._trace) < MOST_TOLD:
            self._trace.append(Exchange(told[:_LONGEST_LINE]))
        super().putcmd(cmd, args)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Lines(self.sock, self._relay.host)
        code, said = super().getreply()
        lines = said.decode("utf-8", "replace").splitlines() or [""]
        self._trace[-1].answered.extend((code, self._shown(line)) for line in lines[:MOST_TOLD])
        return code, said

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002
        plain = connections.opened(host, port, _may_be_asked)
        if self._relay.begins_with_tls:
            return connections.protected(plain, host, self._relay.ca_certificate)
        return plain

    def _sign_in(self, username: str, password: str) -> None:
        """By PLAIN or LOGIN, which are as secret as the connection: it is TLS by now.

        Not by the library's own way, which takes ASCII alone.
        """
        offered = self.esmtp_features.get("auth", "").upper().split()
        self._is_signing_in = True
        try:
            if "PLAIN" in offered:
                code, _ = self.docmd("AUTH", f"PLAIN {_proof(username, password)}")
            elif "LOGIN" in offered:
                code, _ = self.docmd("AUTH", f"LOGIN {_in_base64(username)}")
                if code == _CONTINUE:
                    code, _ = self.docmd(_in_base64(password))
            else:
                raise smtplib.SMTPNotSupportedError("AUTH")
        finally:
            self._is_signing_in = False
        if code not in _SIGNED_IN:
            raise smtplib.SMTPAuthenticationError(code, b"")

    def _shown(self, line: str) -> str:
        """What a relay says, without the password, should it repeat that."""
        username, password = self._relay.username or "", self._relay.password
        if password:
            for each in (_proof(username, password), _in_base64(password), password):
                line = line.replace(each, _HIDDEN)
        return "".join(sign if sign.isprintable() else " " for sign in line)[:_LONGEST_LINE]


class _Lines:
    """A relay's answers line by line, each piece within the deadline: a file to `smtplib`."""

    def __init__(self, connection: socket.socket, host: str) -> None:
        self._socket = connection
        self._host = host
        self._received = b""
        self.left = MOST_BYTES

    def readline(self, most: int) -> bytes:
        while b"\n" not in self._received and len(self._received) < most:
            connections.require_time(self._host)
            received = self._socket.recv(4096)
            self.left -= len(received)
            if self.left < 0:
                raise Unreachable(f"{self._host} says more than a mail server has to say.")
            if not received:
                break
            self._received += received
        end = min(self._received.find(b"\n") + 1 or len(self._received), most)
        line, self._received = self._received[:end], self._received[end:]
        return line

    def close(self) -> None:
        """The connection is closed by whoever has it."""


_FAILURES = (OSError, ValueError, Unreachable)
"""Whatever a connection, TLS or `smtplib` raises: its exceptions are of these."""


def _not_taken(relay: MailRelay, error: Exception, *, may_have_left: bool) -> NotTaken:
    """What went wrong, in a word for the log and in a sentence for administrators."""
    host = relay.host
    if isinstance(error, Unreachable):
        return NotTaken("Unreachable", error.message, may_have_left=may_have_left)
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return _recipient_refused(host, error)
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return _not_supported(host, error)
    if isinstance(error, smtplib.SMTPServerDisconnected | TimeoutError):
        message = f"{host} does not answer any more."
        return NotTaken("Disconnected", message, may_have_left=may_have_left)
    if isinstance(error, smtplib.SMTPResponseException):
        return _refused(host, error)
    message = connections.refused(host, error).message
    return NotTaken("Tls", message, may_have_left=may_have_left)


def _recipient_refused(host: str, error: smtplib.SMTPRecipientsRefused) -> NotTaken:
    [(code, said)] = error.recipients.values()
    message = f"{host} does not take mails to this address ({code})."
    return NotTaken(
        f"Recipient{code}",
        message,
        may_pass_later=code < _LASTS,
        is_of_recipient=bool(_OF_RECIPIENT.match(said)),
    )


def _not_supported(host: str, error: smtplib.SMTPNotSupportedError) -> NotTaken:
    said = str(error)
    if said == "AUTH":
        return NotTaken("NoSignIn", f"{host} lets nobody sign in by PLAIN or LOGIN.")
    if "STARTTLS" in said:
        message = f"{host} does not speak TLS at this port, and mails leave over TLS alone."
        return NotTaken("NoTls", message)
    message = f"{host} does not take addresses with letters of all scripts."
    return NotTaken("NoUtf8", message, may_pass_later=False)


def _refused(host: str, error: smtplib.SMTPResponseException) -> NotTaken:
    code = error.smtp_code
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return NotTaken(f"SignIn{code}", f"{host} does not take the name and password ({code}).")
    if isinstance(error, smtplib.SMTPSenderRefused):
        return NotTaken(f"Sender{code}", f"{host} takes no mails of this sender ({code}).")
    if isinstance(error, smtplib.SMTPDataError):
        message = f"{host} does not take this mail ({code})."
        return NotTaken(f"Mail{code}", message, may_pass_later=code < _LASTS)
    return NotTaken(f"Answer{code}", f"{host} refuses the connection ({code}).")


def _mail(relay: MailRelay, address: str, subject: str, text: str, html: str) -> EmailMessage:
    """A mail with a text and an HTML part; the policy lets no header hold a line break."""
    mail = EmailMessage(policy=SMTP_POLICY)
    name, _, domain = relay.sender_email.rpartition("@")
    mail["From"] = Address(" ".join(relay.sender_name.splitlines()), name, domain)
    mail["To"] = address
    mail["Subject"] = subject
    mail["Date"] = format_datetime(clock.now())
    mail["Message-ID"] = f"<{new_id()}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(text)
    mail.add_alternative(html, subtype="html")
    return mail


def _may_be_asked(address: str) -> bool:
    """Public addresses alone, unless all is on one machine: nothing else is a company's here."""
    return settings.asks_own_machine or is_public(address)


def _own_name(relay: MailRelay) -> str:
    return relay.client or urlsplit(settings.base_url).hostname or "localhost"


def _without_proof(cmd: str, args: str) -> str:
    """A line that signs in, without what proves it."""
    return f"AUTH {args.partition(' ')[0]} {_HIDDEN}" if cmd == "AUTH" else _HIDDEN


def _proof(username: str, password: str) -> str:
    return _in_base64(f"\0{username}\0{password}")


def _in_base64(text: str) -> str:
    return b64encode(text.encode()).decode()
