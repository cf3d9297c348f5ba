"""How groups look to a client: from rows as DynamoDB sent them, since lists are long."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NotRequired, TypedDict, cast

from chalicelib.domain.light import dataclass
from chalicelib.services.groups.group_dry_runs import DryRun
from chalicelib.services.groups.group_lists import Found, SeenGroup
from chalicelib.tables.users.users import UserRow
from chalicelib.views.groups import group_briefs
from chalicelib.views.groups.group_briefs import GroupJson
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users import gpgkeys as gpgkey_views
from chalicelib.views.users import users as user_views
from chalicelib.views.users.gpgkeys import GpgkeyJson
from chalicelib.views.users.users import MembershipJson, UserJson


class NamesJson(TypedDict):
    """A profile without its avatar."""

    id: Uuid
    user_id: Uuid
    first_name: str
    last_name: str
    created: Moment
    modified: Moment


class MemberJson(UserJson):
    profile: NotRequired[NamesJson]
    gpgkey: NotRequired[GpgkeyJson | None]


class GroupUserJson(MembershipJson):
    user: NotRequired[MemberJson]


class JoinedUserJson(UserJson):
    _joinData: MembershipJson  # noqa: N815 - the API's own name


class DetailedGroupJson(GroupJson):
    """A group with the members a client asked for."""

    my_group_user: NotRequired[MembershipJson | None]
    groups_users: NotRequired[list[GroupUserJson]]
    users: NotRequired[list[JoinedUserJson]]
    modifier: NotRequired[MemberJson | None]


class NeededJson(TypedDict):
    resource_id: Uuid
    user_id: Uuid


class OwnSecretJson(TypedDict):
    resource_id: Uuid
    data: str


class WrappedNeedJson(TypedDict):
    Secret: NeededJson


class WrappedSecretsJson(TypedDict):
    Secret: list[OwnSecretJson]


class NeedsJson(TypedDict):
    SecretsNeeded: list[WrappedNeedJson]
    Secrets: list[WrappedSecretsJson]


DryRunJson = TypedDict("DryRunJson", {"dry-run": NeedsJson})

OWN = "my_group_user"
MEMBERS = "groups_users"
MEMBER = "groups_users.user"
MEMBER_PROFILE = "groups_users.user.profile"
MEMBER_GPGKEY = "groups_users.user.gpgkey"
USERS = "users"
MODIFIER = "modifier"
MODIFIER_PROFILE = "modifier.profile"


def listed(found: Found, contained: Collection[str]) -> list[DetailedGroupJson]:
    """Groups with those of their optional members that are wanted."""
    users = _Users.of(found, contained)
    own = {} if found.own is None else _own(found.own)
    return [_detailed(seen, users, own, contained) for seen in found.groups]


def detailed(found: Found, contained: Collection[str]) -> DetailedGroupJson:
    """The same of one group."""
    [shown] = listed(found, contained)
    return shown


def updated(found: Found) -> DetailedGroupJson:
    """The answer to an update, whatever the client asks for."""
    return detailed(found, (MEMBERS, MEMBER, MEMBER_PROFILE))


def dry_run(found: DryRun) -> DryRunJson:
    needed: list[WrappedNeedJson] = [
        {"Secret": {"resource_id": item_id, "user_id": user_id}}
        for user_id, item_id in found.needed
    ]
    secrets: list[WrappedSecretsJson] = [
        {"Secret": [{"resource_id": each["item_id"]["S"], "data": each["secret_data"]["S"]}]}
        for each in found.secrets
    ]
    return {"dry-run": {"SecretsNeeded": needed, "Secrets": secrets}}


@dataclass(frozen=True, slots=True)
class _Users:
    """The users that are shown with groups, each made once for a whole list."""

    brief: Mapping[str, UserJson]
    members: Mapping[str, MemberJson]
    modifiers: Mapping[str, MemberJson]

    @classmethod
    def of(cls, found: Found, contained: Collection[str]) -> _Users:
        brief = {id_: user_views.brief_of(row) for id_, row in found.users.items()}
        members = {id_: cast(MemberJson, {**user}) for id_, user in brief.items()}
        modifiers = {id_: cast(MemberJson, {**user}) for id_, user in brief.items()}
        for id_, row in found.users.items():
            if MEMBER_PROFILE in contained:
                members[id_]["profile"] = _names(row)
            if MODIFIER_PROFILE in contained:
                modifiers[id_]["profile"] = _names(row)
            if MEMBER_GPGKEY in contained:
                members[id_]["gpgkey"] = _gpgkey(found, row)
        return cls(brief, members, modifiers)


def _detailed(
    seen: SeenGroup,
    users: _Users,
    own: Mapping[str, MembershipJson],
    contained: Collection[str],
) -> DetailedGroupJson:
    shown = cast(DetailedGroupJson, group_briefs.brief_of(seen.row))
    memberships = [user_views.membership_of(row) for row in seen.members]
    if OWN in contained:
        shown["my_group_user"] = own.get(shown["id"])
    if MEMBERS in contained:
        shown["groups_users"] = [cast(GroupUserJson, each) for each in memberships]
    if MEMBER in contained:
        shown["groups_users"] = [_with_user(each, users) for each in memberships]
    if USERS in contained:
        shown["users"] = [_joined(each, users) for each in memberships]
    if MODIFIER in contained:
        shown["modifier"] = users.modifiers.get(shown["modified_by"])
    return shown


def _own(user: UserRow) -> dict[str, MembershipJson]:
    """A user's memberships by group."""
    return {entry["group_id"]: entry for entry in user_views.groups_users(user)}


def _with_user(membership: MembershipJson, users: _Users) -> GroupUserJson:
    return {**membership, "user": users.members[membership["user_id"]]}


def _joined(membership: MembershipJson, users: _Users) -> JoinedUserJson:
    return {**users.brief[membership["user_id"]], "_joinData": membership}


def _names(user: UserRow) -> NamesJson:
    profile = user_views.profile_of(user)
    return cast(NamesJson, {name: value for name, value in profile.items() if name != "avatar"})


def _gpgkey(found: Found, user: UserRow) -> GpgkeyJson | None:
    key = found.gpgkeys.get(user["gpgkey_id"]["S"]) if "gpgkey_id" in user else None
    return None if key is None else gpgkey_views.gpgkey_of(key)
