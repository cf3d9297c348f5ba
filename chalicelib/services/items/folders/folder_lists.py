"""Lists of folders: from what a user holds to the items, never the other way."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from chalicelib.domain.actor import Actor
from chalicelib.domain.folding import folded
from chalicelib.domain.light import dataclass
from chalicelib.services.access import grants
from chalicelib.services.items.resources import held
from chalicelib.services.items.resources.held import HeldPermission, Parents
from chalicelib.storage import reading
from chalicelib.storage.base import RawRow, Table
from chalicelib.tables.items.folders import Folder, FolderRow
from chalicelib.tables.items.holdings import FOLDER, HoldingRow

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class WantedFolders:
    """Which of the folders they may see a user asks for; all that is set must hold."""

    ids: Collection[str] | None = None
    parents: Parents | None = None
    """Folders they lie in; `None` among them is the root."""
    search: str | None = None
    """Part of their name; what has none is never found."""


def search(
    actor: Actor,
    wanted: WantedFolders,
    show: Callable[[FolderRow, HoldingRow, HeldPermission], Shown],
) -> list[Shown]:
    """Return what `show` makes of the folders the actor may see and asks for, in no order.

    It gets each with the actor's holding of it, and the permission through which they may do most.
    """
    holdings = held.by_item(actor, FOLDER, wanted.ids, wanted.parents)
    holders = held.holders_of(actor)
    text = None if wanted.search is None else folded(wanted.search)
    unseen: list[FolderRow] = []

    def make(_: type[Table], row: RawRow) -> Shown | None:
        folder = Folder.typed(row)
        permission = held.strongest(holders, folder)
        if permission is None:
            unseen.append(folder)
            return None
        if folder["deleted"]["BOOL"] or (text is not None and not _is_called(folder, text)):
            return None
        return show(folder, holdings[folder["id"]["S"]], permission)

    made = reading.gather(Folder, holdings, make)
    if any(not row["deleted"]["BOOL"] for row in unseen):
        grants.require_same_groups(actor)  # access has gone, or there is another way to it now
    return made


def _is_called(row: FolderRow, text: str) -> bool:
    return "name" in row and text in folded(row["name"]["S"])
