"""Settings of the organisation, and other single documents, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pynamodb.attributes import (
    Attribute,
    JSONAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.constants import MAP, STRING
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.domain.ids import UserId, new_id
from chalicelib.storage.base import Check, Key, Table, TableMeta, table_name, timestamp_text
from chalicelib.storage.stamps import ModifiedAttribute

METADATA_TYPES = "metadata-types"
METADATA_KEYS = "metadata-keys"
METADATA_KEY_SET = "metadata-key-set"
"""A version that is raised when a shared metadata key is made, expires, is deleted, or is given to
the server."""
SERVER_KEY = "server-key"
"""The public half of the server's OpenPGP key."""
RESOURCE_TYPES = "resource-types"
"""Which resource types are deleted: their slugs are the row's `marks`."""
SIGNING_KEYS = "signing-keys"
"""The public half of the keys that sign access tokens, as a JWK set."""
SELF_REGISTRATION = "self-registration"
"""Whose people may register by themselves; no such row while nobody may."""
PASSWORD_POLICIES = "password-policies"  # noqa: S105 - a name
"""Which passwords clients make."""
PASSPHRASE_POLICIES = "user-passphrase-policies"  # noqa: S105 - a name
"""How strong the passphrases of users are to be."""
PASSWORD_EXPIRY = "password-expiry"  # noqa: S105 - a name
"""Whether passwords expire by themselves, and after how long; no such row while it is off."""
EXPIRY_NOTICES = "expiry-notices"
"""Of which day's passwords that expire the owners have been told, and how far of today's."""
EXPIRY_OWED = "expiry-owed"
"""Whose suspension stands while what they have read is yet to expire: the row's `owed`."""
LOCALE = "locale"
"""The language of whoever has chosen none."""
EMAIL_NOTIFICATIONS = "email-notifications"
"""Which mails are sent."""
MFA = "mfa"
"""Which providers of a second factor the organisation lets its users set up."""
MFA_POLICIES = "mfa-policies"
"""Whether a second factor is wanted of everybody, and whether devices may be remembered."""
DIRECTORY_SYNC = "directory-sync"
"""How the company's directory is asked; no such row while it is not synchronised with."""
MAIL_RELAY = "mail-relay"
"""By which server mails leave; no such row while they leave by SES."""
ROLES = "roles"
"""The custom roles there are; the row is raised when one is given to somebody."""
DELETED_ROLES = "deleted-roles"
"""Those there were."""
RBACS = "rbacs"
"""What roles are allowed and denied otherwise than by default."""
FOLDER_STRUCTURE = "folder-structure"
"""A version that is raised when it changes which folders lie in which."""
UPGRADE = "upgrade"
"""How far the rows of tables with several forms have been brought to the one that is written."""
SCIM = "scim"
"""By which token, and in whose name, a directory provisions people; no such row while none may."""
BREAK_GLASS = "break-glass"
"""Who is asked for as another administrator by those who run the service; no such row else."""
TENANT = "tenant"
"""That the tenant was founded: its first administrator is invited once."""


class MarksAttribute(Attribute[Mapping[str, str]]):
    attr_type = MAP

    def serialize(self, value: Mapping[str, str]) -> dict[str, Any]:
        return {name: {STRING: moment} for name, moment in value.items()}

    def deserialize(self, value: Mapping[str, Any]) -> Mapping[str, str]:
        return {name: moment[STRING] for name, moment in value.items()}


class Setting(Table):
    class Meta(TableMeta):
        table_name = table_name("settings")

    name = UnicodeAttribute(hash_key=True)
    value: JSONAttribute = JSONAttribute(null=True)
    marks = MarksAttribute(null=True)
    """Names, each with a moment; one of them can be a condition of a transaction."""
    owed = UnicodeSetAttribute(null=True)
    """What changes have left to do, in words of whoever does it; many add to it at once."""
    version = NumberAttribute(null=True)
    """Raised by what relies on the document, where whoever changes it has to know of that."""
    modified = ModifiedAttribute(null=True)
    modified_by = UnicodeAttribute(null=True)

    @classmethod
    def named(cls, name: str) -> Key:
        return Key(cls, name)

    @classmethod
    def says(cls, value: Mapping[str, Any], by: str | None = None) -> list[Action]:
        """The actions by which a row has this document."""
        return [cls.value.set(value), *cls.changed_by(by)]

    @classmethod
    def changed_by(cls, by: str | None) -> list[Action]:
        """The actions by which a row says that it was changed now, and by whom if by somebody."""
        author = [] if by is None else [cls.modified_by.set(by)]
        return [cls.modified.set(clock.now()), *author]

    @classmethod
    def mark(cls, mark: str) -> Path:
        """One mark alone, to be compared or removed."""
        return Path(["marks", mark])

    @classmethod
    def is_unmarked(cls, name: str, mark: str) -> Check:
        """The row does not have this mark, be it that there is no such row."""
        return Check(cls.named(name), cls.mark(mark).does_not_exist())

    def is_marked(self, mark: str) -> bool:
        return mark in (self.marks or {})


def value_of(row: Setting | None) -> dict[str, Any]:
    """The document, or an empty one where none was ever stored."""
    return (row and row.value) or {}


def new_value(by: UserId) -> dict[str, Any]:
    """What a document begins with: its identifier, who saved it first, and when."""
    return {"id": new_id(), "created": timestamp_text(clock.now()), "created_by": by}


def value_or_new(row: Setting | None, by: UserId) -> dict[str, Any]:
    """The document that is stored, or the beginning of a new one."""
    return new_value(by) if row is None else value_of(row)


def as_read(row: Setting | None) -> Condition:
    """The condition that a document is still the one that was read, or still none."""
    condition: Condition = Setting.absent() if row is None else Setting.value == row.value
    return condition


def version_as_read(row: Setting | None) -> Condition:
    """The condition that a row still has the version that was read, or still is not there."""
    condition: Condition = Setting.absent() if row is None else Setting.version == row.version
    return condition
