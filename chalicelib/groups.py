"""The endpoint groups: each is one or a few blueprints, and in the cloud one Lambda function.

`app.py` imports a group's routes only when it serves that group; `infra/` gives the
group's function the rights named here and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Right(Enum):
    READ = ("GetItem", "BatchGetItem", "Query", "ConditionCheckItem")
    WRITE = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    modules: tuple[str, ...]
    """Routes modules served by the group's function."""
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    holds_private_keys: bool = False

    def allows(self, action: str, table: str) -> bool:
        return (table in self.reads and action in Right.READ.value) or (
            table in self.writes and action in Right.WRITE.value
        )


_CALLER = frozenset({"users", "tokens", "settings"})
"""What verifying a caller reads: his row, his session and the public signing keys."""
_SESSION = frozenset({"tokens"})
"""What a request by cookie writes: its session's idle time."""

GROUPS = (
    Group(
        "auth",
        modules=("auth", "setup"),
        reads=_CALLER | {"claims", "gpgkeys"},
        writes=_SESSION | {"users", "gpgkeys", "claims", "action_logs", "outbox"},
        holds_private_keys=True,
    ),
    Group(
        "users",
        modules=("users", "gpgkeys", "roles", "account"),
        reads=_CALLER | {"claims", "gpgkeys", "resources"},
        writes=_SESSION | {"users", "claims", "action_logs", "outbox"},
    ),
    Group(
        "resources",
        modules=("resources", "resource_types"),
        reads=_CALLER | {"resources", "holdings", "gpgkeys", "claims", "operations"},
        writes=_SESSION | {"resources", "holdings", "settings", "action_logs", "operations"},
    ),
    Group(
        "secrets",
        modules=("secrets",),
        reads=_CALLER | {"resources", "holdings", "operations"},
        writes=_SESSION | {"resources", "holdings", "action_logs", "operations"},
    ),
    Group(
        "settings",
        modules=("settings",),
        reads=_CALLER,
        writes=_SESSION,
    ),
    Group("public", modules=("public", "avatars")),
)
CATCH_ALL = "public"
"""The least privileged group: what no endpoint answers goes there."""


def served(name: str | None) -> tuple[Group, ...]:
    """The group of that name, or every group where no name is given."""
    groups = tuple(group for group in GROUPS if name in (None, group.name))
    if not groups:
        raise ValueError(f"there is no endpoint group {name!r}")
    return groups
