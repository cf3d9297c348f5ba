"""Public keys: everybody's, for everybody who is signed in."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import GpgkeyId
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.claims import FINGERPRINT, Claim
from chalicelib.tables.users.gpgkeys import Gpgkey, GpgkeyRow


def search(
    *, is_deleted: bool, modified_after: datetime | None, users: Collection[str] | None
) -> list[GpgkeyRow]:
    """Return keys in storage order; each filter that is given narrows the list."""
    claims = Claim.of_kind(FINGERPRINT)
    keys = [Gpgkey.by_id(c.subject) for c in claims if users is None or c.owner in users]
    rows = reading.read(keys)
    after = "" if modified_after is None else timestamp_text(modified_after)
    found = (Gpgkey.among(rows, key) for key in keys)
    return [
        row
        for row in found
        if row is not None and row["deleted"]["BOOL"] == is_deleted and row["modified"]["S"] > after
    ]


def view(gpgkey_id: GpgkeyId) -> Gpgkey:
    row = reading.read([Gpgkey.by_id(gpgkey_id)]).find(Gpgkey, gpgkey_id)
    if row is None:
        raise NotFound("The OpenPGP key does not exist.")
    return row
