"""Bodies by which a deletion hands over what would be left without an owner or a manager.

A transfer is judged in steps, of which the next asks what the one before has made of the
data: so what is wrong with a list is kept until its turn has come. An entry names who gets
something by the identifier of their permission or membership, and what they get.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import listed
from chalicelib.bodies.rules import meant, uuid
from chalicelib.domain import changes
from chalicelib.domain.changes import HandedOver
from chalicelib.domain.errors import Invalid, Refusal
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass

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


def read_transfer(draft: Draft[Any]) -> changes.Transfer:
    """What is handed over: nothing where nothing is said of it, as in a body that is no object.

    What has to be handed over is refused to be left without an owner all the same.
    """
    transfer = draft.members.get("transfer")
    if not isinstance(transfer, dict | None):
        raise Invalid(_NO_TRANSFER)
    return changes.Transfer(
        owners=_read(transfer, "owners", "aco_foreign_key", Invalid(_NO_PERMISSION)),
        managers=_read(transfer, "managers", "group_id", Invalid(_NO_MEMBERSHIP)),
    )


def _read(
    transfer: Mapping[str, Any] | None, name: str, thing: str, malformed: Invalid
) -> HandedOver | Refusal:
    try:
        rows = listed((transfer or {}).get(name), MOST_ENTRIES, malformed)
    except Refusal as refusal:
        return refusal
    ids = [find_uuid(row.get("id")) if isinstance(row, dict) else None for row in rows]
    if None in ids:
        return malformed
    things = tuple(find_uuid(row.get(thing)) for row in rows)
    return HandedOver(frozenset(filter(None, ids)), things)
