"""Users: who they are, and on which conditions one may sign in, be given something, administer.

A user's version is raised by every change of their memberships, and by their deletion.
What may change without raising it is declared `unversioned`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NotRequired, TypedDict

from pynamodb.attributes import (
    Attribute,
    BooleanAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.constants import MAP
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from chalicelib.domain.actor import Lock
from chalicelib.domain.ids import GroupId, RoleId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.domain.users import roles
from chalicelib.storage.base import (
    Check,
    Key,
    TableMeta,
    TimestampAttribute,
    table_name,
    timestamp_text,
)
from chalicelib.storage.changes.unversioned import unversioned
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Entries, Flag, Number, Text, Texts
from chalicelib.storage.versioned import Versioned, VersionedRow

SOON = timedelta(minutes=5)
"""By how much a browser's clock may be ahead when it says «now»."""


class BelongingRow(TypedDict):
    """A membership as DynamoDB sends it inside the user's own row."""

    id: Text
    is_admin: Flag
    created: Text


class UserRow(VersionedRow):
    """A user as DynamoDB sends them."""

    id: Text
    username: Text
    role_id: Text
    active: Flag
    deleted: Flag
    disabled: NotRequired[Text]
    profile_id: Text
    first_name: Text
    last_name: Text
    avatar_id: NotRequired[Text]
    avatar_created: NotRequired[Text]
    gpgkey_id: NotRequired[Text]
    locale: NotRequired[Text]
    theme: NotRequired[Text]
    last_logged_in: NotRequired[Text]
    groups: Entries[BelongingRow]
    metadata_keys: NotRequired[Texts]
    session_epoch: Number
    totp: NotRequired[Text]
    totp_verified: NotRequired[Text]
    totp_step: NotRequired[Number]
    second_factor_epoch: NotRequired[Number]
    scim_name: NotRequired[Text]
    external_id: NotRequired[Text]
    scim_created: NotRequired[Text]
    created: Text
    modified: Text


@dataclass(frozen=True, slots=True)
class Belonging:
    """A membership as the user's own row tells of it."""

    id: str
    is_admin: bool
    created: datetime


def managed_by(user: UserRow | None) -> set[str]:
    """The groups that a user manages, by the row as it was read; nobody is no manager."""
    entries = {} if user is None else user["groups"]["M"]
    return {group_id for group_id, entry in entries.items() if entry["M"]["is_admin"]["BOOL"]}


class GroupsAttribute(Attribute[Mapping[str, Belonging]]):
    """The user's memberships by group: what their permissions through groups rest on."""

    attr_type = MAP

    def serialize(self, value: Mapping[str, Belonging]) -> dict[str, Any]:
        return {group_id: {MAP: _to_row(belonging)} for group_id, belonging in value.items()}

    def deserialize(self, value: Mapping[str, Any]) -> Mapping[str, Belonging]:
        return {group_id: _from_row(entry[MAP]) for group_id, entry in value.items()}


def _to_row(belonging: Belonging) -> BelongingRow:
    return {
        "id": {"S": belonging.id},
        "is_admin": {"BOOL": belonging.is_admin},
        "created": {"S": timestamp_text(belonging.created)},
    }


def _from_row(row: BelongingRow) -> Belonging:
    created = datetime.fromisoformat(row["created"]["S"])
    return Belonging(row["id"]["S"], row["is_admin"]["BOOL"], created)


