"""Moves of items: who may take one out of a folder or into another, and whose trees change.

A move is decided from where everybody has the item, which its version answers for, and from who
has the folders it leaves and enters. A folder's move is decided from all that these lie in, too,
for anybody: the structure of the folders answers for that.

Where the actor has it is read beside the item, and a batch is not one instant: so their holding
has to say the same still when the move is written, refused, or found to be made already.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.folders import INVALID_MOVE, Move
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, Invalid, NotFound, Stale
from chalicelib.domain.ids import FolderId, ItemId, UserId, find_uuid
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.items.places import Place
from chalicelib.domain.items.trees import Cycle, Trees
from chalicelib.domain.light import dataclass
from chalicelib.services.access import grants
from chalicelib.services.items.metadata.item_metadata import is_for_one
from chalicelib.services.items.resources.resource_rules import NO_FOLDER, TYPES, deleted_types
from chalicelib.services.items.trees import places, structure
from chalicelib.services.items.trees.forest import Forest
from chalicelib.services.items.trees.parents import NO_ACCESS
from chalicelib.services.items.trees.placing import Placing
from chalicelib.storage import reading
from chalicelib.storage.base import Grant
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import FOLDER, RESOURCE, Holding, HoldingRow
from chalicelib.tables.items.items import Item, find, key_of
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.settings import FOLDER_STRUCTURE, Setting

MISSING = "The object to move does not exist."
_KINDS = {"folder": FOLDER, "resource": RESOURCE}
_NO_KIND = "The object type should be one of the following: Folder, Resource."
_NO_ID = "The object identifier should be a valid UUID."
_NOT_OUT_OF = {
    "has_folder_access": "You are not allowed to move this item out of its parent folder."
}
_NOT_OUT = {"has_access": "You are not allowed to move this item."}
_NOT_IN = {"has_access": "You are not allowed to move an item in read only into the parent folder."}
_FOR_ONE = {
    "isMetadataKeyTypeSharedOnSharedItem": (
        "An item with metadata for one user's key cannot be moved into a shared folder."
    )
}
_CYCLE = {"cycle": "The folder cannot be moved into one of its descendants."}


@dataclass(frozen=True, slots=True)
class _Plan:
    """A move that may be made: from a folder or the root to another, and what lets the actor."""

    item: Item
    origin: Folder | None
    to: Folder | None
    holding: HoldingRow
    """The actor's."""
    grants: tuple[Grant, ...]
    forest: Forest
    structure: Setting | None

    @property
    def folders(self) -> list[Folder]:
        return [each for each in (self.origin, self.to) if each is not None]


def move(actor: Actor, model: str, item: str, draft: Draft[Move]) -> None:
    """Move an item into a folder or to the root."""
    kind = _KINDS.get(model.lower())
    if kind is None:
        raise Invalid(_NO_KIND)
    item_id = find_uuid(item)
    if item_id is None:
        raise Invalid(_NO_ID)
    to = draft.read(INVALID_MOVE).folder_parent_id
    apply(actor, kind, ItemId(item_id), to)


def apply(actor: Actor, kind: str, item_id: ItemId, to: str | None) -> None:
    """Move an item into a folder or to the root.

    The places of all whom it concerns are one change. It rests on the version of the item, on
    the folders it leaves and enters, and on the members of all groups that have any of them.
    """
    plan = _planned(actor, kind, item_id, to)
    if plan is None:
        return
    tree = _moved(actor, plan)
    placing = Placing(plan.forest, tree.moved)
    parents = [edge.parent for edge in tree.edges_of(plan.item.id)]
    changed = plan.item.copy()
    changed.above = placing.note_exactly(plan.item.id, parents) or None
    with Change(plan.item, changed) as tx:
        for grant in plan.grants:
            tx.hold(grant)
        tx.require(Holding.lies(plan.holding))
        if isinstance(plan.item, Folder):
            structure.raise_version(tx, plan.structure)
        placing.write(tx, of=plan.item, rests_on={each.id for each in plan.folders})


def _planned(actor: Actor, kind: str, item_id: ItemId, to: str | None) -> _Plan | None:
    """What is to be moved whence and where, if that is not where it is."""
    key, own = key_of(kind, item_id), Holding.of(actor.id, item_id)
    into = [] if to is None else [Folder.by_id(FolderId(to)), Holding.of(actor.id, FolderId(to))]
    rows = reading.read([structure.KEY, TYPES, key, own, *into])
    item, holding = find(rows, key), Holding.among(rows, actor.id, item_id)
    if item is None or holding is None or not _is_seen(actor, item, rows):
        raise NotFound(MISSING)
    destination = None if to is None else _destination(actor, FolderId(to), rows)
    forest = _around(item, destination, holding)
    place = forest.place(item_id, actor.id)
    at = None if place is None else place.parent
    if to == item_id:
        raise _refused(_CYCLE)
    if at == to:
        reading.together(reading.require_one_moment, partial(_require_same_place, holding))
        return None
    origin = forest.folders.get(at or "")
    held = _held(actor, item, holding, origin, destination, forest)
    before = rows.find(Setting, FOLDER_STRUCTURE)
    return _Plan(item, origin, destination, holding, held, forest, before)


