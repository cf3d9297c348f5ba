"""Steps of a run carried out or rehearsed: each in one transaction, with what later runs rest on.

The changes are those of the endpoints, applied by the same functions. So a run that is killed
has done each step whole or not at all, and the next one goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.changes import Addition, GroupChange, NewGroup, Transfer
from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import GroupId, UserId, new_id
from chalicelib.domain.operator.notices import Event
from chalicelib.domain.users import roles
from chalicelib.services.deletion import group_deletion, user_deletion
from chalicelib.services.directory import standing
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.steps import (
    Ask,
    DeleteGroup,
    Edit,
    Invite,
    Linking,
    MakeGroup,
    Members,
    PersonAct,
    Rename,
    Step,
    TeamAct,
)
from chalicelib.services.groups import group_updates, groups
from chalicelib.services.users.people import user_edits, users
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Grant
from chalicelib.storage.changes.transaction import Besides, Transaction
from chalicelib.tables.directory.directory_links import LINKED, DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.operator import notices
from chalicelib.tables.users.users import Belonging, User

Row = User | Group
_NOTHING_HANDED_OVER = Transfer()


def acting(administrator: User, caller: Caller) -> Actor:
    """The actor of a run: an administrator in whose name it acts."""
    return Actor(
        UserId(administrator.id),
        roles.ADMIN.id,
        is_admin=True,
        groups={GroupId(id_): each.is_admin for id_, each in administrator.groups.items()},
        caller=caller,
    )


def write(actor: Actor, known: Known, still: Check, step: Step) -> Row | None:
    """Carry out a step, and have `known` take it in; returns the row that comes out."""
    besides = partial(_besides, known, still, step)
    row = _written(actor, known, step, besides)
    note(known, step, row)
    return row


def rehearse(actor: Actor, known: Known, step: Step) -> Row | None:
    """Have `known` take in what a step would do; refuses what would be refused, writes nothing."""
    row = _rehearsed(actor, known, step)
    note(known, step, row)
    return row


def _written(actor: Actor, known: Known, step: Step, besides: Besides) -> Row | None:
    act = step.act
    if act is None:
        return _link_alone(actor, known, step, besides)
    if isinstance(act, PersonAct):
        return _write_user(actor, known, act, besides)
    return _write_group(actor, known, act, besides)


def _write_user(actor: Actor, known: Known, act: PersonAct, besides: Besides) -> User:
    if isinstance(act, Invite):
        return users.apply(actor, act.new, besides).user
    if isinstance(act, Edit):
        user = act.user.copy()
        user_edits.apply(actor, user, act.change, besides=besides)
        return user
    lonely = user_deletion.apply(actor, act.user, _NOTHING_HANDED_OVER, besides)
    return _known_departed(known, act.user, lonely)


def _write_group(actor: Actor, known: Known, act: TeamAct, besides: Besides) -> Group:
    if isinstance(act, MakeGroup):
        grant = Grant((User.is_administrator(actor.id, clock.now()),))
        made = groups.apply(actor, grant, NewGroup(act.name, act.additions), besides)
        return Group.of_row(made.groups[0].row)
    if isinstance(act, Rename):
        return _update(actor, act.group.id, GroupChange(name=act.name), besides)
    if isinstance(act, DeleteGroup):
        group_deletion.apply(actor, act.group, _NOTHING_HANDED_OVER, besides)
        return _deleted_group(act.group)
    if isinstance(act, Members):
        return _write_members(actor, known, act, besides)
    return _ask(actor, act, besides)


def _ask(actor: Actor, act: Ask, besides: Besides) -> Group:
    """Ask the managers of a group to add people, who need secrets; note who that was.

    They are asked provided that the note is still what it was, whatever other runs there are.
    """
    group, wanted = act.group, {UserId(user.id): user for user in act.users}
    note = DirectoryLink.asked(group.id, act.wanted)
    members = Membership.in_group(group.id) if wanted else []
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        besides(tx, group.id)
        if not wanted:
            tx.delete(note, provided=DirectoryLink.is_noted(act.before))
            return group
        tx.update(note.key, *note.says(), provided=DirectoryLink.is_noted(act.before))
        notices.tell(
            tx,
            Event.GROUP_ADDITIONS_WANTED,
            to=notices.users(each.user_id for each in members if each.is_admin),
            actor=actor.id,
            subject=group.id,
            name=group.name,
            people=notices.names_of(wanted, wanted),
        )
    return group


def _write_members(actor: Actor, known: Known, act: Members, besides: Besides) -> Group:
    group = _linked(known, act)
    change = GroupChange(additions=act.additions, removals=act.removals)
    if change.moves:
        return _update(actor, group.id, change, besides)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        for member in act.adopted:
            tx.require(Membership.stands(group.id, member.user_id, member.membership_id))
        besides(tx, group.id)
    return group


def _update(actor: Actor, group_id: str, change: GroupChange, besides: Besides) -> Group:
    """Change a group in the name of somebody who manages it, or does not, right now.

    Each change is told in the log under an identifier of its own: a run changes a group several
    times.
    """
    rows = reading.read([Group.by_id(group_id), User.by_id(actor.id)])
    group, own = rows.find(Group, group_id), rows.find(User, actor.id)
    if group is None or group.deleted or own is None:
        raise Stale
    caller = replace(actor.caller, request_id=new_id())
    found = group_updates.apply(acting(own, caller), group, change, besides)
    return Group.of_row(found.groups[0].row)


def _link_alone(actor: Actor, known: Known, step: Step, besides: Besides) -> Row | None:
    """Write what becomes of a link. One that is made leads to somebody who is there."""
    linking = step.linking
    if linking is None:
        return None
    row = _subject(known, linking)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        if linking.entry is not None and isinstance(row, User):
            tx.require(Check(row.key, row.as_read()))
        elif linking.entry is not None and isinstance(row, Group):
            tx.require(row.is_unchanged())
        besides(tx, linking.subject or "")
    return row


def _subject(known: Known, linking: Linking) -> Row | None:
    if linking.subject is None:
        return None
    if linking.model is Model.USERS:
        return known.users[linking.subject]
    return known.groups[linking.subject]


def _besides(known: Known, still: Check, step: Step, tx: Transaction, subject: str) -> None:
    """Write what runs note of a step: the link, and whose memberships are a run's."""
    standing.hold(tx, known, still, step, subject)
    linking, act = step.linking, step.act
    if linking is not None:
        _write_link(tx, linking, linking.subject or subject)
    for member in _related(step):
        tx.create(DirectoryLink.relation(member.membership_id, subject, member.user_id))
    if isinstance(act, Members):
        for relation in act.forgotten:
            tx.delete(relation)


