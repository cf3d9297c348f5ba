"""Claims: what may exist once, and at the same time the directory of all that exists.

A claim's key is the kind and the value that must be unique; its existence is the
uniqueness. Reading all claims of a kind lists what has them, in order of the value,
by a consistent read and without an index.
"""

from __future__ import annotations

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.folding import folded
from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, table_name
from chalicelib.storage.versioned import Dependent

USERNAME = "username"
"""E-mail addresses of users who are not deleted, folded."""
FINGERPRINT = "fingerprint"
"""Fingerprints of users' keys, forever: `subject` is the key, `owner` its user."""

GROUP = "group"
"""Names of groups that are not deleted, folded."""
FORMER_USER = "former user"
"""Addresses of users who were deleted: `subject` is who had it last."""
FORMER_GROUP = "former group"
"""Names of groups that were deleted."""

SCIM_NAME = "scim-name"
"""What a directory calls the people whom it provisions, folded."""
_CHANGED = frozenset({GROUP, SCIM_NAME})
"""Names that change: then a claim goes and another one comes, in another place of the list."""


class Claim(Dependent):
    class Meta(TableMeta):
        table_name = table_name("claims")

    kind = UnicodeAttribute(hash_key=True)
    value = UnicodeAttribute(range_key=True)
    subject = UnicodeAttribute()
    owner = UnicodeAttribute(null=True)

    @classmethod
    def username(cls, address: str, user_id: str) -> Claim:
        return cls(USERNAME, folded(address), subject=user_id)

    @classmethod
    def fingerprint(cls, fingerprint: str, gpgkey_id: str, user_id: str) -> Claim:
        return cls(FINGERPRINT, fingerprint.upper(), subject=gpgkey_id, owner=user_id)

    @classmethod
    def group(cls, name: str, group_id: str) -> Claim:
        return cls(GROUP, folded(name), subject=group_id)

    @classmethod
    def former_user(cls, address: str, user_id: str) -> Claim:
        return cls(FORMER_USER, folded(address), subject=user_id)

    @classmethod
    def former_group(cls, name: str, group_id: str) -> Claim:
        return cls(FORMER_GROUP, folded(name), subject=group_id)

    @classmethod
    def scim_name(cls, name: str, user_id: str) -> Claim:
        return cls(SCIM_NAME, folded(name), subject=user_id)

    @classmethod
    def find_user_id(cls, address: str) -> str | None:
        """Whose address this is, however it is written."""
        row = reading.find(Key(cls, USERNAME, folded(address)))
        return None if row is None else str(row["subject"]["S"])

    @classmethod
    def of_kind(cls, kind: str) -> list[Claim]:
        """Return all claims of a kind, ordered by value.

        Where names change, several pages have one claim of each subject.
        """
        rows = reading.query(cls, kind, subject="subject" if kind in _CHANGED else None)
        return [cls.from_raw(row) for row in rows]
