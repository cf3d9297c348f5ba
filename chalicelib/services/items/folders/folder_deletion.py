"""Deletion of a folder with what lies in it, as far as the actor may delete that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import FolderId, GroupId, UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import grants
from chalicelib.services.items.folders import folders
from chalicelib.services.items.resources import resource_rules
from chalicelib.services.items.resources.endings import take_from_all
from chalicelib.services.items.resources.resource_rules import TYPES
from chalicelib.services.items.trees import places
from chalicelib.services.items.trees.forest import Forest
from chalicelib.storage.base import in_chunks
from chalicelib.storage.changes.operations import MOST_HELD, Change
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.items import Item, keys_of
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.operator import notices


def delete_with_content(actor: Actor, folder_id: FolderId) -> None:
    """Delete a folder, and what lies in it for anybody, level by level, for everybody.

    What the actor may not change stays, and all in it; it lies in nothing any more. The deletion
    rests on the version of each item that goes, and on the members of all groups that have it.
    """
    loaded = folders.load(actor, folder_id, TYPES)
    folder, grant = loaded.folder, folders.deletable(actor, loaded)
    hidden = resource_rules.deleted_types(loaded.rows)
    with Change(folder, folders.deleted(actor, folder)) as tx:
        tx.hold(grant)
        log = folders.log(actor, folder, "deleted")
        tx.create(log)
        clearing = _Clearing(actor, tx, hidden)
        clearing.take([folder])
        having = frozenset(clearing.told)
        clearing.descend([folder])
        log.names_gone(clearing.gone)
        clearing.close()
        clearing.tell(folder, having)


class _Clearing:
    """What a deletion has met so far, and what it writes of it, page by page."""

    def __init__(self, actor: Actor, tx: Change, hidden_types: frozenset[str]) -> None:
        self._actor = actor
        self._tx = tx
        self._hidden_types = hidden_types
        self._seen: set[str] = set()
        self._having = Forest([])
        """The groups that have any of it, each with its members as they were first read."""
        self.told: set[UserId] = set()
        """Who has had any of it."""
        self.gone: list[tuple[str, str]] = []
        """What went with the folder, each by its kind and identifier."""
        self._through: set[GroupId] = set()
        """The groups through which the actor may delete something."""

    def descend(self, level: list[Folder]) -> None:
        """Take what lies in folders, and in the folders that are taken."""
        while level:
            below: list[Folder] = []
            for folder in level:
                for page in self._content(folder):
                    taken = [item for item in page if self._may_take(item)]
                    self.take(taken)
                    for item in taken:
                        self._tx.then_update(item, *item.deletion_by(self._actor.id))
                        self.gone.append((item.kind, item.id))
                    below += [item for item in taken if isinstance(item, Folder)]
            level = below

    def take(self, items: Iterable[Item]) -> None:
        """Take items from everybody who has them."""
        page = list(items)
        self._seen |= {item.id for item in page}
        self._having.read_members(page)
        members = self._having.members
        for item in page:
            take_from_all(self._tx, item, members)
            self.told |= members.with_access(item.permissions)

    def close(self) -> None:
        """Hold the groups that have anything of it, and those the actor may do so through."""
        self._having.members.raise_versions(self._tx)
        for group_id in self._through:
            for check in grants.belongs_to(self._actor, group_id):
                self._tx.require(check)

    def tell(self, folder: Folder, having: Collection[UserId]) -> None:
        """Tell who had the folder that it is gone, and who had any of its content, of that."""
        tx, by = self._tx, self._actor.id
        told = notices.users(having)
        notices.tell_of(tx, Event.FOLDER_DELETED, folder, actor=by, to=told)
        others = notices.users(self.told, but=having)
        notices.tell(tx, Event.FOLDER_CONTENT_DELETED, to=others, actor=by)

    def _content(self, folder: Folder) -> Iterator[list[Item]]:
        """What lies in a folder for anybody and was not met before, in pages.

        What is noted to lie there may do so no more: of what does not for the actor, everybody is
        asked.
        """
        own = places.keys_in(self._actor.id, folder.id)
        noted = keys_of(FolderItem.in_folder(folder.id))
        keys = sorted({*own, *noted}, key=lambda key: key.hash_key)
        for page in in_chunks([k for k in keys if k.hash_key not in self._seen], MOST_HELD):
            forest = Forest([])
            forest.read_items(page)
            sure = forest.items.keys() & {key.hash_key for key in own}
            where = forest.places_of(forest.items.keys() - sure)
            told = {
                each
                for each, places_ in where.items()
                if any(place.parent == folder.id for place in places_.values())
            }
            self._seen |= sure | told
            yield [item for id_, item in forest.items.items() if id_ in sure | told]

    def _may_take(self, item: Item) -> bool:
        if isinstance(item, Resource) and item.resource_type_id in self._hidden_types:
            return False
        permission = grants.find_permission(self._actor, item)
        if permission is None or permission.type < PermissionType.UPDATE:
            return False
        if permission.aro == "Group":
            self._through.add(GroupId(permission.aro_id))
        return True
