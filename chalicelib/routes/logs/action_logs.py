"""Logs: what happened to an item, a user or a group, and what was done to the whole service."""

from __future__ import annotations

from datetime import UTC, datetime

from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import FolderId, GroupId, ResourceId, UserId
from chalicelib.services.logs import requests, subjects
from chalicelib.services.logs.pages import Slice
from chalicelib.services.logs.requests import WantedRequests
from chalicelib.services.logs.subjects import Log
from chalicelib.views.logs import action_logs as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import Filter, Takes, either, ids
from chalicelib.web.query import Options, Pagination, Query
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)

_CREATED = "ActionLogs.created"
PAGES = Options(sortable=(_CREATED,), default_order=((_CREATED, True),), is_paginated=True)
_moment = Filter("text", Takes.LAST, str)
"""A date; of what is none, nothing is refused."""
INDEX = Options(
    contains=frozenset({"user", "user.profile"}),
    filters={
        "has-users": ids("user id"),
        "is-success": either,
        "created-after": _moment,
        "created-before": _moment,
    },
    sortable=(_CREATED,),
    default_order=((_CREATED, True),),
    is_paginated=True,
)
MOST_USERS = 100
_NO_USER_LOGS = "Only administrators can view user logs."
_NO_LOGS = "Only administrators can view action logs."


@endpoints.get(
    "/actionlog/resource/{resource_id}.json",
    action="ResourceLogs.view",
    access=Access.USER,
    query=PAGES,
    shape=list[views.EntryJson],
)
def of_resource(actor: Actor, resource_id: ResourceId, query: Query) -> Reply:
    """List what happened to a resource, and who has read its secret."""
    return _reply(subjects.of_resource(actor, resource_id, _slice(query)), query)


@endpoints.get(
    "/actionlog/folder/{folder_id}.json",
    action="FolderLogs.view",
    access=Access.USER,
    query=PAGES,
    shape=list[views.EntryJson],
)
def of_folder(actor: Actor, folder_id: FolderId, query: Query) -> Reply:
    """List what happened to a folder."""
    return _reply(subjects.of_folder(actor, folder_id, _slice(query)), query)


@endpoints.get(
    "/actionlog/user/{user_id}.json",
    action="UserLogs.view",
    access=Access.ADMIN,
    denied=_NO_USER_LOGS,
    query=PAGES,
    shape=list[views.EntryJson],
)
def of_user(user_id: UserId, query: Query) -> Reply:
    """List what happened to a user, deleted or not."""
    return _reply(subjects.of_user(user_id, _slice(query)), query)


@endpoints.get(
    "/actionlog/group/{group_id}.json",
    action="GroupLogs.view",
    access=Access.USER,
    query=PAGES,
    shape=list[views.EntryJson],
)
def of_group(actor: Actor, group_id: GroupId, query: Query) -> Reply:
    """List what happened to a group: who joined, changed role and left."""
    return _reply(subjects.of_group(actor, group_id, _slice(query)), query)


@endpoints.get(
    "/actionlog/logs.json",
    action="ActionLogsIndex.index",
    access=Access.ADMIN,
    denied=_NO_LOGS,
    query=INDEX,
    shape=list[views.RequestJson],
)
def index(query: Query) -> Reply:
    """List the requests that changed something or read secrets."""
    has_profile = "user.profile" in query.contained
    has_user = query.contains("user")
    found = requests.search(_wanted(query), _slice(query), with_users=has_user or has_profile)
    shown = views.requests(found, has_user=has_user, has_profile=has_profile)
    return Reply(shown, pagination=Pagination(found.count, query.page, query.limit))


def _reply(log: Log, query: Query) -> Reply:
    return Reply(views.entries(log), pagination=Pagination(log.count, query.page, query.limit))


def _slice(query: Query) -> Slice:
    [(_, is_descending)] = query.order
    return Slice(query.limit, query.page, is_descending)


def _wanted(query: Query) -> WantedRequests:
    after, before = (query.filter(f"created-{name}") for name in ("after", "before"))
    from_, until = _date(after), _date(before)
    if from_ is not None and until is not None and from_ > until:
        raise Invalid("Invalid filter. The date created-after is later than created-before.")
    if len(query.filter("has-users") or ()) > MOST_USERS:
        raise Invalid(f"Invalid filter. The filter has-users takes at most {MOST_USERS} values.")
    is_unlike = before is not None and until is None
    return WantedRequests(
        users=query.filter("has-users"),
        after=from_,
        before=until,
        is_none=is_unlike or query.filter("is-success") is False,
    )


def _date(text: str | None) -> datetime | None:
    """The moment meant by a text, if it means one."""
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # no date; or before year 1 or after 9999 in UTC
        return None
