"""Many resources at once that are marked as expired, or to expire: all or none, and how many.

All are marked or none. The change rests on the version of each, and on the memberships through
which the actor may change them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import listed, refused_at
from chalicelib.bodies.items.resources import INVALID
from chalicelib.bodies.users.password_expiry import ExpiryDateBody
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import GroupId, ResourceId, find_uuid
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import grants
from chalicelib.services.items.resources import resource_rules
from chalicelib.services.items.resources.resources import stamp, tell_if_expired
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import TOO_MUCH, Change
from chalicelib.storage.reading import Rows
from chalicelib.storage.stamps import lift_row
from chalicelib.tables.items.resources import Resource, ResourceRow
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices

MOST_ENTRIES = 1_000
_MOST_GROUPS = 50
"""Through which an actor changes resources at once: more do not fit the condition on their row."""

_NO_OBJECTS = "An array of arrays is expected."
_NO_ID = "The identifier should be a valid UUID."
_NO_DATE = "The expiry date is required."
_NONE_ALLOWED = "You are not allowed to update these resources."

Marks = Mapping[ResourceId, Mapping[str, Any]]
"""The entries as they were sent, by resource."""


def mark(actor: Actor, draft: Draft[Any]) -> Sequence[ResourceRow] | None:
    """Say when resources expire, in place of what was said before; nothing where none is named.

    A resource that is unknown, deleted or of a deleted type is one that nobody may change.
    """
    marks = _read_sent(draft)
    if not marks:
        return None
    rows = reading.read([*map(Resource.by_id, marks), resource_rules.TYPES])
    stored = _changeable(actor, marks, rows)
    dates = [_date(position, sent) for position, sent in enumerate(marks.values())]
    changed = [row.expiring(date) for row, date in zip(stored, dates, strict=True)]
    for before, row in zip(stored, changed, strict=True):
        stamp(actor, row)
        lift_row(row, before)
    _write(actor, stored, changed)
    return [row.row for row in changed]


def _read_sent(draft: Draft[Any]) -> Marks:
    """The entries, refused by what is wrong with the list before anything is read."""
    sent = list(draft.payload.values()) if isinstance(draft.payload, dict) else draft.payload
    entries = listed(sent, MOST_ENTRIES, Invalid(_NO_OBJECTS))
    if not all(isinstance(each, dict) for each in entries):
        raise Invalid(_NO_OBJECTS)
    if not all(find_uuid(each.get("id")) for each in entries):
        raise Invalid(_NO_ID)
    if not all("expired" in each for each in entries):
        raise Invalid(_NO_DATE)
    marks: dict[ResourceId, Mapping[str, Any]] = {}
    for each in entries:
        resource_id = ResourceId(str(find_uuid(each["id"])))
        if resource_id in marks:
            raise Invalid(f"The identifier should be unique: {resource_id}.")
        marks[resource_id] = each
    return marks


def _changeable(actor: Actor, marks: Marks, rows: Rows) -> list[Resource]:
    """The resources, all of which the actor may change."""
    hidden = resource_rules.deleted_types(rows)
    found = {id_: rows.find(Resource, id_) for id_ in marks}
    allowed = [row for row in found.values() if row and _may_change(actor, row, hidden)]
    if not allowed:
        raise Invalid(_NONE_ALLOWED)
    if len(allowed) < len(marks):
        first = next(iter(marks.keys() - {row.id for row in allowed}))
        raise Invalid(f"You are not allowed to update this resource: {first}")
    return allowed


def _may_change(actor: Actor, row: Resource, hidden: frozenset[str]) -> bool:
    if row.deleted or row.resource_type_id in hidden:
        return False
    return grants.may_change(actor, row)


def _date(position: int, sent: Mapping[str, Any]) -> Any:
    draft: Draft[ExpiryDateBody] = Draft(ExpiryDateBody, sent)
    if errors := draft.errors():
        raise refused_at(INVALID, position, errors)
    return draft.read(INVALID).expired


def _write(actor: Actor, stored: Sequence[Resource], changed: Sequence[Resource]) -> None:
    with Change(stored[0], changed[0]) as tx:
        for group_id in _groups_of(actor, stored):
            for check in grants.belongs_to(actor, group_id):
                tx.require(check)
        for kind in {row.resource_type_id for row in stored}:
            tx.require(resource_rules.is_live(kind))
        for place, row in enumerate(changed):
            line = partial(ActionLog.of, row.id, "Resources.expiry-set", actor.id, actor.caller)
            tx.then_put(line(is_first=place == 0))
        for before, after in zip(stored, changed, strict=True):
            tell_if_expired(tx, actor, before, after)
            notices.tell_of(tx, Event.RESOURCE_UPDATED, after, actor=actor.id)
        for before, after in zip(stored[1:], changed[1:], strict=True):
            tx.then_update(before, *after.dating())


def _groups_of(actor: Actor, rows: Sequence[Resource]) -> set[GroupId]:
    """The groups through which the actor may change what they may not change themselves."""
    groups: set[GroupId] = set()
    for row in rows:
        enough = {h for h, each in row.permissions.items() if each.type >= PermissionType.UPDATE}
        if enough.isdisjoint({actor.id, *groups}):
            groups.add(next(GroupId(h) for h in sorted(enough & actor.groups.keys())))
    if len(groups) > _MOST_GROUPS:
        raise Invalid(TOO_MUCH)
    return groups
