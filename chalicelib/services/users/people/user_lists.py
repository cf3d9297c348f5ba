"""Lists of users: whom somebody may see, by which filters, and with which keys.

One may have thousands of rows: they stay as DynamoDB sent them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden
from chalicelib.domain.folding import folded
from chalicelib.domain.ids import ResourceId
from chalicelib.domain.light import dataclass
from chalicelib.domain.users.roles import ADMIN
from chalicelib.services.access import grants, memberships
from chalicelib.services.users.policies import mfa_settings
from chalicelib.services.users.roles import roles
from chalicelib.services.users.roles.roles import Known
from chalicelib.storage import reading
from chalicelib.storage.base import RawRow, Table
from chalicelib.tables.claims import FINGERPRINT, USERNAME, Claim
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.gpgkeys import Gpgkey, GpgkeyRow
from chalicelib.tables.users.users import User, UserRow

Shown = TypeVar("Shown")
ShownKey = TypeVar("ShownKey")


class Listed(NamedTuple, Generic[Shown, ShownKey]):
    """A user of a list as they are shown, and their key where that has been read."""

    id: str
    version: int
    user: Shown
    gpgkey_id: str | None
    gpgkey: ShownKey | None = None


@dataclass(frozen=True, slots=True)
class WantedUsers:
    """Which of the users they may see somebody asks for; all that is set must hold."""

    search: str | None = None
    """Part of the username, the first or the last name, however it is written."""
    groups: frozenset[str] = frozenset()
    """Groups they all belong to."""
    resource_id: str | None = None
    """Resource they have access to."""
    is_admin: bool = False
    is_active: bool | None = None
    """Whether they have set up, for administrators, who alone see both."""
    is_mfa_enabled: bool | None = None
    """Whether their sign-in takes a second factor, for administrators, who alone see it."""
    providers: tuple[str, ...] = ()
    """The providers of second factors that are turned on."""

    @property
    def is_everybody(self) -> bool:
        """Whether nobody who has a key is left out."""
        narrows = self.search or self.groups or self.resource_id or self.is_admin
        return not narrows and self.is_active is not False and self.is_mfa_enabled is None


def search(
    actor: Actor, wanted: WantedUsers, show: Callable[[UserRow, Known], Shown]
) -> list[Listed[Shown, Any]]:
    """Return, in no order, what `show` makes of whom the actor may see and asks for."""
    if wanted.resource_id is not None:
        return _with_access(actor, ResourceId(wanted.resource_id), wanted, show)
    ids, known, groups = reading.together(
        everybody, roles.read, partial(memberships.versions, wanted.groups)
    )
    found = among(ids, actor, wanted, show, known)
    reading.require_unchanged(groups)
    return found


def among(
    ids: Collection[str],
    actor: Actor,
    wanted: WantedUsers,
    show: Callable[[UserRow, Known], Shown],
    known: Known,
) -> list[Listed[Shown, Any]]:
    """Return the same of those users whose identifiers, and of those roles that, were read."""
    return reading.gather(User, ids, _maker(actor, wanted, show, known))


def everybody() -> set[str]:
    """The identifiers of all users."""
    return {claim["subject"]["S"] for claim in reading.query(Claim, USERNAME)}


def _maker(
    actor: Actor, wanted: WantedUsers, show: Callable[[UserRow, Known], Shown], known: Known
) -> Callable[[type[Table], RawRow], Listed[Shown, Any] | None]:
    def make(_: type[Table], row: RawRow) -> Listed[Shown, Any] | None:
        user = User.typed(row)
        return _listed(user, show(user, known)) if _is_wanted(actor, user, wanted) else None

    return make


def search_with_keys(
    actor: Actor,
    wanted: WantedUsers,
    show: Callable[[UserRow, Known], Shown],
    show_key: Callable[[GpgkeyRow], ShownKey],
) -> list[Listed[Shown, ShownKey]]:
    """Return the same with their keys.

    Where nearly all are shown, those that claims lead to are read in the same step. The
    user's own row says which of them is theirs; keys of users who set up since the claims were
    read are fetched.
    """
    if not wanted.is_everybody:
        return with_keys(search(actor, wanted, show), show_key)
    ids, owners, known = reading.together(everybody, _owners, roles.read)
    keys = (Gpgkey.by_id(key) for key, owner in owners.items() if owner in ids)
    gpgkeys = _Keys(show_key)

    def make(table: type[Table], row: RawRow) -> Listed[Shown, ShownKey] | None:
        if table is Gpgkey:
            gpgkeys.add(row)
            return None
        return make_user(table, row)

    make_user = _maker(actor, wanted, show, known)
    found = reading.gather(User, ids, make, *keys)
    gpgkeys.require_shown(found)
    return with_keys(gpgkeys.paired(found), show_key)


def with_keys(
    found: Sequence[Listed[Shown, ShownKey]], show: Callable[[GpgkeyRow], ShownKey]
) -> list[Listed[Shown, ShownKey]]:
    """Return users in the same order, with what `show` makes of those keys that are not there."""
    missing = {each.gpgkey_id for each in found if each.gpgkey_id and not each.gpgkey}
    if not missing:
        return list(found)
    gpgkeys = _Keys(show)
    reading.gather(Gpgkey, missing, lambda _, row: gpgkeys.add(row))
    gpgkeys.require_shown(found)
    return gpgkeys.paired(found)


class _Keys(Generic[ShownKey]):
    """Keys that were read, as they are shown."""

    def __init__(self, show: Callable[[GpgkeyRow], ShownKey]) -> None:
        self._show = show
        self._shown: dict[str, ShownKey] = {}
        self._ended: set[str] = set()

    def add(self, row: RawRow) -> None:
        gpgkey = Gpgkey.typed(row)
        self._shown[gpgkey["id"]["S"]] = self._show(gpgkey)
        if gpgkey["deleted"]["BOOL"]:
            self._ended.add(gpgkey["id"]["S"])

    def require_shown(self, users: Iterable[Listed[Any, Any]]) -> None:
        """Begin again if one of these users has been deleted since they were read.

        Their key has ended with them, if it was read later.
        """
        reading.require_unchanged(
            {User.by_id(each.id): each.version for each in users if each.gpgkey_id in self._ended}
        )

    def paired(self, found: Sequence[Listed[Shown, ShownKey]]) -> list[Listed[Shown, ShownKey]]:
        """Users, each with their key."""
        return [
            each._replace(gpgkey=each.gpgkey or self._shown.get(each.gpgkey_id or ""))
            for each in found
        ]


def _listed(user: UserRow, shown: Shown) -> Listed[Shown, Any]:
    gpgkey_id = user["gpgkey_id"]["S"] if "gpgkey_id" in user else None
    return Listed(user["id"]["S"], int(user["version"]["N"]), shown, gpgkey_id)


def _owners() -> dict[str, str]:
    """Of every key there has been, whose it is or was."""
    claims = reading.query(Claim, FINGERPRINT)
    return {claim["subject"]["S"]: claim["owner"]["S"] for claim in claims}


def _with_access(
    actor: Actor,
    resource_id: ResourceId,
    wanted: WantedUsers,
    show: Callable[[UserRow, Known], Shown],
) -> list[Listed[Shown, Any]]:
    """Return those of them who have access; refuse an actor who has none."""
    rows = reading.read([Resource.by_id(resource_id), roles.KEY])
    resource = rows.find(Resource, resource_id)
    if resource is None or resource.deleted or grants.find_permission(actor, resource) is None:
        raise Forbidden("This operation is not allowed for this user.")
    make = _maker(actor, wanted, show, roles.of(rows))
    direct = grants.user_holders(resource)
    holders = resource.permissions.keys()
    if len(direct) == len(holders):
        return reading.gather(User, direct, make)

    def make_holder(table: type[Table], row: RawRow) -> Listed[Shown, Any] | None:
        user = User.typed(row)
        has_access = user["id"]["S"] in holders or holders & user["groups"]["M"].keys()
        return make(table, row) if has_access else None

    groups = memberships.group_holders(resource.permissions)
    ids, versions = reading.together(everybody, partial(memberships.versions, groups))
    found = reading.gather(User, ids, make_holder)
    reading.require_unchanged({**versions, resource.key: int(resource.version)})
    return found


def _is_wanted(actor: Actor, user: UserRow, wanted: WantedUsers) -> bool:
    is_active = user["active"]["BOOL"]
    return (
        not user["deleted"]["BOOL"]
        and (is_active or actor.is_admin)
        and (wanted.is_active in (None, is_active) or not actor.is_admin)
        and (wanted.search is None or _says(user, folded(wanted.search)))
        and wanted.groups <= user["groups"]["M"].keys()
        and (not wanted.is_admin or user["role_id"]["S"] == ADMIN.id)
        and _has_factor_as(wanted, user)
    )


def _has_factor_as(wanted: WantedUsers, user: UserRow) -> bool:
    if wanted.is_mfa_enabled is None:
        return True
    return mfa_settings.is_enabled(user, wanted.providers) == wanted.is_mfa_enabled


def _says(user: UserRow, searched: str) -> bool:
    texts = (user["username"]["S"], user["first_name"]["S"], user["last_name"]["S"])
    return any(searched in folded(text) for text in texts)
