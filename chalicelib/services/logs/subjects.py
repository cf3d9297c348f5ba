"""Who may see the log of a resource, a folder, a user or a group, and what a page of it has.

Lines of a log are read by its index, as many as the page needs, beside the rows that decide who
may see it. What users have read is merged in as long as it is not spread (ADR 35), the newest of it
where there is much. For a moment, while a reading is spread, a page may lack its line; nothing is
decided from a page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, NotFound, Stale
from chalicelib.domain.ids import FolderId, GroupId, ResourceId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.services.items.folders import folders
from chalicelib.services.items.resources import resources
from chalicelib.services.logs.pages import Slice, merged
from chalicelib.storage import reading
from chalicelib.storage.reading import Rows
from chalicelib.tables.groups.groups import Group, GroupRow
from chalicelib.tables.items.folders import FolderRow
from chalicelib.tables.items.resources import ResourceRow
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading
from chalicelib.tables.users.users import User, UserRow, managed_by

NO_USER = "The user does not exist."
NO_GROUP = "The group does not exist."
DENIED = "Only administrators and the managers of the group can view its logs."


@dataclass(frozen=True, slots=True)
class Log:
    """A page of the log of one subject, and what is shown with it, as it is today."""

    lines: Sequence[ActionLog]
    count: int
    users: Mapping[str, UserRow]
    groups: Mapping[str, GroupRow]
    resource: ResourceRow | None = None
    folder: FolderRow | None = None


def of_resource(actor: Actor, resource_id: ResourceId, wanted: Slice) -> Log:
    """Return what happened to a resource the actor may see, whoever read it included."""

    def line(read: Reading) -> ActionLog | None:
        if read.of_change or not read.has(resource_id):
            return None
        return ActionLog.of_reading(read, resource_id, is_first=False)

    calls: list[Callable[[], Any]] = [*_lines(resource_id, wanted), *Reading.shown(line)]
    [loaded], found = reading.side_by_side([partial(resources.load, actor, resource_id)], calls)
    lines, count, *shards = found
    unspread = [*chain.from_iterable(shards)]
    return _log(*merged(lines, count, unspread, wanted), resource=loaded.seen.row)


def of_folder(actor: Actor, folder_id: FolderId, wanted: Slice) -> Log:
    """Return what happened to a folder the actor may see."""
    [loaded], found = reading.side_by_side(
        [partial(folders.load, actor, folder_id)], _lines(folder_id, wanted)
    )
    lines, count = found
    return _log(*merged(lines, count, [], wanted), folder=loaded.seen.row)


def of_user(user_id: UserId, wanted: Slice) -> Log:
    """Return what happened to a user, also to one who is deleted; for administrators."""
    [rows], found = reading.side_by_side(
        [partial(reading.read, [User.by_id(user_id)])], _lines(user_id, wanted)
    )
    if User.among(rows, User.by_id(user_id)) is None:
        raise NotFound(NO_USER)
    lines, count = found
    return _log(*merged(lines, count, [], wanted), also=user_id)


def of_group(actor: Actor, group_id: GroupId, wanted: Slice) -> Log:
    """Return what happened to a group, also to one that is deleted; for whoever answers for it.

    Whoever manages it still does so once the page has been read.
    """
    if not (actor.is_admin or actor.groups.get(group_id)):
        raise Forbidden(DENIED)
    [rows], found = reading.side_by_side(
        [partial(reading.read, [Group.by_id(group_id)])], _lines(group_id, wanted)
    )
    if Group.among(rows, Group.by_id(group_id)) is None:
        raise NotFound(NO_GROUP)
    lines, count = found
    page = merged(lines, count, [], wanted)
    if actor.is_admin:
        return _log(*page)
    log = _log(*page, also=actor.id)
    if group_id not in managed_by(log.users.get(actor.id)):
        raise Stale
    return log


def _lines(subject: str, wanted: Slice) -> list[Callable[[], Any]]:
    """Reads the lines to the end of the page, and counts all."""
    read = partial(ActionLog.shown, subject, wanted.most, is_descending=wanted.is_descending)
    return [read, partial(ActionLog.count_shown, subject)]


def _log(
    lines: Sequence[ActionLog],
    count: int,
    *,
    resource: ResourceRow | None = None,
    folder: FolderRow | None = None,
    also: UserId | None = None,
) -> Log:
    """The page with the users and groups that it names, and one user `also`."""
    users = {str(line.actor) for line in lines} | ({also} if also else set())
    groups: set[str] = set()
    for line in lines:
        users |= {holder for aro, holder in _holders(line) if aro == "User"}
        groups |= {holder for aro, holder in _holders(line) if aro == "Group"}
    rows = reading.read([*map(User.by_id, users), *map(Group.by_id, groups)])
    return Log(lines, count, _users(rows, users), _groups(rows, groups), resource, folder)


def _holders(line: ActionLog) -> list[tuple[str, str]]:
    """Who is named in a line beside who did it."""
    if line.secrets:
        return [("User", user_id) for _, user_id in line.named_secrets]
    told = line.told
    entries = [each for name in ("added", "updated", "removed") for each in told.get(name, ())]
    if line.action == "Permissions.updated":
        return [(aro, holder) for _, aro, holder, _ in entries]
    return [("User", user_id) for user_id, _ in entries]


def _users(rows: Rows, wanted: Collection[str]) -> dict[str, UserRow]:
    found = {each: User.among(rows, User.by_id(each)) for each in wanted}
    return {each: row for each, row in found.items() if row is not None}


def _groups(rows: Rows, wanted: Collection[str]) -> dict[str, GroupRow]:
    found = {each: Group.among(rows, Group.by_id(each)) for each in wanted}
    return {each: row for each, row in found.items() if row is not None}
