"""What becomes of an entry, by what the directory says, what is linked and who is here.

The matrices of the catalogue: UserDelete and GroupDelete Case01-16, UserAdd and GroupAdd
Case17-48. Nothing is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, repeat

import pytest

from chalicelib.domain import clock
from chalicelib.domain.changes import Addition, NewUser
from chalicelib.domain.directory.directory import Person, Team
from chalicelib.domain.directory.directory_settings import DirectorySettings
from chalicelib.domain.folding import folded
from chalicelib.domain.ids import UserId, new_id
from chalicelib.services.directory import people, teams
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.members import MOST_TOLD
from chalicelib.services.directory.reports import Report, SeenGroup
from chalicelib.services.directory.steps import Invite, MakeGroup, Members, Step
from chalicelib.services.users.people.users import new_user
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import Belonging, User
from tests.support.world.directories import LATER, LONG_AGO, person, team

SETTINGS = DirectorySettings((), UserId(new_id()), UserId(new_id()))
NONE, ALIVE, IGNORED, DELETED = "none", "alive", "ignored", "deleted"
UNLINKED, LINKED, EXEMPT_ENTRY = "unlinked", "linked", "exempt"


@dataclass
class Scene:
    """An entry of one kind, and what is known of it."""

    known: Known
    entry: Person | Team
    link: DirectoryLink | None = None

    def arrival(self) -> list[Step]:
        if isinstance(self.entry, Person):
            return people.arrival(self.known, self.entry)
        return teams.arrival(self.known, self.entry)

    def removal(self) -> Step:
        assert self.link is not None
        kind = people if isinstance(self.entry, Person) else teams
        return kind.removal(self.known, self.link)


def scene(model: Model, entry: str, record: str, created: datetime, *, valid: bool = True) -> Scene:
    known = Known(SETTINGS, [_user("manager")])
    known.put_user(known.manager)
    bad = {} if valid else ({"last_name": None} if model is Model.USERS else {"title": ""})
    is_user = model is Model.USERS
    found = (
        person("dave", created=created, **bad)
        if is_user
        else replace(team("crew", created=created), **bad)
    )
    row = _user("dave") if is_user else _group("crew")
    row.deleted = record == DELETED
    if record != NONE:
        known.put_user(row) if isinstance(row, User) else known.put_group(row)
    if record == IGNORED:
        known.exempt[row.id] = DirectoryLink.exemption(model, row.id)
    if entry == EXEMPT_ENTRY:
        known.exempt[found.id] = DirectoryLink.exemption(Model.ENTRIES, found.id)
    made = Scene(known, found)
    if entry == LINKED:
        made.link = DirectoryLink.of(model, found, row.id)
        known.put_link(made.link)
    return made


def _user(name: str) -> User:
    row = new_user(f"{name}@example.com", name.title(), "Lovelace")
    row.active = True
    return row


def _group(name: str) -> Group:
    now = clock.now()
    by = new_id()
    return Group(new_id(), name=name, created=now, modified=now, created_by=by, modified_by=by)


def told(steps: list[Step], known: Known) -> list[tuple[str, str]]:
    """What steps tell; of those that make a group, of it alone."""
    reports: list[Report] = []
    for step in steps:
        if isinstance(step.act, MakeGroup):
            reports.append(Report(Model.GROUPS, "create", "success", ""))  # type: ignore[arg-type]
        elif not isinstance(step.act, Members):
            reports += [tell(None) for tell in step.tells]
    return [(str(report.action), str(report.status)) for report in reports]


MODELS = pytest.mark.parametrize("model", [Model.USERS, Model.GROUPS])


@MODELS
@pytest.mark.parametrize(
    ("is_exempt", "record", "expected"),
    [
        (False, NONE, []),
        (False, ALIVE, [("delete", "success")]),
        (False, IGNORED, [("delete", "ignore")]),
        (False, DELETED, [("delete", "sync")]),
        (True, NONE, []),
        (True, ALIVE, [("delete", "ignore")]),
        (True, IGNORED, [("delete", "ignore")]),
        (True, DELETED, []),
    ],
)
def test_of_an_entry_that_is_gone(model, is_exempt, record, expected):
    """DS03: the link ends in each case, with what it led to where that is not kept."""
    made = scene(model, LINKED, record, LONG_AGO)
    if is_exempt:
        made.known.exempt[made.entry.id] = DirectoryLink.exemption(Model.ENTRIES, made.entry.id)
    step = made.removal()

    assert told([step], made.known) == expected
    assert step.linking is not None
    assert (step.linking.before, step.linking.entry) == (made.link, None)
    assert (step.act is not None) == (expected == [("delete", "success")])


CREATED, REFUSED, SYNCED = [("create", "success")], [("create", "error")], [("create", "sync")]
SKIPPED: list[tuple[str, str]] = [("create", "ignore")]


@MODELS
@pytest.mark.parametrize(
    ("entry", "record", "created", "expected"),
    [
        (UNLINKED, NONE, LONG_AGO, CREATED),
        (UNLINKED, ALIVE, LONG_AGO, SYNCED),
        (UNLINKED, ALIVE, LATER, REFUSED),
        (UNLINKED, IGNORED, LONG_AGO, SKIPPED),
        (UNLINKED, IGNORED, LATER, SKIPPED),
        (UNLINKED, DELETED, LONG_AGO, REFUSED),
        (UNLINKED, DELETED, LATER, CREATED),
        (LINKED, NONE, LONG_AGO, CREATED),
        (LINKED, ALIVE, LONG_AGO, []),
        (LINKED, ALIVE, LATER, []),
        (LINKED, IGNORED, LONG_AGO, []),
        (LINKED, DELETED, LONG_AGO, REFUSED),
        (LINKED, DELETED, LATER, CREATED),
        (EXEMPT_ENTRY, NONE, LONG_AGO, SKIPPED),
        (EXEMPT_ENTRY, ALIVE, LONG_AGO, SKIPPED),
        (EXEMPT_ENTRY, ALIVE, LATER, SKIPPED),
        (EXEMPT_ENTRY, IGNORED, LONG_AGO, SKIPPED),
        (EXEMPT_ENTRY, DELETED, LATER, SKIPPED),
    ],
)
def test_of_an_entry_that_is_there(model, entry, record, created, expected):
    made = scene(model, entry, record, created)

    assert told(made.arrival(), made.known) == expected


@MODELS
@pytest.mark.parametrize(
    ("exempt", "expected"), [(None, SYNCED), ("deleted", SKIPPED), ("living", SKIPPED)]
)
def test_who_is_left_alone_is_so_where_another_has_come_in_their_place(model, exempt, expected):
    made = scene(model, LINKED, DELETED, LONG_AGO)
    living = _user("dave") if model is Model.USERS else _group("crew")
    made.known.put_user(living) if isinstance(living, User) else made.known.put_group(living)
    for row_id in {"deleted": [made.link.subject], "living": [living.id]}.get(exempt, []):
        made.known.exempt[row_id] = DirectoryLink.exemption(model, row_id)

    assert told(made.arrival(), made.known) == expected


@pytest.mark.parametrize(
    ("entry", "record", "created", "expected"),
    [
        (UNLINKED, NONE, LONG_AGO, REFUSED),
        (UNLINKED, ALIVE, LONG_AGO, SYNCED),
        (UNLINKED, ALIVE, LATER, REFUSED),
        (UNLINKED, DELETED, LONG_AGO, REFUSED),
        (UNLINKED, DELETED, LATER, REFUSED),
        (LINKED, NONE, LONG_AGO, REFUSED),
        (LINKED, ALIVE, LONG_AGO, []),
        (LINKED, DELETED, LATER, REFUSED),
        (EXEMPT_ENTRY, NONE, LONG_AGO, SKIPPED),
    ],
)
def test_of_a_person_without_a_last_name(entry, record, created, expected):
    made = scene(Model.USERS, entry, record, created, valid=False)

    assert told(made.arrival(), made.known) == expected


def test_a_group_without_a_name_is_refused():
    made = scene(Model.GROUPS, UNLINKED, NONE, LONG_AGO, valid=False)

    assert told(made.arrival(), made.known) == REFUSED


@MODELS
@pytest.mark.parametrize(
    ("record", "created", "expected"),
    [
        (NONE, LONG_AGO, []),
        (ALIVE, LONG_AGO, SYNCED),
        (ALIVE, LATER, REFUSED),
        (IGNORED, LONG_AGO, []),
        (DELETED, LONG_AGO, []),
        (DELETED, LATER, []),
    ],
)
def test_where_adding_is_off_who_is_here_is_linked_and_nobody_is_added(
    model, record, created, expected
):
    made = scene(model, UNLINKED, record, created)
    made.known.settings = replace(SETTINGS, creates_users=False, creates_groups=False)

    assert told(made.arrival(), made.known) == expected


def test_where_adding_is_off_who_is_suspended_is_not_brought_back():
    made = scene(Model.USERS, UNLINKED, ALIVE, LATER)
    made.known.settings = replace(SETTINGS, creates_users=False, suspends_users=True)
    [user] = [each for each in made.known.users.values() if each is not made.known.manager]
    user.disabled = clock.now() - timedelta(days=1)

    assert made.arrival() == []


def test_suspension_of_who_is_suspended_already_is_told_and_not_done():
    made = scene(Model.USERS, LINKED, ALIVE, LONG_AGO)
    made.known.settings = replace(SETTINGS, suspends_users=True)
    [user] = [each for each in made.known.users.values() if each is not made.known.manager]
    user.disabled = clock.now() - timedelta(days=1)

    assert told([made.removal()], made.known) == [("delete", "sync")]
    assert told(made.arrival(), made.known) == REFUSED


def test_new_people_are_users_whatever_the_directory_says():
    """DS04"""
    made = scene(Model.USERS, UNLINKED, NONE, LONG_AGO)
    [step] = made.arrival()

    assert step.act == Invite(NewUser("dave@example.com", "Dave", "Lovelace"))


def test_a_person_is_linked_once():
    made = scene(Model.USERS, LINKED, ALIVE, LONG_AGO)
    other = replace(person("dave"), id=person("other").id)

    assert told(people.arrival(made.known, other), made.known) == REFUSED


# Memberships: GroupUser Case2-15

CREW_MEMBER = person("dave")


def test_whose_access_ends_while_a_group_is_decided_joins_it_once():
    dave, now = _user("dave"), clock.now()
    dave.disabled = now + timedelta(seconds=1)
    known = Known(SETTINGS, [dave, _user("manager")])
    known.put_user(dave)
    known.put_link(DirectoryLink.of(Model.USERS, CREW_MEMBER, dave.id))
    known.entries[folded(CREW_MEMBER.name)] = CREW_MEMBER.id
    moments = chain([now], repeat(dave.disabled))
    clock.set_source(lambda: next(moments))
    [made] = teams.arrival(known, team("crew", CREW_MEMBER))

    assert isinstance(made.act, MakeGroup)
    assert [(each.user_id, each.is_admin) for each in made.act.additions] == [(dave.id, True)]
    group = _group("crew")
    known.rosters[group.id] = {dave.id: Belonging(new_id(), True, now)}
    shown = [tell(group).seen for tell in made.tells]
    assert isinstance(shown[0], SeenGroup)
    assert [user.id for user, _ in shown[0].members] == [dave.id]


def test_reports_of_a_large_group_show_some_of_its_members():
    """Each of so many reports would have all of so many members."""
    known = Known(SETTINGS, [_user("manager")])
    group, people = _group("crew"), [person(f"member{n}") for n in range(2 * MOST_TOLD)]
    entry = team("crew", *people)
    known.put_group(group)
    known.put_link(DirectoryLink.of(Model.GROUPS, entry, group.id))
    known.rosters[group.id] = {}
    for number, each in enumerate(people):
        user = _user(f"member{number}")
        user.active = number % 2 == 0
        known.put_user(user)
        known.entries[folded(each.name)] = each.id
        known.put_link(DirectoryLink.of(Model.USERS, each, user.id))
        if user.active:
            known.rosters[group.id][user.id] = Belonging(new_id(), True, LATER)
    known.rosters[group.id] |= {known.manager.id: Belonging(new_id(), True, LATER)}
    known.put_user(known.manager)

    reports = [tell(group) for step in teams.arrival(known, entry) for tell in step.tells]

    left_out = [each.seen for each in reports if "not activated" in each.message]
    assert [len(each.members) for each in left_out] == [MOST_TOLD] * MOST_TOLD


def crew(
    *,
    is_member: bool = False,
    is_related: bool = False,
    is_listed: bool = True,
    holds: bool = False,
    modified: datetime = LONG_AGO,
    **of_user: object,
) -> list[Step]:
    """The steps of a group that is linked, with one person who may belong to it."""
    known = Known(SETTINGS, [_user("manager")])
    known.put_user(known.manager)
    group, user = _group("crew"), _user("dave")
    for name, value in of_user.items():
        setattr(user, name, value)
    entry = team("crew", *([CREW_MEMBER] if is_listed else []), modified=modified)
    known.entries[folded(CREW_MEMBER.name)] = CREW_MEMBER.id
    known.put_user(user)
    known.put_group(group)
    known.put_link(DirectoryLink.of(Model.USERS, CREW_MEMBER, user.id))
    known.put_link(DirectoryLink.of(Model.GROUPS, entry, group.id))
    known.rosters[group.id] = {known.manager.id: Belonging(new_id(), True, clock.now())}
    membership = Belonging(new_id(), False, clock.now())
    if is_member:
        known.rosters[group.id][user.id] = membership
    if is_related:
        known.put_relation(DirectoryLink.relation(membership.id, group.id, user.id))
    if holds:
        known.holding.add(group.id)
    return teams.arrival(known, entry)


def said(steps: list[Step]) -> list[tuple[str, str, str]]:
    group = _group("crew")
    reports = [tell(group) for step in steps for tell in step.tells]
    return [(r.model.value, r.action.value, r.status.value) for r in reports]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({}, [("create", "success")]),
        ({"active": False}, [("create", "ignore")]),
        ({"deleted": True}, [("create", "ignore")]),
        ({"is_related": True}, [("create", "ignore")]),
        ({"holds": True}, [("create", "warning")]),
        ({"holds": True, "active": False}, [("create", "ignore")]),
        ({"is_member": True, "is_related": True}, []),
        ({"is_member": True, "modified": LONG_AGO}, [("create", "sync")]),
        ({"is_member": True, "modified": LATER}, [("create", "ignore")]),
        ({"is_listed": False}, []),
        ({"is_listed": False, "is_member": True}, []),
        ({"is_listed": False, "is_related": True}, []),
        ({"is_listed": False, "is_member": True, "is_related": True}, [("delete", "success")]),
    ],
)
def test_of_a_member(case, expected):
    """DS05: nobody joins a group with resources; a membership made by hand is left alone."""
    assert said(crew(**case)) == [("GroupsUsers", *each) for each in expected]


def test_the_only_manager_stays():
    """DS03"""
    known = Known(SETTINGS, [_user("manager")])
    group, user = _group("crew"), _user("dave")
    entry = team("crew")
    known.put_user(user)
    known.put_group(group)
    known.put_link(DirectoryLink.of(Model.USERS, CREW_MEMBER, user.id))
    known.put_link(DirectoryLink.of(Model.GROUPS, entry, group.id))
    sole = Addition(UserId(user.id), is_admin=True)
    known.rosters[group.id] = {user.id: Belonging(sole.membership_id, True, clock.now())}
    known.put_relation(DirectoryLink.relation(sole.membership_id, group.id, user.id))

    assert said(teams.arrival(known, entry)) == [("GroupsUsers", "delete", "error")]


def test_names_of_members_compare_whatever_their_letters():
    steps = crew(is_member=True, is_related=True)
    upper = replace(CREW_MEMBER, name=CREW_MEMBER.name.upper())

    assert steps == []
    assert folded(upper.name) == folded(CREW_MEMBER.name)
