"""Bodies by which a deletion hands over what would be left without an owner or a manager.

A transfer is judged in steps, of which the next asks what the one before has made of the
data: so each of its lists is read when its turn has come. An entry names who gets something
by the identifier of their permission or membership, and what they get.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import meant, uuid
from chalicelib.domain.errors import Invalid, TooLarge
from chalicelib.domain.ids import find_uuid

MOST_ENTRIES = 10_000

_NO_TRANSFER = "The transfer must be an object."
_NO_MEMBERSHIP = "The groups users identifiers must be valid UUID."
_NO_PERMISSION = "The permissions identifiers must be valid UUID."


@dataclass(frozen=True, slots=True)
class NewManager:
    id: Annotated[str, uuid]
    """Of a membership."""
    group_id: Annotated[str, uuid]


@dataclass(frozen=True, slots=True)
class NewOwner:
    id: Annotated[str, uuid]
    """Of a permission."""
    aco_foreign_key: Annotated[str, uuid]


@dataclass(frozen=True, slots=True)
class OwnersTransfer:
    owners: Annotated[list[NewOwner] | None, meant()] = None


@dataclass(frozen=True, slots=True)
class Transfer:
    managers: Annotated[list[NewManager] | None, meant()] = None
    owners: Annotated[list[NewOwner] | None, meant()] = None


@dataclass(frozen=True, slots=True)
class GroupDeletion:
    """Owners for what the group alone owns."""

    transfer: OwnersTransfer | None = None


@dataclass(frozen=True, slots=True)
class UserDeletion:
    """Managers for groups that the user alone manages, and owners for what they alone own."""

    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """What a list of a transfer names."""

    ids: frozenset[str]
    """Who gets something, by their permissions or memberships."""
    things: tuple[str | None, ...]
    """What is handed over, once for each entry."""

    def __bool__(self) -> bool:
        return bool(self.things)

    def are_for(self, things: Collection[str]) -> bool:
        """Whether there is one entry for each of these, and no other."""
        return len(self.things) == len(things) and set(self.things) == set(things)


def managers(draft: Draft[Any]) -> Entries:
    return _entries(draft, "managers", "group_id", _NO_MEMBERSHIP)


def owners(draft: Draft[Any]) -> Entries:
    return _entries(draft, "owners", "aco_foreign_key", _NO_PERMISSION)


def _entries(draft: Draft[Any], name: str, thing: str, malformed: str) -> Entries:
    rows = _rows(_transfer(draft).get(name), malformed)
    ids = [find_uuid(row.get("id")) if isinstance(row, dict) else None for row in rows]
    if None in ids:
        raise Invalid(malformed)
    return Entries(frozenset(filter(None, ids)), tuple(find_uuid(row.get(thing)) for row in rows))


def _transfer(draft: Draft[Any]) -> Mapping[str, Any]:
    """What is handed over; nothing where nothing is said of it, as in a body that is no object.

    What has to be handed over is refused to be left without an owner all the same.
    """
    transfer = draft.members.get("transfer")
    if not isinstance(transfer, dict | None):
        raise Invalid(_NO_TRANSFER)
    return transfer or {}


def _rows(sent: Any, malformed: str) -> list[Any]:
    if sent is None:
        return []
    if not isinstance(sent, list):
        raise Invalid(malformed)
    if len(sent) > MOST_ENTRIES:
        raise TooLarge(f"A request may have at most {MOST_ENTRIES} of these rows.")
    return sent
