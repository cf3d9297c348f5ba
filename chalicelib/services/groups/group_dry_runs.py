"""Dry runs of updates: what a client has to know before it asks for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.groups import groups as bodies
from chalicelib.bodies.groups.groups import GroupUpdateBody
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import GroupId, ResourceId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.services.access.disclosure import Disclosed, Undisclosed, disclose, has_secret
from chalicelib.services.groups import group_members
from chalicelib.services.groups.group_members import items_among, secrets_needed
from chalicelib.services.groups.group_updates import require_changeable
from chalicelib.storage import reading
from chalicelib.storage.reading import Rows
from chalicelib.tables.items import kinds
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User


@dataclass(frozen=True, slots=True)
class DryRun:
    """What an update would need: who would gain what, and the actor's own secrets of that."""

    needed: Sequence[tuple[UserId, ResourceId]]
    secrets: Sequence[Disclosed]


def dry_run(actor: Actor, group: str, draft: Draft[GroupUpdateBody]) -> DryRun:
    """Say which secrets an update would need, and give the actor's own to make them from.

    Administrators who do not manage the group have none to give. Before the secrets leave, the
    log says that the actor has read them.
    """
    row = require_changeable(actor, group)
    candidates = bodies.read_candidates(draft)
    if not actor.groups.get(GroupId(row.id)):
        return DryRun([], [])
    shared = kinds.shared_with(GroupId(row.id))
    rows = reading.read([*map(User.by_id, candidates), *shared])
    users, items = people.among(rows, candidates), items_among(rows, shared)
    for user_id, position in candidates.items():
        _require_candidate(users.get(user_id), position)
    needed = [
        (user_id, ResourceId(item_id))
        for user_id in candidates
        if row.id not in users[user_id].groups
        for item_id in secrets_needed(items, users[user_id], GroupId(row.id))
    ]
    return DryRun(needed, _own_secrets(actor, rows, (item_id for _, item_id in needed)))


def _require_candidate(user: User | None, position: int) -> None:
    if group_members.broken_by(user):
        raise bodies.refused(position, {"user_id": {"user_exists": [group_members.NOBODY]}})


def _own_secrets(actor: Actor, rows: Rows, item_ids: Iterable[ResourceId]) -> list[Disclosed]:
    """The actor's secrets of items their group has: they have all, or have just lost some."""
    wanted = dict.fromkeys(item_ids)
    own = reading.read(Holding.of(actor.id, item_id) for item_id in wanted)
    held = [
        Undisclosed.of(row, holding)
        for item_id in wanted
        if (row := Resource.among(rows, Resource.by_id(item_id)))
        and (holding := Holding.among(own, actor.id, item_id))
        and has_secret(holding)
    ]
    if len(held) < len(wanted):
        raise Stale
    return disclose(actor, held)
