"""The organisation's own mail server: saved once it works, shown without its password, given up."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.bodies.servers import MASK
from chalicelib.post import relay
from chalicelib.services.operator import mail_relay
from chalicelib.tables.settings import MAIL_RELAY, Setting
from tests.support import relays, storage
from tests.support.company.certificates import Authority
from tests.support.relays import HOST, PASSWORD, SENDER, USERNAME, MailServer
from tests.support.world.make import Somebody

SETTINGS = "/smtp/settings.json"
TRIAL = "/smtp/email.json"
OTHER = "8d2f4a34-6f5a-4d6c-9d3b-0a1b2c3d4e5f"


@pytest.fixture
def server() -> Iterator[MailServer]:
    with relays.serving() as server:
        yield server


def saved(who: Somebody, server: MailServer, **further: Any) -> dict[str, Any]:
    response = who.client.post(SETTINGS, server.form(**further))
    assert response.status == 200, response.json
    shown: dict[str, Any] = response.body
    return shown


def tried(who: Somebody, server: MailServer, **further: Any) -> Any:
    return who.client.post(TRIAL, {**server.form(), "email_test_to": "dave@example.com", **further})


def rules(errors: Any) -> Any:
    """The names of broken rules by field."""
    return {field: set(broken) for field, broken in errors.items()}


def test_mails_leave_by_ses_as_long_as_no_other_server_is_named(ada: Somebody) -> None:
    assert ada.client.get(SETTINGS).body == {
        "source": "env",
        "host": "email.eu-west-1.amazonaws.com",
        "port": 443,
        "tls": True,
        "client": None,
        "username": None,
        "password": None,
        "sender_name": "Keyhaven",
        "sender_email": "",
    }


def test_settings_are_shown_as_they_were_saved(ada: Somebody, server: MailServer) -> None:
    shown = saved(ada, server, client="", port=str(server.port))
    assert shown == ada.client.get(SETTINGS).body
    assert {name: shown[name] for name in server.form()} == server.form(password=MASK)
    assert shown["source"] == "db"
    about = ("id", "created", "created_by", "modified", "modified_by")
    assert set(shown) == {"source", *server.form(), *about}
    assert shown["created_by"] == shown["modified_by"] == ada.id
    assert server.mails == []


def test_they_keep_their_identifier_until_they_are_forgotten(
    ada: Somebody, server: MailServer
) -> None:
    first = saved(ada, server)
    assert saved(ada, server, sender_name="Safe")["id"] == first["id"]
    for _ in range(2):
        response = ada.client.delete(SETTINGS)
        assert (response.status, response.body) == (200, None)
    assert ada.client.get(SETTINGS).body["source"] == "env"
    assert mail_relay.find() is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", SETTINGS),
        ("POST", SETTINGS),
        ("POST", TRIAL),
        ("DELETE", SETTINGS),
    ],
)
def test_they_are_for_administrators(betty: Somebody, method: str, path: str) -> None:
    response = betty.client.request(method, path, json={})
    assert (response.status, response.message) == (
        403,
        "You are not allowed to access this location.",
    )


# --- The password.


def test_the_password_rests_sealed_and_is_shown_to_nobody(
    ada: Somebody, server: MailServer, store: storage.Storage
) -> None:
    saved(ada, server)
    stored = str(store.rows("test-settings"))
    assert PASSWORD not in stored
    assert "BEGIN PGP MESSAGE" in stored
    assert PASSWORD not in str(ada.client.get(SETTINGS).json)
    found = mail_relay.find()
    assert found == server.settings()
    assert PASSWORD not in repr(found)


def test_a_password_that_is_not_given_stays(ada: Somebody, server: MailServer) -> None:
    saved(ada, server)
    again = server.form(password=MASK, sender_name="Safe")
    del again["ca_certificate"]  # which clients do not know of
    assert ada.client.post(SETTINGS, again).status == 200
    assert mail_relay.find() == server.settings(sender_name="Safe")


@pytest.mark.parametrize(
    "other",
    [
        {"host": "evil.example"},
        {"port": 1},
        {"username": "eve"},
        {"ca_certificate": Authority().pem},
    ],
)
@pytest.mark.parametrize("path", [SETTINGS, TRIAL])
def test_a_password_goes_to_no_other_server_than_it_was_given_for(
    ada: Somebody, server: MailServer, path: str, other: dict[str, Any]
) -> None:
    """Else whoever may change the settings would have it sent to a server of their own."""
    saved(ada, server)
    form = server.form(password=MASK, email_test_to="eve@example.com", **other)
    response = ada.client.post(path, form)
    assert (response.status, rules(response.body)) == (400, {"password": {"_required"}})


def test_what_was_never_given_does_not_stay(ada: Somebody, server: MailServer) -> None:
    response = ada.client.post(SETTINGS, server.form(password=MASK))
    assert (response.status, rules(response.body)) == (400, {"password": {"_required"}})


def test_a_sealed_password_opens_for_its_own_server_alone(
    ada: Somebody, server: MailServer
) -> None:
    """Whoever writes another host into the row gets no password sent there."""
    saved(ada, server)
    row = Setting.get(MAIL_RELAY)
    row.value["form"]["host"] = "localhost"
    row.save()
    response = ada.client.post(SETTINGS, server.form(password=MASK, host="localhost"))
    assert response.status == 503


# --- What is saved has worked once.


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"port": 1}, f"{HOST} cannot be reached at port 1: Connection refused."),
        ({"password": "another"}, f"{HOST} does not take the name and password (535)."),
        ({"username": None, "password": None}, f"{HOST} takes no mails of this sender (530)."),
        ({"host": "relay.invalid"}, "No host is known by the name relay.invalid."),
    ],
)
def test_what_does_not_work_is_not_saved(
    ada: Somebody, server: MailServer, digest: Any, wrong: dict[str, Any], told: str
) -> None:
    before = digest()
    response = ada.client.post(SETTINGS, server.form(**wrong))
    assert (response.status, response.message) == (400, f"The settings were not saved: {told}")
    assert digest() == before


def test_nothing_is_saved_where_no_mails_leave(
    ada: Somebody, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_cloud = mail_relay.settings._replace(function_name="keyhaven-acme-smtp")
    monkeypatch.setattr(mail_relay, "settings", in_the_cloud)
    response = ada.client.post(SETTINGS, server.form())
    assert (response.status, response.message) == (400, mail_relay.MAILS_ARE_OFF)
    monkeypatch.setattr(mail_relay, "settings", in_the_cloud._replace(mail_sender=SENDER))
    saved(ada, server)


# --- Rules.


@pytest.mark.parametrize("path", [SETTINGS, TRIAL])
def test_each_member_is_asked_for(ada: Somebody, path: str) -> None:
    missing = {"sender_name", "sender_email", "host", "tls", "port", "username", "password"}
    missing |= {"email_test_to"} if path == TRIAL else set()
    response = ada.client.post(path, {})
    assert response.status == 400
    assert rules(response.body) == {name: {"_required"} for name in missing}


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("host", "", "_empty"),
        ("host", None, "_empty"),
        ("host", "relay.example/path", "host"),
        ("host", "fe80::1%x\r\nRCPT", "host"),
        ("host", "email.eu-west-1.amazonaws.com", "relay"),
        ("port", 0, "range"),
        ("port", 65_536, "range"),
        ("port", "smtp", "numeric"),
        ("tls", False, "tls"),
        ("tls", "0", "tls"),
        ("tls", None, "_empty"),
        ("tls", "yes", "boolean"),
        ("sender_email", "nobody", "email"),
        ("sender_email", "a@example.com\r\nBcc: eve@example.com", "email"),
        ("sender_email", "a@example.com\n", "email"),
        ("sender_email", "zoë@example.com", "ascii"),
        ("sender_name", "", "_empty"),
        ("sender_name", "Safe\r\nBcc: eve@example.com", "singleLine"),
        ("sender_name", "Safe\n", "singleLine"),
        ("sender_name", "x" * 257, "maxLength"),
        ("client", "me\r\nMAIL FROM:<eve@example.com>", "host"),
        ("client", "-", "host"),
        ("client", "me\n", "host"),
        ("username", "ada\r\nRSET", "singleLine"),
        ("username", "ada\r\n", "singleLine"),
        ("username", "x" * 257, "maxLength"),
        ("username", None, "_required"),
        ("password", "x" * 4_097, "maxLength"),
        ("password", "with\0zero", "utf8Extended"),
        ("client_id", OTHER, "ensureEmpty"),
        ("ca_certificate", "x", "certificate"),
        ("email_test_to", "dave@example.com\r\nRSET", "email"),
    ],
)
def test_what_is_wrong_is_told_by_field(ada: Somebody, field: str, value: Any, rule: str) -> None:
    """A line break in a name or an address never reaches a header or a command."""
    nobody = MailServer(1, Authority().pem)
    response = tried(ada, nobody, **{field: value})
    assert response.status == 400
    assert rule in rules(response.body)[field]


# --- The test mail.


def test_a_test_mail_is_sent_and_what_was_said_is_shown(
    ada: Somebody, server: MailServer, digest: Any
) -> None:
    before = digest()
    response = tried(ada, server)
    assert response.status == 200
    assert server.recipients == ["dave@example.com"]
    said = [each["cmd"] for each in response.body["debug"]]
    assert said[0] == f"CONNECT {HOST}:{server.port}"
    assert "AUTH PLAIN ***" in said
    assert response.body["debug"][-2] == {
        "cmd": "data",
        "response": [
            {"code": 354, "message": "End data with <CR><LF>.<CR><LF>"},
            {"code": 250, "message": "taken"},
        ],
    }
    assert PASSWORD not in str(response.json)
    assert digest() == before


def test_by_the_stored_password_too(ada: Somebody, server: MailServer) -> None:
    saved(ada, server)
    assert tried(ada, server, password=MASK).status == 200
    assert [mail["Subject"] for mail in server.mails] == ["A test mail of Keyhaven"]


def test_what_does_not_work_is_shown_with_what_was_said(ada: Somebody, server: MailServer) -> None:
    server.says["RCPT"] = "550 who is that"
    response = tried(ada, server)
    assert response.status == 400
    assert response.message == (
        f"The test mail could not be sent: {HOST} does not take mails to this address (550)."
    )
    assert {"code": 550, "message": "who is that"} in [
        answer for each in response.body["debug"] for answer in each["response"]
    ]


def test_who_signs_in_in_vain_is_told_nothing_of_the_password(
    ada: Somebody, server: MailServer
) -> None:
    server.repeats = True
    response = tried(ada, server, password="another one")
    assert response.status == 400
    assert "another one" not in str(response.json)
    assert USERNAME not in str(response.body["debug"])


def test_a_place_that_is_not_public_is_not_asked(
    ada: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "settings", relay.settings._replace(asks_own_machine=False))
    with socket.create_server((HOST, 0)) as listening:
        listening.settimeout(0.1)
        server = MailServer(listening.getsockname()[1], Authority().pem)
        response = tried(ada, server)
        assert response.message.endswith(f"{HOST} has no address that may be asked.")
        with pytest.raises(TimeoutError):
            listening.accept()
