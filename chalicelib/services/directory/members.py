"""Whom a run adds to a group and takes out of it, and when it asks the managers instead.

Nothing is read or written here. A group that resources are shared with gains nobody by a run,
who would have no secrets: its managers are asked instead. Memberships that people have made are
left alone, and so are those that people have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from functools import partial
from itertools import islice

from chalicelib.domain import clock
from chalicelib.domain.changes import Addition, Removal
from chalicelib.domain.directory.directory import EntryId, Team
from chalicelib.domain.folding import folded
from chalicelib.domain.ids import UserId
from chalicelib.domain.light import dataclass
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.reports import (
    Action,
    Form,
    Report,
    Seen,
    SeenGroup,
    SeenRelation,
    SeenUser,
    Status,
    refusal,
)
from chalicelib.services.directory.steps import Ask, Members, Step, Telling, telling
from chalicelib.services.groups.group_members import MOST_GROUPS, MOST_MEMBERS
from chalicelib.storage.base import in_chunks
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import Belonging, User

AT_ONCE = 25
"""Memberships that change in one transaction: each is three rows of it."""
MOST_TOLD = 5
"""Members that are shown with a group in a report that is not of a new member: a run has one for
each user whom it has not added."""


def changes(known: Known, team: Team, group: Group) -> list[Step]:
    """Who joins, who leaves, and whose membership is a run's from now on."""
    joining = Joining(known, team, group.name, known.rosters.get(group.id, {}), group)
    return [
        *joining.steps(),
        *joining.others,
        *_leaving(known, team, group),
        *_adopting(known, team, group),
    ]


@dataclass
class Joining:
    """Those members of the directory's group who are none here, and what is told of each."""

    known: Known
    team: Team
    name: str
    present: Collection[str]
    """Users who are members; of a new group, whoever manages it."""
    group: Group | None = None
    manager: User | None = None
    """Whoever manages a new group; there is either this or a group that was there."""
    additions: list[Addition] = field(default_factory=list)
    others: list[Step] = field(default_factory=list)
    """What is told of those who are not added."""

    def __post_init__(self) -> None:
        asked: list[User] = []
        for name in dict.fromkeys(self.team.people):
            user = self._candidate(name)
            if user is not None:
                self._add(user, asked)
        if self.group is not None:
            self.others += self._asking(self.group, asked)

    def _candidate(self, name: str) -> User | None:
        """A user who is to join; a run says nothing of a user who is not linked."""
        if folded(name) not in self.known.entries:
            message = f"Member {name} unknown here, not added to {self.name}."
            self.others.append(telling(_membership(Action.CREATE, Status.IGNORE, message)))
            return None
        user = self.known.member_of(name)
        return None if user is None or user.id in self.present else user

    def _add(self, user: User, asked: list[User]) -> None:
        cause = self._cause(user)
        if cause is not None:
            self._leave_out(f"{user.username} not added to {self.name}: {cause}.")
        elif self.group is not None and self.group.id in self.known.holding:
            message = (
                f"{user.username} must be added to {self.name} by hand: it has access to "
                "resources. Its managers were asked by mail."
            )
            seen = SeenUser(user, Form.PLAIN)
            report = _membership(Action.CREATE, Status.WARNING, message, seen)
            self.others.append(telling(report))
            asked.append(user)
        else:
            self.additions.append(Addition(UserId(user.id), is_admin=False))

    def _asking(self, group: Group, users: Sequence[User]) -> Iterator[Step]:
        """Ask for the users to be added by hand, unless that is what was asked for last."""
        before = self.known.asked.get(group.id)
        ask = Ask(group, users, before)
        is_noted = not users if before is None else before.wanted == ask.wanted
        if not is_noted:
            yield Step(ask)

    def _cause(self, user: User) -> str | None:
        """Why somebody is not added."""
        group_id = None if self.group is None else self.group.id
        if group_id is not None and user.id in self.known.relations_of(group_id):
            return "membership was removed here by hand"
        if user.deleted:
            return "account deleted here before"
        if not user.active:
            return "account not activated yet"
        if len(user.groups) >= MOST_GROUPS:
            return f"validation, they are in {MOST_GROUPS} groups already"
        if len(self.present) + len(self.additions) >= MOST_MEMBERS:
            return f"validation, a group has at most {MOST_MEMBERS} members"
        return None

    def _leave_out(self, message: str) -> None:
        def tell(_: User | Group | None) -> Report:
            group = self.known.group_of(self.team) if self.group is None else self.group
            seen = None if group is None else self._seen(group)
            return _membership(Action.CREATE, Status.IGNORE, message, seen)

        self.others.append(Step(tells=(tell,)))

    def _seen(self, group: Group, joined: User | None = None) -> SeenGroup:
        if self.manager is None:
            return as_known(self.known, group, joined)
        return as_added(self.known, self.manager, group)

    def steps(self) -> Iterator[Step]:
        for chunk in in_chunks(self.additions, AT_ONCE):
            yield self.step(chunk)

    def step(self, additions: Sequence[Addition]) -> Step:
        return Step(
            Members(self.team, additions=additions),
            None,
            tuple(self.tell(additions)),
            partial(refusal, Model.MEMBERSHIPS, Action.CREATE, f"Members not added to {self.name}"),
        )

    def tell(self, additions: Sequence[Addition]) -> Iterator[Telling]:
        for addition in additions:
            user = self.known.users[addition.user_id]
            seen = partial(self._seen, joined=user)
            yield _changed(Action.CREATE, f"{user.username} added to {self.name}.", seen)


