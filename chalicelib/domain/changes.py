"""Changes as values: what is to become of access lists, users, groups and what somebody leaves.

A service reads a body into a change and applies it; whoever has no body makes the same change.

Entries are applied one after the other, and a client hears of the first that fails. So an entry
that was sent wrongly is its refusal, which is raised when its turn comes (`due`). Positions are
where entries stand in a request, for refusals that stored rows give rise to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from datetime import datetime
from typing import Literal, TypedDict, TypeVar

from chalicelib.domain.directory.scim.provisioned import ProvisionedGroup
from chalicelib.domain.errors import Refusal
from chalicelib.domain.ids import ItemId, RoleId, UserId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass

T = TypeVar("T")


def due(entry: T | Refusal) -> T:
    """Return an entry whose turn has come; raises it where it is a refusal."""
    if isinstance(entry, Refusal):
        raise entry
    return entry


# Who has access to an item


@dataclass(frozen=True, slots=True)
class Given:
    """Somebody is given a permission."""

    aro: Literal["User", "Group"]
    holder: str
    type: PermissionType
    position: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """A permission becomes another type; nothing where it stays, and is only to be there."""

    permission_id: str | None
    """Nothing where what was sent is no identifier: there is no such permission."""
    type: PermissionType | Refusal | None
    position: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """A permission is taken away."""

    permission_id: str | None
    position: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class SecretFor:
    """A secret for a user who has access, or gains it."""

    user_id: UserId
    data: str
    position: str = ""


PermissionChange = Given | Changed | Taken


@dataclass(frozen=True, slots=True, repr=False)
class Sharing:
    permissions: Sequence[PermissionChange | Refusal]
    secrets: Sequence[SecretFor | Refusal] | Refusal = ()
    """One for each user who gains access. Of users who have it already, they are exchanged."""


# Users


@dataclass(frozen=True, slots=True)
class Provisioned:
    """What a directory calls a user whom it provisions by SCIM."""

    name: str
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class NewUser:
    username: str
    first_name: str
    last_name: str
    role_id: RoleId | None = None
    """Nothing where they are a user like any other."""
    is_suspended: bool = False
    """Whether they are invited later, when they are not any more."""
    provisioned: Provisioned | None = None


class UserChange(TypedDict, total=False):
    """What is to become of a user; what is not named stays as it is."""

    first_name: str
    last_name: str
    role_id: RoleId
    disabled: datetime | None
    """From when on they are suspended; nothing where they are not."""
    avatar_id: str
    avatar_created: datetime
    scim_name: str
    external_id: str | None
    scim_created: datetime


# Groups


@dataclass(frozen=True, slots=True, repr=False)
class SecretOf:
    """A secret of an item, for a user who joins a group it is shared with."""

    item_id: ItemId
    data: str


@dataclass(frozen=True, slots=True)
class Addition:
    user_id: UserId
    is_admin: bool
    position: int = 0
    secrets: Sequence[SecretOf | Refusal] = ()
    """One of each item that they had no access to before, and that has secrets."""
    membership_id: str = field(default_factory=new_id, compare=False)


@dataclass(frozen=True, slots=True)
class RoleChange:
    membership_id: str
    is_admin: bool
    position: int = 0


@dataclass(frozen=True, slots=True)
class Removal:
    membership_id: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class NewGroup:
    name: str
    members: Sequence[Addition]
    provisioned: ProvisionedGroup | None = None


@dataclass(frozen=True, slots=True)
class GroupChange:
    name: str | None = None
    """Nothing where the group keeps its own."""
    additions: Sequence[Addition] = ()
    roles: Sequence[RoleChange] = ()
    removals: Sequence[Removal] = ()
    provisioned: ProvisionedGroup | None = None
    """Nothing where that stays as it is."""

    @property
    def moves(self) -> bool:
        """Whether somebody joins or leaves."""
        return bool(self.additions or self.removals)


# What somebody leaves


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What others take over, and by which of their permissions or memberships they do."""

    ids: frozenset[str] = frozenset()
    """Who gets something, by their permissions or memberships."""
    things: tuple[str | None, ...] = ()
    """What is handed over, once for each entry; nothing for what is no identifier."""

    def __bool__(self) -> bool:
        return bool(self.things)

    def are_for(self, things: Collection[str]) -> bool:
        """Whether there is one entry for each of these, and no other."""
        return len(self.things) == len(things) and set(self.things) == set(things)


NOTHING = HandedOver()


@dataclass(frozen=True, slots=True)
class Transfer:
    owners: HandedOver | Refusal = NOTHING
    """Of items that would be left without one."""
    managers: HandedOver | Refusal = NOTHING
    """Of groups that would be left without one."""

    @property
    def owner_permission_ids(self) -> frozenset[str]:
        """The permissions whose holders become owners; none of a list that is to be refused."""
        return frozenset() if isinstance(self.owners, Refusal) else self.owners.ids
