"""Steps of a run, as values: what is to be done about one entry, and what is told of it.

Each step is one transaction. What it tells is made of the row that comes out: in a run of the
one that was written, in a dry run of the one that would have been.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chalicelib.domain.changes import Addition, NewUser, Removal, UserChange
from chalicelib.domain.directory.directory import Entry
from chalicelib.domain.light import dataclass
from chalicelib.services.directory.reports import Report
from chalicelib.tables.directory.directory_links import DirectoryLink, Model, digest_of
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import User


@dataclass(frozen=True, slots=True)
class Invite:
    new: NewUser


@dataclass(frozen=True, slots=True)
class Edit:
    user: User
    change: UserChange


@dataclass(frozen=True, slots=True)
class DeleteUser:
    user: User


@dataclass(frozen=True, slots=True)
class MakeGroup:
    name: str
    additions: Sequence[Addition]
    related: Sequence[Addition] = ()
    """Those of them whose memberships are a run's."""


@dataclass(frozen=True, slots=True)
class Rename:
    group: Group
    name: str


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    group: Group


@dataclass(frozen=True, slots=True)
class Members:
    """Members join and leave the group that an entry is linked to, and runs note it."""

    entry: Entry
    additions: Sequence[Addition] = ()
    removals: Sequence[Removal] = ()
    adopted: Sequence[Addition] = ()
    """Memberships that stand, and are a run's from now on."""
    forgotten: Sequence[DirectoryLink] = ()
    """Relations that end."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The managers of a group are asked to add members, who need secrets: once for the same ones.

    Where there is nobody to add any more, it is noted that nobody is asked for.
    """

    group: Group
    users: Sequence[User]
    before: DirectoryLink | None
    """What is noted of whom they were asked for last."""

    @property
    def wanted(self) -> str:
        """A digest of the users to be added."""
        return digest_of(user.id for user in self.users)


PersonAct = Invite | Edit | DeleteUser
TeamAct = MakeGroup | Rename | DeleteGroup | Members | Ask
Act = PersonAct | TeamAct


@dataclass(frozen=True, slots=True)
class Linking:
    """What becomes of the link of an entry: it ends, or leads to what the step is about."""

    model: Model
    before: DirectoryLink | None
    entry: Entry | None
    subject: str | None = None
    """The user or group; nothing where the step makes them."""

    @property
    def leads_elsewhere(self) -> bool:
        """Whether the entry comes to lead to something that it did not lead to before."""
        led = None if self.before is None else self.before.subject
        return self.entry is not None and (self.subject is None or self.subject != led)


Telling = Callable[[User | Group | None], Report]
"""Makes a report of the row that comes out."""


@dataclass(frozen=True, slots=True)
class Step:
    act: Act | None = None
    linking: Linking | None = None
    tells: Sequence[Telling] = ()
    refused: Callable[[str], Report] | None = None
    """Tells what a refusal means, by its sentence; else it is told of the whole entry."""


def followed(link: DirectoryLink | None, entry: Entry, subject: str) -> list[Step]:
    """An entry that lies elsewhere in the directory is followed without a word."""
    if link is None or link.is_as_found(entry):
        return []
    return [Step(linking=Linking(Model(link.kind), link, entry, subject))]


def telling(report: Report) -> Step:
    """A step that does nothing."""
    return Step(tells=(lambda _: report,))
