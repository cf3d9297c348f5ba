"""How sharing looks to a client: what a simulation says, and who could be shared with."""

from __future__ import annotations

from collections.abc import Collection
from operator import itemgetter
from typing import NotRequired, TypedDict

from chalicelib.dialect import dialect
from chalicelib.domain.folding import folded
from chalicelib.domain.ids import UserId
from chalicelib.services.items.sharing.shares import Simulation
from chalicelib.services.users.people.share_search import FoundGroup
from chalicelib.services.users.people.user_lists import Listed
from chalicelib.views.groups import group_briefs
from chalicelib.views.groups.group_briefs import GroupJson
from chalicelib.views.shapes import Uuid
from chalicelib.views.users import users as user_views
from chalicelib.views.users.gpgkeys import GpgkeyJson
from chalicelib.views.users.users import ListedJson, MembershipJson, PersonJson


class SimulatedUserJson(TypedDict):
    id: Uuid


class SimulatedJson(TypedDict):
    User: SimulatedUserJson


class ChangesJson(TypedDict):
    added: list[Uuid | SimulatedJson]
    removed: list[Uuid | SimulatedJson]


class SimulationJson(TypedDict):
    changes: ChangesJson


class FoundGroupJson(GroupJson):
    user_count: int | str
    groups_users: NotRequired[list[MembershipJson]]


CandidateJson = ListedJson | FoundGroupJson


def simulation(simulated: Simulation) -> SimulationJson:
    """Who would gain and who would lose access, in the form of the dialect."""
    added, removed = map(_users, (simulated.added, simulated.removed))
    return {"changes": {"added": added, "removed": removed}}


def _users(ids: list[UserId]) -> list[Uuid | SimulatedJson]:
    if dialect.wraps_simulated_users:
        return [{"User": {"id": user_id}} for user_id in ids]
    return list(ids)


def candidates(
    users: list[Listed[PersonJson, GpgkeyJson]],
    groups: list[FoundGroup],
    contained: Collection[str],
    *,
    has_members: bool,
) -> list[CandidateJson]:
    """Users and groups in one list, by name."""
    shown_users = user_views.listed(users, {*contained, "profile"})
    shown_groups = [_group(each, has_members=has_members) for each in groups]
    by_name: list[tuple[str, CandidateJson]] = [
        *((folded(user["username"]), user) for user in shown_users),
        *((folded(group["name"]), group) for group in shown_groups),
    ]
    return [shown for _, shown in sorted(by_name, key=itemgetter(0))]


def _group(each: FoundGroup, *, has_members: bool) -> FoundGroupJson:
    count = dialect.user_count(len(each.members))
    shown: FoundGroupJson = {**group_briefs.brief(each.group), "user_count": count}  # type: ignore[typeddict-item]
    if has_members:
        rows = (member.row for member in each.members)
        shown["groups_users"] = [user_views.membership_of(row) for row in rows]
    return shown
