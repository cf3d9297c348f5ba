"""How a run of the directory synchronisation is told to a client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NotRequired, TypedDict, cast

from chalicelib.services.directory.reports import (
    Form,
    Outcome,
    Report,
    Seen,
    SeenGroup,
    SeenRelation,
    SeenUser,
)
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.directory.directory_links import EXEMPT, DirectoryLink, Model
from chalicelib.tables.users.users import Belonging, User
from chalicelib.views.groups import group_briefs
from chalicelib.views.groups.groups import NamesJson
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users import users as user_views
from chalicelib.views.users.users import MembershipJson, UserJson

VERSION = "2"


class ReportedJson(TypedDict):
    """A user, a group, a membership, an entry of the directory or one of the ignore list."""

    id: Uuid
    username: NotRequired[str]
    profile: NotRequired[NamesJson]
    role_id: NotRequired[Uuid]
    active: NotRequired[bool]
    disabled: NotRequired[Moment | None]
    last_logged_in: NotRequired[Moment | None]
    name: NotRequired[str]
    deleted: NotRequired[bool]
    created: NotRequired[Moment]
    modified: NotRequired[Moment]
    created_by: NotRequired[Uuid]
    modified_by: NotRequired[Uuid]
    groups_users: NotRequired[list[ReportedMemberJson]]
    parent_key: NotRequired[Uuid]
    child_key: NotRequired[Uuid]
    foreign_model: NotRequired[str]
    foreign_key: NotRequired[Uuid | None]
    directory_name: NotRequired[str]
    directory_created: NotRequired[Moment | None]
    directory_modified: NotRequired[Moment | None]


class ReportedMemberJson(MembershipJson):
    user: NotRequired[UserJson]


class ReportJson(TypedDict):
    message: str
    model: str
    data: ReportedJson | list[ReportedJson]
    action: str
    status: str
    created: Moment
    version: str


class RunJson(TypedDict):
    users: list[ReportJson]
    groups: list[ReportJson]


class ExemptionJson(TypedDict):
    id: Uuid
    foreign_model: str
    created: Moment


def run(outcome: Outcome) -> RunJson:
    return {"users": _reports(outcome.users), "groups": _reports(outcome.groups)}


def exemption(row: DirectoryLink | None) -> ExemptionJson | None:
    if row is None:
        return None
    created = timestamp_text(row.created)
    return {"id": row.id, "foreign_model": str(row.model), "created": created}


def _reports(reports: Iterable[Report]) -> list[ReportJson]:
    return [_report(each) for each in reports]


def _report(report: Report) -> ReportJson:
    return {
        "message": report.message,
        "model": report.model.value,
        "data": [] if report.seen is None else _seen(report.seen),
        "action": report.action.value,
        "status": report.status.value,
        "created": timestamp_text(report.created),
        "version": VERSION,
    }


def _seen(seen: Seen) -> ReportedJson:
    if isinstance(seen, SeenUser):
        return _USERS[seen.form](seen.user)
    if isinstance(seen, SeenGroup):
        return _group(seen)
    if isinstance(seen, SeenRelation):
        return {
            "id": seen.id,
            "parent_key": seen.parent,
            "child_key": seen.child,
            "created": timestamp_text(seen.created),
        }
    if seen.kind == EXEMPT:
        return cast(ReportedJson, exemption(seen))
    return _entry(seen)


def _plain(user: User) -> ReportedJson:
    return cast(ReportedJson, user_views.brief(user))


def _linked(user: User) -> ReportedJson:
    shown = _plain(user)
    return cast(ReportedJson, {k: v for k, v in shown.items() if k not in _NOT_LINKED})


_NOT_LINKED = {"role_id", "last_logged_in"}


def _added(user: User) -> ReportedJson:
    return {
        "username": user.username,
        "profile": _names(user),
        "role_id": user.role_id,
        "deleted": user.deleted,
        "created": timestamp_text(user.created),
        "modified": timestamp_text(user.modified),
        "id": user.id,
        "last_logged_in": None,
    }


def _renamed(user: User) -> ReportedJson:
    return {**_plain(user), "profile": _names(user)}


def _names(user: User) -> NamesJson:
    profile = user_views.profile(user)
    return cast(NamesJson, {name: value for name, value in profile.items() if name != "avatar"})


_USERS: Mapping[Form, Callable[[User], ReportedJson]] = {
    Form.ADDED: _added,
    Form.LINKED: _linked,
    Form.RENAMED: _renamed,
    Form.PLAIN: _plain,
}


def _group(seen: SeenGroup) -> ReportedJson:
    shown = cast(ReportedJson, group_briefs.brief(seen.group))
    if seen.form is Form.LINKED:
        authors = {"created_by", "modified_by"}
        return cast(ReportedJson, {k: v for k, v in shown.items() if k not in authors})
    if seen.form is Form.ADDED:
        shown["groups_users"] = [_member(seen, *each) for each in seen.members]
    elif seen.members:
        shown["groups_users"] = [
            {**_member(seen, user, belonging), "user": user_views.brief(user)}
            for user, belonging in seen.members
        ]
    return shown


def _member(seen: SeenGroup, user: User, belonging: Belonging) -> ReportedMemberJson:
    return {
        "id": belonging.id,
        "group_id": seen.group.id,
        "user_id": user.id,
        "is_admin": belonging.is_admin,
        "created": timestamp_text(belonging.created),
    }


def _entry(link: DirectoryLink) -> ReportedJson:
    made, changed = link.directory_created, link.directory_modified
    return {
        "id": link.id,
        "foreign_model": Model(link.kind).value,
        "foreign_key": link.subject,
        "directory_name": str(link.name),
        "directory_created": None if made is None else timestamp_text(made),
        "directory_modified": None if changed is None else timestamp_text(changed),
        "created": timestamp_text(link.created),
    }
