"""Roles. Custom ones differ from `user` in what they are allowed (`rbacs.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from chalicelib.domain.ids import RoleId, UserId, named_id
from chalicelib.domain.light import dataclass

CREATED = "2026-11-01T00:00:00+00:00"
"""Built-in roles are as old as the service."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role; moments as texts, since a custom one is kept in a document."""

    id: RoleId
    name: str
    description: str | None = None
    created: str = CREATED
    modified: str = CREATED
    created_by: UserId | None = None
    modified_by: UserId | None = None
    deleted: str | None = None
    deleted_by: UserId | None = None

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """A role as a document has it, which may say more of it than is known here."""
        return cls(**{name: what for name, what in stored.items() if name in cls.__slots__})

    def no_earlier(self, moment: str) -> str:
        """The moment, or that of the last change where a machine's clock is behind it."""
        return max(moment, self.modified)


def _built_in(name: str, description: str) -> Role:
    return Role(RoleId(named_id(f"roles.id.{name}")), name, description)


ADMIN = _built_in("admin", "Organization administrator")
GUEST = _built_in("guest", "Non logged in user")
USER = _built_in("user", "Logged in user")
BUILT_IN = (ADMIN, GUEST, USER)
BY_ID = {role.id: role for role in BUILT_IN}
