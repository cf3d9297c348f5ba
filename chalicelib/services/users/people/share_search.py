"""The search for whom something can be shared with: whose names match, and how many are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Stale
from chalicelib.domain.folding import folded
from chalicelib.domain.light import dataclass
from chalicelib.services.access import memberships
from chalicelib.services.users.people import user_lists
from chalicelib.services.users.people.user_lists import Listed, WantedUsers
from chalicelib.services.users.roles import roles
from chalicelib.services.users.roles.roles import Known
from chalicelib.storage import reading
from chalicelib.tables.claims import GROUP, Claim
from chalicelib.tables.groups.groups import Group, GroupRow
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.users.users import User, UserRow

MOST = 25
"""Users shown, and groups: whoever looks for others says more of their names."""

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class FoundGroup:
    group: Group
    members: list[Membership]


def search(
    actor: Actor,
    text: str | None,
    show: Callable[[UserRow, Known], Shown],
    username: Callable[[Shown], str],
) -> tuple[list[Listed[Shown, Any]], list[FoundGroup]]:
    """Return whose names hold a text, the first by name; all, where there is none.

    Users who have yet to set up cannot be shared with, so not even administrators find them.
    """
    ids, groups, known = reading.together(
        user_lists.everybody, partial(Claim.of_kind, GROUP), roles.read
    )
    wanted = WantedUsers(search=text, is_active=True)
    users, rows = reading.together(
        partial(user_lists.among, ids, actor, wanted, show, known), partial(_groups, groups, text)
    )
    users.sort(key=lambda listed: folded(username(listed.user)))
    shown = users[:MOST]
    return shown, _with_members(rows, shown)


def _groups(claims: Iterable[Claim], text: str | None) -> list[GroupRow]:
    """The first groups by name; claims hold names folded."""
    wanted = folded(text or "")
    ids = dict.fromkeys(claim.subject for claim in claims if wanted in claim.value)
    keys = [Group.by_id(group_id) for group_id in islice(ids, MOST)]
    rows = reading.read(keys)
    found = [row for key in keys if (row := Group.among(rows, key)) is not None]
    return [row for row in found if not row["deleted"]["BOOL"]]


def _with_members(groups: list[GroupRow], users: Sequence[Listed[Any, Any]]) -> list[FoundGroup]:
    """Groups with their members, of the moment that the users, shown beside them, are of."""
    if not groups:
        return []
    members = memberships.shown(groups)
    versions = {User.by_id(each.id): each.version for each in users}
    now = memberships.require_shown_whole(groups, members, *versions)
    if any(now.version(key) != version for key, version in versions.items()):
        raise Stale
    return [
        FoundGroup(Group.of_row(group), [Membership.of_row(row) for row in rows])
        for group, rows in zip(groups, members, strict=True)
    ]
