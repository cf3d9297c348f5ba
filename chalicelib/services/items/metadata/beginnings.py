"""Whether an organisation is so new that its client may set up encrypted metadata by itself."""

from __future__ import annotations

from functools import partial

from chalicelib.services.items.metadata import metadata_settings
from chalicelib.storage import reading
from chalicelib.storage.base import RawRow
from chalicelib.tables.claims import USERNAME, Claim
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.settings import Setting


def is_alone() -> bool:
    """Whether the actor, an administrator, is all there is in the organisation."""
    return len(reading.first(Claim, USERNAME, 2)) == 1


def is_first_setup(stored: Setting | RawRow | None) -> bool:
    """Whether a change belongs to the first setup, of which no mail is sent.

    It replaces nothing that is stored, and the actor is alone. The catalogue also asks for an
    organisation without resources. That is not read here: whoever is alone would only be told
    of what they do themselves.
    """
    return stored is None and is_alone()


def is_untouched() -> bool:
    """Whether no settings of metadata were stored, and no key: then there are no copies either."""
    keys, rows = reading.together(
        MetadataKey.every_row, partial(reading.read, metadata_settings.KEYS)
    )
    return not keys and not any(rows.raw(key) for key in metadata_settings.KEYS)
