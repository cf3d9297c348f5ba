"""Whom a run invites, links, renames, suspends, deletes or brings back, and why it leaves somebody.

Nothing is read or written here. Administrators are an organisation's own: whatever the directory
says of them, it neither removes nor suspends them, nor does it bring them back.
"""

from __future__ import annotations

from functools import partial

from chalicelib.bodies.users.users import read_person
from chalicelib.domain import clock
from chalicelib.domain.changes import NewUser
from chalicelib.domain.directory.directory import Person
from chalicelib.domain.errors import Invalid
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.reports import (
    INVALID,
    Action,
    Form,
    Report,
    SeenUser,
    Status,
    refusal,
)
from chalicelib.services.directory.steps import (
    DeleteUser,
    Edit,
    Invite,
    Linking,
    Step,
    Telling,
    followed,
    telling,
)
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import User

_LEFT_TO_ADMINISTRATORS = "administrators are suspended, deleted and brought back by hand alone"


def removal(known: Known, link: DirectoryLink) -> Step:
    """What becomes of a user whose entry is no longer in the directory."""
    unlinked = Linking(Model.USERS, link, None)
    user = known.users.get(str(link.subject))
    if user is None:
        return Step(linking=unlinked)
    if link.id in known.exempt or user.id in known.exempt:
        return _kept(unlinked, user, is_entry=link.id in known.exempt)
    if user.deleted:
        return _was_gone(unlinked, user, "deleted")
    if known.settings.suspends_users and user.is_suspended(clock.now()):
        return _was_gone(unlinked, user, "suspended")
    if user.is_admin:
        message = f"User {user.username} not removed: {_LEFT_TO_ADMINISTRATORS}."
        return telling(_report(Action.DELETE, Status.ERROR, message))
    return (
        _suspension(unlinked, user)
        if known.settings.suspends_users
        else _deletion(known, unlinked, user)
    )


def removes(step: Step) -> bool:
    """Whether somebody goes by it."""
    return isinstance(step.act, DeleteUser) or (
        isinstance(step.act, Edit) and step.act.change.get("disabled") is not None
    )


def arrival(known: Known, person: Person) -> list[Step]:
    """What becomes of a person who is in the directory."""
    link, user = known.people.get(person.id), known.user_of(person)
    is_linked = link is not None and user is not None and link.subject == user.id
    if person.id in known.exempt or (user is not None and user.id in known.exempt):
        return _passed_over(known, person, user, is_linked=is_linked)
    if user is None:
        return _addition(person, link, "added") if known.settings.creates_users else []
    is_suspended = known.settings.suspends_users and user.is_suspended(clock.now())
    if user.deleted or is_suspended:
        return _return(known, person, link, user) if known.settings.creates_users else []
    if not is_linked:
        return _linking(known, person, link, user)
    return [*followed(link, person, user.id), *_renaming(known, person, user)]


def _kept(unlinked: Linking, user: User, *, is_entry: bool) -> Step:
    if user.deleted:
        return Step(linking=unlinked)
    cause = "its directory entry is ignored" if is_entry else "it is on the ignore list"
    message = f"User {user.username} kept: {cause}."
    return _unlinking(unlinked, Status.IGNORE, message, user)


def _was_gone(unlinked: Linking, user: User, verb: str) -> Step:
    message = f"User {user.username} had been {verb} here before."
    return _unlinking(unlinked, Status.SYNC, message, user)


def _unlinking(unlinked: Linking, status: Status, message: str, user: User) -> Step:
    report = _report(Action.DELETE, status, message, SeenUser(user, Form.PLAIN))
    return Step(linking=unlinked, tells=(lambda _: report,))


def _suspension(unlinked: Linking, user: User) -> Step:
    before = user.copy()  # a user who was just suspended is shown as they were
    message = f"User {user.username} suspended."
    report = _report(Action.DELETE, Status.SUCCESS, message, SeenUser(before, Form.PLAIN))
    return Step(
        Edit(user, {"disabled": clock.now()}),
        unlinked,
        (lambda _: report,),
        partial(refusal, Model.USERS, Action.DELETE, f"User {user.username} not suspended"),
    )


def _deletion(known: Known, unlinked: Linking, user: User) -> Step:
    return Step(
        DeleteUser(user),
        unlinked,
        (_departed(known, user),),
        partial(refusal, Model.USERS, Action.DELETE, f"User {user.username} not deleted"),
    )


def _departed(known: Known, user: User) -> Telling:
    """Tells who is deleted, with the groups that go along: of these, no entry has to be gone."""

    def tell(row: User | Group | None) -> Report:
        names = sorted(group.name for group in known.lonely.get(user.id, ()))
        along = f", with groups that nobody else belongs to: {', '.join(names)}" if names else ""
        return _tells(Action.DELETE, f"User {user.username} deleted{along}.", Form.PLAIN)(row)

    return tell


