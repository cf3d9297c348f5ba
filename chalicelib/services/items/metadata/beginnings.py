"""Whether an organisation is so new that its client may set up encrypted metadata by itself."""

from __future__ import annotations

from functools import partial

from chalicelib.services.items.metadata import metadata_settings
from chalicelib.storage import reading
from chalicelib.tables.claims import USERNAME, Claim
from chalicelib.tables.items.metadata_keys import MetadataKey


def is_alone() -> bool:
    """Whether the actor, an administrator, is all there is in the organisation."""
    return len(reading.first(Claim, USERNAME, 2)) == 1


def is_untouched() -> bool:
    """Whether no settings of metadata were stored, and no key: then there are no copies either."""
    keys, rows = reading.together(
        MetadataKey.every_row, partial(reading.read, metadata_settings.KEYS)
    )
    return not keys and not any(rows.raw(key) for key in metadata_settings.KEYS)
