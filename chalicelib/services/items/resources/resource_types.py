"""Resource types that are switched off and on: never one in use, nor the last one."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.resource_types import Restoration, require_restoration
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, NotFound
from chalicelib.domain.ids import ResourceTypeId
from chalicelib.domain.items.resource_types import BY_ID, RESOURCE_TYPES, Format, ResourceType
from chalicelib.domain.light import dataclass
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.items.resources import ByType, Resource
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.settings import METADATA_TYPES, Setting, value_of
from chalicelib.tables.settings import RESOURCE_TYPES as NAME
from chalicelib.tables.users.users import User

MISSING = "The resource type does not exist."
IN_USE = "The resource type can not be deleted as resources of this type still exist."


@dataclass(frozen=True, slots=True)
class Kind:
    """A resource type as it stands in this organisation."""

    type: ResourceType
    deleted: str | None = None
    """Since when it is switched off."""
    resources_count: int | None = None


def everything(*, is_deleted: bool, with_count: bool) -> list[Kind]:
    marks = _marks(_read())
    kinds = [kind for kind in RESOURCE_TYPES if (kind.slug in marks) == is_deleted]
    counts: Sequence[int | None] = [None] * len(kinds)
    if with_count:
        counts = reading.together(*(lambda k=kind: _live(k) for kind in kinds))
    return [
        Kind(kind, marks.get(kind.slug), count) for kind, count in zip(kinds, counts, strict=True)
    ]


def view(type_id: ResourceTypeId) -> Kind:
    kind = _require(type_id)
    return Kind(kind, _marks(_read()).get(kind.slug))


def delete(actor: Actor, type_id: ResourceTypeId) -> None:
    """Switch a type off, of which there are no resources.

    The creation of a resource holds that its type is not marked. So the type is marked
    first and its resources are counted again after; if there are any, the mark is taken
    back and nothing has happened. Where that failed, whoever deletes the type next takes it
    back. Whoever deletes it is an administrator when it is marked; the mark is taken back
    whatever they are by then.
    """
    kind = _require(type_id)
    row = reading.read([Setting.named(NAME), Setting.named(METADATA_TYPES)])
    marks = _marks(row.find(Setting, NAME))
    if kind.slug in marks:
        _require_unused(kind, marks[kind.slug], _restored(actor, kind))
        raise Invalid("The resource type is already deleted.")
    default = value_of(row.find(Setting, METADATA_TYPES)).get("default_resource_types", Format.V4)
    _require_deletable(kind, marks, Format(default))
    if _live(kind):
        raise Invalid(IN_USE)
    since = timestamp_text(clock.now())
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        _store(tx, actor, marks, {**marks, kind.slug: since})
        tx.create(ActionLog.of(kind.id, "ResourceTypes.deleted", actor.id, actor.caller))
    _require_unused(kind, since, _restored(actor, kind, is_first=False))


def restore(actor: Actor, type_id: ResourceTypeId, draft: Draft[Restoration]) -> None:
    """Switch a type on again, and so show what may still have it.

    Who does it is an administrator when it happens.
    """
    require_restoration(draft)
    kind = _require(type_id)
    marks = _marks(_read())
    if kind.slug not in marks:
        raise Invalid("The resource type is not deleted.")
    rest = {slug: since for slug, since in marks.items() if slug != kind.slug}
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        _store(tx, actor, marks, rest)
        tx.create(ActionLog.of(kind.id, "ResourceTypes.restored", actor.id, actor.caller))


def _require(type_id: ResourceTypeId) -> ResourceType:
    if type_id not in BY_ID:
        raise NotFound(MISSING)
    return BY_ID[type_id]


def _require_deletable(kind: ResourceType, marks: dict[str, str], default: Format) -> None:
    rest = [each for each in RESOURCE_TYPES if each.slug not in marks and each is not kind]
    if kind.format is default and not any(each.format is default for each in rest):
        raise Invalid("You cannot delete the last resource type of the default version.")
    if not rest:
        raise Invalid("You cannot delete the last resource type available.")


def _restored(actor: Actor, kind: ResourceType, *, is_first: bool = True) -> ActionLog:
    """What is logged of a mark that is taken back: the request's first line, or its second."""
    action = "ResourceTypes.restored"
    return ActionLog.of(kind.id, action, actor.id, actor.caller, is_first=is_first)


def _require_unused(kind: ResourceType, since: str, log: ActionLog) -> None:
    """Refuse to leave a type deleted of which there are resources: its mark is taken back."""
    if not _live(kind):
        return
    mark, said = Setting.mark(kind.slug), Setting.changed_by(log.actor)
    with Transaction() as tx:
        tx.update(Setting.named(NAME), mark.remove(), *said, provided=mark == since)
        tx.create(log)
    raise Invalid(IN_USE)


def _read() -> Setting | None:
    return reading.read([Setting.named(NAME)]).find(Setting, NAME)


def _marks(row: Setting | None) -> dict[str, str]:
    return dict((row and row.marks) or {})


def _live(kind: ResourceType) -> int:
    return reading.count(Resource, "live_type_id", kind.id, index=ByType.Meta.index_name)


def _store(tx: Transaction, actor: Actor, old: dict[str, str], new: dict[str, str]) -> None:
    """Replace the marks, if they are still those the decision was taken from."""
    unchanged = Setting.marks == old
    if not old:
        unchanged |= Setting.marks.does_not_exist()
    marked = Setting.marks.set(new) if new else Setting.marks.remove()
    tx.update(Setting.named(NAME), marked, *Setting.changed_by(actor.id), provided=unchanged)
