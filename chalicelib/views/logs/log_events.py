"""How auditors are told what happened: an event for each line of a log, as one line of JSON.

What is told is chosen here field by field: identifiers, what was done, and which rights somebody
has now. Names of people, groups, folders and resources are left out, as is all that clients have
encrypted (ADR 48).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast, get_args

import orjson

from chalicelib.domain.ids import named_id
from chalicelib.storage.base import RawRow
from chalicelib.tables.logs.readings import unpacked
from chalicelib.views.shapes import Moment, Uuid

KINDS: Mapping[str, str] = {
    "Resources": "resource",
    "Resource": "resource",
    "Permissions": "item",
    "Metadata": "item",
    "Folders": "folder",
    "Users": "user",
    "Groups": "group",
    "Roles": "role",
    "ResourceTypes": "resource_type",
    "MetadataKeys": "metadata_key",
    "MetadataPrivateKeys": "metadata_private_key",
}
"""What an action is about, by its first word; any other is about a setting.

An item is a resource or a folder, or of metadata also a tag: the endpoint tells which.
"""
SETTING = "setting"
_DAY = slice(len('{"time":"'), len('{"time":"2026-11-30'))


Change = Literal["added", "updated", "removed"]
Said = str | int | bool | list[str] | None
"""What a setting says."""


class LoggedPermissionJson(TypedDict):
    change: Change
    id: Uuid
    holder_kind: Literal["user", "group"]
    holder_id: Uuid
    type: Literal[1, 7, 15]


class LoggedMemberJson(TypedDict):
    change: Change
    user_id: Uuid
    is_manager: bool


class LoggedChangeJson(TypedDict):
    name: str
    role_id: NotRequired[Uuid]
    before: NotRequired[Said]
    after: NotRequired[Said]


Kind = Literal["resource", "folder", "group"]


class LoggedGoneJson(TypedDict):
    kind: Kind
    id: Uuid


class LoggedHandoverJson(TypedDict):
    kind: Kind
    id: Uuid
    holder_kind: Literal["user", "group"]
    holder_id: Uuid


class LoggedSecretJson(TypedDict):
    id: Uuid
    user_id: Uuid


class LineJson(TypedDict):
    """What each event tells. The members that begin it are those that lines are sorted by."""

    time: Moment
    id: Uuid
    action: str
    result: Literal["success"]
    actor_id: Uuid | None
    object_kind: str
    object_id: str
    request_id: Uuid
    endpoint: str | None
    method: str | None
    path: str | None
    note: NotRequired[str]


class DetailsJson(TypedDict, total=False):
    """What an event tells besides, by what was done."""

    permissions: list[LoggedPermissionJson]
    members: list[LoggedMemberJson]
    secrets: list[LoggedSecretJson]
    renewed: list[Uuid]
    changes: list[LoggedChangeJson]
    items: list[Uuid]
    gone: list[LoggedGoneJson]
    gone_count: int
    handed_over: list[LoggedHandoverJson]


class LogEventJson(LineJson, DetailsJson):
    """What happened, as auditors are told."""


def of_row(row: RawRow) -> LogEventJson:
    """The event of a line as it is stored, of which there may be millions."""
    noun = row["action"]["S"].partition(".")[0]
    return {**_line(row, noun), **_details(row, noun)}


def written(row: RawRow) -> bytes:
    """The event as one line of JSON. Sorted as bytes, lines are in the order of time."""
    return orjson.dumps(of_row(row), option=orjson.OPT_APPEND_NEWLINE)


def day_of(line: bytes) -> str:
    """The day of an event that is written, such as `2026-11-30`."""
    return line[_DAY].decode()


def _line(row: RawRow, noun: str) -> LineJson:
    """Its identifier is made of the row's key, so it is the same whenever it is told."""
    subject, time_id, context = row["subject"]["S"], row["time_id"]["S"], _text(row, "context")
    method, path = _asked(context)
    line: LineJson = {
        "time": row["created"]["S"],
        "id": named_id(f"{subject}#{time_id}"),
        "action": row["action"]["S"],
        "result": "success",
        "actor_id": _text(row, "actor"),
        "object_kind": KINDS.get(noun, SETTING),
        "object_id": subject,
        "request_id": time_id.split("#")[1],
        "endpoint": _text(row, "endpoint"),
        "method": method,
        "path": path,
    }
    if context and not method:
        line["note"] = context
    return line


def _details(row: RawRow, noun: str) -> DetailsJson:
    details: DetailsJson = {}
    told = _told(row)
    if noun == "Permissions":
        details["permissions"] = [*_permissions(told)]
    if noun == "Groups":
        details["members"] = [*_members(told)]
    if "secrets" in row:
        details["secrets"] = [*_secrets(row["secrets"]["S"])]
    if "renewed" in told:
        details["renewed"] = told["renewed"]
    if "changes" in told:
        details["changes"] = [_change(*each) for each in told["changes"]]
    if "items" in told:
        details["items"] = told["items"]
    if "gone" in told:
        details["gone"] = [*_gone(told["gone"])]
        details["gone_count"] = told["gone_count"]
    if "handed_over" in told:
        details["handed_over"] = [_handed_over(*each) for each in told["handed_over"]]
    return details


def _text(row: RawRow, name: str) -> str | None:
    return row[name]["S"] if name in row else None


def _asked(context: str | None) -> tuple[str | None, str | None]:
    """Method and path, where a request was made."""
    method, _, path = (context or "").partition(" ")
    return (method, path) if path.startswith("/") else (None, None)


def _told(row: RawRow) -> Mapping[str, Any]:
    details = _text(row, "details")
    return orjson.loads(details) if details else {}


def _secrets(packed: str) -> Iterator[LoggedSecretJson]:
    each = unpacked(packed)
    for secret_id, user_id in zip(each, each, strict=True):
        yield {"id": secret_id, "user_id": user_id}


def _permissions(told: Mapping[str, Any]) -> Iterator[LoggedPermissionJson]:
    for change in get_args(Change):
        for id_, aro, holder, type_ in told.get(change, ()):
            yield {
                "change": change,
                "id": id_,
                "holder_kind": aro.lower(),
                "holder_id": holder,
                "type": type_,
            }


def _members(told: Mapping[str, Any]) -> Iterator[LoggedMemberJson]:
    for change in get_args(Change):
        for user_id, is_manager in told.get(change, ()):
            yield {"change": change, "user_id": user_id, "is_manager": is_manager}


def _change(name: str, *said: Any) -> LoggedChangeJson:
    """What differs; of what says something to nobody who reads logs, its name alone."""
    change: LoggedChangeJson = {"name": name}
    if said:
        change["before"], change["after"], *role = said
        if role:
            change["role_id"] = role[0]
    return change


def _gone(told: Mapping[str, Sequence[str]]) -> Iterator[LoggedGoneJson]:
    for kind, ids in told.items():
        for id_ in ids:
            yield {"kind": cast(Kind, kind.lower()), "id": id_}


def _handed_over(kind: str, id_: str, holder_kind: str, holder_id: str) -> LoggedHandoverJson:
    return {
        "kind": cast(Kind, kind.lower()),
        "id": id_,
        "holder_kind": "user" if holder_kind == "User" else "group",
        "holder_id": holder_id,
    }
