"""How public keys look to a client."""

from __future__ import annotations

from typing import Any

from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.views.times import text


def gpgkey(row: Gpgkey) -> dict[str, Any]:
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
        "key_created": text(row.key_created),
        "deleted": row.deleted,
        "created": text(row.created),
        "modified": text(row.modified),
    }


def gpgkeys(rows: list[Gpgkey]) -> list[dict[str, Any]]:
    return [gpgkey(row) for row in rows]
