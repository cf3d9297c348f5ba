"""Which groups a run makes, links, renames and deletes, and why it leaves one as it is.

Nothing is read or written here. Their members are decided beside (`members.py`).
"""

from __future__ import annotations

from functools import partial

from chalicelib.bodies.groups.groups import read_name
from chalicelib.domain.changes import Addition
from chalicelib.domain.directory.directory import Team
from chalicelib.domain.errors import Invalid
from chalicelib.domain.folding import folded
from chalicelib.domain.ids import UserId
from chalicelib.services.directory import members
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.reports import (
    INVALID,
    Action,
    Form,
    Report,
    Seen,
    SeenGroup,
    Status,
    refusal,
)
from chalicelib.services.directory.steps import (
    DeleteGroup,
    Linking,
    MakeGroup,
    Rename,
    Step,
    Telling,
    followed,
    telling,
)
from chalicelib.storage.base import in_chunks
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import User


def removal(known: Known, link: DirectoryLink) -> Step:
    """What becomes of a group whose entry is no longer in the directory."""
    unlinked = Linking(Model.GROUPS, link, None)
    group = known.groups.get(str(link.subject))
    if group is None:
        return Step(linking=unlinked)
    if link.id in known.exempt or group.id in known.exempt:
        is_entry = link.id in known.exempt
        cause = "its directory entry is ignored" if is_entry else "it is on the ignore list"
        message = f"Group {group.name} kept: {cause}."
        return _ended(unlinked, group, None if group.deleted else (Status.IGNORE, message))
    if group.deleted:
        message = f"Group {group.name} had been deleted here before."
        return _ended(unlinked, group, (Status.SYNC, message))
    return Step(
        DeleteGroup(group),
        unlinked,
        (_tells(Action.DELETE, f"Group {group.name} deleted."),),
        partial(refusal, Model.GROUPS, Action.DELETE, f"Group {group.name} not deleted"),
    )


def removes(step: Step) -> bool:
    return isinstance(step.act, DeleteGroup)


def _ended(unlinked: Linking, group: Group, told: tuple[Status, str] | None) -> Step:
    if told is None:
        return Step(linking=unlinked)
    status, message = told
    report = _report(Action.DELETE, status, message, SeenGroup(group, Form.PLAIN))
    return Step(linking=unlinked, tells=(lambda _: report,))


def arrival(known: Known, team: Team) -> list[Step]:
    """What becomes of a group that is in the directory, and of its members."""
    link, group = known.teams.get(team.id), known.group_of(team)
    is_linked = link is not None and group is not None and link.subject == group.id
    if team.id in known.exempt or (group is not None and group.id in known.exempt):
        return _passed_over(known, team, group, is_linked=is_linked)
    if group is None:
        return _making(known, team, link, "added") if known.settings.creates_groups else []
    if group.deleted:
        return _return(known, team, link, group) if known.settings.creates_groups else []
    if not is_linked:
        return _linking(known, team, link, group)
    return [*followed(link, team, group.id), *_updates(known, team, group)]


def _passed_over(known: Known, team: Team, group: Group | None, *, is_linked: bool) -> list[Step]:
    is_alive = group is not None and not group.deleted
    if not known.settings.creates_groups or (is_linked and is_alive):
        return []
    of_group = group is not None and group.id in known.exempt
    cause = "the local group" if of_group else "the directory entry"
    exempt = known.exempt[group.id if group is not None and of_group else team.id]
    message = f"Group {_name(team)} skipped: {cause} is on the ignore list."
    return [telling(_report(Action.CREATE, Status.IGNORE, message, exempt))]


def _making(known: Known, team: Team, link: DirectoryLink | None, verb: str) -> list[Step]:
    """A group of the one who manages it, and of those members that can be added."""
    who = f"Group {_name(team)}" if verb == "added" else f"Deleted group {_name(team)}"
    refused = partial(refusal, Model.GROUPS, Action.CREATE, f"{who} not {verb}")
    try:
        name = read_name(team.title)
    except Invalid:
        return [telling(refused(f"{INVALID} (name)"))]
    user = known.manager
    manager = Addition(UserId(user.id), is_admin=True)
    joining = members.Joining(known, team, name, [user.id], manager=user)
    first, *more = [*in_chunks(joining.additions, members.AT_ONCE - 1)] or [[]]
    managing = [*members.managing(known, team, name, manager)]
    made = Step(
        MakeGroup(name, [manager, *first], [manager, *first] if managing else first),
        Linking(Model.GROUPS, link, team),
        (_made(known, user, f"{who} {verb}."), *managing, *joining.tell(first)),
        refused,
    )
    return [made, *(joining.step(chunk) for chunk in more), *joining.others]


def _return(known: Known, team: Team, link: DirectoryLink | None, group: Group) -> list[Step]:
    if team.created > group.modified:
        return _making(known, team, link, "added again")
    message = (
        f"Group {group.name} was deleted here before and is not added again: its entry in the "
        "directory is older than that."
    )
    return [telling(_report(Action.CREATE, Status.ERROR, message))]


def _linking(known: Known, team: Team, link: DirectoryLink | None, group: Group) -> list[Step]:
    cause = known.hindrance(team, group)
    if cause is not None:
        message = f"Group {group.name} not linked: {cause}."
        return [telling(_report(Action.CREATE, Status.ERROR, message))]
    message = f"Group {group.name} linked to the existing one."
    report = _report(Action.CREATE, Status.SYNC, message, SeenGroup(group, Form.LINKED))
    linked = Step(linking=Linking(Model.GROUPS, link, team, group.id), tells=(lambda _: report,))
    return [linked, *_updates(known, team, group)]


def _updates(known: Known, team: Team, group: Group) -> list[Step]:
    if not known.settings.updates_groups:
        return []
    return [*_renaming(known, team, group), *members.changes(known, team, group)]


def _renaming(known: Known, team: Team, group: Group) -> list[Step]:
    if not team.title or team.title.casefold() == group.name.casefold():
        return []
    refused = partial(
        refusal,
        Model.GROUPS,
        Action.UPDATE,
        f"Group {group.name} could not be renamed {team.title}",
    )
    try:
        name = read_name(team.title)
    except Invalid:
        return [telling(refused(f"{INVALID} (name)"))]
    if known.names.get(folded(name), group.id) != group.id:
        return [telling(refused("another group has this name"))]
    message = f"Group {group.name} renamed {name}."
    return [Step(Rename(group, name), None, (_tells(Action.UPDATE, message),), refused)]


def _name(team: Team) -> str:
    return team.title or team.name


def _made(known: Known, manager: User, message: str) -> Telling:
    def tell(group: User | Group | None) -> Report:
        assert isinstance(group, Group)  # noqa: S101
        seen = members.as_added(known, manager, group)
        return _report(Action.CREATE, Status.SUCCESS, message, seen)

    return tell


def _tells(action: Action, message: str) -> Telling:
    def tell(group: User | Group | None) -> Report:
        seen = SeenGroup(group, Form.PLAIN) if isinstance(group, Group) else None
        return _report(action, Status.SUCCESS, message, seen)

    return tell


def _report(action: Action, status: Status, message: str, seen: Seen | None = None) -> Report:
    return Report(Model.GROUPS, action, status, message, seen)
