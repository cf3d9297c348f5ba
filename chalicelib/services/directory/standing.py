"""What each step of a run holds: the settings, and the ignore list, as they were read.

A run reads both once, and may write for minutes. So whom an administrator has put on the list
meanwhile is decided again, and a run does nothing more once its settings were changed or deleted,
or whoever it acts for is no active administrator any more. Whoever is taken off the list meanwhile
is the next run's: the guard of this one has not counted them.
"""

from __future__ import annotations

from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.reports import Ending
from chalicelib.services.directory.steps import Invite, MakeGroup, Step
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.directory.directory_links import EXEMPT, DirectoryLink
from chalicelib.tables.users.users import User


class Ended(Conflict):
    """What a run rests on no longer holds; it is not decided again."""

    ending: Ending


class SettingsChanged(Ended):
    """The settings of the run are others by now, or there are none."""

    ending = Ending.SETTINGS

    def __init__(self) -> None:
        super().__init__(
            "The settings of the directory were changed meanwhile, or it was switched off."
        )


class NoAdministrator(Ended):
    """Whoever the run acts for is no administrator any more, or may not sign in."""

    ending = Ending.ADMINISTRATOR

    def __init__(self) -> None:
        super().__init__("Whoever the run acts for is no active administrator any more.")


def hold(tx: Transaction, known: Known, still: Check, step: Step, subject: str) -> None:
    """Hold that the settings are as they were read, and that nothing else is on the list by now."""
    tx.require(still, otherwise=SettingsChanged())
    for id_ in sorted(_about(known, step, subject) - known.exempt.keys()):
        tx.require(Check(DirectoryLink.by_id(EXEMPT, id_), DirectoryLink.absent()))


def read_again(known: Known) -> None:
    """Add what is on the ignore list by now; end a run of somebody who is no administrator now."""
    listed, rows = reading.together(
        partial(DirectoryLink.of_kind, EXEMPT), partial(reading.read, [known.runner.key])
    )
    known.exempt |= {row.id: row for row in listed}
    runner = rows.find(User, known.runner.id)
    if runner is None or not runner.may_administer(clock.now()):
        raise NoAdministrator


def _about(known: Known, step: Step, subject: str) -> set[str]:
    """The users, groups and entries by which a step is decided; one that it makes is none yet."""
    found = set[str | None]()
    if not isinstance(step.act, Invite | MakeGroup):
        found |= {subject, known.linked.get(subject)}
    if step.linking is not None:
        before, entry = step.linking.before, step.linking.entry
        found |= {step.linking.subject, None if entry is None else entry.id}
        found |= set() if before is None else {before.id, before.subject}
    return {id_ for id_ in found if id_}
