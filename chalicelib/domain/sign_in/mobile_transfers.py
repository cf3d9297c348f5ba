"""Mobile transfers: how far a phone has read what another client of its user shows it.

The private key goes from screen to camera, in pages, and never through the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

from chalicelib.domain.ids import TransferId, UserId
from chalicelib.domain.light import dataclass

START = "start"
IN_PROGRESS = "in progress"
COMPLETE = "complete"
OVER = (COMPLETE, "cancel", "error")
STATUSES = (START, IN_PROGRESS, *OVER)


@dataclass(frozen=True, slots=True)
class MobileTransfer:
    """A transfer; moments as texts, since it is kept in a document."""

    id: TransferId
    user_id: UserId
    token_id: str
    """Names its token, and opens nothing."""
    token_hash: str = field(repr=False)
    hash: str = field(repr=False)
    """SHA-512 of all pages, in hexadecimal digits: for the phone, which compares it."""
    total_pages: int
    created: str
    modified: str
    current_page: int = 0
    """Counted from 0."""
    status: str = START

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """A transfer as a document has it, which may say more of it than is known here."""
        return cls(**{name: what for name, what in stored.items() if name in cls.__slots__})

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def is_read_whole(self) -> bool:
        return self.current_page == self.total_pages - 1
