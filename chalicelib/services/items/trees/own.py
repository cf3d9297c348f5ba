"""Whether an item is in one user's tree alone, which clients call personal.

Everybody who has access to an item has it in their tree. So the access list says who they are,
but for its groups: of these it is asked whether they have one member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import GroupId, UserId
from chalicelib.services.access import memberships
from chalicelib.storage.values import Map
from chalicelib.tables.items.items import ItemRow
from chalicelib.tables.items.permissions import PermissionRow

AccessList = Mapping[str, Map[PermissionRow]]
"""An item's permissions as they are in its row, by holder."""


class OwnTrees:
    """The items of a list that may be in the actor's tree alone, though groups have them.

    They are noted while the list is made, and asked about, all at once, when it is known which
    of them are shown.
    """

    def __init__(self, actor: Actor) -> None:
        self._user = actor.id
        self._own = frozenset((actor.id, *actor.groups))
        self._noted: dict[str, frozenset[str]] = {}

    def note(self, row: ItemRow) -> None:
        """Keep who has an item, if it is nobody but the actor and groups they belong to."""
        permissions = row["permissions"]["M"]
        if self._own.issuperset(permissions):
            self._noted[row["id"]["S"]] = frozenset(permissions)

    def personal_among(self, item_ids: Iterable[str]) -> set[str]:
        """Those of these items that nobody else has."""
        noted = {id_: self._noted[id_] for id_ in item_ids if id_ in self._noted}
        groups = {GroupId(each) for each in chain.from_iterable(set(noted.values()))}
        alone = {self._user, *memberships.sole_members(groups - {self._user})}
        return {id_ for id_, holders in noted.items() if holders <= alone}


def in_one(items: Mapping[str, AccessList]) -> set[str]:
    """Those of these items that are in one user's tree alone."""
    held = {id_: _holders(each) for id_, each in items.items()}
    held = {id_: (users, groups) for id_, (users, groups) in held.items() if len(users) <= 1}
    sole = memberships.sole_members({group for _, groups in held.values() for group in groups})
    return {
        id_
        for id_, (users, groups) in held.items()
        if groups <= sole.keys() and len(users.union(map(sole.__getitem__, groups))) == 1
    }


def _holders(permissions: AccessList) -> tuple[set[UserId], set[GroupId]]:
    groups = {id_ for id_, each in permissions.items() if each["M"]["aro"]["S"] == "Group"}
    users = permissions.keys() - groups
    return set(map(UserId, users)), set(map(GroupId, groups))
