"""A run of the directory synchronisation as a whole: in whose name, and when it is refused.

A run reads the directory, decides about each entry and carries that out, each in a transaction of
its own with the link that notes it. So two runs at once, a run beside an administrator and a run
that is killed leave one account for each person, and every next run goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from chalicelib.bodies.directory.directory import RunBody
from chalicelib.bodies.draft import Draft
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.directory.directory import Directory
from chalicelib.domain.directory.directory_settings import DirectorySettings
from chalicelib.domain.errors import Invalid, NotFound, Unavailable
from chalicelib.domain.ids import UserId
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.services.directory import (
    directory_settings,
    guard,
    known,
    runs,
    source,
    stale_notes,
    troubles,
)
from chalicelib.services.directory.directory_settings import Standing
from chalicelib.services.directory.doing import acting
from chalicelib.services.directory.guard import Removals
from chalicelib.services.directory.known import Known, Noted
from chalicelib.services.directory.reports import Action, Ending, Outcome, Report, Status
from chalicelib.services.directory.standing import SettingsChanged
from chalicelib.services.directory.troubles import Trouble
from chalicelib.storage import deciding
from chalicelib.tables.directory.directory_links import Model
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

SWITCHED_OFF = "Directory synchronisation is switched off."
NOT_SIMULATED = "The simulation did not finish."
NOT_FINISHED = "The synchronisation did not finish."
INVALID = f"{NOT_FINISHED} Could not validate what was sent."
_NO_ADMINISTRATOR = "No default administrator is available."
_CAUSES = {
    Ending.TIME: "The time is over before the run is",
    Ending.SETTINGS: "The settings were changed or deleted before the run was over",
    Ending.ADMINISTRATOR: "Whoever the run acts for is no active administrator any more",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the directory answers, and what runs had noted before it was asked."""

    noted: Noted
    directory: Directory


def asked(ask: Callable[[], Directory]) -> Asked:
    """Read what runs have noted, and ask the directory only then.

    While this run waits, another may get a newer answer and note who is in it. Such notes are not
    known here, so nobody is removed by the older answer.
    """
    noted = deciding.decided(known.noted)
    return Asked(noted, ask())


def dry_run(actor: Actor) -> Outcome:
    """Tell what a run would do now, and do nothing."""
    settings = _require_settings(NOT_SIMULATED).settings
    return rehearse(actor, settings, _asked(settings, NOT_SIMULATED))


def run(actor: Actor, draft: Draft[RunBody]) -> Outcome:
    """Bring users and groups in step with the directory, in the name of an administrator."""
    standing = _require_settings(NOT_FINISHED)
    confirmed = draft.read(INVALID).confirm
    return carry_out(actor, standing, _asked(standing.settings, NOT_FINISHED), confirmed)


def scheduled() -> Outcome | None:
    """The same in the name of the default administrator; nothing while it is switched off.

    Nobody waits for the answer: what keeps the run from its work is told by mail.
    """
    standing = directory_settings.standing()
    if standing is None:
        return None
    administrator = deciding.decided(partial(_default_administrator, standing.settings))
    try:
        answer = _asked(standing.settings, NOT_FINISHED)
    except Invalid:
        troubles.tell(Trouble.UNREADABLE)
        return None
    try:
        return carry_out(acting(administrator, Caller()), standing, answer, None)
    except Invalid:
        troubles.tell(Trouble.REFUSED)
        return None


def rehearse(actor: Actor, settings: DirectorySettings, answer: Asked) -> Outcome:
    """Tell what a run would do; first of all, whether it would be refused."""
    found = deciding.decided(partial(_know, actor, settings, answer))
    removals = guard.removals(found, answer.directory)
    outcome = runs.rehearse(actor, found, answer.directory)
    return _with_guard(outcome, removals) if removals.needs_words else outcome


def carry_out(actor: Actor, standing: Standing, answer: Asked, confirmed: str | None) -> Outcome:
    """Do what the directory asks for, but for what would take away too much.

    Each step holds the settings: with others, or once it is switched off, nothing more is done.
    """
    found = deciding.decided(partial(_know, actor, standing.settings, answer))
    still, directory = standing.still_stand(), answer.directory
    try:
        guard.require_words(guard.removals(found, directory), confirmed)
    except Invalid as error:
        raise _told(NOT_FINISHED, error) from None
    outcome = runs.carry_out(actor, found, still, directory)
    if outcome.ending is None:
        with suppress(SettingsChanged):
            stale_notes.remove(actor, found, still, directory, answer.noted.exempt)
    _log(actor, outcome)
    return outcome if outcome.ending is None else _unfinished(outcome, outcome.ending)


def _require_settings(otherwise: str) -> Standing:
    standing = directory_settings.standing()
    if standing is None:
        raise Unavailable(f"{otherwise} {SWITCHED_OFF}")
    return standing


def _asked(settings: DirectorySettings, otherwise: str) -> Asked:
    try:
        return asked(partial(source.read, settings))
    except Invalid as error:
        raise _told(otherwise, error) from None


def _told(what: str, error: Invalid) -> Invalid:
    return Invalid(f"{what} {error.message}", error.errors)


def _know(actor: Actor, settings: DirectorySettings, answer: Asked) -> Known:
    return known.read(settings, _managers(actor, settings), answer.noted, answer.directory)


def _managers(actor: Actor, settings: DirectorySettings) -> list[User]:
    """Who manages new groups: whoever the settings name, else whoever runs."""
    wanted = dict.fromkeys((UserId(settings.default_group_admin_user), actor.id))
    named = people.by_id(wanted)
    if actor.id not in named:
        raise NotFound(f"{NOT_FINISHED} {_NO_ADMINISTRATOR}")
    return [named[user_id] for user_id in wanted if user_id in named]


def _default_administrator(settings: DirectorySettings) -> User:
    """In whose name a scheduled run acts: the one who is named, else the longest-standing."""
    named = people.by_id([settings.default_user]).get(UserId(settings.default_user))
    now = clock.now()
    if named is not None and named.may_administer(now):
        return named
    able = [user for user in people.everybody() if user.may_administer(now)]
    if not able:
        raise NotFound(f"{NOT_FINISHED} {_NO_ADMINISTRATOR}")
    return min(able, key=lambda user: (user.created, user.id))


def _with_guard(outcome: Outcome, removals: Removals) -> Outcome:
    """The reports with one before them that says that the run would be refused."""
    message = f"The run will be refused. {removals.sentence}"
    report = Report(Model.USERS, Action.DELETE, Status.ERROR, message)
    return replace(outcome, users=[report, *outcome.users])


def _unfinished(outcome: Outcome, ending: Ending) -> Outcome:
    message = (
        f"{_CAUSES[ending]}: {outcome.left} entries of the directory are left. "
        "What is done stays; run it again to go on."
    )
    report = Report(Model.USERS, Action.UPDATE, Status.ERROR, message)
    return replace(outcome, users=[report, *outcome.users])


def _log(actor: Actor, outcome: Outcome) -> None:
    """Write how much was done, of what kind; nobody's name."""
    counts = Counter((report.model, report.status) for report in outcome.reports)
    for (model, status), count in sorted(counts.items()):
        audit.write(
            "directory-run",
            actor=actor.id,
            action=model.value,
            result=status.value,
            writes=count,
            request_id=actor.caller.request_id,
        )
