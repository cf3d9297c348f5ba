"""What a run is decided from: links, users and groups, read together in batches.

A run reads what runs have noted before it asks the directory, and the rest once it has answered;
of one person or group again where something has changed when it is to be written. A dry run
changes what is known and nothing else, so that its steps see what those before would have done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TypeVar

from chalicelib.domain import clock
from chalicelib.domain.directory.directory import Directory, Entry, EntryId, Person, Team
from chalicelib.domain.directory.directory_settings import DirectorySettings
from chalicelib.domain.folding import folded
from chalicelib.domain.light import dataclass
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import (
    FORMER_GROUP,
    FORMER_USER,
    GROUP,
    USERNAME,
    Claim,
)
from chalicelib.tables.directory.directory_links import ASKED, EXEMPT, LINKED, DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import RESOURCE
from chalicelib.tables.users import people
from chalicelib.tables.users.users import Belonging, User

Links = dict[str, DirectoryLink]
Roster = dict[str, Belonging]
"""The members of a group by user."""


Local = TypeVar("Local", User, Group)


@dataclass(frozen=True, slots=True)
class Noted:
    """What earlier runs have noted, and what runs leave alone, before the directory is asked."""

    people: Sequence[DirectoryLink]
    teams: Sequence[DirectoryLink]
    relations: Sequence[DirectoryLink]
    exempt: Sequence[DirectoryLink]
    asked: Sequence[DirectoryLink]


@dataclass
class Known:
    """The users and groups that a run may have to do with, and what earlier runs noted."""

    settings: DirectorySettings
    managers: Sequence[User]
    """Who may manage the groups that the run makes: the first who can sign in does.

    The last is whoever the run acts for.
    """
    people: Links = field(default_factory=dict)
    """Links of people, by entry."""
    teams: Links = field(default_factory=dict)
    """Links of groups, by entry."""
    relations: dict[str, Links] = field(default_factory=dict)
    """By group and membership."""
    newer: set[str] = field(default_factory=set)
    """Relations that other runs have made since the directory was asked: its answer says nothing of
    them."""
    exempt: Links = field(default_factory=dict)
    """By what runs leave alone."""
    asked: Links = field(default_factory=dict)
    """Whom managers were asked to add, by group."""
    users: dict[str, User] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    usernames: dict[str, str] = field(default_factory=dict)
    """Users by address, folded: those who are not deleted."""
    former_users: dict[str, str] = field(default_factory=dict)
    """Deleted users by address, folded: of several, the last who had it."""
    names: dict[str, str] = field(default_factory=dict)
    """Groups by name, folded."""
    former_groups: dict[str, str] = field(default_factory=dict)
    rosters: dict[str, Roster] = field(default_factory=dict)
    """Members of groups, as far as the run may have to do with them."""
    holding: set[str] = field(default_factory=set)
    """Groups that resources are shared with."""
    entries: dict[str, EntryId] = field(default_factory=dict)
    """People of the directory by distinguished name, folded."""
    linked: dict[str, EntryId] = field(default_factory=dict)
    """Which entry a user or a group is linked to."""
    gone: set[str] = field(default_factory=set)
    """Users and groups that are deleted; in a dry run also those that would be by now."""
    lonely: dict[str, Sequence[Group]] = field(default_factory=dict)
    """Groups that were deleted with their only member, by user."""

    @property
    def manager(self) -> User:
        """Who manages a group that is made now; nobody who has left by this run."""
        *named, last = (self.users.get(each.id, each) for each in self.managers)
        return next((each for each in named if each.may_sign_in(clock.now())), last)

    @property
    def runner(self) -> User:
        """Whoever the run acts for, as they were read."""
        return self.managers[-1]

    def user_of(self, person: Person) -> User | None:
        """Who a person of the directory is here, deleted ones included."""
        link, name = self.people.get(person.id), folded(person.username or "")
        living, former = self.usernames.get(name), self.former_users.get(name)
        return self._local(self.users, link, living, former)

    def group_of(self, team: Team) -> Group | None:
        link, name = self.teams.get(team.id), folded(team.title or "")
        living, former = self.names.get(name), self.former_groups.get(name)
        return self._local(self.groups, link, living, former)

    def _local(
        self,
        rows: Mapping[str, Local],
        link: DirectoryLink | None,
        living: str | None,
        former: str | None,
    ) -> Local | None:
        """What an entry is linked to, else what has its name; what lives before what is deleted."""
        linked = None if link is None else rows.get(str(link.subject))
        if linked is None:
            return rows.get(living or former or "")
        is_replaced = linked.deleted and living is not None and linked.id not in self.exempt
        return rows.get(str(living)) if is_replaced else linked

    def member_of(self, name: str) -> User | None:
        """The user of whom a distinguished name speaks, where they are linked."""
        entry = self.entries.get(folded(name))
        link = None if entry is None else self.people.get(entry)
        return None if link is None else self.users.get(str(link.subject))

    def members_of(self, team: Team) -> set[str]:
        """The users who are members of the directory's group, as far as they are linked."""
        found = map(self.member_of, team.people)
        return {user.id for user in found if user is not None}

    def hindrance(self, entry: Entry, local: User | Group) -> str | None:
        """Why an entry is not linked to who or what was here before, if it is not."""
        if entry.created > local.created:
            return "the directory object is younger than the local one"
        return self.other_link(entry, local)

    def other_link(self, entry: Entry, local: User | Group) -> str | None:
        """That somebody or something is linked to another entry, if it is so."""
        if self.linked.get(local.id, entry.id) != entry.id:
            return "it is linked to another entry of the directory"
        return None

    def relations_of(self, group_id: str) -> dict[str, DirectoryLink]:
        """The relations of a group by user: of two, the one whose membership stands."""
        roster = self.rosters.get(group_id, {})
        found: dict[str, DirectoryLink] = {}
        for row in self.relations.get(group_id, {}).values():
            user_id = str(row.member)
            if user_id not in found or _stands(row, roster):
                found[user_id] = row
        return found

    def put_link(self, link: DirectoryLink) -> None:
        links = self.people if link.kind == Model.USERS else self.teams
        self.drop_link(link)
        links[link.id] = link
        self.linked[str(link.subject)] = EntryId(link.id)

    def drop_link(self, link: DirectoryLink) -> None:
        links = self.people if link.kind == Model.USERS else self.teams
        before = links.pop(link.id, None)
        if before is not None and self.linked.get(str(before.subject)) == before.id:
            del self.linked[str(before.subject)]

    def put_relation(self, relation: DirectoryLink) -> None:
        self.relations.setdefault(str(relation.subject), {})[relation.id] = relation

    def drop_relation(self, relation: DirectoryLink) -> None:
        self.relations.get(str(relation.subject), {}).pop(relation.id, None)

    def note_asked(self, group_id: str, note: DirectoryLink | None) -> None:
        """Take in whom the managers of a group were asked to add, if anybody."""
        self.asked.pop(group_id, None)
        if note is not None:
            self.asked[group_id] = note

    def put_user(self, user: User) -> None:
        """Take in a user as they are now."""
        self.users[user.id] = user
        mine, other = self.usernames, self.former_users
        if user.deleted:
            self.gone.add(user.id)
            mine, other = other, mine
        mine[folded(user.username)] = user.id
        if other.get(folded(user.username)) == user.id:
            del other[folded(user.username)]

    def put_group(self, group: Group) -> None:
        before = self.groups.get(group.id)
        for names in (self.names, self.former_groups):
            if before is not None and names.get(folded(before.name)) == group.id:
                del names[folded(before.name)]
        (self.former_groups if group.deleted else self.names)[folded(group.name)] = group.id
        self.groups[group.id] = group
        if group.deleted:
            self.gone.add(group.id)

    def put_departure(self, user: User, lonely: Sequence[Group]) -> None:
        """Take in that a user belongs to no group any more, and which were deleted with them."""
        self.lonely[user.id] = lonely
        for roster in self.rosters.values():
            roster.pop(user.id, None)
        for group in lonely:
            self.put_group(group)