class User(Versioned, Typed[UserRow]):
    class Meta(TableMeta):
        table_name = table_name("users")

    id = UnicodeAttribute(hash_key=True)
    username = UnicodeAttribute()
    role_id = unversioned(UnicodeAttribute())
    active = unversioned(BooleanAttribute(default=False))
    """Whether the user has completed the setup."""
    deleted = BooleanAttribute(default=False)
    disabled = unversioned(TimestampAttribute(null=True))
    """From when on the user is suspended; may lie ahead."""
    profile_id = UnicodeAttribute()
    first_name = unversioned(UnicodeAttribute())
    last_name = unversioned(UnicodeAttribute())
    avatar_id = unversioned(UnicodeAttribute(null=True))
    avatar_created = unversioned(TimestampAttribute(null=True))
    gpgkey_id = unversioned(UnicodeAttribute(null=True))
    locale = unversioned(UnicodeAttribute(null=True))
    theme = unversioned(UnicodeAttribute(null=True))
    last_logged_in = unversioned(TimestampAttribute(null=True))
    groups = GroupsAttribute(default=dict)
    metadata_keys = unversioned(UnicodeSetAttribute(null=True))
    """The shared metadata keys they have been given a copy of, deleted ones among them."""
    session_epoch = unversioned(NumberAttribute(default=0))
    """Raised to end all sessions of the user: those of an earlier epoch are dead."""
    totp = unversioned(UnicodeAttribute(null=True))
    """What their authenticator app knows too, encrypted to the server's key."""
    totp_verified = unversioned(TimestampAttribute(null=True))
    """When they set the app up."""
    totp_step = unversioned(NumberAttribute(null=True))
    """The step of the last code that was taken: it and those before are not taken again."""
    second_factor_epoch = unversioned(NumberAttribute(null=True))
    """Raised to have the second factor given again, by each session and device."""
    scim_name = unversioned(UnicodeAttribute(null=True))
    """What the directory calls them that provisions them by SCIM; a claim says it too."""
    external_id = unversioned(UnicodeAttribute(null=True))
    """The directory's own identifier of them."""
    scim_created = unversioned(TimestampAttribute(null=True))
    """Since when it provisions them."""
    created = TimestampAttribute()
    modified = unversioned(ModifiedAttribute())

    @property
    def is_admin(self) -> bool:
        return self.role_id == roles.ADMIN.id

    def is_suspended(self, now: datetime) -> bool:
        return self.disabled is not None and self.disabled <= now

    def may_sign_in(self, now: datetime) -> bool:
        return self.active and not self.deleted and not self.is_suspended(now)

    def may_administer(self, now: datetime) -> bool:
        """What `is_administrator` requires, by the row as it was read."""
        return self.is_admin and self.may_sign_in(now)

    @classmethod
    def by_id(cls, user_id: str) -> Key:
        return Key(cls, user_id)

    @classmethod
    def is_active(cls, user_id: UserId) -> Check:
        return Check(cls.by_id(user_id), _ACTIVE)

    def still_may_sign_in(self, now: datetime) -> Check:
        """The user is active, not suspended, and their sessions were not ended meanwhile."""
        at_large = User.disabled.does_not_exist() | (User.disabled > now)
        condition = _ACTIVE & at_large & (User.session_epoch == self.session_epoch)
        return Check(self.key, condition)

    @classmethod
    def may_be_given(cls, user_id: UserId, lock: Lock | None) -> Check:
        """The user is active, and is not being deleted: they may be given something of their own.

        What holds the row otherwise, for a group they belong to, may go on beside that.
        """
        beside = None if lock is None or lock.is_closed else lock.operation
        return Check(cls.by_id(user_id), _ACTIVE, unlocked=True, beside=beside)

    @classmethod
    def belongs_to(cls, user_id: UserId, group_id: GroupId, lock: Lock | None) -> Check:
        """The user belongs to the group, and no operation that holds the row has begun since.

        It goes with `parts.is_not_committed`, where one had begun and was not committed.
        """
        beside = None if lock is None else lock.operation
        belongs = Path(["groups", group_id]).exists()
        return Check(cls.by_id(user_id), belongs, unlocked=True, beside=beside)

    @classmethod
    def is_able(cls, user_id: UserId, now: datetime) -> Check:
        """The user has completed the setup, and is not suspended."""
        return Check(cls.by_id(user_id), _ACTIVE & cls._not_suspended(now))

    @classmethod
    def is_waiting(cls, user_id: UserId, now: datetime) -> Check:
        """The user is invited, has not completed the setup and is not suspended."""
        invited = (cls.active == False) & (cls.deleted == False)
        return Check(cls.by_id(user_id), invited & cls._not_suspended(now))

    @classmethod
    def is_administrator(cls, user_id: UserId, now: datetime) -> Check:
        return cls.has_role(user_id, roles.ADMIN.id, now)

    @classmethod
    def has_role(cls, user_id: UserId, role_id: RoleId, now: datetime) -> Check:
        """The user has completed the setup, is not suspended and has this role."""
        able = cls.is_able(user_id, now)
        return Check(able.key, able.condition & (cls.role_id == role_id))

    @classmethod
    def stays_administrator(cls, user_id: UserId) -> Check:
        """The user is an active administrator, and no end of it is set."""
        stays = (cls.role_id == roles.ADMIN.id) & cls.disabled.does_not_exist()
        return Check(cls.by_id(user_id), _ACTIVE & stays)

    def as_read(self, *names: str) -> Condition:
        """The condition that the user stands, and that these fields are as they were read."""
        condition: Condition = User.deleted == False
        for name in dict.fromkeys(names):
            field, value = getattr(User, name), getattr(self, name)
            condition &= field.does_not_exist() if value is None else field == value
        return condition

    @classmethod
    def membership(cls, group_id: str, belonging: Belonging) -> list[Action]:
        """The actions by which a user's row tells of a new membership."""
        return [Path(["groups", group_id]).set({MAP: _to_row(belonging)}), cls.version.add(1)]

    @classmethod
    def managing(cls, groups: Mapping[str, bool]) -> list[Action]:
        """The actions by which it tells which of their groups they manage, and which no more."""
        flags = [(Path(["groups", id_, "is_admin"]), manages) for id_, manages in groups.items()]
        return [*(flag.set({"BOOL": manages}) for flag, manages in flags), cls.version.add(1)]

    @classmethod
    def no_membership(cls, group_id: str) -> list[Action]:
        return [Path(["groups", group_id]).remove(), cls.version.add(1)]

    @classmethod
    def ends_sessions(cls) -> list[Action]:
        """The actions that end all sessions of a user, and have their devices forgotten."""
        return [cls.session_epoch.add(1), cls.second_factor_epoch.add(1)]

    @classmethod
    def set_to(cls, values: Mapping[str, Any]) -> list[Action]:
        """The actions that give these fields these values; nothing stands for `None`."""
        fields = {name: getattr(cls, name) for name in values}
        return [
            fields[name].remove() if value is None else fields[name].set(value)
            for name, value in values.items()
        ]

    @classmethod
    def _not_suspended(cls, now: datetime) -> Condition:
        condition: Condition = cls.disabled.does_not_exist() | (cls.disabled > now)
        return condition


_ACTIVE: Condition = (User.active == True) & (User.deleted == False)
