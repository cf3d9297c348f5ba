"""Departures: what becomes of items when users or groups who have access go.

What nobody else has access to is deleted. What others see stays, without those who go; and
where it would stay without an owner, they do not go before it has been handed over.

A resource of a deleted type counts like any other. Nobody can delete a type that is in use;
of what a race has left, an owner stays all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from chalicelib.bodies import transfers
from chalicelib.bodies.draft import Draft
from chalicelib.domain import ownership
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import GroupId, ResourceId, UserId
from chalicelib.domain.ownership import AccessList, Fates
from chalicelib.services import memberships, trees
from chalicelib.services.group_lists import Found, Seen
from chalicelib.services.permissions import Holders, read_holders
from chalicelib.tables import reading
from chalicelib.tables.base import Key
from chalicelib.tables.group_items import GroupItem
from chalicelib.tables.groups import Group
from chalicelib.tables.memberships import Membership
from chalicelib.tables.operations import Change
from chalicelib.tables.reading import Rows
from chalicelib.tables.resources import Resource

TRANSFER_REFUSED = "The transfer is not authorized"


@dataclass(frozen=True)
class Departure:
    """Users and groups who go, the items they leave, and what is handed over."""

    gone: frozenset[str]
    items: Mapping[ResourceId, Resource]
    """What names somebody who goes in its access list."""
    groups: Mapping[GroupId, Group]
    """The groups in these access lists that stay."""
    owners: Mapping[ResourceId, frozenset[str]] = field(default_factory=dict)
    """Who is made an owner, by item."""

    @cached_property
    def fates(self) -> Fates:
        return ownership.fates({id_: self._access(id_) for id_ in self.items}, self.gone)

    @property
    def blocking(self) -> list[Resource]:
        """What would be left without an owner."""
        return [self.items[ResourceId(id_)] for id_ in sorted(self.fates.blocking)]

    def transferred(self, draft: Draft[Any]) -> Departure:
        """The same with the owners a client names: of each item that blocks, and no other."""
        entries = transfers.owners(draft)
        if not entries:
            return self
        blocking = self.blocking
        if not entries.are_for([item.id for item in blocking]):
            raise Invalid(TRANSFER_REFUSED)
        owners = {ResourceId(item.id): self._named(item, entries.ids) for item in blocking}
        return replace(self, owners=owners)

    def write(self, tx: Change) -> None:
        """Write what becomes of the items, and let the groups that have access know."""
        for item_id, item in self.items.items():
            if item_id in self.fates.deleted:
                tx.then_update(item, *item.deletion())
            else:
                tx.then_update(item, *item.handover(self.gone, self.owners.get(item_id, ())))
            for group_id in memberships.group_holders(item.permissions) & self.gone:
                tx.then_delete(GroupItem.of(group_id, item_id))
        for group in self.groups.values():
            tx.then_update(group, Group.version.add(1))

    def _access(self, item_id: ResourceId) -> AccessList:
        """Who may do what with an item once it has been handed over."""
        entries = self.items[item_id].permissions.items()
        access = {holder: permission.type for holder, permission in entries}
        return ownership.with_owners(access, self.owners.get(item_id, ()))

    def _named(self, item: Resource, ids: Collection[str]) -> frozenset[str]:
        """Those of the holders who stay that these permissions of the item are for."""
        named = {holder for holder, each in item.permissions.items() if each.id in ids}
        return frozenset(named - self.gone)


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What has to be handed over first, with the people and groups that are shown with it."""

    resources: Sequence[Resource]
    """What would be left without an owner."""
    holders: Holders
    groups: Found
    """What would be left without a manager."""
    lonely: Sequence[Group]
    """Groups without any other member: they would go too."""
    personal: Collection[str] = ()
    """Those of the resources that are in one user's tree alone."""


def read(gone: Collection[str], item_ids: Iterable[str], *others: Key) -> tuple[Departure, Rows]:
    """Read the items, as far as they are shared with somebody who goes, and with them other rows.

    Then the groups that have access too: each change of an access list is theirs as well.
    """
    keys = [Resource.by_id(ResourceId(item_id)) for item_id in item_ids]
    rows = reading.read([*keys, *others])
    found = [item for key in keys if (item := rows.find(Resource, key.hash_key))]
    items = {ResourceId(item.id): item for item in found if _names(item, gone)}
    staying = {g for i in items.values() for g in memberships.group_holders(i.permissions)}
    groups = groups_by_id(staying.difference(gone))
    return Departure(frozenset(gone), items, groups), rows


def groups_by_id(group_ids: Collection[str]) -> dict[GroupId, Group]:
    rows = reading.read(map(Group.by_id, sorted(group_ids)))
    found = ((group_id, rows.find(Group, group_id)) for group_id in group_ids)
    return {GroupId(group_id): group for group_id, group in found if group}


def obstacles(
    resources: Sequence[Resource],
    groups: Sequence[tuple[Group, Sequence[Membership]]] = (),
    lonely: Sequence[Group] = (),
) -> Obstacles:
    """Read who is shown with what stands in the way."""
    lists = [item.permissions for item in resources]
    users = {user for each in lists for user in memberships.user_holders(each)}
    users |= {UserId(member.user_id) for _, members in groups for member in members}
    holders = {group for each in lists for group in memberships.group_holders(each)}
    found = read_holders(users, holders)
    personal = trees.in_one({item.id: item.serialize()["permissions"]["M"] for item in resources})
    return Obstacles(resources, found, _detailed(groups, found), lonely, personal)


def _detailed(groups: Iterable[tuple[Group, Sequence[Membership]]], holders: Holders) -> Found:
    """Groups as they are shown with their members."""
    seen = [Seen(group.serialize(), [m.serialize() for m in members]) for group, members in groups]
    return Found(seen, users={id_: user.serialize() for id_, user in holders.users.items()})


def _names(item: Resource, gone: Collection[str]) -> bool:
    return not (item.deleted or item.permissions.keys().isdisjoint(gone))