def _write_link(tx: Transaction, linking: Linking, subject: str) -> None:
    """Write what becomes of a link. The user or group it leads to is linked to no other entry."""
    before, entry = linking.before, linking.entry
    if before is None and entry is not None:
        tx.create(DirectoryLink.of(linking.model, entry, subject))
    elif before is not None and entry is not None:
        tx.update(before.key, *before.leads(entry, subject), provided=before.as_read())
    elif before is not None:
        tx.delete(before, provided=before.as_read())
    led = None if before is None else before.subject
    leads = None if entry is None else subject
    if led is not None and led != leads:
        tx.delete(DirectoryLink.by_id(LINKED, led))
    if entry is not None and led != leads:
        tx.create(DirectoryLink.linked(subject, entry.id))


def _related(step: Step) -> Sequence[Addition]:
    """Memberships that are a run's by this step."""
    if isinstance(step.act, Members):
        return [*step.act.additions, *step.act.adopted]
    return step.act.related if isinstance(step.act, MakeGroup) else []


def _rehearsed(actor: Actor, known: Known, step: Step) -> Row | None:
    act = step.act
    if act is None:
        return None if step.linking is None else _subject(known, step.linking)
    return _user(known, act) if isinstance(act, PersonAct) else _group(actor, known, act)


def _user(known: Known, act: PersonAct) -> User:
    """The user as they would be."""
    if isinstance(act, Invite):
        return users.new_user(act.new.username, act.new.first_name, act.new.last_name)
    if isinstance(act, Edit):
        user = act.user.copy()
        for name, value in {**act.change, "modified": clock.now()}.items():
            setattr(user, name, value)
        return user
    return _known_departed(known, act.user, user_deletion.rehearse(act.user, known.gone))


def _group(actor: Actor, known: Known, act: TeamAct) -> Group:
    """The group as it would be."""
    if isinstance(act, MakeGroup):
        return groups.new_group(actor, act.name)
    if isinstance(act, Rename):
        group = act.group.copy()
        group.name, group.modified, group.modified_by = act.name, clock.now(), actor.id
        return group
    if isinstance(act, DeleteGroup):
        group_deletion.rehearse(act.group, known.gone)
        return _deleted_group(act.group)
    return _linked(known, act) if isinstance(act, Members) else act.group


def _linked(known: Known, act: Members) -> Group:
    return known.groups[str(known.teams[act.entry.id].subject)]


def _known_departed(known: Known, user: User, lonely: Sequence[Group]) -> User:
    """A user as they are once they are deleted; the groups that lose them or go are known so."""
    known.put_departure(user, [*map(_deleted_group, lonely)])
    deleted = user.copy()
    deleted.deleted, deleted.modified = True, clock.now()
    deleted.groups = {}
    return deleted


def _deleted_group(group: Group) -> Group:
    deleted = group.copy()
    deleted.deleted, deleted.modified = True, clock.now()
    return deleted


def note(known: Known, step: Step, row: Row | None) -> None:
    """Have `known` take in what has come of a step."""
    if isinstance(row, User):
        known.put_user(row)
    elif isinstance(row, Group):
        known.put_group(row)
    _note_link(known, step.linking, row)
    if isinstance(step.act, Ask):
        asked = DirectoryLink.asked(step.act.group.id, step.act.wanted) if step.act.users else None
        known.note_asked(step.act.group.id, asked)
    if isinstance(row, Group):
        _note_members(known, step, row.id)


def _note_link(known: Known, linking: Linking | None, row: Row | None) -> None:
    if linking is None:
        return
    if linking.entry is None:
        if linking.before is not None:
            known.drop_link(linking.before)
        return
    subject = linking.subject or (row.id if row is not None else "")
    known.put_link(DirectoryLink.of(linking.model, linking.entry, subject))


def _note_members(known: Known, step: Step, group_id: str) -> None:
    act = step.act
    if not isinstance(act, Members | MakeGroup):
        return
    roster = known.rosters.setdefault(group_id, {})
    for addition in act.additions:
        belonging = Belonging(addition.membership_id, addition.is_admin, clock.now())
        roster[addition.user_id] = belonging
    for member in _related(step):
        relation = DirectoryLink.relation(member.membership_id, group_id, member.user_id)
        known.put_relation(relation)
    if isinstance(act, Members):
        gone = {each.membership_id for each in act.removals}
        known.rosters[group_id] = {id_: b for id_, b in roster.items() if b.id not in gone}
        for relation in act.forgotten:
            known.drop_relation(relation)