def _passed_over(known: Known, person: Person, user: User | None, *, is_linked: bool) -> list[Step]:
    is_alive = user is not None and not user.deleted
    if not known.settings.creates_users or (is_linked and is_alive):
        return []
    of_user = user is not None and user.id in known.exempt
    cause = "the local user" if of_user else "the directory entry"
    exempt = known.exempt[user.id if user is not None and of_user else person.id]
    message = f"User {_name(person)} skipped: {cause} is on the ignore list."
    return [telling(_report(Action.CREATE, Status.IGNORE, message, exempt))]


def _addition(person: Person, link: DirectoryLink | None, verb: str) -> list[Step]:
    who = f"User {_name(person)}" if verb == "added" else f"Deleted user {_name(person)}"
    try:
        new = _read(person)
    except Invalid as error:
        return [telling(refusal(Model.USERS, Action.CREATE, f"{who} not {verb}", _told(error)))]
    return [
        Step(
            Invite(new),
            Linking(Model.USERS, link, person),
            (_tells(Action.CREATE, f"{who} {verb}.", Form.ADDED),),
            partial(refusal, Model.USERS, Action.CREATE, f"{who} not {verb}"),
        )
    ]


def _return(known: Known, person: Person, link: DirectoryLink | None, user: User) -> list[Step]:
    """Somebody was removed here and is in the directory: they come back if their entry is newer."""
    if person.created <= user.modified:
        ending = (
            "was deleted here before and is not added again"
            if user.deleted
            else "was suspended here before and stays so"
        )
        message = f"User {user.username} {ending}: their entry in the directory is older than that."
        return [telling(_report(Action.CREATE, Status.ERROR, message))]
    if user.deleted:
        return _addition(person, link, "added again")
    cause = _LEFT_TO_ADMINISTRATORS if user.is_admin else known.other_link(person, user)
    if cause is not None:
        message = f"User {user.username} stays suspended: {cause}."
        return [telling(_report(Action.CREATE, Status.ERROR, message))]
    return [
        Step(
            Edit(user, {"disabled": None}),
            Linking(Model.USERS, link, person, user.id),
            (_tells(Action.CREATE, f"Suspended user {user.username} active again.", Form.PLAIN),),
            partial(refusal, Model.USERS, Action.CREATE, f"User {user.username} not active again"),
        )
    ]


def _linking(known: Known, person: Person, link: DirectoryLink | None, user: User) -> list[Step]:
    """Somebody is here, whom an entry may mean that came first and is alone in it."""
    cause = known.hindrance(person, user)
    if cause is not None:
        message = f"User {user.username} not linked: {cause}."
        return [telling(_report(Action.CREATE, Status.ERROR, message))]
    tells = _tells(Action.CREATE, f"User {user.username} linked to the existing one.", Form.LINKED)
    linked = Step(
        linking=Linking(Model.USERS, link, person, user.id),
        tells=(lambda _: _as_sync(tells(user)),),
    )
    return [linked, *_renaming(known, person, user)]


def _as_sync(report: Report) -> Report:
    return Report(report.model, report.action, Status.SYNC, report.message, report.seen)


def _renaming(known: Known, person: Person, user: User) -> list[Step]:
    if not known.settings.updates_users or not (person.first_name and person.last_name):
        return []
    before = (user.first_name.casefold(), user.last_name.casefold())
    if before == (person.first_name.casefold(), person.last_name.casefold()):
        return []
    names = f"{person.first_name} {person.last_name}"
    refused = partial(
        refusal,
        Model.USERS,
        Action.UPDATE,
        f"Name of {user.username} could not be changed to {names}",
    )
    try:
        new = read_person(user.username, person.first_name, person.last_name)
    except Invalid as error:
        return [telling(refused(_told(error)))]
    return [
        Step(
            Edit(user, {"first_name": new.first_name, "last_name": new.last_name}),
            None,
            (_tells(Action.UPDATE, f"Name of {user.username} changed to {names}.", Form.RENAMED),),
            refused,
        )
    ]


def _read(person: Person) -> NewUser:
    return read_person(person.username, person.first_name, person.last_name)


def _told(error: Invalid) -> str:
    """What is wrong with the data, field by field."""
    fields = ", ".join(sorted(error.errors or {}))
    return f"{INVALID} ({fields})"


def _name(person: Person) -> str:
    return person.username or person.name


def _tells(action: Action, message: str, form: Form) -> Telling:
    def tell(user: User | Group | None) -> Report:
        seen = SeenUser(user, form) if isinstance(user, User) else None
        return _report(action, Status.SUCCESS, message, seen)

    return tell


def _report(
    action: Action, status: Status, message: str, seen: SeenUser | DirectoryLink | None = None
) -> Report:
    return Report(Model.USERS, action, status, message, seen)