def _stands(relation: DirectoryLink, roster: Roster) -> bool:
    belonging = roster.get(str(relation.member))
    return belonging is not None and belonging.id == relation.id


def noted() -> Noted:
    """Read what runs have noted so far."""
    kinds = (Model.USERS, Model.GROUPS, Model.MEMBERSHIPS, EXEMPT, ASKED)
    return Noted(*reading.together(*(partial(DirectoryLink.of_kind, kind) for kind in kinds)))


def read(
    settings: DirectorySettings, managers: Sequence[User], before: Noted, directory: Directory
) -> Known:
    """Read what else a run is decided from, in batches."""
    known = Known(settings, managers)
    known.entries = {folded(person.name): person.id for person in directory.people}
    for link in (*before.people, *before.teams):
        known.put_link(link)
    for relation in before.relations:
        known.put_relation(relation)
    known.exempt, known.asked = _by_id(before.exempt), _by_id(before.asked)
    addresses = [each.username for each in directory.people if each.id not in known.people]
    names = [team.title for team in directory.teams if team.id not in known.teams]
    _read_subjects(known, filter(None, addresses), filter(None, names))
    _read_subjects(
        known, _lost_addresses(known, directory.people), _other_names(known, directory.teams)
    )
    _read_teams(known, directory.teams)
    return known


