"""How public keys look to a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from chalicelib.tables.base import timestamp_text
from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.times import text


class GpgkeyJson(TypedDict):
    id: Uuid
    user_id: Uuid
    armored_key: str
    bits: int
    uid: str
    key_id: str
    fingerprint: str
    type: str
    expires: Moment | None
    key_created: Moment
    deleted: bool
    created: Moment
    modified: Moment


def gpgkey(row: Gpgkey) -> GpgkeyJson:
    return {
        "id": row.id,
        "user_id": row.user_id,
        "armored_key": row.armored_key,
        "bits": int(row.bits),
        "uid": row.uid,
        "key_id": row.key_id,
        "fingerprint": row.fingerprint,
        "type": row.type,
        "expires": text(row.expires),
        "key_created": timestamp_text(row.key_created),
        "deleted": row.deleted,
        "created": timestamp_text(row.created),
        "modified": timestamp_text(row.modified),
    }


def gpgkeys(rows: Sequence[Gpgkey]) -> list[GpgkeyJson]:
    return [gpgkey(row) for row in rows]
