"""How moments look to a client."""

from __future__ import annotations

from datetime import datetime

from chalicelib.storage.base import timestamp_text


def text(moment: datetime | None) -> str | None:
    """`2026-11-21T08:00:00+00:00`, or nothing."""
    return None if moment is None else timestamp_text(moment)
