"""Users and groups as they are shown beside something else, such as what they may read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from chalicelib.domain.ids import GroupId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import User
from chalicelib.views.groups import group_briefs
from chalicelib.views.groups.group_briefs import GroupJson
from chalicelib.views.users import users as user_views
from chalicelib.views.users.users import ProfileJson, UserJson


class HolderJson(UserJson):
    profile: ProfileJson


@dataclass(frozen=True, slots=True)
class ShownHolders:
    """Each made once for a whole list, by identifier."""

    users: dict[str, UserJson]
    with_profile: dict[str, HolderJson]
    groups: dict[str, GroupJson]

    @classmethod
    def of(
        cls,
        users: Mapping[UserId, User],
        groups: Mapping[GroupId, Group] = MappingProxyType({}),
    ) -> ShownHolders:
        rows = {str(user_id): user.row for user_id, user in users.items()}
        brief = {user_id: user_views.brief_of(row) for user_id, row in rows.items()}
        return cls(
            brief,
            {
                user_id: {**brief[user_id], "profile": user_views.profile_of(row)}
                for user_id, row in rows.items()
            },
            {str(group_id): group_briefs.brief(group) for group_id, group in groups.items()},
        )
