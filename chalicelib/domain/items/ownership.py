"""Ownership: what becomes of items and groups when some of those who have access go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass

AccessList = Mapping[str, PermissionType]
"""Who may do what with an item, by holder: a user or a group."""
Managing = Mapping[str, bool]
"""Who belongs to a group, each with whether they manage it."""


@dataclass(frozen=True, slots=True)
class Fates:
    """What becomes of items when holders go. Each item has one fate."""

    deleted: frozenset[str]
    """Nobody else has access."""
    blocking: frozenset[str]
    """Others have access, and none of them owns it."""
    kept: frozenset[str]


def fates(items: Mapping[str, AccessList], gone: Collection[str]) -> Fates:
    """Say what becomes of each item when these holders go."""
    gone = frozenset(gone)
    deleted = {item for item, access in items.items() if gone.issuperset(access)}
    orphaned = {item for item, access in items.items() if gone.issuperset(_owners(access))}
    return Fates(
        deleted=frozenset(deleted),
        blocking=frozenset(orphaned - deleted),
        kept=frozenset(items.keys() - orphaned - deleted),
    )


def with_owners(access: AccessList, owners: Collection[str]) -> AccessList:
    """An access list in which these holders own the item too."""
    return {**access, **dict.fromkeys(owners, PermissionType.OWNER)}


def is_only_member(user: str, members: Managing) -> bool:
    return set(members) == {user}


def is_only_manager(user: str, members: Managing) -> bool:
    """Whether the user manages a group that has other members, none of whom manages it."""
    managers = {member for member, manages in members.items() if manages}
    return managers == {user} and not is_only_member(user, members)


def _owners(access: AccessList) -> Iterator[str]:
    return (holder for holder, type_ in access.items() if type_ is PermissionType.OWNER)
