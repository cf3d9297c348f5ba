"""Folders seen, made, renamed and deleted: which permission each takes.

A folder holds nothing: that something lies in it is said by the holdings of that, for each user.
So to delete one takes as long as people have it, however much lies in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import folders as bodies
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import NotFound, Stale
from chalicelib.domain.ids import FolderId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import grants, memberships
from chalicelib.services.items.folders import folder_rules
from chalicelib.services.items.metadata import item_metadata, metadata_settings
from chalicelib.services.items.resources.endings import take_from_all
from chalicelib.services.items.trees import parents, places
from chalicelib.storage import reading
from chalicelib.storage.base import Grant, Key
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.folders import Folder, FolderRow
from chalicelib.tables.items.holdings import FOLDER, Holding, HoldingRow
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.users.users import User

MISSING = "The folder does not exist."
_NO_UPDATE = "You are not allowed to update this folder."
_NO_DELETION = "You are not allowed to delete this folder."


class SeenFolder(NamedTuple):
    """A folder as one user sees it: its row, and their holding of it."""

    row: FolderRow
    holding: HoldingRow


@dataclass(frozen=True, slots=True)
class Loaded:
    """A folder and what was read with it."""

    folder: Folder
    rows: Rows
    seen: SeenFolder

    def require(self, actor: Actor, at_least: PermissionType, denied: str) -> Grant:
        """Return what lets the actor do this, to be held while they do it."""
        return grants.require(actor, self.folder, at_least, missing=MISSING, denied=denied)


def load(actor: Actor, folder_id: FolderId, *others: Key) -> Loaded:
    """Read a folder the actor may see, and other rows with it, in one step."""
    rows = reading.read([Folder.by_id(folder_id), Holding.of(actor.id, folder_id), *others])
    folder = rows.find(Folder, folder_id)
    grants.require(actor, folder, PermissionType.READ, missing=MISSING, denied=MISSING)
    row = Folder.among(rows, Folder.by_id(folder_id))
    holding = Holding.among(rows, actor.id, folder_id)
    if folder is None or row is None or holding is None:
        raise NotFound(MISSING)
    return Loaded(folder, rows, SeenFolder(row, holding))


def view(actor: Actor, folder_id: FolderId) -> SeenFolder:
    """Return a folder the actor may see."""
    seen = load(actor, folder_id).seen
    return seen._replace(holding=places.settled(actor.id, seen.holding))


def create(actor: Actor, draft: Draft[Any]) -> SeenFolder:
    """Store a new folder that its creator owns, at the root or in a folder they may change.

    The folder (its permissions inside) and the owner's holding are written together or not at
    all; nobody else has it, whoever has the folder it is put into.
    """
    others = parents.keys(draft.members.get("folder_parent_id"))
    keys = item_metadata.keys_named(actor, draft)
    keys = [*keys, *metadata_settings.KEYS, notices.SWITCHES]
    rows = reading.read([User.by_id(actor.id), *keys, *others])
    body, parent = folder_rules.read_new(actor, draft, rows)
    creator = rows.find(User, actor.id)
    if creator is None:
        raise Stale
    folder = _new_folder(actor, body)
    holding = Holding(actor.id, FolderId(folder.id), kind=FOLDER)
    with Transaction() as tx:
        tx.makes(folder.id)
        tx.require(User.may_be_given(actor.id, rows.lock(creator.key)))
        if parent is not None:
            parent.receive(tx, folder, holding)
        item_metadata.hold_key(tx, folder)
        tx.create(folder)
        tx.create(holding)
        tx.create(log(actor, folder, "created"))
        if notices.are_wanted(rows, Event.FOLDER_CREATED):
            notices.tell_of(tx, Event.FOLDER_CREATED, folder, actor=actor.id)
    return SeenFolder(folder.row, holding.row)


def update(actor: Actor, folder_id: FolderId, draft: Draft[Any]) -> SeenFolder:
    """Change what a folder is called; nothing else of it is changed by this."""
    keys = item_metadata.keys_named(actor, draft)
    loaded = load(actor, folder_id, *metadata_settings.KEYS, *keys)
    grant = loaded.require(actor, PermissionType.UPDATE, _NO_UPDATE)
    body = folder_rules.read_update(actor, draft, loaded.folder, loaded.rows)
    changed = loaded.folder.copy()
    _describe(actor, changed, body)
    holding = places.settled(actor.id, loaded.seen.holding)
    with Change(loaded.folder, changed) as tx:
        tx.hold(grant)
        item_metadata.hold_key(tx, changed, loaded.folder)
        tx.create(log(actor, changed, "updated"))
        notices.tell_of(tx, Event.FOLDER_UPDATED, changed, actor=actor.id)
    return SeenFolder(changed.row, holding)


def delete(actor: Actor, folder_id: FolderId) -> None:
    """Delete a folder for everybody, and nothing that lies in it: that is at the root then.

    For it does not lie in anything its users hold any more (`places.py`).
    """
    loaded = load(actor, folder_id)
    folder, grant = loaded.folder, deletable(actor, loaded)
    members, _ = memberships.read(memberships.group_holders(folder.permissions))
    with Change(folder, deleted(actor, folder)) as tx:
        tx.hold(grant)
        members.raise_versions(tx)
        take_from_all(tx, folder, members)
        tx.create(log(actor, folder, "deleted"))
        told = notices.users(members.with_access(folder.permissions))
        notices.tell_of(tx, Event.FOLDER_DELETED, folder, actor=actor.id, to=told)


def deletable(actor: Actor, loaded: Loaded) -> Grant:
    """What lets the actor delete a folder."""
    return loaded.require(actor, PermissionType.UPDATE, _NO_DELETION)


def deleted(actor: Actor, folder: Folder) -> Folder:
    """A folder as it is once nobody has it."""
    deleted = folder.copy()
    deleted.deleted = True
    deleted.permissions = {}
    deleted.name = deleted.above = None
    deleted.metadata = deleted.metadata_key_id = deleted.metadata_key_type = None
    deleted.modified = clock.now()
    deleted.modified_by = actor.id
    return deleted


def log(actor: Actor, folder: Folder, verb: str) -> ActionLog:
    """What is logged of a change: with the name of that time, if the service knows it."""
    told = {"name": folder.name}
    return ActionLog.of(folder.id, f"Folders.{verb}", actor.id, actor.caller, told)


def _new_folder(actor: Actor, body: bodies.NewFolder) -> Folder:
    now = clock.now()
    owner = Permission(new_id(), "User", actor.id, PermissionType.OWNER, now, now)
    return Folder(
        new_id(),
        permissions={actor.id: owner},
        created=now,
        modified=now,
        created_by=actor.id,
        modified_by=actor.id,
        **bodies.description(body),
    )


def _describe(actor: Actor, folder: Folder, body: bodies.Description) -> None:
    for name, value in bodies.description(body).items():
        setattr(folder, name, value)
    folder.modified = clock.now()
    folder.modified_by = actor.id
