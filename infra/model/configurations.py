"""Who acts in a run of the model: few at a time, in several runs, so that each run is small."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

INVARIANTS = (
    "WhatCountsIsWhatWasCommitted",
    "NothingIsDecidedOrShownWrongly",
    "NothingBelongsToWhatIsDeleted",
)
CLEAN = "NothingStaysLocked"
ANSWERED = "NobodyWaitsForOthers"
BEHAVIOURS = {None: "Spec", CLEAN: "Swept", ANSWERED: "Asked"}
"""What is reached, and who is sure to go on where that is checked."""

SPECIFICATION = Path(__file__).parents[2] / "docs" / "model" / "Operations.tla"


@dataclass(frozen=True, slots=True)
class Configuration:
    name: str
    changers: tuple[str, ...] = ()
    early: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    creators: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    sweepers: tuple[str, ...] = ()
    resting: tuple[str, ...] = ()
    """The writers whose transaction rests on a row that it does not change."""
    in_commit: tuple[str, ...] = ()
    """The rows, besides its target, whose locks an operation takes in the commit itself."""
    glancing: tuple[str, ...] = ()
    """The readers who read both rows, and nothing that belongs to them."""
    together: tuple[str, ...] = ()
    """The rows whose lines are carried out in one transaction; else each in one of its own."""
    reaches: str | None = None
    """What is reached if sweepers alone, or requests alone, go on: takes a smaller run."""
    specification: Path = SPECIFICATION

    def text(self, dropped: Collection[str] = ()) -> str:
        """The run as TLC reads it, without the conditions that are dropped."""
        sets = {
            "Changers": self.changers,
            "Early": self.early,
            "Writers": self.writers,
            "Creators": self.creators,
            "Readers": self.readers,
            "Glancing": self.glancing,
            "Sweepers": self.sweepers,
            "Resting": self.resting,
            "InCommit": self.in_commit,
            "Together": self.together,
            "Dropped": dropped,
        }
        return "\n".join(
            [
                f"SPECIFICATION {BEHAVIOURS[self.reaches]}",
                *(f"INVARIANT {name}" for name in INVARIANTS),
                *([f"PROPERTY {self.reaches}"] if self.reaches else []),
                *(f"CONSTANT {name} = {set_of(members)}" for name, members in sets.items()),
                "",
            ]
        )

    @property
    def actors(self) -> tuple[str, ...]:
        return (
            *self.changers,
            *self.early,
            *self.writers,
            *self.creators,
            *self.readers,
            *self.sweepers,
        )


def set_of(members: Collection[str]) -> str:
    """A set of texts, in TLA+."""
    return "{" + ", ".join(f'"{member}"' for member in members) + "}"


CONFIGURATIONS = (
    Configuration("reading", changers=("change",), writers=("writer",), readers=("reader",)),
    Configuration(
        "rows alone",
        changers=("change",),
        readers=("reader",),
        glancing=("reader",),
        sweepers=("sweeper",),
    ),
    Configuration(
        "early",
        early=("deletion",),
        writers=("writer",),
        resting=("writer",),
        creators=("creator",),
    ),
    Configuration("beside", changers=("change",), creators=("creator",), sweepers=("sweeper",)),
    Configuration("two changes", changers=("change",), early=("deletion",), sweepers=("sweeper",)),
    Configuration(
        "locks in the commit",
        changers=("change",),
        writers=("writer",),
        resting=("writer",),
        sweepers=("sweeper",),
        in_commit=("b",),
    ),
    Configuration(
        "one lock in the commit",
        changers=("change",),
        early=("deletion",),
        sweepers=("sweeper",),
        in_commit=("b",),
    ),
    Configuration(
        "swept change",
        changers=("change",),
        writers=("writer",),
        sweepers=("sweeper",),
        reaches=CLEAN,
    ),
    Configuration(
        "swept deletion",
        early=("deletion",),
        creators=("creator",),
        sweepers=("sweeper",),
        reaches=CLEAN,
    ),
    Configuration(
        "asked change",
        changers=("change",),
        writers=("writer", "second"),
        resting=("writer", "second"),
        reaches=ANSWERED,
    ),
    Configuration("asked deletion", early=("deletion",), creators=("creator",), reaches=ANSWERED),
)
BY_NAME = {each.name: each for each in CONFIGURATIONS}
_PAGED = ("a", "b")
_CHANGE = Configuration("a change", changers=("change",), in_commit=("b",), together=_PAGED)
_DELETION = Configuration("a deletion", early=("deletion",), in_commit=("a",), together=_PAGED)
SCHEDULED = (
    replace(_CHANGE, name="a change and a sweeper", sweepers=("sweeper",)),
    replace(_CHANGE, name="a change and a writer", writers=("writer",)),
    replace(_CHANGE, name="a change and a reader", readers=("reader",)),
    replace(_CHANGE, name="a change and a creator", creators=("creator",)),
    replace(_DELETION, name="a deletion and a creator", creators=("creator",)),
    replace(
        _CHANGE,
        name="a change, a writer and a sweeper",
        writers=("writer",),
        sweepers=("sweeper",),
    ),
    replace(
        _CHANGE,
        name="a change, a writer and a reader",
        writers=("writer",),
        readers=("reader",),
    ),
    replace(
        _DELETION,
        name="a deletion, a creator and a sweeper",
        creators=("creator",),
        sweepers=("sweeper",),
    ),
)
"""Whose schedules the tests have the real code run (`schedules.py`)."""
