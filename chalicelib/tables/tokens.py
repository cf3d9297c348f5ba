"""Tokens, by their hash, and when one counts: sessions, refresh tokens, links, nonces and the like.

DynamoDB removes expired rows up to two days late, so every question asked here also
looks at the time.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.storage.base import Key, Table, TableMeta, TimestampAttribute, table_name

COOKIE = "cookie"
"""A session named by a cookie."""
BEARER = "bearer"
"""A session named by access tokens, kept alive by refresh tokens."""
REFRESH = "refresh"
REGISTER = "register"
RECOVER = "recover"
LOGIN = "login"
CHALLENGE = "challenge"
SOURCE = "source"
CREATION = "creation"
"""What a client names by an idempotency key (`creations.py`)."""
SECOND_FACTOR = "second-factor"
"""One that a device is remembered by; the name of such a row is also what a session notes."""
WRONG_CODES = "wrong-codes"
"""Of one user in one hour."""
LINKS = "links"
"""The same of links that were asked for."""
ALERT = "alert"
PROVISIONER = "scim"
"""What a directory shows; its digest is in the settings, and it has no row of its own."""
TRANSFER = "transfer"
"""A mobile transfer, known by its identifier."""
TRANSFER_TOKEN = "mobile_transfer"  # noqa: S105 - a kind
"""What a phone shows for one; it has no row of its own."""


class Token(Table):
    class Meta(TableMeta):
        table_name = table_name("tokens")

    hash = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute()
    user_id = UnicodeAttribute(null=True)
    expires = NumberAttribute()
    """Seconds since 1970; DynamoDB's time to live."""
    epoch = NumberAttribute(null=True)
    """Of a session: the user's `session_epoch` it belongs to. Of a remembered second factor: how
    often the organisation had stopped remembering."""
    second_factor = UnicodeAttribute(null=True)
    """Of a session: the name of the second factor that was given in it."""
    second_factor_until = NumberAttribute(null=True)
    """Of a session: when what was given has to be given again, unless the device is remembered by
    it, in seconds since 1970; where this is not said, by releases before, not until the session
    ends."""
    session = UnicodeAttribute(null=True)
    """Of a refresh token: the row of its session."""
    spent = TimestampAttribute(null=True)
    """When the token was used up, or its session ended."""
    salt = UnicodeAttribute(null=True)
    """Of a refresh token: what its successor is derived from, together with the token."""
    successor = UnicodeAttribute(null=True)
    """Of a spent refresh token: the hash of the one given in its place."""
    failures = NumberAttribute(null=True)
    """Of a source: how many failed sign-ins in the minute the row stands for. Of a session or an
    hour of a user: how many wrong codes, or links."""
    digest = UnicodeAttribute(null=True)
    """Of a creation: what tells the content of the request from another's."""
    subject = UnicodeAttribute(null=True)
    """Of a creation: the identifier of what was made."""
    transfer: JSONAttribute = JSONAttribute(null=True)
    """Of a mobile transfer: the document that it is (`domain/sign_in/mobile_transfers.py`)."""

    def is_live(self, kind: str, now: int) -> bool:
        return self.kind == kind and not self.is_spent and now < self.expires

    @property
    def is_spent(self) -> bool:
        return self.spent is not None

    def knows_second_factor(self, name: str, now: int) -> bool:
        """Of a session: whether the one of this name was given in it, and still counts."""
        until = self.second_factor_until
        is_same = hmac.compare_digest(name, self.second_factor or "")
        return is_same and (until is None or now < until)

    @classmethod
    def by_hash(cls, token_hash: str) -> Key:
        return Key(cls, token_hash)

    def is_untried(self, now: int) -> Condition:
        """The condition that a session stands, and that no wrong code was given in it meanwhile."""
        field, counted = Token.failures, self.failures
        as_read = field.does_not_exist() if counted is None else field == counted
        untried: Condition = Token.unspent(self.kind, now) & as_read
        return untried

    @classmethod
    def has_failed_less(cls, most: int) -> Condition:
        """The condition that fewer failures are counted, or none as there is no row yet."""
        less: Condition = cls.failures.does_not_exist() | (cls.failures < most)
        return less

    @classmethod
    def unspent(cls, kind: str, now: int) -> Condition:
        fresh: Condition = (cls.kind == kind) & cls.spent.does_not_exist() & (cls.expires > now)
        return fresh


def token_hash(kind: str, value: str) -> str:
    """The row of a token: kinds never mix, since the kind goes into the hash."""
    return sha256(f"{kind}:{value}".encode()).hexdigest()
