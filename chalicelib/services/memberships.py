"""Who belongs to groups, as decisions about what is shared with them need to know it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import GroupId, UserId
from chalicelib.tables import reading
from chalicelib.tables.base import Key, RawRow
from chalicelib.tables.groups import Group
from chalicelib.tables.memberships import Membership
from chalicelib.tables.operations import Change, require_applied, require_finished
from chalicelib.tables.permissions import Permission
from chalicelib.tables.reading import Rows
from chalicelib.tables.versioned import is_marked, version_in


@dataclass(frozen=True, slots=True)
class Members:
    """Groups that were read, and then who belonged to them."""

    groups: Mapping[GroupId, Group]
    users: Mapping[GroupId, Collection[UserId]]

    def with_access(self, permissions: Mapping[str, Permission]) -> set[UserId]:
        """The users an access list reaches; its groups are among those that were read."""
        reached = user_holders(permissions)
        for group_id in group_holders(permissions):
            if group_id not in self.users:  # deleted since the access list was read
                raise Stale
            reached |= set(self.users[group_id])
        return reached

    def raise_versions(self, tx: Change) -> None:
        """Hold that these are the members, and let who decides from the groups' items know.

        Due with every change of an access list, or of the secrets of an item, for all groups
        that are in the list before or after it.
        """
        for group in self.groups.values():
            tx.then_update(group, Group.version.add(1))


def read(group_ids: Iterable[GroupId], *others: Key) -> tuple[Members, Rows]:
    """Read the groups that are not deleted, and with them other rows; then the members.

    In this order: who joins or leaves after the group was read has raised its version, so
    that a change that holds it is refused.
    """
    wanted = sorted(set(group_ids))
    rows = reading.read([*map(Group.by_id, wanted), *others])
    found = {group_id: rows.find(Group, group_id) for group_id in wanted}
    require_finished(*(group for group in found.values() if group))
    groups = {id_: group for id_, group in found.items() if group and not group.deleted}
    users = users_of(groups)
    if not all(users.values()):  # every group has members: this one was deleted meanwhile
        raise Stale
    return Members(groups, users), rows


def users_of(group_ids: Collection[GroupId]) -> dict[GroupId, list[UserId]]:
    """The users who belong to each of these groups now."""
    if not group_ids:
        return {}
    found = reading.together(*(partial(Membership.in_group, each) for each in group_ids))
    users = ([UserId(each.user_id) for each in members] for members in found)
    return dict(zip(group_ids, users, strict=True))


def sole_members(group_ids: Collection[GroupId]) -> dict[GroupId, UserId]:
    """The user of each of these groups that has one member, and no other group.

    No more than two members of each are read. While a large change replaces members, a group
    may look as if it had one: so those that do are read again, in the order that tells.
    """
    if not group_ids:
        return {}
    rows, *firsts = reading.together(
        partial(reading.read, map(Group.by_id, group_ids)), *_first_two(group_ids)
    )
    groups = {id_: row for id_ in group_ids if (row := rows.raw(Group.by_id(id_)))}
    require_applied(*(Group.from_raw(row) for row in groups.values() if is_marked(row)))
    found = zip(group_ids, firsts, strict=True)
    lonely = [group_id for group_id, two in found if len(two) == 1 and group_id in groups]
    firsts = reading.together(*_first_two(lonely))
    require_shown_whole([groups[group_id] for group_id in lonely])
    found = zip(lonely, firsts, strict=True)
    return {group_id: UserId(two[0]["user_id"]["S"]) for group_id, two in found if len(two) == 1}


def _first_two(group_ids: Iterable[GroupId]) -> list[Callable[[], list[RawRow]]]:
    """Reads two memberships of each of these groups, or the only one."""
    return [partial(reading.first, Membership, group_id, 2) for group_id in group_ids]


def shown(groups: Sequence[RawRow]) -> Sequence[Sequence[RawRow]]:
    """The memberships of each of these groups, to be shown.

    Of a large change they are written one after the other. So what is committed is finished
    first, and `require_shown_whole` says afterwards whether one was committed meanwhile.
    """
    require_applied(*(Group.from_raw(row) for row in groups if is_marked(row)))
    return reading.together(*(partial(reading.query, Membership, row["id"]["S"]) for row in groups))


def require_shown_whole(groups: Sequence[RawRow]) -> None:
    """Begin again if one of the groups has changed since it was read, before its members."""
    reading.require_unchanged({Group.by_id(row["id"]["S"]): version_in(row) for row in groups})


def user_holders(permissions: Mapping[str, Permission]) -> set[UserId]:
    """The users an access list names."""
    return {UserId(each.aro_id) for each in permissions.values() if each.aro == "User"}


def group_holders(permissions: Mapping[str, Permission]) -> set[GroupId]:
    """The groups an access list names."""
    return {GroupId(each.aro_id) for each in permissions.values() if each.aro == "Group"}
