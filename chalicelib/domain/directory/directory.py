"""What a company's directory says: people and groups, as values, wherever they were read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from typing import NewType

from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass

EntryId = NewType("EntryId", str)
"""The directory's own identifier of an entry (`entryUUID`, `objectGUID`): a UUID, lower case."""


@dataclass(frozen=True, slots=True)
class Entry:
    id: EntryId
    name: str
    """The distinguished name."""
    created: datetime
    modified: datetime


@dataclass(frozen=True, slots=True)
class Person(Entry):
    username: str | None = None
    """The e-mail address they will sign in with."""
    first_name: str | None = None
    last_name: str | None = None
    errors: dict[str, list[str]] = field(default_factory=dict)
    """What is wrong with what was read, by field. Such an entry still takes part in a run."""


@dataclass(frozen=True, slots=True)
class Team(Entry):
    """A group of the directory."""

    title: str | None = None
    """What the group is called; None where the directory has no name for it."""
    members: Sequence[str] = ()
    """Distinguished names of all members, whatever they are."""
    people: Sequence[str] = ()
    """Those of them that are people of the same answer."""
    teams: Sequence[str] = ()
    """Those of them that are groups of the same answer."""
    errors: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Directory:
    """One answer of a directory: all that it says at one time."""

    people: Sequence[Person] = ()
    teams: Sequence[Team] = ()


class Unreadable(Invalid):
    """The directory did not answer in full, which is no empty answer; the message says why."""
