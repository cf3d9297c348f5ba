"""What a run tells: of each user, group and membership what was done, or why not.

A dry run and a run tell the same. What is shown with a report are the rows that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from enum import Enum, StrEnum, auto

from chalicelib.domain import clock
from chalicelib.domain.light import dataclass
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import Belonging, User


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class Status(StrEnum):
    SUCCESS = "success"
    ERROR = "error"
    WARNING = "warning"
    IGNORE = "ignore"
    SYNC = "sync"
    """Nothing was to be done here: the directory and the service only came to know of it."""


class Form(Enum):
    """Which members of a user or a group are shown."""

    ADDED = auto()
    LINKED = auto()
    RENAMED = auto()
    PLAIN = auto()


class Ending(Enum):
    """Why a run does nothing more before it is over."""

    TIME = auto()
    SETTINGS = auto()
    ADMINISTRATOR = auto()


@dataclass(frozen=True, slots=True)
class SeenUser:
    user: User
    form: Form


@dataclass(frozen=True, slots=True)
class SeenGroup:
    group: Group
    form: Form
    members: Sequence[tuple[User, Belonging]] = ()


@dataclass(frozen=True, slots=True)
class SeenRelation:
    id: str
    parent: str
    child: str
    created: datetime


INVALID = "data refused by validation"
Seen = SeenUser | SeenGroup | SeenRelation | DirectoryLink


@dataclass(frozen=True, slots=True)
class Report:
    model: Model
    action: Action
    status: Status
    message: str
    seen: Seen | None = None
    """Nothing where it is an error, or speaks of somebody who is not here."""
    created: datetime = field(default_factory=clock.now)


def refusal(model: Model, action: Action, what: str, cause: str) -> Report:
    """That something is not done, and why not."""
    return Report(model, action, Status.ERROR, f"{what}: {cause.rstrip('.')}.")


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that a run tells."""

    users: Sequence[Report] = ()
    groups: Sequence[Report] = ()
    left: int = 0
    """Entries of the directory that the run did not come to before it ended."""
    ending: Ending | None = None
    """Why it ended before it was over; nothing where it was."""

    @property
    def reports(self) -> list[Report]:
        return [*self.users, *self.groups]