def _around(item: Item, destination: Folder | None, holding: HoldingRow) -> Forest:
    """What a move is permitted from: who has the item, the folder it is in, and the other."""
    forest = Forest([item, *([destination] if destination else [])])
    forest.know(holding)
    forest.read_folders(parent for parent in (places.parent_of(holding),) if parent)
    forest.read_members(forest.items.values())
    return forest


def _require_same_place(before: HoldingRow) -> None:
    """Raise `Stale` if a holding, which was read beside its item, is at another place by now."""
    user_id, item_id = UserId(before["user_id"]["S"]), ItemId(before["item_id"]["S"])
    now = Holding.among(reading.read([Holding.of(user_id, item_id)]), user_id, item_id)
    if now is None or places.parent_of(now) != places.parent_of(before):
        raise Stale


def _is_seen(actor: Actor, item: Item, rows: Rows) -> bool:
    if isinstance(item, Resource) and item.resource_type_id in deleted_types(rows):
        return False
    return not item.deleted and grants.find_permission(actor, item) is not None


def _destination(actor: Actor, folder_id: FolderId, rows: Rows) -> Folder:
    folder = rows.find(Folder, folder_id)
    holding = Holding.among(rows, actor.id, folder_id)
    if folder is None or not places.is_folder(holding) or not _is_seen(actor, folder, rows):
        raise _refused(NO_FOLDER)
    return folder


def _held(
    actor: Actor,
    item: Item,
    holding: HoldingRow,
    origin: Folder | None,
    to: Folder | None,
    forest: Forest,
) -> tuple[Grant, ...]:
    """What lets the actor move an item; refused while they have it where they were read to."""
    try:
        return _permitted(actor, item, origin, to, forest)
    except Invalid:
        _require_same_place(holding)
        raise


def _permitted(
    actor: Actor, item: Item, origin: Folder | None, to: Folder | None, forest: Forest
) -> tuple[Grant, ...]:
    """Refuse what the actor may not do; what lies in a folder of theirs alone is theirs to file."""
    read = PermissionType.READ
    held = [grants.require(actor, item, read, missing=MISSING, denied=MISSING)]
    steps = ((origin, _NOT_OUT_OF, _NOT_OUT), (to, NO_ACCESS, _NOT_IN))
    for folder, not_there, not_this in steps:
        if folder is not None and len(forest.users(folder.id)) > 1:
            held.append(_require_change(actor, folder, not_there))
            held.append(_require_change(actor, item, not_this))
        elif folder is not None:
            held.append(grants.require(actor, folder, read, missing=MISSING, denied=MISSING))
    if to is not None and len(forest.users(to.id)) > 1 and is_for_one(item):
        raise _refused(_FOR_ONE)
    return tuple(held)


def _require_change(actor: Actor, item: Item, errors: Mapping[str, str]) -> Grant:
    try:
        return grants.require(actor, item, PermissionType.UPDATE, missing=MISSING, denied=MISSING)
    except (Forbidden, NotFound):
        raise _refused(errors) from None


def _moved(actor: Actor, plan: _Plan) -> Trees:
    """The trees in which whom it concerns has the item, and what else has given way."""
    item_id, forest = str(plan.item.id), plan.forest
    known = forest.places_of([item_id])
    if actor.id not in known.get(item_id, ()):
        raise Stale  # they have lost it since it was read
    folders = {item_id} if isinstance(plan.item, Folder) else set()
    if plan.to is not None:
        known |= _of_destination(plan, forest)
        if actor.id not in known.get(plan.to.id, ()):
            raise Stale  # and so have they lost the destination
        folders |= known.keys() if folders else {plan.to.id}
    tree = Trees(known, folders)
    try:
        tree.move(actor.id, item_id, None if plan.to is None else plan.to.id)
    except Cycle:
        raise _refused(_CYCLE) from None
    return tree


def _of_destination(plan: _Plan, forest: Forest) -> dict[str, dict[str, Place]]:
    """Who has the destination; where a folder moves, also in what, and in what that lies."""
    assert plan.to is not None  # noqa: S101
    if isinstance(plan.item, Folder):
        return forest.above([plan.to.id], forest.users(plan.item.id))
    return {plan.to.id: {user: Place(None) for user in forest.users(plan.to.id)}}


def _refused(errors: Mapping[str, str]) -> Invalid:
    return Invalid(INVALID_MOVE, {"folder_parent_id": dict(errors)})
