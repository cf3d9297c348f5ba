"""Which roles there are, and which can be given to somebody while nobody deletes them.

One document holds the custom ones. Whoever gives one to somebody raises the document's row, so
a role is deleted only if nobody was given it since it was seen that nobody has it.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.ids import RoleId
from chalicelib.domain.light import dataclass
from chalicelib.domain.users import roles
from chalicelib.domain.users.roles import BUILT_IN, Role
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import DELETED_ROLES, ROLES, Setting, as_read, value_of

KEY = Setting.named(ROLES)
"""The row `of` needs, to be read together with others."""
DELETED_KEY = Setting.named(DELETED_ROLES)

_DELETED = {"role_id": {"roleIsNotSoftDeleted": "The role is deleted."}}
_NO_ROLE = {"role_id": {"_existsIn": "The role does not exist.", **_DELETED["role_id"]}}
_NOT_A_ROLE = {"role_id": {"validRole": "The role cannot be given to a user."}}


@dataclass(frozen=True, slots=True)
class Known:
    """The roles there are, as they were read."""

    row: Setting | None
    custom: Mapping[RoleId, Role]

    def everything(self) -> list[Role]:
        return [*BUILT_IN, *self.custom.values()]

    def role_of(self, role_id: str) -> Role:
        """Return a user's role; one that is newer than what was read counts as `user`."""
        known = RoleId(role_id)
        return roles.BY_ID.get(known) or self.custom.get(known, roles.USER)

    def require(self, role_id: str, otherwise: str) -> RoleId:
        """Return a role that somebody can be given; the refusal has this message."""
        if broken := self.broken(role_id):
            raise Invalid(otherwise, broken)
        return RoleId(role_id)

    def broken(self, role_id: str) -> FieldErrors:
        """Why nobody can be given this role; nothing where somebody can."""
        known = RoleId(role_id)
        if known not in roles.BY_ID and known not in self.custom:
            return _DELETED if _was_there(known) else _NO_ROLE
        return _NOT_A_ROLE if known == roles.GUEST.id else {}

    def give(self, tx: Transaction, role_id: str) -> None:
        """Hold that the role somebody is given is there, and tell who is deleting it."""
        if role_id in self.custom:
            tx.update(KEY, Setting.version.add(1), provided=as_read(self.row))


BUILT_IN_ALONE = Known(None, {})


def of(rows: Rows) -> Known:
    row = rows.find(Setting, ROLES)
    return Known(row, {role.id: role for role in roles_in(row)})


def roles_in(row: Setting | None) -> list[Role]:
    """The roles a document holds."""
    return [Role.of(stored) for stored in value_of(row).get("roles", ())]


def deleted() -> list[Role]:
    """Those there were, the latest of them."""
    return roles_in(reading.read([DELETED_KEY]).find(Setting, DELETED_ROLES))


def read() -> Known:
    return of(reading.read([KEY]))


def read_for(role_id: str | None) -> Known:
    """Return the roles there are; where a built-in one is meant, only those, without a reading."""
    is_built_in = role_id is None or role_id in roles.BY_ID
    return BUILT_IN_ALONE if is_built_in else read()


def _was_there(role_id: RoleId) -> bool:
    return role_id in {role.id for role in deleted()}
