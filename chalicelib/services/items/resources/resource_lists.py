"""Lists of resources: from what a user holds to the items, never the other way.

A list has thousands of rows: they stay as DynamoDB sent them, and each becomes its part of
the answer as soon as it has come. A holding is let go of with the resource it belongs to, so that
memory holds no more than the answer and what is yet to come.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

from chalicelib.domain.actor import Actor
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.services.access import grants
from chalicelib.services.items.resources import held
from chalicelib.services.items.resources.held import HeldPermission, Parents
from chalicelib.services.items.resources.resource_rules import TYPES, deleted_types
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.services.items.trees import places
from chalicelib.storage import reading
from chalicelib.storage.base import Key, RawRow, Table
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.holdings import RESOURCE, HoldingRow
from chalicelib.tables.items.permissions import PermissionRow
from chalicelib.tables.items.resources import Resource, ResourceRow
from chalicelib.tables.settings import Setting

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class WantedResources:
    """Which of the resources they may see a user asks for; all that is set must hold."""

    ids: Collection[str] | None = None
    parents: Parents | None = None
    """Folders they lie in; `None` among them is the root."""
    is_favorite: bool | None = None
    is_owned_by_me: bool = False
    is_shared_with_me: bool = False
    group_id: str | None = None
    """Group they are shared with."""
    metadata_key_type: str | None = None
    marks: Collection[str] | None = None
    """Marks of tags, of which they have one at least."""


def search(
    actor: Actor,
    wanted: WantedResources,
    show: Callable[[SeenResource, HeldPermission], Shown],
    *,
    are_whole: bool,
) -> list[Shown]:
    """Return what `show` makes of the resources the actor may see and asks for, in no order.

    It gets each with the permission through which the actor may do most. Holdings that `are_whole`
    have the secrets and the actor's own tags.
    """
    holdings = _marked(
        held.by_item(actor, RESOURCE, wanted.ids, wanted.parents, are_whole=are_whole),
        wanted.is_favorite,
    )
    folders = _folders(holdings, wanted)
    selection = _Selection(held.holders_of(actor), holdings, wanted, show)
    made = reading.gather(Resource, [*holdings], selection.make, TYPES, *folders)
    if any(not row["deleted"]["BOOL"] for row in selection.unseen):
        grants.require_same_groups(actor)  # access has gone, or there is another way to it now
    hidden = deleted_types(Rows.of(selection.settings))
    return [shown for type_id, shown in made if type_id not in hidden]


class _Selection(Generic[Shown]):
    """Which of the rows that come are shown; what else comes with them is kept."""

    def __init__(
        self,
        holders: Sequence[str],
        holdings: dict[str, HoldingRow],
        wanted: WantedResources,
        show: Callable[[SeenResource, HeldPermission], Shown],
    ) -> None:
        """Take the holdings by item; each leaves the dictionary as its resource comes."""
        self._holders = holders
        self._holdings = holdings
        self._wanted = wanted
        self._show = show
        self.settings: dict[Key, RawRow] = {}
        """The row of deleted types, once it has come."""
        self.unseen: list[ResourceRow] = []
        """Resources that the actor holds without a permission."""

    def make(self, table: type[Table], row: RawRow) -> tuple[str, Shown] | None:
        """What is shown of a resource, with its type; nothing of one that is not wanted."""
        if table is Setting:
            self.settings[TYPES] = row
        if table is not Resource:
            return None
        resource = Resource.typed(row)
        seen = SeenResource(resource, self._holdings.pop(resource["id"]["S"]))
        permission = held.strongest(self._holders, resource)
        if permission is None:
            self.unseen.append(resource)
            return None
        if not _is_wanted(resource, permission[1], self._wanted):
            return None
        if not _is_tagged(seen, self._wanted):
            return None
        return resource["resource_type_id"]["S"], self._show(seen, permission)


def _folders(holdings: Mapping[str, HoldingRow], wanted: WantedResources) -> list[Key]:
    """What a list has to read of the folders it lies in; of a part, that has been read before."""
    is_part = wanted.ids is not None or wanted.parents is not None
    return [] if is_part else places.folders_of(holdings.values())


def _marked(
    holdings: dict[str, HoldingRow],
    is_favorite: bool | None,  # noqa: FBT001
) -> dict[str, HoldingRow]:
    """Those that are marked as a favorite, or those that are not, where that is asked for."""
    if is_favorite is None:
        return holdings
    return {id_: row for id_, row in holdings.items() if ("favorite_id" in row) == is_favorite}


def _is_tagged(seen: SeenResource, wanted: WantedResources) -> bool:
    return wanted.marks is None or not seen.marks.isdisjoint(wanted.marks)


def _is_owner(permission: PermissionRow) -> bool:
    return held.type_of(permission) == PermissionType.OWNER


def _is_shared_with(row: ResourceRow, group_id: str) -> bool:
    """Whether a group has a permission of its own; users have theirs in the same list."""
    permission = row["permissions"]["M"].get(group_id)
    return permission is not None and permission["M"]["aro"]["S"] == "Group"


def _is_wanted(row: ResourceRow, permission: PermissionRow, wanted: WantedResources) -> bool:
    if row["deleted"]["BOOL"]:
        return False
    if wanted.is_owned_by_me and not _is_owner(permission):
        return False
    if wanted.is_shared_with_me and _is_owner(permission):
        return False
    if wanted.group_id is not None and not _is_shared_with(row, wanted.group_id):
        return False
    if wanted.metadata_key_type is None:
        return True
    return row.get("metadata_key_type") == {"S": wanted.metadata_key_type}
