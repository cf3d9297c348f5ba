"""The time, asked in one place, so that tests can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_source: Callable[[], datetime] = lambda: datetime.now(UTC)  # noqa: E731


def now() -> datetime:
    """The present moment in UTC, in whole seconds: what rows hold and answers show."""
    return _source().replace(microsecond=0)


def timestamp() -> int:
    """Seconds since 1970: what tokens and expiries count in."""
    return int(_source().timestamp())


def nanoseconds() -> int:
    """Nanoseconds since 1970, as fine as the clock is."""
    return (_source() - _BEGINNING) // timedelta(microseconds=1) * 1000


def set_source(source: Callable[[], datetime]) -> Callable[[], datetime]:
    """Ask `source` from now on; returns the one asked so far. For tests."""
    global _source
    _source, previous = source, _source
    return previous
