"""In which order avatars change with the rows that name them, and what is removed of them later.

The pictures are written before the row names them, and removed once it no longer does: a profile
never leads to a picture that is not there. Rows and objects cannot be changed in one transaction,
so a note lies beside the objects meanwhile. Where a process dies, the sweeper finds the note, and
removes the avatars in it that the row does not name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.errors import Invalid, Refusal, Unavailable
from chalicelib.domain.ids import AvatarId, UserId, find_uuid, new_id
from chalicelib.domain.operator import rounds
from chalicelib.domain.uploads import Upload
from chalicelib.objects import avatars
from chalicelib.objects.avatars import Note
from chalicelib.storage import reading
from chalicelib.tables.users.users import User


def find(avatar: str, name: str) -> bytes | None:
    """Return a picture of an avatar, as JPEG; None where the two parts of the path name none."""
    avatar_id = find_uuid(avatar)
    if avatar_id is None or name not in avatars.SIDES:
        return None
    return avatars.find(AvatarId(avatar_id), name)


@contextmanager
def replaced(user: User, upload: Upload) -> Iterator[Mapping[str, Any]]:
    """Tell what the user's row is to say of a new avatar, for the block that writes the row."""
    pictures = _pictures(upload)
    avatar_id = AvatarId(new_id())
    with _changed(user, avatar_id):
        avatars.write(avatar_id, pictures)
        yield {"avatar_id": avatar_id, "avatar_created": clock.now()}


def removed(user: User) -> AbstractContextManager[None]:
    """Remove the user's avatar after the block that deletes the user.

    The block's write holds `user.as_read("avatar_id")`: they might have sent another meanwhile.
    """
    return nullcontext() if user.avatar_id is None else _changed(user, None)


def sweep(written_before: datetime) -> Counter[str]:
    """End the changes that were begun before a moment; say how many, and how many `failed`."""
    return rounds.of(avatars.notes(written_before), _end_left_behind, name=str)


def _end_left_behind(key: str) -> str:
    note = avatars.find_note(key)
    if note is not None:
        user = reading.read([User.by_id(note.user_id)]).find(User, note.user_id)
        named = None if user is None or user.deleted else user.avatar_id
        _end(note, *{note.before, note.after} - {named})
    return "ended"


@contextmanager
def _changed(user: User, after: AvatarId | None) -> Iterator[None]:
    """Of the former and the new avatar, keep the one that the row names after the block.

    Both are left to the sweeper when it is unknown whether the row was written.
    """
    before = None if user.avatar_id is None else AvatarId(user.avatar_id)
    note = Note(UserId(user.id), before, after)
    avatars.write_note(note)
    try:
        yield
    except Unavailable:
        raise
    except Refusal:
        _try_to_end(note, after)
        raise
    _try_to_end(note, before)


def _try_to_end(note: Note, unused: AvatarId | None) -> None:
    """What cannot be removed now, the sweeper removes."""
    with suppress(Unavailable):
        _end(note, unused)


def _end(note: Note, *unused: AvatarId | None) -> None:
    for avatar_id in unused:
        if avatar_id is not None:
            avatars.remove(avatar_id)
    avatars.remove_note(note)


def _pictures(upload: Upload) -> list[bytes]:
    # Pillow would take 30 ms of each cold start of the group, for what is seldom asked; the
    # sweeper, which ends what was left here, would load bodies for one message.
    from chalicelib.bodies.users.users import INVALID  # noqa: PLC0415
    from chalicelib.objects import pictures  # noqa: PLC0415

    try:
        return pictures.squares(upload.content, avatars.SIDES.values())
    except pictures.NoPicture as problem:
        broken = {"profile": {"avatar": {"file": {"validMimeType": str(problem)}}}}
        raise Invalid(INVALID, broken) from problem
