"""The server's OpenPGP key as it is published: what is encrypted to it is known by that."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.light import dataclass
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import SERVER_KEY, Setting, value_of

KEY = Setting.named(SERVER_KEY)
"""The row `public_key` needs, to be read together with others."""


@dataclass(frozen=True, slots=True)
class PublicServerKey:
    """The server's OpenPGP key, as far as messages for it are concerned."""

    fingerprint: str
    encryption_key_ids: frozenset[str]
    others: frozenset[str] = frozenset()
    """Fingerprints of all there are, while the key changes."""

    def is_own(self, fingerprint: str) -> bool:
        return fingerprint == self.fingerprint or fingerprint in self.others

    def value(self) -> dict[str, Any]:
        ids = sorted(self.encryption_key_ids)
        return {"fingerprint": self.fingerprint, "encryption_key_ids": ids}


def public_key(rows: Rows) -> PublicServerKey | None:
    """The key as it was published; nothing where it never was."""
    value = value_of(rows.find(Setting, SERVER_KEY))
    if not value:
        return None
    ids, others = value["encryption_key_ids"], value.get("fingerprints", ())
    return PublicServerKey(value["fingerprint"], frozenset(ids), frozenset(others))
