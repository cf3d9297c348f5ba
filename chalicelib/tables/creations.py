"""Idempotency keys: which request has made what, whose key it is, and how long it is noted.

The note of it is written in the transaction that makes the thing. So whoever repeats the
request, be it after a lost answer or at the same moment, finds it made or makes it, and it is
made once. After a week the note expires.
"""

from __future__ import annotations

from pynamodb.expressions.condition import Condition

from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict
from chalicelib.domain.light import dataclass
from chalicelib.storage import fetching
from chalicelib.tables.tokens import CREATION, Token, token_hash

KEPT = 7 * 24 * 3600
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A request that makes something, as its client names it."""

    hash: str
    digest: str
    """Tells its content from another's."""

    @classmethod
    def named(cls, sender: str, action: str, key: str, digest: str) -> Creation:
        """Of one sender and one action; others may use the same key."""
        return cls(token_hash(CREATION, f"{sender}:{action}:{key}"), digest)

    def find_made(self) -> str | None:
        """Return what it made, if it was carried out; refuse another content."""
        row = fetching.find(Token.by_hash(self.hash))
        note = None if row is None else Token.from_raw(row)
        if note is None or note.expires <= clock.timestamp():
            return None
        if note.digest != self.digest:
            raise Conflict("The idempotency key belongs to a request with another content.")
        return note.subject

    def note(self, subject: str) -> Token:
        expires = clock.timestamp() + KEPT
        return Token(self.hash, kind=CREATION, subject=subject, digest=self.digest, expires=expires)

    @staticmethod
    def is_new() -> Condition:
        """The condition that it was not carried out, or so long ago that it does not count."""
        condition: Condition = Token.absent() | (Token.expires <= clock.timestamp())
        return condition
