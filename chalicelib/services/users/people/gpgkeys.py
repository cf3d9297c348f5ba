"""Public keys: everybody's, for everybody who is signed in."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from chalicelib.domain import deadline
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import GpgkeyId
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.claims import FINGERPRINT, Claim
from chalicelib.tables.users.gpgkeys import Gpgkey, GpgkeyRow

_LATE = timedelta(seconds=2 * deadline.REQUEST + 10)
"""How much earlier than a list's `servertime` the `modified` of a key may be that it lacked.

As long as the setup took, and the list; and some seconds by which clocks differ.
"""


def search(
    *,
    is_deleted: bool,
    modified_after: datetime | None,
    synced_at: datetime | None,
    users: Collection[str] | None,
) -> list[GpgkeyRow]:
    """Return keys in storage order; each filter that is given narrows the list.

    `synced_at` is the `servertime` of a list that the client has: what may have been missing
    there is shown again.
    """
    claims = Claim.of_kind(FINGERPRINT)
    keys = [Gpgkey.by_id(c.subject) for c in claims if users is None or c.owner in users]
    rows = reading.read(keys)
    since = None if synced_at is None else synced_at - _LATE
    after = max(map(_text, (modified_after, since)))
    found = (Gpgkey.among(rows, key) for key in keys)
    return [
        row
        for row in found
        if row is not None and row["deleted"]["BOOL"] == is_deleted and row["modified"]["S"] > after
    ]


def _text(moment: datetime | None) -> str:
    return "" if moment is None else timestamp_text(moment)


def view(gpgkey_id: GpgkeyId) -> Gpgkey:
    row = reading.read([Gpgkey.by_id(gpgkey_id)]).find(Gpgkey, gpgkey_id)
    if row is None:
        raise NotFound("The OpenPGP key does not exist.")
    return row
