"""Points in time as people and clients write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[T ](\d\d:\d\d)(?:(:\d\d)(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)

_GENERALIZED = re.compile(
    r"(\d{4})(\d\d)(\d\d)(\d\d)(?:(\d\d)(\d\d)?)?(?:[.,]\d{1,9})?(?:(Z)|([+-])(\d\d)(\d\d)?)",
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


def find_generalized_time(text: object) -> datetime | None:
    """The moment, in UTC and whole seconds, as LDAP writes one (RFC 4517: `20310203040506Z`).

    A fraction is that of a second and left out: servers write all three of hours, minutes, seconds.
    """
    match = _GENERALIZED.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second, _, sign, hours, minutes = match.groups()
    offset = f"{sign}{hours}:{minutes or '00'}" if sign else "Z"
    return find_moment(f"{year}-{month}-{day}T{hour}:{minute or '00'}:{second or '00'}{offset}")
