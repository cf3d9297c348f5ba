"""Who belongs to groups, as decisions about what is shared with them need to know it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import GroupId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.decisions import Versions
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.reading import Rows
from chalicelib.storage.versioned import version_in
from chalicelib.tables.groups.groups import Group, GroupRow
from chalicelib.tables.groups.memberships import Membership, MembershipRow
from chalicelib.tables.items.permissions import Permission


@dataclass(frozen=True, slots=True)
class Members:
    """Groups that were read, and then who belonged to them."""

    groups: Mapping[GroupId, Group]
    users: Mapping[GroupId, Collection[UserId]]

    def with_access(self, permissions: Mapping[str, Permission]) -> set[UserId]:
        """The users an access list reaches; its groups are among those that were read."""
        groups = group_holders(permissions)
        self.require(groups)
        return user_holders(permissions).union(*(self.users[each] for each in groups))

    def require(self, group_ids: Iterable[GroupId]) -> None:
        """Raise `Stale` where a group of an access list was deleted since the list was read."""
        if not self.users.keys() >= set(group_ids):
            raise Stale

    def raise_versions(self, tx: Change) -> None:
        """Hold that these are the members, and let who decides from the groups' items know.

        Due with every change of an access list, or of the secrets of an item, for all groups
        that are in the list before or after it.
        """
        for group in self.groups.values():
            tx.then_update(group, Group.version.add(1))


def read(group_ids: Iterable[GroupId], *others: Key) -> tuple[Members, Rows]:
    """Read the groups that are not deleted, and with them other rows; then the members.

    In this order: whoever joins or leaves after the group was read has raised its version, so
    that a change that holds it is refused.
    """
    wanted = sorted(set(group_ids))
    rows = reading.read([*map(Group.by_id, wanted), *others])
    found = {group_id: rows.find(Group, group_id) for group_id in wanted}
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
    """The only member, by group, of those of these groups that have exactly one.

    No more than two members of each are read. While a large change replaces members, a group may
    look as if it had one: so those that do are read again, after their groups.
    """
    if not group_ids:
        return {}
    read_groups = partial(reading.read, map(Group.by_id, group_ids))
    [rows], firsts = reading.side_by_side([read_groups], _first_two(group_ids))
    groups = {id_: row for id_ in group_ids if (row := Group.among(rows, Group.by_id(id_)))}
    found = zip(group_ids, firsts, strict=True)
    lonely = [group_id for group_id, two in found if len(two) == 1 and group_id in groups]
    again = reading.together(*_first_two(lonely))
    sole = {id_: two for id_, two in zip(lonely, again, strict=True) if len(two) == 1}
    require_shown_whole([groups[group_id] for group_id in sole], [*sole.values()])
    return {group_id: UserId(one["user_id"]["S"]) for group_id, [one] in sole.items()}


def _first_two(group_ids: Iterable[GroupId]) -> list[Callable[[], list[MembershipRow]]]:
    """Reads two memberships of each of these groups, or the only one."""
    return [partial(Membership.first_two, group_id) for group_id in group_ids]


def shown(groups: Sequence[GroupRow]) -> Sequence[Sequence[MembershipRow]]:
    """The memberships of each of these groups, to be shown.

    `require_shown_whole` says afterwards whether some were changed meanwhile.
    """
    return reading.together(*(partial(Membership.rows_in, row["id"]["S"]) for row in groups))


def versions(group_ids: Iterable[str]) -> Versions:
    """The versions of groups, to say afterwards whether their members are still the same.

    Members are also asked for by users' rows, which come in many calls.
    """
    keys = [Group.by_id(group_id) for group_id in group_ids]
    rows = reading.read(keys)
    return {key: rows.version(key) for key in keys}


def require_shown_whole(
    groups: Sequence[GroupRow], members: Sequence[Sequence[MembershipRow]], *others: Key
) -> Rows:
    """Begin again if these were at no moment the members of the groups, read before them.

    A group's version also rises with what it has. So of those whose version has risen the
    members are read once more. Returns the groups, and others, as they are by now.
    """
    now = reading.read([*(Group.by_id(row["id"]["S"]) for row in groups), *others])
    moved = []
    for row, shown_of in zip(groups, members, strict=True):
        key = Group.by_id(row["id"]["S"])
        if now.version(key) != version_in(row):
            _require_same(row, Group.among(now, key))
            moved.append((key.hash_key, shown_of))
    again = reading.together(*(partial(Membership.rows_in, id_) for id_, _ in moved))
    if any(rows != list(shown_of) for rows, (_, shown_of) in zip(again, moved, strict=True)):
        raise Stale
    return now


def _require_same(row: GroupRow, now: GroupRow | None) -> None:
    """Begin again if the group has been renamed or deleted: its members may be of after that."""
    if now is None or (row["name"], row["deleted"]) != (now["name"], now["deleted"]):
        raise Stale


def user_holders(permissions: Mapping[str, Permission]) -> set[UserId]:
    """The users an access list names."""
    return {UserId(each.aro_id) for each in permissions.values() if each.aro == "User"}


def group_holders(permissions: Mapping[str, Permission]) -> set[GroupId]:
    """The groups an access list names."""
    return {GroupId(each.aro_id) for each in permissions.values() if each.aro == "Group"}
