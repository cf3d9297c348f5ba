"""What answers in a directory's place may be anything: it fills no memory, and is refused."""

# ruff: noqa: FBT001 - what answers is told whether it is asked for the first time

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest

from chalicelib import connections
from chalicelib.domain import deadline
from chalicelib.domain.directory.directory import Unreadable
from chalicelib.domain.directory.directory_settings import Connection, Kind, Transport
from chalicelib.ldap import sockets
from chalicelib.ldap.client import connected
from chalicelib.ldap.sockets import Budget

BASE = "dc=example,dc=org"
Answer = Callable[[bytes, bool], bytes]
"""Of the number of a request, and whether it is the sign-in."""


def told(tag: int, *parts: bytes) -> bytes:
    """A value of BER: its tag, how long it is, and what it is."""
    content = b"".join(parts)
    size = len(content).to_bytes(4, "big")
    return bytes([tag, 0x84]) + size + content


def message(number: bytes, *parts: bytes) -> bytes:
    return told(0x30, number, *parts)


def text(value: str | bytes) -> bytes:
    return told(0x04, value.encode() if isinstance(value, str) else value)


def result(tag: int, code: int = 0) -> bytes:
    return told(tag, bytes([0x0A, 1, code]), text(""), text(""))


def entry(name: str, **values: list[bytes]) -> bytes:
    attributes = [
        told(0x30, text(attribute.replace("_", ";range=")), told(0x31, *map(text, found)))
        for attribute, found in values.items()
    ]
    return told(0x64, text(name), told(0x30, *attributes))


def page(cookie: bytes) -> bytes:
    value = told(0x30, bytes([0x02, 1, 0]), text(cookie))
    return told(0xA0, told(0x30, text("1.2.840.113556.1.4.319"), text(value)))


SIGNED_IN, DONE = result(0x61), result(0x65)


