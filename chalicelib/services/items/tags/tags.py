"""A caller's own tags: listed, deleted, renamed or encrypted; what becomes of two of one name."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import formats
from chalicelib.bodies.items.metadata import TypesSettings
from chalicelib.bodies.items.tags import (
    INVALID_TAG,
    NO_V4,
    NO_V5,
    V4_FIELDS,
    TagEdit,
    V5TagEdit,
)
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Forbidden, Invalid, NotFound
from chalicelib.domain.ids import TagId
from chalicelib.services.items.metadata import metadata_settings
from chalicelib.services.items.resources import resource_lists, resource_rules
from chalicelib.services.items.resources.resource_lists import WantedResources
from chalicelib.services.items.tags import encryption, known, storing
from chalicelib.services.items.tags.known import Known, Owned, Shown
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.items.tags import Tag
from chalicelib.tables.users.users import User

MISSING = "The tag does not exist."
_NO_UPDATE_OF_SHARED = "You do not have the permission to update shared tags."
_NO_DELETION_OF_SHARED = "You do not have the permission to delete shared tags."
_NO_SHARING = "You do not have the permission to change a personal tag into shared tag."
_NO_DOWNGRADE = "The settings selected by your administrator prevent from downgrading tag."
_NOT_SAVED = "Unable to save the tag."
MOST_MARKS = 500
"""Tags that become one: their marks lie in its row, and all tags of an owner are read at once."""
_TOO_MANY_BECAME_ONE = {"slug": {"hasAtMost": f"At most {MOST_MARKS} tags can become one."}}


def index(actor: Actor) -> list[Tag]:
    """Return the tags that the resources have which the actor may see, each once."""
    shown = Shown(actor)
    found = resource_lists.search(
        actor,
        WantedResources(),
        lambda seen, _: seen.marks,
        are_whole=shown.has_own,
    )
    marks: frozenset[str] = frozenset().union(*found)
    shown.complete(marks)
    return shown.among(marks)


def update(actor: Actor, tag_id: TagId, draft: Draft[Any]) -> Tag:
    """Give a tag of the actor's another slug, or metadata; return it as it is then."""
    known.require_writable()
    there = known.read(actor)
    tag = _own(there, tag_id, _NO_UPDATE_OF_SHARED)
    formats.require_one(draft.members, V4_FIELDS)
    if draft.members.get("slug") is None and draft.members.get("metadata") is not None:
        return _encrypt(actor, tag, draft)
    return _rename(actor, tag, there.own, draft)


def delete(actor: Actor, tag_id: TagId) -> None:
    """Delete a tag of the actor's; what links to it means nothing from now on."""
    known.require_writable()
    tag = _own(known.read(actor), tag_id, _NO_DELETION_OF_SHARED)
    with Transaction() as tx:
        storing.delete(tx, tag, Check(tag.key, tag.has_same_content()))


def _own(there: Known, tag_id: TagId, denied: str) -> Tag:
    if there.shared.find(tag_id):
        raise Forbidden(denied)
    tag = there.own.find(tag_id)
    if tag is None:
        raise NotFound(MISSING)
    return tag


def _rename(actor: Actor, tag: Tag, own: Owned, draft: Draft[Any]) -> Tag:
    """Give a tag another slug, and with it another identifier.

    Where the actor has a tag of that slug, that one gets its links. Nothing is linked to the old
    tag meanwhile, and no other tag gets the slug: one transaction writes both.
    """
    rows = reading.read([User.by_id(actor.id), *metadata_settings.KEYS])
    slug = _read_slug(draft, tag, metadata_settings.of(rows).types)
    if slug == tag.slug:
        return tag
    other = own.with_slug(slug)
    renamed = _merged(other, tag) if other else _as_new(tag, slug)
    if other and len(renamed.marks) > MOST_MARKS:
        raise Invalid(INVALID_TAG, _TOO_MANY_BECAME_ONE)
    with Transaction() as tx:
        tx.require(_may_be_given(actor, rows))
        own.raise_version(tx)
        as_read = tag.has_same_links() & tag.has_same_content()
        storing.delete(tx, tag, Check(tag.key, as_read))
        if other:
            added = (Tag.marks.add(tag.marks), Tag.links.add(tag.links))
            tx.update(other.key, *added, provided=other.has_same_content())
        else:
            storing.create(tx, renamed)
    return renamed


def _as_new(tag: Tag, slug: str) -> Tag:
    renamed = Tag.new(tag.owner, slug=slug)
    renamed.marks, renamed.links = tag.marks, tag.links
    return renamed


def _merged(tag: Tag, other: Tag) -> Tag:
    merged = Tag.from_raw(tag.serialize())
    merged.marks = {*tag.marks, *other.marks}
    merged.links = tag.links + other.links
    return merged


def _may_be_given(actor: Actor, rows: reading.Rows) -> Check:
    return User.may_be_given(actor.id, rows.lock(User.by_id(actor.id)))


def _read_slug(draft: Draft[Any], tag: Tag, settings: TypesSettings) -> str:
    if not settings.allow_creation_of_v4_tags:
        raise Invalid(NO_V4)
    if str(draft.members.get("slug") or "").startswith("#"):
        raise Invalid(_NO_SHARING)
    if tag.is_v5 and not settings.allow_v5_v4_downgrade:
        raise Invalid(_NO_DOWNGRADE)
    return Draft(TagEdit, draft.payload).read(INVALID_TAG).slug


def _encrypt(actor: Actor, tag: Tag, draft: Draft[Any]) -> Tag:
    """Give a tag metadata; it keeps its identifier.

    They are for a key that may be used, which is noted with the tag in the same transaction.
    """
    rows = reading.read([User.by_id(actor.id), *metadata_settings.KEYS])
    settings = metadata_settings.of(rows)
    if not settings.types.allow_creation_of_v5_tags:
        raise Invalid(NO_V5)
    body = _read_metadata(draft, tag, settings.types)
    keys = encryption.read(actor, settings.keys, [body])
    if errors := resource_rules.merged(_upgrade_errors(tag, settings.types), keys.errors(body)):
        raise Invalid(_NOT_SAVED, errors)
    changed = tag.encrypted(*keys.content(body))
    with Transaction() as tx:
        tx.require(_may_be_given(actor, rows))
        keys.hold(tx, [changed])
        storing.replace_content(tx, tag, changed)
    return changed


def _read_metadata(draft: Draft[Any], tag: Tag, settings: TypesSettings) -> V5TagEdit:
    sent = Draft(V5TagEdit, draft.payload)
    if errors := sent.errors():
        raise Invalid(_NOT_SAVED, resource_rules.merged(_upgrade_errors(tag, settings), errors))
    body = sent.read(_NOT_SAVED)
    if body.is_shared:
        raise Invalid(_NO_SHARING)
    return body


def _upgrade_errors(tag: Tag, settings: TypesSettings) -> dict[str, FieldErrors]:
    is_refused = not tag.is_v5 and not settings.allow_v4_v5_upgrade
    return {"metadata": resource_rules.NO_UPGRADE} if is_refused else {}
