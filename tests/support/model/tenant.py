"""What people, groups and resources are to each other, in plain Python.

The service must agree with it: each request is answered with the status found here, and what
people see afterwards is what stands here. A request that is refused changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.wire.client import Client
from tests.support.world.keys import Key

READ, UPDATE, OWNER = 1, 7, 15
OK, INVALID, FORBIDDEN, MISSING = 200, 400, 403, 404


@dataclass(eq=False)
class Person:
    id: str
    key: Key
    """Also of a person who has yet to bring it."""
    client: Client
    is_admin: bool = False
    is_active: bool = True
    is_suspended: bool = False
    is_deleted: bool = False

    def __repr__(self) -> str:
        return self.key.name

    @property
    def is_able(self) -> bool:
        return self.is_active and not self.is_suspended and not self.is_deleted

    @property
    def may_be_given(self) -> bool:
        """Suspended people, too, are members and have access."""
        return self.is_active and not self.is_deleted


@dataclass(eq=False)
class Team:
    id: str
    name: str
    members: dict[Person, bool]
    """Each with whether they manage the group."""
    is_deleted: bool = False

    def __repr__(self) -> str:
        return f"group {self.name}"

    @property
    def may_be_given(self) -> bool:
        return not self.is_deleted


Holder = Person | Team
Access = dict[Holder, int]


@dataclass(eq=False)
class Item:
    id: str
    name: str
    access: Access
    secrets: dict[Person, str]
    favorites: set[Person] = field(default_factory=set)
    is_deleted: bool = False

    def __repr__(self) -> str:
        return f"resource {self.id[:4]}"

    @property
    def reached(self) -> set[Person]:
        """The people who have access."""
        return reached_by(self.access)

    def type_of(self, person: Person) -> int:
        """The strongest permission somebody has, directly or through a group."""
        ways = (type_ for holder, type_ in self.access.items() if _includes(holder, person))
        return max(ways, default=0)

    def end(self) -> None:
        self.is_deleted, self.access = True, {}
        self.forget()

    def forget(self) -> None:
        """Take from people without access what they have of it."""
        self.secrets = {who: self.secrets[who] for who in self.reached}
        self.favorites &= self.reached


def reached_by(access: Access) -> set[Person]:
    return {
        person
        for holder in access
        for person in ([holder] if isinstance(holder, Person) else holder.members)
    }


def _includes(holder: Holder, person: Person) -> bool:
    return holder is person if isinstance(holder, Person) else person in holder.members


@dataclass(frozen=True)
class GroupChange:
    """What an update of a group asks for."""

    name: str | None = None
    joining: Mapping[Person, bool] = field(default_factory=dict)
    secrets: Mapping[Person, Mapping[Item, str]] = field(default_factory=dict)
    roles: Mapping[Person, bool] = field(default_factory=dict)
    leaving: Collection[Person] = ()


@dataclass
class Tenant:
    """All there is. The methods carry a request out and return its status."""

    people: list[Person]
    teams: list[Team]
    items: list[Item]

    @property
    def live_items(self) -> list[Item]:
        return [item for item in self.items if not item.is_deleted]

    # Resources

    def update_item(
        self, actor: Person, item: Item, name: str, secrets: dict[Person, str] | None
    ) -> int:
        if refusal := _refusal(actor, item, UPDATE):
            return refusal
        if secrets is not None:
            if secrets.keys() != item.reached:
                return INVALID
            item.secrets = secrets
        item.name = name
        return OK

    def delete_item(self, actor: Person, item: Item) -> int:
        if refusal := _refusal(actor, item, UPDATE):
            return refusal
        item.end()
        return OK

    def share(
        self,
        actor: Person,
        item: Item,
        changes: Mapping[Holder, int | None],
        secrets: Mapping[Person, str],
    ) -> int:
        if refusal := _refusal(actor, item, OWNER):
            return refusal
        after = changed(item.access, changes)
        if any(not holder.may_be_given for holder in after) or OWNER not in after.values():
            return INVALID
        if not reached_by(after) - item.reached <= secrets.keys() <= reached_by(after):
            return MISSING
        item.access = after
        item.secrets |= secrets
        item.forget()
        return OK

    def mark(self, actor: Person, item: Item) -> int:
        if refusal := _refusal(actor, item, READ):
            return refusal
        if actor in item.favorites:
            return INVALID
        item.favorites.add(actor)
        return OK

    def unmark(self, actor: Person, item: Item) -> int:
        if actor not in item.favorites:
            return MISSING
        item.favorites.remove(actor)
        return OK

    # Groups

    def create_team(self, actor: Person, name: str, members: Mapping[Person, bool]) -> int:
        if not actor.is_admin:
            return FORBIDDEN
        if self._has_team(name) or not _are_sound(members):
            return INVALID
        return OK

    def change_team(self, actor: Person, team: Team, change: GroupChange) -> int:
        if not (actor.is_admin or team.members.get(actor)):
            return FORBIDDEN
        if team.is_deleted:
            return MISSING
        asked = _allowed(actor, team, change)
        if asked.name is not None and self._has_team(asked.name, besides=team):
            return INVALID
        members = _members_after(team, asked)
        if members is None or not self._are_given(team, asked):
            return INVALID
        team.name = asked.name or team.name
        team.members = members
        for person in asked.joining:
            for item, secret in asked.secrets.get(person, {}).items():
                item.secrets[person] = secret
        self._forget()
        return OK

    def needed(self, team: Team, person: Person) -> set[Item]:
        """What somebody would gain in a group."""
        return {item for item in self.shared_with(team) if person not in item.reached}

    def shared_with(self, team: Team) -> list[Item]:
        return [item for item in self.items if team in item.access]

    def delete_team(self, actor: Person, team: Team, owners: Mapping[Item, Holder]) -> int:
        if not (actor.is_admin or team.members.get(actor)):
            return FORBIDDEN
        if team.is_deleted:
            return MISSING
        if not self._go({team}, owners):
            return INVALID
        return OK

    # People

    def suspend(self, actor: Person, person: Person) -> int:
        """Suspend somebody, or let them in again."""
        if not actor.is_admin:
            return FORBIDDEN
        if person.is_deleted:
            return INVALID
        person.is_suspended = not person.is_suspended
        return OK

    def delete_person(
        self,
        actor: Person,
        person: Person,
        managers: Mapping[Team, Person],
        owners: Mapping[Item, Holder],
    ) -> int:
        if not actor.is_admin:
            return FORBIDDEN
        if person is actor:
            return INVALID
        if person.is_deleted:
            return MISSING
        if not self._are_managed(managers, person):
            return INVALID
        if not self._go({person, *self.lonely(person)}, owners):
            return INVALID
        for team, manager in managers.items():
            team.members[manager] = True
        return OK

    def _are_managed(self, managers: Mapping[Team, Person], leaving: Person) -> bool:
        """Whether each group that would lack a manager gets another, and no other group."""
        unmanaged = self.unmanaged(leaving)
        if managers.keys() != set(unmanaged):
            return False
        return leaving not in managers.values()

    def lonely(self, person: Person) -> list[Team]:
        """The groups nobody else belongs to."""
        return [team for team in self.teams if team.members.keys() == {person}]

    def unmanaged(self, person: Person) -> list[Team]:
        """The groups that would be left without a manager."""
        others = (team for team in self.teams if len(team.members) > 1)
        return [team for team in others if _managers(team.members) == {person}]

    def blocking(self, gone: Collection[Holder]) -> list[Item]:
        """What others would be left with, without an owner."""
        return [
            item
            for item in self.items
            if item.access.keys() & set(gone)
            and not item.access.keys() <= set(gone)
            and _owners(item.access) <= set(gone)
        ]

    def _go(self, gone: Collection[Holder], owners: Mapping[Item, Holder]) -> bool:
        """Let holders go, unless an item would be left without an owner."""
        blocking = self.blocking(gone)
        if owners and owners.keys() != set(blocking):
            return False
        if any(owners.get(item) in (None, *gone) for item in blocking):
            return False
        for item in self.live_items:
            if item in owners:
                item.access[owners[item]] = OWNER
            item.access = {h: type_ for h, type_ in item.access.items() if h not in gone}
        for holder in gone:
            holder.is_deleted = True
        for team in self.teams:
            staying = {p: manages for p, manages in team.members.items() if p not in gone}
            team.members = {} if team.is_deleted else staying
        self._forget()
        return True

    def _forget(self) -> None:
        for item in self.live_items:
            if item.access:
                item.forget()
            else:
                item.end()

    def _has_team(self, name: str, besides: Team | None = None) -> bool:
        others = (team for team in self.teams if team is not besides and not team.is_deleted)
        return any(team.name.casefold() == name.casefold() for team in others)

    def _are_given(self, team: Team, asked: GroupChange) -> bool:
        """Whether those who join get a secret of exactly what they gain."""
        return all(
            asked.secrets.get(person, {}).keys() == self.needed(team, person)
            for person in asked.joining
        )


def changed(access: Access, changes: Mapping[Holder, int | None]) -> Access:
    after = {**access, **changes}
    return {holder: type_ for holder, type_ in after.items() if type_ is not None}


def _refusal(actor: Person, item: Item, at_least: int) -> int | None:
    type_ = item.type_of(actor)
    if type_ >= at_least:
        return None
    return FORBIDDEN if type_ else MISSING


def _allowed(actor: Person, team: Team, change: GroupChange) -> GroupChange:
    """Only administrators rename, and only managers add."""
    return replace(
        change,
        name=change.name if actor.is_admin else None,
        joining=change.joining if team.members.get(actor) else {},
    )


def _members_after(team: Team, asked: GroupChange) -> dict[Person, bool] | None:
    """The members as they will be; nothing where a manager or somebody who may join is missing."""
    if any(not person.may_be_given or person in team.members for person in asked.joining):
        return None
    members = {**team.members, **asked.joining}
    for outcome in _steps(members, asked):
        if not _managers(outcome):
            return None
    return members


def _steps(members: dict[Person, bool], asked: GroupChange) -> Iterator[dict[Person, bool]]:
    """Promotions, then demotions, then removals, after each of which a manager has to be left."""
    for person, manages in sorted(asked.roles.items(), key=lambda each: not each[1]):
        members[person] = manages
        yield members
    for person in asked.leaving:
        del members[person]
        yield members


def _are_sound(members: Mapping[Person, bool]) -> bool:
    return bool(_managers(members)) and all(person.may_be_given for person in members)


def _managers(members: Mapping[Person, bool]) -> set[Person]:
    return {person for person, manages in members.items() if manages}


def _owners(access: Access) -> set[Any]:
    return {holder for holder, type_ in access.items() if type_ == OWNER}