def managing(known: Known, team: Team, name: str, manager: Addition) -> Iterator[Telling]:
    """Tells that whoever manages a new group is its member by the run.

    So are they where the directory has them in the group.
    """
    people = (user for each in team.people if (user := known.member_of(each)))
    user = next((user for user in people if user.id == manager.user_id), None)
    if user is not None:
        message = f"Existing membership of {user.username} in {name} adopted."
        yield _adopted(known, team, user, manager, message)


def ending(known: Known, team: Team, group: Group) -> list[tuple[User, DirectoryLink]]:
    """Memberships that a run made, of users whom the directory's group no longer has.

    Whoever is no longer linked to an entry keeps their membership.
    """
    roster = known.rosters.get(group.id, {})
    return [
        (known.users[user_id], relation)
        for user_id, relation in sorted(_unwanted(known, team, group).items())
        if user_id in known.users
        and user_id in known.linked
        and user_id in roster
        and roster[user_id].id == relation.id
    ]


def _unwanted(known: Known, team: Team, group: Group) -> dict[str, DirectoryLink]:
    """Relations of users whom the directory's group does not have, by user.

    Those are left out that were made since the directory was asked.
    """
    wanted = known.members_of(team)
    return {
        user_id: relation
        for user_id, relation in known.relations_of(group.id).items()
        if user_id not in wanted and relation.id not in known.newer
    }


def _leaving(known: Known, team: Team, group: Group) -> Iterator[Step]:
    """Take out who leaves, but for the only manager; forget what was noted of others."""
    roster = dict(known.rosters.get(group.id, {}))
    found = ending(known, team, group)
    ends = {relation.id for _, relation in found}
    unwanted = _unwanted(known, team, group).values()
    forgotten = [relation for relation in unwanted if relation.id not in ends]
    leaving: list[tuple[User, DirectoryLink]] = []
    for user, relation in found:
        if roster[user.id].is_admin and sum(each.is_admin for each in roster.values()) == 1:
            message = f"{user.username} not removed from {group.name}: sole manager."
            yield telling(_membership(Action.DELETE, Status.ERROR, message))
        else:
            leaving.append((user, relation))
            del roster[user.id]
    for chunk in in_chunks(leaving, AT_ONCE):
        yield _left(known, team, group, chunk)
    for relations in in_chunks(forgotten, AT_ONCE):
        yield Step(Members(team, forgotten=relations))