@contextmanager
def impostor(answer: Answer) -> Iterator[Connection]:
    """A server on the loopback that answers what a test wants; how it is asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening, answer), daemon=True)
        thread.start()
        port = listening.getsockname()[1]
        kind, plain = Kind.OPENLDAP, Transport.PLAIN
        yield Connection("main", kind, "example.org", ["127.0.0.1"], port, plain, base_dn=BASE)
        thread.join(5)


def _serve(listening: socket.socket, answer: Answer) -> None:
    connection, _ = listening.accept()
    with connection:
        is_first = True
        try:
            while request := connection.recv(65_536):
                start = 2 if request[1] < 0x80 else 2 + (request[1] & 0x7F)
                number = request[start : start + 2 + request[start + 1]]
                connection.sendall(answer(number, is_first))
                is_first = False
        except OSError:
            return


def ask(connection: Connection, budget: Budget | None = None) -> list[str]:
    with connected(connection, "127.0.0.1", budget or Budget()) as session:
        return [found.name for found in session.entries(BASE, "(cn=*)", ["cn"])]


def test_what_it_says_is_read() -> None:
    def answer(number: bytes, is_first: bool) -> bytes:
        if is_first:
            return message(number, SIGNED_IN)
        return message(number, entry("cn=a", cn=[b"a"])) + message(number, DONE)

    with impostor(answer) as connection:
        assert ask(connection) == ["cn=a"]


def test_pages_without_end_are_refused() -> None:
    def answer(number: bytes, is_first: bool) -> bytes:
        if is_first:
            return message(number, SIGNED_IN)
        return message(number, DONE, page(b"more"))

    with impostor(answer) as connection, pytest.raises(Unreadable, match="more than 100,000"):
        ask(connection, Budget(entries=20))


@pytest.mark.parametrize(
    "sent",
    [
        bytes([0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF]) + b"x" * 100_000,
        b"HTTP/1.1 400 Bad Request\r\n\r\n" * 1_000,
        b"\x30\x80" * 100,
        b"",
    ],
    ids=["a message without end", "another protocol", "nothing but beginnings", "nothing"],
)
def test_what_is_no_answer_is_refused(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its end is waited for, as of what follows two of these."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.5)

    def answer(number: bytes, is_first: bool) -> bytes:
        if is_first:
            return message(number, SIGNED_IN)
        raise OSError  # the connection ends

    def ending(number: bytes, is_first: bool) -> bytes:
        return answer(number, is_first) if is_first or not sent else sent * 5

    with impostor(ending) as connection, pytest.raises(Unreadable):
        ask(connection, Budget(bytes=400_000))


def test_a_message_is_not_gathered_beyond_the_bound() -> None:
    def answer(number: bytes, is_first: bool) -> bytes:
        if is_first:
            return message(number, SIGNED_IN)
        return bytes([0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF]) + b"x" * 200_000

    with impostor(answer) as connection, pytest.raises(Unreadable, match="sends more than"):
        ask(connection, Budget(bytes=100_000))


def test_an_attribute_in_parts_is_read_whole() -> None:
    """Active Directory tells 1,500 members at once, and the others when it is asked again."""
    asked: list[bytes] = []

    def answer(number: bytes, is_first: bool) -> bytes:
        if is_first:
            return message(number, SIGNED_IN)
        asked.append(number)
        part = {"member_0-1": [b"a", b"b"]} if len(asked) == 1 else {"member_2-*": [b"c"]}
        return message(number, entry("cn=g", **part)) + message(number, DONE)

    with (
        impostor(answer) as connection,
        connected(connection, "127.0.0.1", Budget()) as session,
    ):
        [found] = session.entries(BASE, "(cn=*)", ["member"])
        assert found.values == {"member": [b"a", b"b", b"c"]}


BUSY, TOO_LONG, GONE = result(0x65, 51), result(0x65, 3), result(0x65, 32)
FIRST_PART = {"member_0-1": [b"a", b"b"]}


def in_parts(*answers: Sequence[bytes], first: dict[str, list[bytes]] = FIRST_PART) -> Answer:
    """A server that tells two members at once, and then what a test wants."""
    told_next = iter([[entry("cn=g", **first), DONE], *answers])

    def answer(number: bytes, is_first: bool) -> bytes:
        parts = [SIGNED_IN] if is_first else next(told_next, [])
        return b"".join(message(number, part) for part in parts)

    return answer


def members(answer: Answer, budget: Budget | None = None) -> Sequence[bytes]:
    with (
        impostor(answer) as connection,
        connected(connection, "127.0.0.1", budget or Budget()) as session,
    ):
        [found] = session.entries(BASE, "(cn=*)", ["member", "cn"])
    return found.values["member"]


def test_parts_are_asked_for_until_the_last() -> None:
    further = [
        [entry("cn=g", **{"Member_2-2": [b"c"]}), DONE],
        [entry("cn=g", **{"member_3-*": []}), DONE],
    ]

    assert members(in_parts(*further)) == [b"a", b"b", b"c"]


@pytest.mark.parametrize(
    "further",
    [
        *([BUSY], [TOO_LONG], [GONE], [entry("cn=g", **{"member_2-*": [b"c"]}), BUSY]),
        *([DONE], [entry("cn=g"), DONE], [entry("cn=g", member=[b"c"]), DONE]),
        *([entry("cn=g", **{"member_3-*": [b"c"]}), DONE],),
        *([entry("cn=g", **{"member_0-1": [b"a", b"b"]}), DONE],),
        *([entry("cn=g", **{"member_2-x": [b"c"]}), DONE],),
    ],
    ids=[
        *("busy", "too long", "gone", "busy after a part"),
        *("nothing", "no members", "no part", "a later part", "the same part", "no number"),
    ],
)
def test_an_attribute_of_which_a_part_is_not_told_is_refused(further: Sequence[bytes]) -> None:
    """Else a run would end the memberships of everybody in it."""
    with pytest.raises(Unreadable):
        members(in_parts(further))


def test_a_first_part_that_is_none_is_refused() -> None:
    with pytest.raises(Unreadable):
        members(in_parts(first={"member_1-*": [b"b"]}))


def test_parts_without_end_are_refused() -> None:
    further = ([entry("cn=g", **{f"member_{at}-{at}": [b"x"]}), DONE] for at in range(2, 99))

    with pytest.raises(Unreadable, match="more than 100,000"):
        members(in_parts(*further), Budget(entries=20))


def test_whoever_does_not_answer_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, plain = listening.getsockname()[1], Transport.PLAIN
        silent = Connection("main", Kind.OPENLDAP, "x", ["127.0.0.1"], port, plain)
        with pytest.raises(Unreadable, match="does not answer any more"):
            ask(silent)


def test_nothing_is_asked_that_could_end_after_the_deadline() -> None:
    with deadline.within(1), pytest.raises(Unreadable, match="takes too long"):
        sockets.opened("127.0.0.1", 389)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "::ffff:127.0.0.1", "fe80::1"]
)
def test_the_function_s_own_machine_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(sockets, "settings", replace(sockets.settings, asks_own_machine=False))
    with pytest.raises(Unreadable, match="no address that may be asked"):
        sockets.opened(host, 389)
