"""What tags a resource has: the caller's own, and the shared ones, which its owners choose."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.tags import (
    Entry,
    KnownTag,
    NewTag,
    TagsBody,
    read_tags,
    require_storable,
)
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import ResourceId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.services.access import grants
from chalicelib.services.items.metadata import metadata_settings
from chalicelib.services.items.resources import resources
from chalicelib.services.items.resources.resources import Loaded
from chalicelib.services.items.tags import encryption, known, storing
from chalicelib.services.items.tags.encryption import Encryption
from chalicelib.services.items.tags.known import Known, texts
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Grant, Key
from chalicelib.storage.changes.operations import TOO_MUCH
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.items.tags import SHARED, Tag, one_mark
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.users.users import User

_NO_SHARED = "You do not have the permission to edit shared tags on this resource."
_NOT_SAVED = "Could not save the tags, try again later."


@dataclass(frozen=True, slots=True)
class _Plan:
    """What becomes of the tags of a resource, those of others left out."""

    wanted: Sequence[Tag]
    new: frozenset[str]
    """Identifiers of those that are made."""
    current: Sequence[Tag]
    marks: frozenset[str]
    """All marks that the caller sees at the resource now."""

    def marks_among(self, tags: Sequence[Tag]) -> frozenset[str]:
        """What links to these tags consist of: of each one mark, that there is or a new one."""
        return frozenset(min(tag.marks & self.marks, default=one_mark(tag)) for tag in tags)

    @property
    def gained(self) -> list[Tag]:
        """Tags that there are, and that are linked."""
        before = {tag.id for tag in self.current}
        return [tag for tag in self.wanted if tag.id not in before | self.new]

    @property
    def lost(self) -> list[Tag]:
        after = {tag.id for tag in self.wanted}
        return [tag for tag in self.current if tag.id not in after]

    @property
    def doubled(self) -> list[tuple[Tag, int]]:
        """Tags that stay and had several marks here, of others that became one with them."""
        after = {tag.id for tag in self.wanted}
        stay = [tag for tag in self.current if tag.id in after and not tag.is_shared]
        found = ((tag, len(tag.marks & self.marks) - 1) for tag in stay)
        return [(tag, more) for tag, more in found if more > 0]

    @property
    def changes_shared(self) -> bool:
        return _shared(self.wanted) != _shared(self.current)


def tag(actor: Actor, resource_id: ResourceId, draft: Draft[TagsBody]) -> list[Tag]:
    """Let a resource have these tags, and no other that the actor sees; return them.

    Links and tags are one change, under the version of the resource: a tag is never linked that
    is not there, none is removed that something links to, and no slug is there twice. Only who
    owns the resource changes which shared tags it has, and the log says so. Nothing else about it
    changes.
    """
    known.require_writable()
    user = User.by_id(actor.id)
    rows = reading.read([user, *metadata_settings.KEYS])
    there = known.read(actor)
    settings = metadata_settings.of(rows)
    entries = read_tags(draft, settings.types, lambda id_: there.find(id_) is not None)
    loaded = resources.load(actor, resource_id)
    there = there.completed(actor, loaded.seen.marks)
    current = _current(there, loaded)
    grant = _grant(actor, loaded, changes_shared=_will_change_shared(entries, there, current))
    new = _new(entries, there)
    require_storable(new)
    keys = encryption.read(actor, settings.keys, new.values())
    keys.require_usable(new, _NOT_SAVED)
    plan = _plan(actor, entries, there, loaded, keys)
    if plan.gained or plan.lost or plan.new:
        with Transaction() as tx:
            tx.hold(grant)
            tx.require(User.may_be_given(actor.id, rows.lock(user)))
            _write(tx, actor, plan, there, loaded)
            keys.hold(tx, [tag for tag in plan.wanted if tag.id in plan.new])
            if len(tx) > MAX_ROWS:
                raise Invalid(TOO_MUCH)
    return list(plan.wanted)


def _current(there: Known, loaded: Loaded) -> list[Tag]:
    """The tags that the actor sees at the resource."""
    own = there.own.marked(list(texts(loaded.seen.holding.get("tags"))))
    return [*own, *there.shared.marked(loaded.resource.shared_tags or ())]


def _shared(tags: Sequence[Tag]) -> set[str]:
    return {tag.id for tag in tags if tag.is_shared}


def _existing(entry: Entry, there: Known) -> Tag | None:
    if isinstance(entry, KnownTag):
        return there.find(entry.id)
    return there.with_slug(entry) if isinstance(entry, str) else None


def _will_change_shared(entries: Sequence[Entry], there: Known, current: Sequence[Tag]) -> bool:
    found = [(entry, _existing(entry, there)) for entry in entries]
    if any(tag is None and _is_shared(entry) for entry, tag in found):
        return True
    return _shared([tag for _, tag in found if tag]) != _shared(current)


def _is_shared(entry: Entry) -> bool:
    if isinstance(entry, str):
        return entry.startswith("#")
    return isinstance(entry, NewTag) and entry.is_shared


def _grant(actor: Actor, loaded: Loaded, *, changes_shared: bool) -> Grant:
    """What lets the actor tag the resource; refuses with the words of a body that is wrong."""
    permission = grants.find_permission(actor, loaded.resource)
    is_owner = permission is not None and permission.type == PermissionType.OWNER
    if changes_shared and not is_owner:
        raise Invalid(_NO_SHARED)
    least = PermissionType.OWNER if changes_shared else PermissionType.READ
    return loaded.require(actor, least, resources.MISSING)


def _new(entries: Sequence[Entry], there: Known) -> dict[int, str | NewTag]:
    """The entries of tags that are not there yet, by position."""
    return {
        at: entry
        for at, entry in enumerate(entries)
        if not isinstance(entry, KnownTag) and _existing(entry, there) is None
    }


def _plan(
    actor: Actor, entries: Sequence[Entry], there: Known, loaded: Loaded, keys: Encryption
) -> _Plan:
    current = _current(there, loaded)
    new: dict[str | NewTag, Tag] = {}
    wanted: dict[str, Tag] = {}
    for entry in entries:
        tag = _existing(entry, there)
        if tag is None and not isinstance(entry, KnownTag):
            tag = new.setdefault(entry, _made(actor, entry, keys))
        if tag is not None:
            wanted[tag.id] = tag
    ids = frozenset(tag.id for tag in new.values())
    return _Plan([*wanted.values()], ids, current, loaded.seen.marks)


def _made(actor: Actor, entry: str | NewTag, keys: Encryption) -> Tag:
    is_shared = _is_shared(entry)
    owner = SHARED if is_shared else actor.id
    tag = Tag.new(owner, slug=entry) if isinstance(entry, str) else keys.tag(owner, entry)
    tag.made_by = actor.id if is_shared else None
    return tag


def _write(tx: Transaction, actor: Actor, plan: _Plan, there: Known, loaded: Loaded) -> None:
    made = [tag for tag in plan.wanted if tag.id in plan.new]
    for owned in (there.own, there.shared):
        if more := sum(tag.owner == owned.owner for tag in made):
            owned.require_room(more, actor.id)
            owned.raise_version(tx)
    for tag in made:
        storing.create(tx, tag)
    for tag in plan.gained:
        tx.update(tag.key, Tag.links.add(1), provided=Tag.present())
    for tag, more in plan.doubled:
        tx.update(tag.key, Tag.links.add(-more), provided=Tag.links > more)
    for tag in plan.lost:
        unlink(tx, tag, len(tag.marks & plan.marks))
    _write_links(tx, plan, loaded)
    if plan.changes_shared:
        tx.create(ActionLog.of(loaded.resource.id, "Resources.tagged", actor.id, actor.caller))


def unlink(tx: Transaction, tag: Tag, links: int) -> None:
    """Take so many links from a tag; it goes with the last."""
    if tag.links > links:
        tx.update(tag.key, Tag.links.add(-links), provided=Tag.links > links)
        return
    is_last = (Tag.links <= links) & tag.has_same_content()
    storing.delete(tx, tag, Check(tag.key, is_last))


def _write_links(tx: Transaction, plan: _Plan, loaded: Loaded) -> None:
    """Write the marks of the actor's own tags into their holding, of others into the resource."""
    own = plan.marks_among([tag for tag in plan.wanted if not tag.is_shared])
    holding, resource = loaded.seen.holding, loaded.resource
    before = frozenset(texts(holding.get("tags")))
    if own != before:
        key = Key(Holding, holding["user_id"]["S"], holding["item_id"]["S"])
        tx.update(key, *Holding.tagging(own), provided=Holding.is_tagged(before))
    shared = plan.marks_among([tag for tag in plan.wanted if tag.is_shared])
    if plan.changes_shared:
        _tag_for_all(tx, resource, shared)


def _tag_for_all(tx: Transaction, resource: Resource, marks: frozenset[str]) -> None:
    """Let a resource have these shared tags; who changed it last, and when, stays."""
    changed = resource.copy()
    changed.shared_tags = set(marks) or None
    changed.version = resource.version + 1
    tx.change(resource, changed)
