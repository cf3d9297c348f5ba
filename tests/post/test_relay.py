"""A relay of the organisation's own: what is handed over, over what, and what its answers mean."""

from __future__ import annotations

import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from chalicelib import connections
from chalicelib.domain import deadline
from chalicelib.domain.operator import mail_relays
from chalicelib.post import relay as module
from chalicelib.post.relay import NotTaken, Relay
from tests.support import relays
from tests.support.company.certificates import Authority
from tests.support.relays import HOST, PASSWORD, SENDER, USERNAME, MailServer

SUBJECT, TEXT, HTML = "Welcome, Zoë!", "Hello Zoë,\n\nhttps://x/setup/start/secret\n", "<p>Zoë</p>"

LATER, NEVER = (True, False), (False, False)
"""Whether a mail may pass later, and may have left."""


@pytest.fixture
def server() -> Iterator[MailServer]:
    with relays.serving() as server:
        yield server


def sent(server: MailServer, address: str = "dave@example.com", **settings: object) -> None:
    relay = Relay(server.settings(**settings))
    try:
        relay.send(address, SUBJECT, TEXT, HTML)
    finally:
        relay.close()


def refused(server: MailServer, address: str = "dave@example.com", **settings: object) -> NotTaken:
    with pytest.raises(NotTaken) as caught:
        sent(server, address, **settings)
    assert PASSWORD not in caught.value.message
    return caught.value


def test_a_mail_is_handed_over_as_text_and_as_html(server: MailServer) -> None:
    sent(server)
    [mail] = server.mails
    assert (server.senders, server.recipients) == ([SENDER], ["dave@example.com"])
    assert mail["From"] == f"Passwörter <{SENDER}>"
    assert (mail["To"], mail["Subject"]) == ("dave@example.com", SUBJECT)
    assert mail["Date"] == "Sat, 21 Nov 2026 12:00:00 +0000"
    assert str(mail["Message-ID"]).endswith("@example.com>")
    parts = [part.get_content().replace("\r\n", "\n") for part in mail.iter_parts()]  # type: ignore[attr-defined]
    assert [part.strip() for part in parts] == [TEXT.strip(), HTML]


def test_a_name_of_the_sender_that_was_stored_with_a_line_break_is_one_line(
    server: MailServer,
) -> None:
    """As earlier releases let one be saved."""
    sent(server, sender_name="Safe\n")
    assert server.mails[0]["From"] == f"Safe <{SENDER}>"


def test_domains_go_as_the_name_system_has_them(server: MailServer) -> None:
    sent(server, "dave@straße.de")
    assert server.recipients == ["dave@xn--strae-oqa.de"]


def test_people_with_letters_of_all_scripts_are_written_to(server: MailServer) -> None:
    sent(server, "zoë@example.com")
    assert server.recipients == ["zoë@example.com"]


def test_several_mails_go_through_one_connection(server: MailServer) -> None:
    relay = Relay(server.settings())
    for name in ("dave", "erin", "frank"):
        relay.send(f"{name}@example.com", SUBJECT, TEXT, HTML)
    relay.close()
    assert len(server.mails) == 3
    assert len(server.sessions) == 1


def test_after_a_failure_there_is_another_connection(server: MailServer) -> None:
    relay = Relay(server.settings())
    server.says["RCPT"] = "550 unknown"
    with pytest.raises(NotTaken):
        relay.send("nobody@example.com", SUBJECT, TEXT, HTML)
    server.says.clear()
    relay.send("dave@example.com", SUBJECT, TEXT, HTML)
    relay.close()
    assert server.recipients == ["dave@example.com"]


def test_a_probe_sends_nothing(server: MailServer) -> None:
    relay = Relay(server.settings())
    relay.probe()
    relay.close()
    assert server.mails == []


@pytest.mark.parametrize(
    ("says", "reason", "then"),
    [
        ({"MAIL": "550 who are you"}, "Sender550", LATER),
        ({"RCPT": "550 unknown"}, "Recipient550", NEVER),
        ({"RCPT": "450 later"}, "Recipient450", LATER),
        ({"DATA": "554 spam"}, "Mail554", NEVER),
        ({"DATA": "451 later"}, "Mail451", LATER),
        ({"DATA": "nothing"}, "Disconnected", (True, True)),
    ],
)
def test_what_a_relay_says_of_one_mail_alone_is_not_tried_again(
    server: MailServer, says: dict[str, str], reason: str, then: tuple[bool, bool]
) -> None:
    server.says = says
    failure = refused(server)
    assert failure.reason == reason
    assert (failure.may_pass_later, failure.may_have_left) == then


