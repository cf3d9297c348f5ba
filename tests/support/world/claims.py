"""Claims as they are stored."""

from __future__ import annotations

from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.tables.claims import Claim


def subject_of(kind: str, value: str) -> str | None:
    """Whose the value is, or `None` while nobody has it."""
    row = reading.find(Key(Claim, kind, value))
    return None if row is None else str(row["subject"]["S"])
