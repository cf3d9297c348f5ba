"""What answers in a directory's place may be anything: it fills no memory, and is refused."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest

from chalicelib import connections
from chalicelib.domain import deadline
from chalicelib.domain.directory.directory import Unreadable
from chalicelib.domain.directory.directory_settings import Connection, Kind, Transport
from chalicelib.ldap import sockets
from chalicelib.ldap.client import connected
from chalicelib.ldap.sockets import Budget
from tests.support.company.impostor import (
    BASE,
    DONE,
    SIGNED_IN,
    Answer,
    Request,
    entry,
    impostor,
    message,
    page,
    result,
)


def ask(connection: Connection, budget: Budget | None = None) -> list[str]:
    with connected(connection, "127.0.0.1", budget or Budget()) as session:
        return [found.name for found in session.entries(BASE, "(cn=*)", ["cn"])]


def test_what_it_says_is_read() -> None:
    def answer(request: Request) -> bytes:
        if request.is_first:
            return request.answered(SIGNED_IN)
        return request.answered(entry("cn=a", cn=[b"a"]), DONE)

    with impostor(answer) as connection:
        assert ask(connection) == ["cn=a"]


def test_pages_without_end_are_refused() -> None:
    def answer(request: Request) -> bytes:
        if request.is_first:
            return request.answered(SIGNED_IN)
        return message(request.number, DONE, page(b"more"))

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

    def answer(request: Request) -> bytes:
        if request.is_first:
            return request.answered(SIGNED_IN)
        raise OSError  # the connection ends

    def ending(request: Request) -> bytes:
        return answer(request) if request.is_first or not sent else sent * 5

    with impostor(ending) as connection, pytest.raises(Unreadable):
        ask(connection, Budget(bytes=400_000))


def test_a_message_is_not_gathered_beyond_the_bound() -> None:
    def answer(request: Request) -> bytes:
        if request.is_first:
            return request.answered(SIGNED_IN)
        return bytes([0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF]) + b"x" * 200_000

    with impostor(answer) as connection, pytest.raises(Unreadable, match="sends more than"):
        ask(connection, Budget(bytes=100_000))


def test_an_attribute_in_parts_is_read_whole() -> None:
    """Active Directory tells 1,500 members at once, and the others when it is asked again."""
    asked: list[bytes] = []

    def answer(request: Request) -> bytes:
        if request.is_first:
            return request.answered(SIGNED_IN)
        asked.append(request.number)
        part = {"member_0-1": [b"a", b"b"]} if len(asked) == 1 else {"member_2-*": [b"c"]}
        return request.answered(entry("cn=g", **part), DONE)

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

    def answer(request: Request) -> bytes:
        parts = [SIGNED_IN] if request.is_first else next(told_next, [])
        return request.answered(*parts)

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
    monkeypatch.setattr(sockets, "settings", sockets.settings._replace(asks_own_machine=False))
    with pytest.raises(Unreadable, match="no address that may be asked"):
        sockets.opened(host, 389)
