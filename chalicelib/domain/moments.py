"""Points in time as people and clients write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[T ](\d\d:\d\d)(?:(:\d\d)(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)


def find_moment(text: object) -> datetime | None:
    """`text` as a moment in UTC and whole seconds, or `None` where it is none.

    Text without an offset is read as UTC, a day as its first second.
    """
    moment = find_exact_moment(text)
    return None if moment is None else moment.replace(microsecond=0)


def find_exact_moment(text: object) -> datetime | None:
    """The same with the fraction of a second, to the microsecond."""
    match = _MOMENT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    day, minutes, seconds, fraction, offset = match.groups()
    try:
        written = datetime.fromisoformat(
            f"{day}T{minutes or '00:00'}{seconds or ''}{fraction or ''}{offset or 'Z'}"
        )
        return written.astimezone(UTC)
    except (ValueError, OverflowError):  # no such day; or before year 1 or after 9999 in UTC
        return None
