"""How users look to a client: from rows as DynamoDB sent them, since lists are long."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NotRequired, TypedDict, cast

from chalicelib.domain.ids import named_id
from chalicelib.domain.users import roles
from chalicelib.domain.users.roles import Role
from chalicelib.services.sign_in.newcomers import Newcomer
from chalicelib.services.users.people.people import Person
from chalicelib.services.users.people.user_lists import Listed
from chalicelib.services.users.roles.roles import Known
from chalicelib.settings import settings
from chalicelib.tables.groups.memberships import MembershipRow
from chalicelib.tables.users.users import BelongingRow, User, UserRow
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users import gpgkeys, policies
from chalicelib.views.users import roles as role_views
from chalicelib.views.users.gpgkeys import GpgkeyJson
from chalicelib.views.users.policies import PassphrasePoliciesJson
from chalicelib.views.users.roles import RoleJson


class AvatarUrlJson(TypedDict):
    medium: str
    small: str


class AvatarJson(TypedDict):
    id: NotRequired[Uuid]
    profile_id: NotRequired[Uuid]
    created: NotRequired[Moment]
    modified: NotRequired[Moment]
    url: AvatarUrlJson


class ProfileJson(TypedDict):
    id: Uuid
    user_id: Uuid
    first_name: str
    last_name: str
    created: Moment
    modified: Moment
    avatar: AvatarJson


class MembershipJson(TypedDict):
    id: Uuid
    group_id: Uuid
    user_id: Uuid
    is_admin: bool
    created: Moment


class UserJson(TypedDict):
    id: Uuid
    role_id: Uuid
    username: str
    active: bool
    deleted: bool
    disabled: Moment | None
    last_logged_in: Moment | None
    created: Moment
    modified: Moment


class PersonJson(UserJson):
    groups_users: list[MembershipJson]
    profile: ProfileJson
    gpgkey: GpgkeyJson | None
    role: RoleJson


class ScimEntryJson(TypedDict):
    """What a directory calls a user whom it provisions."""

    id: Uuid
    scim_name: str
    external_identifier: str | None
    foreign_model: str
    foreign_key: Uuid
    deleted: None
    created: Moment


class ViewedJson(PersonJson):
    scim_entry: NotRequired[ScimEntryJson | None]
    is_mfa_enabled: NotRequired[bool]
    missing_metadata_key_ids: NotRequired[list[Uuid]]


class ListedJson(UserJson):
    """A user of a list, without what the client says it does not need."""

    scim_entry: NotRequired[ScimEntryJson | None]
    is_mfa_enabled: NotRequired[bool]
    missing_metadata_key_ids: NotRequired[list[Uuid]]
    groups_users: NotRequired[list[MembershipJson]]
    profile: NotRequired[ProfileJson]
    gpgkey: NotRequired[GpgkeyJson | None]
    role: NotRequired[RoleJson]


class NewcomerJson(UserJson):
    profile: ProfileJson
    locale: str
    role: RoleJson


class SetupJson(TypedDict):
    user: NewcomerJson
    user_passphrase_policy: PassphrasePoliciesJson


ListedPerson = Listed[PersonJson, GpgkeyJson]
MFA = "is_mfa_enabled"
MISSING_KEYS = "missing_metadata_key_ids"
SCIM_ENTRY = "scim_entry"
OPTIONAL = frozenset({"gpgkey", "profile", "role", "groups_users"})
PLACEHOLDER: AvatarJson = {
    "url": {
        "medium": f"{settings.base_url}/img/avatar/user_medium.png",
        "small": f"{settings.base_url}/img/avatar/user.png",
    }
}

_BUILT_IN = {role.id: role_views.role(role) for role in roles.BUILT_IN}
"""Ready, for lists of thousands."""


def person(found: Person) -> PersonJson:
    """A user with all that is shown of them."""
    shown = _person(found.user.row, found.role)
    shown["gpgkey"] = gpgkeys.gpgkey(found.gpgkey) if found.gpgkey else None
    return shown


def viewed(
    found: Person, contained: Collection[str], missing_keys: Sequence[str] = ()
) -> ViewedJson:
    """The same, with what the client may see and asked for beyond it."""
    shown = cast(ViewedJson, person(found))
    if MFA in contained:
        shown["is_mfa_enabled"] = found.is_mfa_enabled
    if MISSING_KEYS in contained:
        shown["missing_metadata_key_ids"] = list(missing_keys)
    if SCIM_ENTRY in contained:
        shown["scim_entry"] = scim_entry_of(found.user.row)
    return shown


def scim_entry_of(row: UserRow) -> ScimEntryJson | None:
    """What a directory calls the user; nothing where none provisions them."""
    if "scim_name" not in row or "scim_created" not in row:
        return None
    return {
        "id": named_id(f"scim:{row['id']['S']}"),
        "scim_name": row["scim_name"]["S"],
        "external_identifier": row["external_id"]["S"] if "external_id" in row else None,
        "foreign_model": "Users",
        "foreign_key": row["id"]["S"],
        "deleted": None,
        "created": row["scim_created"]["S"],
    }


def add_scim_entries(
    shown: Iterable[ListedJson], entries: Mapping[str, ScimEntryJson | None]
) -> None:
    """Say of each user what a directory calls them."""
    for each in shown:
        each["scim_entry"] = entries.get(each["id"])


def person_of(row: UserRow, known: Known) -> PersonJson:
    """A user with all that is shown of them but their key, which is another row."""
    return _person(row, known.role_of(row["role_id"]["S"]))


def _person(row: UserRow, role: Role) -> PersonJson:
    return {
        **brief_of(row),
        "groups_users": groups_users(row),
        "profile": profile_of(row),
        "gpgkey": None,
        "role": _role(role),
    }


def _role(role: Role) -> RoleJson:
    return _BUILT_IN.get(role.id) or role_views.role(role)


def listed(found: Iterable[ListedPerson], contained: Collection[str]) -> list[ListedJson]:
    """Users of a list, with those of their optional members that are wanted."""
    left_out = OPTIONAL.difference(contained)
    return [_without(left_out, _with_key(each)) for each in found]


def add_second_factors(shown: Iterable[ListedJson], enabled: Collection[str]) -> None:
    """Say of each user whether they are among these, whose sign-in takes a second factor."""
    for each in shown:
        each["is_mfa_enabled"] = each["id"] in enabled


def add_missing_keys(shown: Iterable[ListedJson], missing: Mapping[str, Sequence[str]]) -> None:
    """Say of each user which metadata keys they have no copy of."""
    for each in shown:
        each["missing_metadata_key_ids"] = list(missing.get(each["id"], ()))


def _with_key(listed: ListedPerson) -> PersonJson:
    listed.user["gpgkey"] = listed.gpgkey
    return listed.user


def _without(names: Collection[str], shown: PersonJson) -> ListedJson:
    kept = {name: value for name, value in shown.items() if name not in names} if names else shown
    return cast(ListedJson, kept)


def signed_in(found: Person | None) -> PersonJson | None:
    """Who signed in; nobody yet where the sign-in has further steps."""
    return None if found is None else person(found)


def brief(user: User) -> UserJson:
    """A user as shown where they created or changed something."""
    return brief_of(user.row)


def brief_of(row: UserRow) -> UserJson:
    return {
        "id": row["id"]["S"],
        "role_id": row["role_id"]["S"],
        "username": row["username"]["S"],
        "active": row["active"]["BOOL"],
        "deleted": row["deleted"]["BOOL"],
        "disabled": row["disabled"]["S"] if "disabled" in row else None,
        "last_logged_in": row["last_logged_in"]["S"] if "last_logged_in" in row else None,
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
    }


def profile(user: User) -> ProfileJson:
    return profile_of(user.row)


def profile_of(row: UserRow) -> ProfileJson:
    return {
        "id": row["profile_id"]["S"],
        "user_id": row["id"]["S"],
        "first_name": row["first_name"]["S"],
        "last_name": row["last_name"]["S"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "avatar": avatar_of(row) if "avatar_id" in row else PLACEHOLDER,
    }


def avatar_of(row: UserRow) -> AvatarJson:
    """A picture somebody has sent; each is new, so none is ever modified."""
    address = f"{settings.base_url}/avatars/view/{row['avatar_id']['S']}"
    return {
        "id": row["avatar_id"]["S"],
        "profile_id": row["profile_id"]["S"],
        "created": row["avatar_created"]["S"],
        "modified": row["avatar_created"]["S"],
        "url": {"medium": f"{address}/medium.jpg", "small": f"{address}/small.jpg"},
    }


def membership_of(row: MembershipRow) -> MembershipJson:
    return {
        "id": row["id"]["S"],
        "group_id": row["group_id"]["S"],
        "user_id": row["user_id"]["S"],
        "is_admin": row["is_admin"]["BOOL"],
        "created": row["created"]["S"],
    }


def groups_users(row: UserRow) -> list[MembershipJson]:
    user_id = row["id"]["S"]
    entries = row["groups"]["M"].items()
    return [_belonging(user_id, group_id, entry["M"]) for group_id, entry in entries]


def _belonging(user_id: str, group_id: str, entry: BelongingRow) -> MembershipJson:
    """The same membership as the user's own row tells of it."""
    return {
        "id": entry["id"]["S"],
        "group_id": group_id,
        "user_id": user_id,
        "is_admin": entry["is_admin"]["BOOL"],
        "created": entry["created"]["S"],
    }


def newcomer(found: Newcomer) -> SetupJson:
    """A user as the setup shows them: without a key."""
    user = found.person.user
    return {
        "user": {
            **brief(user),
            "profile": profile(user),
            "locale": found.locale,
            "role": _role(found.person.role),
        },
        "user_passphrase_policy": policies.passphrases(found.passphrases),
    }
