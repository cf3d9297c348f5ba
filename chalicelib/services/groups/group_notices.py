"""What members and managers of a group are told of changes to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import UserId
from chalicelib.domain.operator.notices import Event
from chalicelib.services.groups.group_members import Roster
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.operator import notices
from chalicelib.tables.operator.notices import names_of
from chalicelib.tables.users.users import User


def tell_of_creation(tx: Change, actor: Actor, group: Group, roster: Roster) -> None:
    """Tell the members of a new group, but for whoever made it."""
    _tell(tx, actor, group, Event.GROUP_ADDED, roster.keys() - {actor.id})


def tell_of_update(
    tx: Change,
    actor: Actor,
    was: Group,
    group: Group,
    before: Roster,
    after: Roster,
    users: Mapping[UserId, User],
) -> None:
    """Tell those who joined, left or have another role, and the managers who did none of it.

    Who left knows the group by the name that it had until then, and is not told another.
    """
    added, removed = after.keys() - before.keys(), before.keys() - after.keys()
    kept = after.keys() & before.keys()
    changed = {each for each in kept if after[each].is_admin != before[each].is_admin}
    promoted = {each for each in changed if after[each].is_admin}
    _tell(tx, actor, group, Event.GROUP_ADDED, added)
    _tell(tx, actor, was, Event.GROUP_LEFT, removed)
    _tell(tx, actor, group, Event.GROUP_ROLE_CHANGED, promoted, manages="yes")
    _tell(tx, actor, group, Event.GROUP_ROLE_CHANGED, changed - promoted)
    if moved := added | removed | changed:
        managers = {each for each, belonging in after.items() if belonging.is_admin}
        who = {"added": added, "changed": changed, "removed": removed}
        said = {how: names_of(users, each) for how, each in who.items()}
        others = managers - moved - {actor.id}
        _tell(tx, actor, group, Event.GROUP_MEMBERS_CHANGED, others, **said)


def _tell(
    tx: Change,
    actor: Actor,
    group: Group,
    event: Event,
    who: Collection[UserId],
    **said: str | None,
) -> None:
    told = notices.users(who)
    notices.tell(tx, event, to=told, actor=actor.id, subject=group.id, name=group.name, **said)