def _by_id(rows: Iterable[DirectoryLink]) -> Links:
    return {row.id: row for row in rows}


def _lost_addresses(known: Known, persons: Iterable[Person]) -> Iterator[str]:
    """The addresses of people who are linked to somebody who is not there."""
    for person in persons:
        if person.id in known.people and person.username:
            user = known.user_of(person)
            if user is None or user.deleted:
                yield person.username


def _other_names(known: Known, teams: Iterable[Team]) -> Iterator[str]:
    """The names of groups that are linked under another, or to one that is not there."""
    for team in teams:
        if team.id in known.teams and team.title:
            group = known.group_of(team)
            if group is None or group.deleted or folded(team.title) != folded(group.name):
                yield team.title


def _read_subjects(known: Known, addresses: Iterable[str], names: Iterable[str]) -> None:
    """Read users and groups: those that are linked or exempt, and those with these names."""
    links = [*known.people.values(), *known.teams.values()]
    exempt = [each for each in known.exempt.values() if each.model != Model.ENTRIES]
    claimed = [(kind, folded(each)) for each in addresses for kind in (USERNAME, FORMER_USER)]
    claimed += [(kind, folded(each)) for each in names for kind in (GROUP, FORMER_GROUP)]
    keys = [*map(_subject_of, [*links, *exempt]), User.by_id(known.managers[0].id)]
    there = known.users.keys() | known.groups.keys()
    keys = [key for key in keys if key.hash_key not in there]
    rows = reading.read([*keys, *(Key(Claim, *each) for each in claimed)])
    found = [row for each in claimed if (row := rows.find(Claim, *each)) is not None]
    named = dict.fromkeys(map(_claimed, found))
    more = reading.read(key for key in named if rows.raw(key) is None)
    # Several deleted users, or groups, may have had one name. `_put` lets a later one replace an
    # earlier one, so the one that the name's claim tells of, who had it last, is put at the end.
    for key in (*(key for key in keys if key not in named), *named):
        _put(known, rows if rows.raw(key) is not None else more, key)


def _subject_of(link: DirectoryLink) -> Key:
    """What is linked, or exempt."""
    kind, subject = (link.kind, link.subject) if link.subject else (link.model, link.id)
    return User.by_id(str(subject)) if kind == Model.USERS else Group.by_id(str(subject))


def _claimed(claim: Claim) -> Key:
    is_user = claim.kind in (USERNAME, FORMER_USER)
    return User.by_id(claim.subject) if is_user else Group.by_id(claim.subject)


def _put(known: Known, rows: Rows, key: Key) -> None:
    if key.table is User:
        user = rows.find(User, key.hash_key)
        if user is not None:
            known.put_user(user)
    else:
        group = rows.find(Group, key.hash_key)
        if group is not None:
            known.put_group(group)


def _read_teams(known: Known, teams: Sequence[Team]) -> None:
    """Read of groups what their members are decided from, where these are to change.

    Most of it is in the users' own rows. The rest is asked of groups that gain somebody (what is
    shared with them) or lose a manager (who else is one).
    """
    for member in known.users.values():
        for group_id, belonging in member.groups.items():
            known.rosters.setdefault(group_id, {})[member.id] = belonging
    gaining, losing = [], []
    for team in teams:
        group = known.group_of(team)
        if group is None or group.deleted:
            continue
        wanted = known.members_of(team)
        roster = known.rosters.get(group.id, {})
        if any(name for name in team.people if _may_join(known, name, roster)):
            gaining.append(group.id)
        related = roster.keys() & known.relations_of(group.id).keys()
        if any(roster[each].is_admin for each in related - wanted):
            losing.append(group.id)
    read_rosters(known, losing)
    read_holdings(known, gaining)


