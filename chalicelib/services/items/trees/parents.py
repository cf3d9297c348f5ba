"""The folders that items are put into: who may, and what a folder and its items say of it."""

from __future__ import annotations

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Forbidden, NotFound
from chalicelib.domain.ids import FolderId, find_uuid
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.services.access import grants
from chalicelib.storage.base import Grant, Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Item

NO_ACCESS = {"has_folder_access": "You are not allowed to create content into the parent folder."}


@dataclass(frozen=True, slots=True)
class Parent:
    """A folder that something new is put into, and what lets the actor do so."""

    folder: Folder
    grant: Grant

    def receive(self, tx: Transaction, item: Item, holding: Holding) -> None:
        """Put something new into the folder, for the one user who has it."""
        tx.hold(self.grant)
        holding.place = self.folder.id
        item.above = {self.folder.id}
        tx.put(FolderItem(self.folder.id, item.id, kind=item.kind))


def keys(parent_id: object) -> list[Key]:
    """The row of a parent that was sent, if it can be one: to be read with others."""
    folder_id = find_uuid(parent_id)
    return [] if folder_id is None else [Folder.by_id(FolderId(folder_id))]


def find(
    actor: Actor, parent_id: str | None, rows: Rows, *, no_folder: FieldErrors
) -> Parent | FieldErrors | None:
    """The parent a body names, or what is wrong with it; nothing for the root."""
    if parent_id is None:
        return None
    folder = rows.find(Folder, parent_id)
    if folder is None or folder.deleted:
        return no_folder
    try:
        grant = grants.require(actor, folder, PermissionType.UPDATE, missing="", denied="")
    except (NotFound, Forbidden):
        return NO_ACCESS
    return Parent(folder, grant)
