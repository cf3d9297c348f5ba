"""What requests about session keys are made of, and what is stored afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import cycle
from secrets import token_hex
from typing import Any

from chalicelib.tables.items.session_keys import COUNT, SessionKey
from tests.support.leaks import watch
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.world.keys import message
from tests.support.world.make import Somebody

ALL = "/metadata/session-keys.json"


def path(entry_id: str) -> str:
    return f"/metadata/session-keys/{entry_id}.json"


def blob(who: Somebody, text: str = "session keys") -> str:
    """What a client keeps: encrypted for this user."""
    return message(text, who.key.public)


def of_length(who: Somebody, length: int) -> str:
    """A message for this user of so many characters; the last of them may be blank lines."""
    text, data = next(_of_length(who.key.public, length))
    watch.keep_text(text)
    return data


_DIFFERENT = 8
"""So many of a length that none comes again where another was due."""


@cache
def _of_length(public: str, length: int) -> Iterator[tuple[str, str]]:
    """Texts and messages that are made once, and go round."""
    return cycle(_made(public, length) for _ in range(_DIFFERENT))


def _made(public: str, length: int) -> tuple[str, str]:
    overhead = len(message("", public))
    text = token_hex((length - overhead) * 48 // 65 // 2 - 100)
    data = message(text, public)
    assert length - 1000 < len(data) <= length
    return text, data.ljust(length, "\n")


def stored(store: Storage) -> list[Any]:
    """The rows of entries and of their parts, without those that count."""
    return [row for row in store.rows(SessionKey.stored_as()) if row["id"]["S"] != COUNT]


def add(who: Somebody, data: Any) -> Response:
    return who.client.post(ALL, {"data": data})


def added(who: Somebody, data: str | None = None) -> Any:
    """A new entry."""
    response = add(who, blob(who) if data is None else data)
    assert response.status == 200, response.json
    return response.body


def update(who: Somebody, entry: Any, data: Any, **members: Any) -> Response:
    """What a client sends that knows the entry as it was."""
    body = {"data": data, "modified": entry["modified"], **members}
    return who.client.put(path(entry["id"]), body)


def remove(who: Somebody, entry_id: str) -> Response:
    return who.client.delete(path(entry_id))


def listed(who: Somebody) -> Any:
    response = who.client.get(ALL)
    assert response.status == 200, response.json
    return response.body
