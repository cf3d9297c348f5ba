"""The built-in roles. Custom roles differ from `user` only in what clients show."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.ids import RoleId, named_id

CREATED = "2026-11-01T00:00:00+00:00"
"""Built-in roles are as old as the service."""


@dataclass(frozen=True, slots=True)
class Role:
    id: RoleId
    name: str
    description: str


def _built_in(name: str, description: str) -> Role:
    return Role(RoleId(named_id(f"roles.id.{name}")), name, description)


ADMIN = _built_in("admin", "Organization administrator")
GUEST = _built_in("guest", "Non logged in user")
USER = _built_in("user", "Logged in user")
BUILT_IN = (ADMIN, GUEST, USER)
BY_ID = {role.id: role for role in BUILT_IN}
