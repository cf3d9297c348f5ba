"""What a person in a storm makes of a server that dies."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from tests.storm.people import Person, Storm
from tests.storm.world import World
from tests.support.world import make

pytestmark = pytest.mark.usefixtures("store")

WHOLE = b'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"body":1}'
PATIENCE = 10
AFTER_HEAD = WHOLE.index(b"{")


@contextmanager
def _server(answer: bytes) -> Iterator[str]:
    """One that sends as much as this, and is gone."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)

        def answer_once() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = Thread(target=answer_once, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()  # it waits no longer than the listener does


@pytest.fixture
def person_before() -> Callable[[str], Person]:
    def before(url: str) -> Person:
        ada = make.user("ada")
        world = World(ada, (), ada, (), {}, (), {})
        return Person(Storm(world, [url]), ada, random.Random(1))

    return before


def test_an_answer_that_is_all_there_is_known(person_before):
    with _server(WHOLE) as url:
        answer = person_before(url).ask("GET", "/users.json")

    assert answer is not None
    assert answer.body == 1


@pytest.mark.parametrize("sent", [0, 5, AFTER_HEAD, len(WHOLE) - 1])
def test_nobody_knows_what_became_of_a_request_whose_answer_broke_off(person_before, sent):
    with _server(WHOLE[:sent]) as url:
        person = person_before(url)

        assert person.ask("PUT", "/groups/1.json", {}) is None
        assert not person.storm.troubles