@pytest.mark.parametrize(
    ("says", "is_so"),
    [
        ("450 later", False),
        ("450 4.1.2 no such domain", True),
        ("452 4.2.2 the mailbox is full", True),
        ("550 unknown", False),
        ("450 4.1.8 no such domain of the sender", False),
        ("450 4.7.25 whose address is that", False),
        ("451 4.3.0 nothing can be looked up", False),
        ("451 later", False),
        ("421 closing", False),
    ],
)
def test_of_one_recipient_alone_is_what_is_said_of_their_mailbox_or_domain(
    server: MailServer, says: str, *, is_so: bool
) -> None:
    server.says = {"RCPT": says}
    assert refused(server).is_of_recipient is is_so


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"password": "another"}, "SignIn535"),
        ({"username": None, "password": None}, "Sender530"),
        ({"port": 1}, "Unreachable"),
        ({"host": "relay.invalid"}, "Unreachable"),
        ({"host": "localhost"}, "Tls"),
        ({"ca_certificate": None}, "Tls"),
        ({"ca_certificate": Authority().pem}, "Tls"),
    ],
)
def test_who_cannot_be_trusted_or_asked_gets_nothing(
    server: MailServer, settings: dict[str, object], reason: str
) -> None:
    """The name and the chain of a certificate are verified; there is no switch."""
    failure = refused(server, **settings)
    assert (failure.reason, failure.may_pass_later) == (reason, True)
    assert server.mails == []


def test_an_expired_certificate_is_refused() -> None:
    with relays.serving(Authority().signs(HOST, days=-1)) as server:
        assert refused(server).reason == "Tls"


def test_without_tls_nothing_is_said() -> None:
    with relays.serving(speaks_tls=False) as server:
        relay = Relay(server.settings())
        with pytest.raises(NotTaken, match="NoTls"):
            relay.send("dave@example.com", SUBJECT, TEXT, HTML)
        assert [each.said.split()[0] for each in relay.trace] == ["CONNECT", "ehlo", "QUIT"]


def test_at_the_port_of_submission_over_tls_it_begins_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with relays.serving(begins_with_tls=True) as server:
        monkeypatch.setattr(mail_relays, "_TLS_FROM_THE_BEGINNING", server.port)
        relay = Relay(server.settings())
        relay.send("dave@example.com", SUBJECT, TEXT, HTML)
        relay.close()
        assert "STARTTLS" not in [each.said for each in relay.trace]
        assert server.recipients == ["dave@example.com"]


# --- What is told of it.


def proofs(password: str) -> list[str]:
    pair = b64encode(f"\0{USERNAME}\0{password}".encode()).decode()
    return [password, b64encode(password.encode()).decode(), pair]


@pytest.mark.parametrize("password", [PASSWORD, "the wrong one"])
def test_what_signs_in_is_not_told_even_by_who_repeats_it(
    server: MailServer, password: str
) -> None:
    server.repeats = True
    relay = Relay(server.settings(password=password))
    try:
        relay.probe()
    except NotTaken:
        assert ("535", "nobody signs in by ***") in [
            (str(code), said) for each in relay.trace for code, said in each.answered
        ]
    assert "AUTH PLAIN ***" in [each.said for each in relay.trace]
    assert not any(proof in str(relay.trace) for proof in proofs(password))
    assert password not in repr(server.settings(password=password))
    relay.close()


# --- Servers that are no mail servers.


@contextmanager
def impostor(*answers: bytes) -> Iterator[int]:
    """A server at a port that says this, one piece after each thing that is said to it."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            for answer in answers:
                connection.sendall(answer)
                if not connection.recv(1024):
                    return

    with socket.create_server((HOST, 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([b"554 go away\r\n"], "Answer554"),
        ([b"SSH-2.0-OpenSSH_9.2\r\n"], "Answer-1"),
        (
            [b"220 me\r\n", b"250-me\r\n250 STARTTLS\r\n", b"220 ready\r\n220 more\r\n", b"!" * 99],
            "Tls",
        ),
        ([b"220 me\r\n", b"250-me\r\n250 STARTTLS\r\n", b"454 not now\r\n"], "Answer454"),
        ([b"220 " + b"x" * 20_000 + b"\r\n"], "Answer500"),
        ([b"220-more\r\n" * 20_000], "Unreachable"),
    ],
)
def test_what_is_no_mail_server_is_told_so(answers: list[bytes], reason: str) -> None:
    with impostor(*answers) as port:
        server = MailServer(port, Authority().pem)
        assert refused(server).reason == reason


def test_whoever_does_not_answer_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.1)
    with socket.create_server((HOST, 0)) as listening:
        server = MailServer(listening.getsockname()[1], Authority().pem)
        assert refused(server).reason == "Disconnected"


def test_whoever_answers_drop_by_drop_is_given_up_at_the_deadline(server: MailServer) -> None:
    with deadline.within(1):
        assert refused(server).reason == "Unreachable"


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "::ffff:127.0.0.1", "fe80::1"),
        *("10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "fd00::1", "224.0.0.1"),
        *("fd00:ec2::254", "::ffff:10.0.0.1"),
    ],
)
def test_no_place_is_asked_that_is_not_public(
    server: MailServer, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """Neither the function's own machine and platform, nor a private network of somebody's."""
    monkeypatch.setattr(module, "settings", module.settings._replace(asks_own_machine=False))
    failure = refused(server, host=host)
    assert failure.message == f"{host} has no address that may be asked."