def _left(
    known: Known, team: Team, group: Group, leaving: Sequence[tuple[User, DirectoryLink]]
) -> Step:
    seen = partial(as_known, known)
    tells = [
        _changed(Action.DELETE, f"{user.username} removed from {group.name}.", seen)
        for user, _ in leaving
    ]
    return Step(
        Members(
            team,
            removals=[Removal(relation.id) for _, relation in leaving],
            forgotten=[relation for _, relation in leaving],
        ),
        None,
        tuple(tells),
        partial(
            refusal, Model.MEMBERSHIPS, Action.DELETE, f"Members not removed from {group.name}"
        ),
    )


def _adopting(known: Known, team: Team, group: Group) -> Iterator[Step]:
    """Make a run's what was made by hand after the directory's group last changed.

    An older membership stays people's own, and that is told. What an earlier run has noted of
    a membership that is adopted is forgotten: it spoke of one that has ended.
    """
    adopted: list[Addition] = []
    forgotten: list[DirectoryLink] = []
    tells: list[Telling] = []
    for user, belonging, earlier in _made_by_hand(known, team, group):
        what = f"Existing membership of {user.username} in {group.name}"
        if belonging.created > team.modified:
            member = Addition(UserId(user.id), belonging.is_admin, membership_id=belonging.id)
            adopted.append(member)
            forgotten += [] if earlier is None else [earlier]
            tells.append(_adopted(known, team, user, member, f"{what} adopted."))
        else:
            entry = known.people.get(known.linked.get(user.id, EntryId("")))
            message = f"{what} not adopted: it is older."
            yield telling(_membership(Action.CREATE, Status.IGNORE, message, entry))
    for start in range(0, len(adopted), AT_ONCE):
        chunk = slice(start, start + AT_ONCE)
        yield Step(Members(team, adopted=adopted[chunk]), None, tuple(tells[chunk]))
    for relations in in_chunks(forgotten, AT_ONCE):
        yield Step(Members(team, forgotten=relations))


def _made_by_hand(
    known: Known, team: Team, group: Group
) -> Iterator[tuple[User, Belonging, DirectoryLink | None]]:
    """Members here and in the directory whose membership no run has noted.

    With each, what a run has noted of an earlier membership of theirs, if there was one.
    """
    roster, relations = known.rosters.get(group.id, {}), known.relations_of(group.id)
    for name in dict.fromkeys(team.people):
        user = known.member_of(name)
        if user is None or user.id not in roster:
            continue
        belonging, relation = roster[user.id], relations.get(user.id)
        if relation is None or relation.id != belonging.id:
            yield user, belonging, relation


def as_added(known: Known, manager: User, group: Group) -> SeenGroup:
    """A group that the run has made, with the one who manages it."""
    belonging = known.rosters[group.id][manager.id]
    return SeenGroup(group, Form.ADDED, ((manager, belonging),))


def as_known(known: Known, group: Group, joined: User | None = None) -> SeenGroup:
    """A group that was there before, with whoever joined, or some members the run knows."""
    roster = known.rosters.get(group.id, {})
    shown = roster if joined is None else roster.keys() & {joined.id}
    found = ((known.users[each], roster[each]) for each in shown if each in known.users)
    return SeenGroup(group, Form.PLAIN, [*islice(found, MOST_TOLD)])


def _changed(action: Action, message: str, seen: Callable[[Group], SeenGroup]) -> Telling:
    """Tells of one who has joined or left, with the group that they did so with."""

    def tell(group: User | Group | None) -> Report:
        assert isinstance(group, Group)  # noqa: S101
        return _membership(action, Status.SUCCESS, message, seen(group))

    return tell


def _adopted(known: Known, team: Team, user: User, member: Addition, message: str) -> Telling:
    child = known.linked.get(user.id, EntryId(""))
    seen = SeenRelation(member.membership_id, team.id, child, clock.now())
    report = _membership(Action.CREATE, Status.SYNC, message, seen)
    return lambda _: report


def _membership(action: Action, status: Status, message: str, seen: Seen | None = None) -> Report:
    return Report(Model.MEMBERSHIPS, action, status, message, seen)