def _may_join(known: Known, name: str, roster: Mapping[str, Belonging]) -> bool:
    """Whether somebody is no member yet, who may have to be linked first."""
    user = known.member_of(name)
    return user is None or user.id not in roster


def read_rosters(known: Known, group_ids: Sequence[str]) -> None:
    """Read all members of these groups, linked or not."""
    if not group_ids:
        return
    found = reading.together(*(partial(Membership.in_group, each) for each in group_ids))
    for group_id, rows in zip(group_ids, found, strict=True):
        roster = {row.user_id: Belonging(row.id, row.is_admin, row.created) for row in rows}
        known.rosters[group_id] = roster


def read_holdings(known: Known, group_ids: Sequence[str]) -> None:
    """Read which of these groups resources are shared with."""
    if not group_ids:
        return
    found = reading.together(*(partial(GroupItem.in_group, each) for each in group_ids))
    for group_id, rows in zip(group_ids, found, strict=True):
        known.holding.discard(group_id)
        if any(row["kind"]["S"] == RESOURCE for row in rows):
            known.holding.add(group_id)


def read_person(known: Known, person: Person) -> None:
    """Read again what a person is decided from."""
    _read_link(known, Model.USERS, person.id)
    names = [] if person.username is None else [person.username]
    for name in map(folded, names):
        known.usernames.pop(name, None)
        known.former_users.pop(name, None)
    link = known.people.get(person.id)
    _read_again(known, [] if link is None else [link], names, [])
    _read_linked(known, known.user_of(person))


def read_team(known: Known, team: Team) -> None:
    """Read again what a group and its members are decided from."""
    _read_link(known, Model.GROUPS, team.id)
    names = [] if team.title is None else [team.title]
    for name in map(folded, names):
        known.names.pop(name, None)
        known.former_groups.pop(name, None)
    link = known.teams.get(team.id)
    _read_again(known, [] if link is None else [link], [], names)
    group = known.group_of(team)
    _read_linked(known, group)
    if group is not None and not group.deleted:
        _read_members(known, group.id)


def read_link(known: Known, link: DirectoryLink) -> None:
    """Read again what becomes of an entry that the directory has no more."""
    _read_link(known, Model(link.kind), EntryId(link.id))
    links = known.people if link.kind == Model.USERS else known.teams
    _read_again(known, [links[link.id]] if link.id in links else [], [], [])


def _read_link(known: Known, model: Model, entry_id: EntryId) -> None:
    before = (known.people if model is Model.USERS else known.teams).get(entry_id)
    row = reading.read([DirectoryLink.by_id(model, entry_id)]).find(
        DirectoryLink, model.value, entry_id
    )
    if before is not None:
        known.drop_link(before)
    if row is not None:
        known.put_link(row)


def _read_linked(known: Known, subject: User | Group | None) -> None:
    """Read again which entry somebody or something is linked to, by whatever other run."""
    if subject is None:
        return
    row = reading.read([DirectoryLink.by_id(LINKED, subject.id)]).find(
        DirectoryLink, LINKED, subject.id
    )
    known.linked.pop(subject.id, None)
    if row is not None:
        known.linked[subject.id] = EntryId(str(row.subject))


def _read_again(
    known: Known, links: Sequence[DirectoryLink], addresses: Sequence[str], names: Sequence[str]
) -> None:
    part = Known(known.settings, known.managers)
    for link in links:
        part.put_link(link)
    _read_subjects(part, addresses, names)
    for user in part.users.values():
        known.put_user(user)
    for group in part.groups.values():
        known.put_group(group)


def _read_members(known: Known, group_id: str) -> None:
    """Read who belongs to a group, and which of that runs have noted."""
    read_rosters(known, [group_id])
    read_holdings(known, [group_id])
    roster = known.rosters[group_id]
    ids = [belonging.id for belonging in roster.values()]
    note = DirectoryLink.by_id(ASKED, group_id)
    rows = reading.read([note, *(DirectoryLink.by_id(Model.MEMBERSHIPS, each) for each in ids)])
    known.note_asked(group_id, rows.find(DirectoryLink, ASKED, group_id))
    noted_so_far = {*known.relations.get(group_id, ())}
    for membership_id in ids:
        row = rows.find(DirectoryLink, Model.MEMBERSHIPS.value, membership_id)
        if row is not None:
            known.put_relation(row)
            if row.id not in noted_so_far:
                known.newer.add(row.id)
    for user in people.by_id(roster).values():
        known.put_user(user)
