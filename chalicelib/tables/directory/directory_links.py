"""Directory links: what a run of the directory synchronisation has to know of the ones before.

A link says which user or group an entry of the directory is here; its key is the entry's own
identifier, so an entry is linked once; a row the other way round says which entry a user or a
group is linked to, so that is one entry. A relation says that a membership was made or adopted by a
run. An exemption says what runs leave alone. Further notes say whom runs have written to already.
All of a kind lie under one key, since a run reads them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.domain.directory.directory import Entry
from chalicelib.storage import reading
from chalicelib.storage.base import Key, Table, TableMeta, TimestampAttribute, table_name

LONGEST_NAME = 255
"""Characters that are kept of a distinguished name."""


class Model(StrEnum):
    """What is linked, related or exempt, in the words of the API."""

    USERS = "Users"
    GROUPS = "Groups"
    MEMBERSHIPS = "GroupsUsers"
    ENTRIES = "DirectoryEntries"


LINKED = "linked"
"""The kind of the rows that say which entry a user or a group is linked to."""
EXEMPT = "exempt"
"""Of those that say what runs leave alone."""
ASKED = "asked"
"""Of those that say whom the managers of a group were asked to add."""
TOLD = "told"
"""Of those that say when administrators were told what keeps runs from their work."""


def digest_of(user_ids: Iterable[str]) -> str:
    """The same text for the same users, in whatever order."""
    return sha256(" ".join(sorted(user_ids)).encode()).hexdigest()


class DirectoryLink(Table):
    """A link, a relation, an exemption or a note: which of them its kind says."""

    class Meta(TableMeta):
        table_name = table_name("directory_links")

    kind = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    """Of a link the entry's, of a relation the membership's, of an exemption what is exempt.

    Of what is linked the user or the group; of whom was asked the group; of what was told the kind
    of trouble.
    """
    subject = UnicodeAttribute(null=True)
    """Of a link the user or the group, of what is linked the entry, of a relation the group."""
    member = UnicodeAttribute(null=True)
    """Of a relation the user."""
    model = UnicodeAttribute(null=True)
    """Of an exemption: what kind of thing is exempt."""
    name = UnicodeAttribute(null=True)
    """Of a link the distinguished name."""
    wanted = UnicodeAttribute(null=True)
    """Of whom was asked: a digest of the users whom the managers were asked to add."""
    directory_created = TimestampAttribute(null=True)
    directory_modified = TimestampAttribute(null=True)
    created = TimestampAttribute()

    @classmethod
    def of(cls, model: Model, entry: Entry, subject: str) -> DirectoryLink:
        """The link of an entry to a user or a group."""
        return cls(
            model.value,
            entry.id,
            subject=subject,
            name=entry.name[:LONGEST_NAME],
            directory_created=entry.created,
            directory_modified=entry.modified,
            created=clock.now(),
        )

    @classmethod
    def linked(cls, subject: str, entry_id: str) -> DirectoryLink:
        """What goes with the link of an entry: that a user or a group is linked to it alone."""
        return cls(LINKED, subject, subject=entry_id, created=clock.now())

    @classmethod
    def relation(cls, membership_id: str, group_id: str, user_id: str) -> DirectoryLink:
        kind, now = Model.MEMBERSHIPS.value, clock.now()
        return cls(kind, membership_id, subject=group_id, member=user_id, created=now)

    @classmethod
    def exemption(cls, model: Model, subject: str) -> DirectoryLink:
        return cls(EXEMPT, subject, model=model.value, created=clock.now())

    @classmethod
    def asked(cls, group_id: str, wanted: str) -> DirectoryLink:
        """The note that the managers of a group were asked to add these users."""
        return cls(ASKED, group_id, wanted=wanted, created=clock.now())

    @classmethod
    def told(cls, trouble: str) -> Key:
        return Key(cls, TOLD, trouble)

    @classmethod
    def by_id(cls, kind: str, row_id: str) -> Key:
        return Key(cls, str(kind), row_id)

    @classmethod
    def of_kind(cls, kind: str) -> list[DirectoryLink]:
        return [cls.from_raw(row) for row in reading.query(cls, str(kind))]

    def says(self) -> list[Action]:
        """The actions by which a note is of these users."""
        return [type(self).wanted.set(self.wanted), type(self).created.set(self.created)]

    @classmethod
    def is_noted(cls, before: DirectoryLink | None) -> Condition:
        """The condition that a note says what it did when it was read, or is not there."""
        condition: Condition = cls.absent() if before is None else cls.wanted == before.wanted
        return condition

    def is_as_found(self, entry: Entry) -> bool:
        """Whether the entry is still where it was in the directory."""
        return self.name == entry.name[:LONGEST_NAME]

    def leads(self, entry: Entry, subject: str) -> list[Action]:
        """The actions by which a link follows its entry, and leads to this user or group."""
        cls = type(self)
        return [
            cls.subject.set(subject),
            cls.name.set(entry.name[:LONGEST_NAME]),
            cls.directory_created.set(entry.created),
            cls.directory_modified.set(entry.modified),
        ]

    def as_read(self) -> Condition:
        """The condition that it leads where it did when it was read."""
        condition: Condition = type(self).subject == self.subject
        return condition
