"""What a user holds, for lists: which rows are read, and which of several permissions counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import ItemId, UserId
from chalicelib.services.items.trees import places
from chalicelib.storage import reading
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.holdings import ROOT, Holding, HoldingRow
from chalicelib.tables.items.items import ItemRow
from chalicelib.tables.items.permissions import PermissionRow

HeldPermission = tuple[str, PermissionRow]
"""One entry of an access list: the holder, and the permission as it is in the row."""
Parents = Collection[str | None]
"""Folders that something lies in; `None` among them is the root."""
MOST_PLACES = 5
"""Folders that are asked for one by one; for more, all that a user holds is read once."""


def by_item(
    actor: Actor,
    kind: str,
    ids: Collection[str] | None,
    parents: Parents | None,
    *,
    are_whole: bool = False,
) -> dict[str, HoldingRow]:
    """What the actor holds of a kind, also by changes of their groups yet to be carried out.

    The groups are read for that: their rows tell of such a change. Holdings that `are_whole` have
    secrets and tags; what is asked for by identifier always is.
    """
    holdings, _ = reading.together(
        partial(_by_item, actor.id, kind, ids, parents, are_whole),
        partial(reading.read, map(Group.by_id, actor.groups)),
    )
    return holdings


def _by_item(
    user_id: UserId,
    kind: str,
    ids: Collection[str] | None,
    parents: Parents | None,
    are_whole: bool,  # noqa: FBT001
) -> dict[str, HoldingRow]:
    wanted = None if parents is None else {each or ROOT for each in parents}
    return {
        row["item_id"]["S"]: row
        for row in _holdings(user_id, ids, wanted, are_whole)
        if row["kind"]["S"] == kind and (wanted is None or row["place"]["S"] in wanted)
    }


def _holdings(
    user_id: UserId,
    ids: Collection[str] | None,
    wanted: set[str] | None,
    are_whole: bool,  # noqa: FBT001
) -> Iterable[HoldingRow]:
    """Holdings that may be asked for, with the places that count."""
    if ids is not None:
        return places.settled_all(user_id, _of_items(user_id, ids))
    read = Holding.whole if are_whole else Holding.outlines
    if wanted is None:
        return places.settled_whole(read(user_id))
    if are_whole or ROOT in wanted or len(wanted) > MOST_PLACES:
        return _settled_whole(read(user_id), wanted)
    held = places.held_folders(user_id, wanted)
    return (row for folder in held for row in Holding.outlines(user_id, place=folder))


def _settled_whole(holdings: Sequence[HoldingRow], wanted: set[str]) -> Sequence[HoldingRow]:
    """All that a user holds with the places that count, of which some are asked for.

    The folders that say so are read along: of all for the root, where anything in them may lie.
    """
    asked = (row for row in holdings if ROOT in wanted or row["place"]["S"] in wanted)
    reading.read(places.folders_of(asked))
    return places.settled_whole(holdings)


def _of_items(user_id: UserId, ids: Collection[str]) -> list[HoldingRow]:
    items = [ItemId(item_id) for item_id in ids]
    rows = reading.read(Holding.of(user_id, item_id) for item_id in items)
    found = (Holding.among(rows, user_id, item_id) for item_id in items)
    return [row for row in found if row is not None]


def holders_of(actor: Actor) -> tuple[str, ...]:
    """Through whom the actor has permissions: as a user, and then through their groups."""
    return (actor.id, *actor.groups)


def strongest(holders: Sequence[str], row: ItemRow) -> HeldPermission | None:
    """The strongest permission that one of these has, and who; the first of equals."""
    best: HeldPermission | None = None
    permissions = row["permissions"]["M"]
    for holder in holders:
        entry = permissions.get(holder)
        if entry is not None and (best is None or type_of(entry["M"]) > type_of(best[1])):
            best = (holder, entry["M"])
    return best


def type_of(permission: PermissionRow) -> int:
    return int(permission["type"]["N"])
