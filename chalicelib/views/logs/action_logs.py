"""How logs look to a client: an entry for each thing that a request did to the subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, TypedDict, cast

from chalicelib.domain.ids import named_id
from chalicelib.services.logs.requests import Requests
from chalicelib.services.logs.subjects import Log
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.groups.groups import GroupRow
from chalicelib.tables.logs.action_logs import SECRETS_UPDATED, ActionLog
from chalicelib.tables.users.users import UserRow
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users import users as user_views
from chalicelib.views.users.users import AvatarJson, ProfileJson, UserJson

Json = dict[str, Any]


class CreatorProfileJson(TypedDict):
    first_name: str
    last_name: str
    avatar: AvatarJson


class CreatorJson(TypedDict):
    id: Uuid
    username: str
    profile: CreatorProfileJson


class EntryJson(TypedDict):
    id: Uuid
    action_log_id: Uuid
    type: str
    data: Json
    creator: CreatorJson
    created: Moment


class LoggedUserJson(UserJson):
    profile: NotRequired[ProfileJson]


class RequestJson(TypedDict):
    id: Uuid
    user_id: Uuid | None
    action_id: Uuid
    context: str
    status: int
    created: Moment
    user: NotRequired[LoggedUserJson | None]


def entries(log: Log) -> list[EntryJson]:
    """The entries of a page; of whoever cannot be shown any more there are none."""
    return [entry for line in log.lines for entry in _entries(log, line)]


def requests(found: Requests, *, has_user: bool, has_profile: bool) -> list[RequestJson]:
    shown: list[RequestJson] = [
        {
            "id": each.request_id,
            "user_id": each.user_id,
            "action_id": named_id(each.endpoint),
            "context": each.context,
            "status": 1,
            "created": each.created,
        }
        for each in found.found
    ]
    if has_user or has_profile:
        for each in shown:
            row = found.users.get(each["user_id"] or "")
            each["user"] = None if row is None else _logged_user(row, has_profile=has_profile)
    return shown


def _logged_user(row: UserRow, *, has_profile: bool) -> LoggedUserJson:
    shown = cast(LoggedUserJson, user_views.brief_of(row))
    if has_profile:
        shown["profile"] = user_views.profile_of(row)
    return shown


def _entries(log: Log, line: ActionLog) -> Iterator[EntryJson]:
    creator = log.users.get(str(line.actor))
    if creator is None:
        return
    for number, (kind, data) in enumerate(_told(log, line)):
        yield {
            "id": named_id(f"{line.request_id}{number}"),
            "action_log_id": line.request_id,
            "type": kind,
            "data": data,
            "creator": _creator(creator),
            "created": timestamp_text(line.created),
        }


def _told(log: Log, line: ActionLog) -> Iterator[tuple[str, Json]]:
    """The entries of one request, each with its type."""
    noun = line.action.partition(".")[0]
    if noun == "Permissions":
        yield line.action, _permissions(log, line)
    elif noun == "Folders":
        told = {"folder_id": line.subject, "name": line.told.get("name")}
        yield line.action, {"folder": told}
    elif noun == "Users":
        yield line.action, {"user": _user(log, line.subject)}
    elif noun == "Groups":
        yield line.action, {"group": _group_of(line), "members": _members(log, line)}
    else:
        yield line.action, {"resource": _resource(log)}
    if line.secrets:
        yield SECRETS_UPDATED, _secrets(log, line)


def _creator(row: UserRow) -> CreatorJson:
    profile = user_views.profile_of(row)
    names: CreatorProfileJson = {
        "first_name": profile["first_name"],
        "last_name": profile["last_name"],
        "avatar": profile["avatar"],
    }
    return {"id": row["id"]["S"], "username": row["username"]["S"], "profile": names}


def _resource(log: Log) -> Json | None:
    """By the name it has today; what is encrypted has none here."""
    return None if log.resource is None else _named(log.resource)


def _folder(log: Log) -> Json | None:
    return None if log.folder is None else _named(log.folder)


def _named(row: Mapping[str, Any]) -> Json:
    return {"id": row["id"]["S"], "name": row["name"]["S"] if "name" in row else None}


def _secrets(log: Log, line: ActionLog) -> Json:
    resource = _resource(log)
    secrets = [
        {
            "id": secret_id,
            "secrets_history_resource": resource,
            "secrets_history_user": _brief(log.users.get(user_id)),
        }
        for secret_id, user_id in line.named_secrets
    ]
    return {"resource": resource, "secrets": secrets}


def _permissions(log: Log, line: ActionLog) -> Json:
    told = line.told
    return {
        "permissions": {
            name: [_permission(log, *each) for each in told.get(name, ())]
            for name in ("added", "updated", "removed")
        },
        "resource": _resource(log),
        "folder": _folder(log),
    }


def _permission(log: Log, id_: str, aro: str, holder: str, type_: int) -> Json:
    """In the log of a resource, the folder has another name."""
    folder = "folder" if log.resource is None else "permissions_history_folder"
    return {
        "id": id_,
        "type": type_,
        "resource": _resource(log),
        folder: _folder(log),
        "user": _with_profile(log.users.get(holder)) if aro == "User" else None,
        "group": _group(log.groups.get(holder)) if aro == "Group" else None,
    }


def _brief(row: UserRow | None) -> Json | None:
    return None if row is None else {"id": row["id"]["S"], "username": row["username"]["S"]}


def _with_profile(row: UserRow | None) -> Json | None:
    if row is None:
        return None
    return {
        "id": row["id"]["S"],
        "username": row["username"]["S"],
        "profile": user_views.profile_of(row),
    }


def _group(row: GroupRow | None) -> Json | None:
    return None if row is None else {"id": row["id"]["S"], "name": row["name"]["S"]}


def _group_of(line: ActionLog) -> Json:
    return {"id": line.subject, "name": line.told.get("name")}


def _members(log: Log, line: ActionLog) -> Json:
    """Who joined, stayed in another role, and left."""
    told = line.told
    return {
        name: [
            {"user": _brief(log.users.get(user_id)), "is_admin": is_admin}
            for user_id, is_admin in told.get(name, ())
        ]
        for name in ("added", "updated", "removed")
    }


def _user(log: Log, user_id: str) -> Json | None:
    row = log.users.get(user_id)
    if row is None:
        return None
    shown = user_views.brief_of(row)
    profile = user_views.profile_of(row)
    return {
        "id": shown["id"],
        "role_id": shown["role_id"],
        "username": shown["username"],
        "last_logged_in": shown["last_logged_in"],
        "profile": {name: profile[name] for name in ("first_name", "last_name")},
    }
