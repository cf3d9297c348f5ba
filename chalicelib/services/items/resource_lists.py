"""Lists of resources: from what a user holds to the items, never the other way.

A list has thousands of rows: they stay as DynamoDB sent them, and each becomes its part of
the answer as soon as it has come.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import ResourceId
from chalicelib.domain.permissions import PermissionType
from chalicelib.services.access import grants
from chalicelib.services.items.resource_rules import TYPES, deleted_types
from chalicelib.services.items.resources import SeenResource
from chalicelib.storage import reading
from chalicelib.storage.base import Key, RawRow, Table
from chalicelib.storage.reading import Rows
from chalicelib.tables.groups import Group
from chalicelib.tables.holdings import RESOURCE, ROOT, Holding, HoldingRow
from chalicelib.tables.permissions import PermissionRow
from chalicelib.tables.resources import Resource, ResourceRow
from chalicelib.tables.settings import Setting

Shown = TypeVar("Shown")
HeldPermission = tuple[str, PermissionRow]
"""One entry of an access list: the holder, and the permission as it is in the row."""
MOST_PLACES = 5
"""Folders that are asked for one by one; for more, all that a user holds is read once."""


@dataclass(frozen=True, slots=True)
class WantedResources:
    """Which of the resources they may see a user asks for; all that is set must hold."""

    ids: Collection[str] | None = None
    parents: Collection[str | None] | None = None
    """Folders they lie in; `None` among them is the root."""
    is_favorite: bool | None = None
    is_owned_by_me: bool = False
    is_shared_with_me: bool = False
    group_id: str | None = None
    """Group they are shared with."""
    metadata_key_type: str | None = None


def search(
    actor: Actor,
    wanted: WantedResources,
    show: Callable[[SeenResource, HeldPermission], Shown],
    *,
    with_secrets: bool,
) -> list[Shown]:
    """Return what `show` makes of the resources the actor may see and asks for, in no order.

    It gets each with the permission through which the actor may do most.
    """
    holdings = _all_holdings(actor, wanted, with_secrets)
    holders = holders_of(actor)
    settings: dict[Key, RawRow] = {}
    unseen: list[ResourceRow] = []

    def make(table: type[Table], row: RawRow) -> tuple[str, Shown] | None:
        if table is Setting:
            settings[TYPES] = row
            return None
        resource = Resource.typed(row)
        permission = strongest(holders, resource)
        if permission is None:
            unseen.append(resource)
            return None
        if not _is_wanted(resource, permission[1], wanted):
            return None
        seen = SeenResource(resource, holdings[ResourceId(resource["id"]["S"])])
        return resource["resource_type_id"]["S"], show(seen, permission)

    made = reading.gather(Resource, holdings, make, TYPES)
    if any(not row["deleted"]["BOOL"] for row in unseen):  # gone, or reached in another way now
        grants.require_same_groups(actor)
    hidden = deleted_types(Rows.of(settings))
    return [shown for type_id, shown in made if type_id not in hidden]


def holders_of(actor: Actor) -> tuple[str, ...]:
    """Through whom the actor has permissions: as a user, and then through their groups."""
    return (actor.id, *actor.groups)


def strongest(holders: Sequence[str], row: ResourceRow) -> HeldPermission | None:
    """The strongest permission that one of these has, and who; the first of equals."""
    best: HeldPermission | None = None
    permissions = row["permissions"]["M"]
    for holder in holders:
        entry = permissions.get(holder)
        if entry is not None and (best is None or _type(entry["M"]) > _type(best[1])):
            best = (holder, entry["M"])
    return best


def _type(permission: PermissionRow) -> int:
    return int(permission["type"]["N"])


def _is_owner(permission: PermissionRow) -> bool:
    return _type(permission) == PermissionType.OWNER


def _all_holdings(
    actor: Actor,
    wanted: WantedResources,
    with_secrets: bool,  # noqa: FBT001
) -> dict[ResourceId, HoldingRow]:
    """What the actor holds, also by changes of their groups that are yet to be carried out.

    The groups are read for that: their rows tell of such a change.
    """
    holdings, _ = reading.together(
        partial(_holdings_by_item, actor, wanted, with_secrets),
        partial(reading.read, map(Group.by_id, actor.groups)),
    )
    return dict(holdings)


def _holdings_by_item(
    actor: Actor,
    wanted: WantedResources,
    with_secrets: bool,  # noqa: FBT001
) -> dict[ResourceId, HoldingRow]:
    """The actor's holdings that match what they ask for, by the resource of each."""
    return {
        ResourceId(row["item_id"]["S"]): row
        for row in _holdings(actor, wanted, with_secrets)
        if _is_held_so(row, wanted)
    }


def _holdings(actor: Actor, wanted: WantedResources, with_secrets: bool) -> Iterator[HoldingRow]:  # noqa: FBT001
    """The actor's holdings that may be asked for."""
    if wanted.ids is not None:
        yield from _holdings_of(actor, wanted.ids)
    elif with_secrets:
        yield from Holding.whole(actor.id)
    elif wanted.parents is None or len(wanted.parents) > MOST_PLACES:
        yield from Holding.outlines(actor.id)
    else:
        for parent in wanted.parents:
            yield from Holding.outlines(actor.id, place=parent or ROOT)


def _holdings_of(actor: Actor, ids: Collection[str]) -> Iterator[HoldingRow]:
    items = [ResourceId(item_id) for item_id in ids]
    rows = reading.read(Holding.of(actor.id, item_id) for item_id in items)
    found = (Holding.among(rows, actor.id, item_id) for item_id in items)
    yield from (row for row in found if row is not None)


def _is_held_so(holding: HoldingRow, wanted: WantedResources) -> bool:
    if holding["kind"]["S"] != RESOURCE:
        return False
    if wanted.is_favorite is not None and ("favorite_id" in holding) != wanted.is_favorite:
        return False
    if wanted.parents is None:
        return True
    place = holding["place"]["S"]
    return (None if place == ROOT else place) in wanted.parents


def _is_wanted(row: ResourceRow, permission: PermissionRow, wanted: WantedResources) -> bool:
    if row["deleted"]["BOOL"]:
        return False
    if wanted.is_owned_by_me and not _is_owner(permission):
        return False
    if wanted.is_shared_with_me and _is_owner(permission):
        return False
    if wanted.group_id is not None and wanted.group_id not in row["permissions"]["M"]:
        return False
    if wanted.metadata_key_type is None:
        return True
    return row.get("metadata_key_type") == {"S": wanted.metadata_key_type}
