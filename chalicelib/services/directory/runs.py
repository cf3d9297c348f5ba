"""The order of a run: users, then groups, each entry in its turn; what becomes of one that fails.

What one turn fails at keeps the others from nothing. A run ends with its time; what is done stays
done, and the next run goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from chalicelib.domain import deadline
from chalicelib.domain.actor import Actor
from chalicelib.domain.directory.directory import Directory, Person, Team
from chalicelib.domain.errors import Conflict, Refusal, Stale, Unavailable
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.services.directory import doing, known, people, standing, teams
from chalicelib.services.directory.doing import Row
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.reports import Action, Ending, Outcome, Report, refusal
from chalicelib.services.directory.standing import Ended
from chalicelib.services.directory.steps import Step
from chalicelib.storage import deciding
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import OfAnotherForm
from chalicelib.tables.directory.directory_links import DirectoryLink, Model

A_TURN = 5.0
"""Seconds that have to be left for another turn to begin."""
_FAULT = "server fault, it is tried again by the next run"

Do = Callable[[Step], Row | None]


@dataclass(frozen=True, slots=True)
class _Turn:
    """What is decided about one entry, and how that is read again."""

    model: Model
    name: str
    decide: Callable[[], Sequence[Step]]
    read_again: Callable[[], None]


def carry_out(actor: Actor, found: Known, still: Check, directory: Directory) -> Outcome:
    """Bring users and groups in step with the directory, as long as the settings are the same."""
    return _taken(_turns(found, directory), partial(doing.write, actor, found, still))


def rehearse(actor: Actor, found: Known, directory: Directory) -> Outcome:
    """Tell what a run would do, and write nothing."""
    turns = (_unread(turn) for turn in _turns(found, directory))
    return _taken(turns, partial(doing.rehearse, actor, found))


def _unread(turn: _Turn) -> _Turn:
    """The same turn of a dry run, whose steps are in memory alone."""
    return _Turn(turn.model, turn.name, turn.decide, lambda: None)


def _taken(turns: Iterable[_Turn], do: Do) -> Outcome:
    users: list[Report] = []
    groups: list[Report] = []
    waiting, ending = list(turns), Ending.TIME
    while waiting and deadline.allows(A_TURN):
        turn = waiting[0]
        try:
            _take(turn, do, users if turn.model is Model.USERS else groups)
        except Unavailable:
            break
        except Ended as end:
            ending = end.ending
            break
        del waiting[0]
    return Outcome(users, groups, left=len(waiting), ending=ending if waiting else None)


def _turns(found: Known, directory: Directory) -> Iterator[_Turn]:
    settings = found.settings
    if settings.deletes_users:
        present = {person.id for person in directory.people}
        gone = [link for id_, link in found.people.items() if id_ not in present]
        yield from (_removed(found, link, people.removal) for link in gone)
    yield from (_person(found, person) for person in directory.people)
    if settings.deletes_groups:
        present = {team.id for team in directory.teams}
        gone = [link for id_, link in found.teams.items() if id_ not in present]
        yield from (_removed(found, link, teams.removal) for link in gone)
    yield from (_team(found, team) for team in directory.teams)


def _removed(
    found: Known, link: DirectoryLink, decide: Callable[[Known, DirectoryLink], Step]
) -> _Turn:
    def step() -> list[Step]:
        links = found.people if model is Model.USERS else found.teams
        now = links.get(link.id)
        if now is None or now.subject != link.subject:
            return []  # another run has led it elsewhere since the directory was asked
        return [decide(found, now)]

    model = Model(link.kind)
    again = _reading(found, partial(known.read_link, found, link))
    return _Turn(model, str(link.name), step, again)


def _person(found: Known, person: Person) -> _Turn:
    return _Turn(
        Model.USERS,
        person.username or person.name,
        partial(people.arrival, found, person),
        _reading(found, partial(known.read_person, found, person)),
    )


def _team(found: Known, team: Team) -> _Turn:
    return _Turn(
        Model.GROUPS,
        team.title or team.name,
        partial(teams.arrival, found, team),
        _reading(found, partial(known.read_team, found, team)),
    )


def _reading(found: Known, read: Callable[[], None]) -> Callable[[], None]:
    """Reads again what a turn is decided from, and then what runs leave alone."""

    def read_again() -> None:
        read()
        standing.read_again(found)

    return read_again


def _take(turn: _Turn, do: Do, told: list[Report]) -> None:
    """Take the steps of a turn; begin it again where something has changed meanwhile.

    What is done by then is known, so it is not done again, and is told, however the turn ends.
    """
    tries = 0

    def attempt() -> list[Report]:
        nonlocal tries
        tries += 1
        if tries > 1:
            turn.read_again()
        return _attempt(turn, do, told, is_first=tries == 1)

    try:
        said = deciding.decided(attempt)
    except Ended:
        raise
    except Conflict:
        said = [_failed(turn, _FAULT)]
    told += said


def _attempt(turn: _Turn, do: Do, told: list[Report], *, is_first: bool) -> list[Report]:
    """Take steps, and tell what each has done; returns what else there is to tell.

    Where an entry does not come to lead to somebody, nothing is done that would rest on it.
    """
    said: list[Report] = []
    for step in turn.decide():
        row, cause = _tried(step, do, is_first=is_first)
        if cause is None:
            does_nothing = step.act is None and step.linking is None
            (said if does_nothing else told).extend(tell(row) for tell in step.tells)
            continue
        said.append(_failed(turn, cause) if step.refused is None else step.refused(cause))
        if step.linking is not None and step.linking.leads_elsewhere:
            break
    return said


def _tried(step: Step, do: Do, *, is_first: bool) -> tuple[Row | None, str | None]:
    """Take a step; returns the row that comes out, or why it is not done.

    What is refused at first may have changed: it is read again.
    """
    try:
        return do(step), None
    except (Stale, OfAnotherForm, Ended, Unavailable):
        raise
    except Refusal as error:
        if is_first:
            raise Stale from None
        return None, error.message
    except Exception as error:  # noqa: BLE001 - whatever it is, the others have their turn
        audit.accident(error, action="DirectorySync")
        return None, _FAULT


def _failed(turn: _Turn, cause: str) -> Report:
    kind = "User" if turn.model is Model.USERS else "Group"
    what = f"{kind} {turn.name} not brought in step"
    return refusal(turn.model, Action.UPDATE, what, cause)
