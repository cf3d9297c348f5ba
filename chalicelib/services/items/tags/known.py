"""The tags that a user knows, how many there may be, and whether they are read-only.

Of each owner there are few, so they are read all at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from chalicelib.bodies.items.tags import INVALID_TAGS
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, Invalid
from chalicelib.domain.light import dataclass
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.values import Texts
from chalicelib.tables.items.tags import SET, SHARED, Tag

MOST_OWNED = 2_000
"""Tags of one owner, of whom all are read for a list."""
MOST_MADE = 500
"""Shared tags of one user's making: nobody deletes those of others, and all have to have room."""
_TOO_MANY = {"tags": {"hasAtMost": f"There should be at most {MOST_OWNED} different tags."}}
_TOO_MANY_MADE = {"tags": {"hasAtMost": f"You should make at most {MOST_MADE} shared tags."}}


@dataclass(frozen=True, slots=True)
class Owned:
    """The tags of one owner, and the version of their set as it was before these were read."""

    owner: str
    version: int | None
    tags: tuple[Tag, ...]

    @classmethod
    def of(cls, owner: str, rows: Collection[Tag]) -> Owned:
        versions = [row.version for row in rows if row.id == SET]
        version = int(versions[0]) if versions and versions[0] else None
        return cls(owner, version, tuple(row for row in rows if row.id != SET))

    def find(self, tag_id: str) -> Tag | None:
        return next((tag for tag in self.tags if tag.id == tag_id), None)

    def with_slug(self, slug: str) -> Tag | None:
        return next((tag for tag in self.tags if tag.slug == slug), None)

    def marked(self, marks: Collection[str]) -> list[Tag]:
        """The tags that have one of these marks."""
        return [tag for tag in self.tags if not tag.marks.isdisjoint(marks)]

    def require_room(self, more: int, made_by: str) -> None:
        """Refuse so many more tags where the owner would have too many to read at once.

        Of the shared ones, also where too many of them would be of one user's making.
        """
        if len(self.tags) + more > MOST_OWNED:
            raise Invalid(INVALID_TAGS, _TOO_MANY)
        if sum(tag.made_by == made_by for tag in self.tags) + more > MOST_MADE:
            raise Invalid(INVALID_TAGS, _TOO_MANY_MADE)

    def raise_version(self, tx: Transaction) -> None:
        """Hold that nobody made or renamed a tag of this owner since they were read."""
        tx.update(Tag.set_of(self.owner), Tag.version.add(1), provided=Tag.is_set_at(self.version))


@dataclass(frozen=True, slots=True)
class Known:
    own: Owned
    shared: Owned

    def find(self, tag_id: str) -> Tag | None:
        return self.own.find(tag_id) or self.shared.find(tag_id)

    def with_slug(self, slug: str) -> Tag | None:
        return self.of_slug(slug).with_slug(slug)

    def of_slug(self, slug: str) -> Owned:
        """Whose tags one with this slug is among."""
        return self.shared if slug.startswith("#") else self.own

    def marked(self, marks: Collection[str]) -> list[Tag]:
        return [*self.own.marked(marks), *self.shared.marked(marks)]

    def completed(self, actor: Actor, marks: Collection[str]) -> Known:
        """These, or as they are now where a mark is of none: it may be of one made since."""
        found = (tag.marks for tag in self.marked(marks))
        return self if frozenset().union(*found).issuperset(marks) else read(actor)


def require_writable() -> None:
    """Refuse where whoever runs the service has tags shown only."""
    if settings.tags_are_read_only:
        raise Forbidden("The tags plugin is in read-only mode.")


def read(actor: Actor) -> Known:
    """Read the tags that the actor knows."""
    own, shared = reading.together(partial(Tag.rows_of, actor.id), partial(Tag.rows_of, SHARED))
    return Known(Owned.of(actor.id, own), Owned.of(SHARED, shared))


def texts(value: Texts | None) -> Iterable[str]:
    return () if value is None else value["SS"]


class Shown:
    """The tags that are shown with resources.

    They are read before the resources are. A tag that is made meanwhile is not among them: where
    a mark is of no tag, they are read once more, since it may be of such a one.
    """

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._known = [read(actor)]
        self._noted: dict[str, frozenset[str]] = {}

    @property
    def has_own(self) -> bool:
        """Whether any resource may have a tag of the actor's own, which their holdings tell."""
        return bool(self._known[0].own.tags)

    def having_slug(self, slug: str) -> frozenset[str]:
        """The marks of the tags that are called so, however it is written."""
        wanted = slug.casefold()
        tags = (tag for owned in (self._known[0].own, self._known[0].shared) for tag in owned.tags)
        found = [tag.marks for tag in tags if tag.slug and tag.slug.casefold() == wanted]
        return frozenset().union(*found)

    def note(self, seen: SeenResource) -> None:
        """Keep what links a resource to tags, until it is known whether it is shown."""
        self._noted[seen.row["id"]["S"]] = seen.marks

    def of_items(self, ids: Iterable[str]) -> dict[str, list[Tag]]:
        """The tags of those of these resources that were noted."""
        noted = {id_: self._noted[id_] for id_ in ids if id_ in self._noted}
        self.complete([mark for marks in noted.values() for mark in marks])
        return {id_: self.among(marks) for id_, marks in noted.items()}

    def complete(self, marks: Collection[str]) -> None:
        """Know the tags of all these marks that there are."""
        if not self._by_mark().keys() >= set(marks):
            self._known.append(read(self._actor))

    def among(self, marks: Iterable[str]) -> list[Tag]:
        """The tags of these marks, each once."""
        tags = self._by_mark()
        found = [tags[mark] for mark in marks if mark in tags]
        return list({tag.id: tag for tag in found}.values())

    def _by_mark(self) -> dict[str, Tag]:
        read_tags = (
            tag
            for known in self._known
            for owned in (known.own, known.shared)
            for tag in owned.tags
        )
        return {mark: tag for tag in read_tags for mark in tag.marks}


def of_resource(actor: Actor, seen: SeenResource) -> list[Tag]:
    """The tags of one resource; nothing is read of one that has none."""
    if not seen.marks:
        return []
    shown = Shown(actor)
    shown.complete(seen.marks)
    return shown.among(seen.marks)
