"""Avatars as objects: their sizes, identifiers nobody can guess, and notes of their changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from datetime import datetime

import orjson

from chalicelib.domain.ids import AvatarId, UserId, new_id
from chalicelib.domain.light import dataclass
from chalicelib.objects.storage import storage

SIDES: Mapping[str, int] = {"medium.jpg": 200, "small.jpg": 80}
"""Width and height of each picture, by the name it is asked for with."""

AVATARS, NOTES = "avatars", "avatar-changes"
"""The folders of the bucket they lie in."""


@dataclass(frozen=True, slots=True)
class Note:
    """That somebody is changing which avatar a user's row names; `None` stands for none."""

    user_id: UserId
    before: AvatarId | None
    after: AvatarId | None
    id: str = field(default_factory=new_id)


def write(avatar_id: AvatarId, pictures: Iterable[bytes]) -> None:
    """Write an avatar's pictures, in the order of `SIDES`."""
    for name, picture in zip(SIDES, pictures, strict=True):
        storage().write(_key(avatar_id, name), picture)


def find(avatar_id: AvatarId, name: str) -> bytes | None:
    return storage().find(_key(avatar_id, name))


def remove(avatar_id: AvatarId) -> None:
    for name in SIDES:
        storage().remove(_key(avatar_id, name))


def write_note(note: Note) -> None:
    storage().write(_note_key(note.id), orjson.dumps(asdict(note)))


def remove_note(note: Note) -> None:
    storage().remove(_note_key(note.id))


def notes(written_before: datetime) -> list[str]:
    """Where the notes lie that were written before a moment."""
    return [each.key for each in storage().stored(NOTES) if each.modified < written_before]


def find_note(key: str) -> Note | None:
    content = storage().find(key)
    return None if content is None else Note(**orjson.loads(content))


def _key(avatar_id: AvatarId, name: str) -> str:
    return f"{AVATARS}/{avatar_id}/{name}"


def _note_key(note_id: str) -> str:
    return f"{NOTES}/{note_id}.json"
