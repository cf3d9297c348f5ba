"""The conditions of the protocol, and what TLC finds when one of them is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infra.model.configurations import ANSWERED, CLEAN, INVARIANTS

COUNTS, DECIDED, _ = INVARIANTS


@dataclass(frozen=True, slots=True)
class Condition:
    name: str
    """As in the specification: the step, and what is required there."""
    meaning: str
    violates: str
    """What does not hold without it: a condition of which nothing is violated goes."""
    found_in: str
    """The configuration that is run without it."""


CONDITIONS = (
    Condition(
        "begin: before the lines",
        "The header is written before the first line.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "stage: before the locks",
        "A row's line is stored before the row is locked.",
        CLEAN,
        "swept change",
    ),
    Condition(
        "early: locks before it reads",
        "An early operation reads the set after its closed lock stands.",
        COUNTS,
        "swept deletion",
    ),
    Condition(
        "lock: header exists",
        "A row is locked only while the header is there.",
        CLEAN,
        "swept change",
    ),
    Condition(
        "lock: version as read",
        "A row is locked only at the version it was read at.",
        COUNTS,
        "two changes",
    ),
    Condition(
        "lock: row not locked",
        "A row is locked only if it bears no lock.",
        COUNTS,
        "two changes",
    ),
    Condition(
        "commit: header exists",
        "The commit needs the header.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "commit: version as read",
        "A row whose lock is taken in the commit is at the version it was read at.",
        COUNTS,
        "locks in the commit",
    ),
    Condition(
        "commit: row not locked",
        "A row whose lock is taken in the commit bears no lock.",
        COUNTS,
        "one lock in the commit",
    ),
    Condition(
        "change: raises the version",
        "A line that changes a versioned row raises its version.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "apply: header exists",
        "A page of lines is written only while the header is there.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "apply: done as read",
        "A page is written only if the header says that the page before was the last.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "apply: unlocks last",
        "Lines that unlock rows come after all others.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "undo: header not committed",
        "Only a header that is not committed is deleted by an undo.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "undo: frees before it deletes",
        "The lines of an undone operation are deleted after its rows are unlocked.",
        CLEAN,
        "swept change",
    ),
    Condition(
        "free: locked by this operation",
        "A lock is removed only if it is of the operation that is undone.",
        COUNTS,
        "two changes",
    ),
    Condition(
        "read: counts as the line",
        "A locked row counts as its line makes of it, once the header is committed.",
        DECIDED,
        "reading",
    ),
    Condition(
        "read: header gone, row again",
        "A locked row whose header is gone is read again before it counts.",
        DECIDED,
        "reading",
    ),
    Condition(
        "read: committed, begins again",
        "Who meets a committed operation for the first time begins again, and knows it then.",
        DECIDED,
        "rows alone",
    ),
    Condition(
        "read: ended meanwhile, begins again",
        "Who finds that a locked row's operation has ended, and the row is no longer locked by "
        "it, begins again: other rows may have been read before its commit.",
        DECIDED,
        "rows alone",
    ),
    Condition(
        "read: header still there, else again",
        "Lines are laid over a set only if the header is there when they are read.",
        COUNTS,
        "reading",
    ),
    Condition(
        "read: no row unlocked yet, else again",
        "Lines are laid over a set only if the header says that no row is unlocked yet: then all "
        "of them are carried out, and others may have changed the set since.",
        DECIDED,
        "reading",
    ),
    Condition(
        "read: looks at the owner again",
        "After a set was read, the row that answers for it still counts the same.",
        DECIDED,
        "reading",
    ),
    Condition(
        "write: version as read",
        "A small change needs each row at the version that it counted as.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "write: row not locked",
        "A small change needs each row without a lock.",
        COUNTS,
        "swept change",
    ),
    Condition(
        "write: removes the lock it met",
        "Whoever finds no header unlocks the row that led there: its operation is undone by half.",
        ANSWERED,
        "asked change",
    ),
    Condition(
        "create: the right as counted",
        "What gives the right to create is in the row as it counted.",
        DECIDED,
        "beside",
    ),
    Condition(
        "create: no lock, or the one that was read",
        "The row bears no lock, or the one that it bore when it was read.",
        COUNTS,
        "swept deletion",
    ),
    Condition(
        "create: not beside a closed lock",
        "Nobody creates beside a closed lock: its operation is ended first.",
        COUNTS,
        "swept deletion",
    ),
    Condition(
        "create: header still not committed",
        "The header that was not committed when the row was read is not committed.",
        DECIDED,
        "beside",
    ),
)


def table(conditions: Sequence[Condition] = CONDITIONS) -> str:
    """The conditions as a table of `docs/model/README.md`."""
    lines = ["| Condition | What it requires | Without it |", "| --- | --- | --- |"]
    for each in conditions:
        found = f"`{each.violates}` is violated in *{each.found_in}*"
        lines.append(f"| {each.name} | {each.meaning} | {found} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
