"""How public keys look to a client: from rows as DynamoDB sent them, since lists are long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from chalicelib.tables.users.gpgkeys import Gpgkey, GpgkeyRow
from chalicelib.views.shapes import Moment, Uuid


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
    return gpgkey_of(row.row)


def gpgkey_of(row: GpgkeyRow) -> GpgkeyJson:
    return {
        "id": row["id"]["S"],
        "user_id": row["user_id"]["S"],
        "armored_key": row["armored_key"]["S"],
        "bits": int(row["bits"]["N"]),
        "uid": row["uid"]["S"],
        "key_id": row["key_id"]["S"],
        "fingerprint": row["fingerprint"]["S"],
        "type": row["type"]["S"],
        "expires": row["expires"]["S"] if "expires" in row else None,
        "key_created": row["key_created"]["S"],
        "deleted": row["deleted"]["BOOL"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
    }


def gpgkeys(rows: Sequence[GpgkeyRow]) -> list[GpgkeyJson]:
    return [gpgkey_of(row) for row in rows]
