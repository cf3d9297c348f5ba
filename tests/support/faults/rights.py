"""Runs each request under the rights of the group that serves it, as its role would be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from app import app
from chalicelib.endpoint_groups import GROUPS, EndpointGroup
from chalicelib.settings import settings
from chalicelib.storage.base import every_table
from chalicelib.storage.connection import connection
from tests.support.faults.hooks import only_consistent_reads

_TRANSACT = {
    "ConditionCheck": "ConditionCheckItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
}
_LIKE = {"boxes": "resources"}
"""Tables of kinds that nobody ships; a group's rights to them are those to resources."""
_request: ContextVar[object] = ContextVar("_request", default=None)
"""The request whose calls these are: several run at once in a race."""
_GROUP_OF = {module: group for group in GROUPS for module in group.modules}


def group_of(resource: str, method: str) -> EndpointGroup | None:
    """The group that serves a route; none serves what is no endpoint."""
    entry = app.routes.get(resource, {}).get(method)
    if entry is None:
        return None
    return _GROUP_OF[entry.view_function.__module__.removeprefix("chalicelib.routes.")]


@contextmanager
def rights_of(resource: str, method: str) -> Iterator[None]:
    """Fail the test when the request uses a table in a way its group may not, or reads old rows."""
    with rights_of_group(group_of(resource, method)):
        yield


@contextmanager
def rights_of_group(group: EndpointGroup | None) -> Iterator[None]:
    """The same of whatever a group's function does."""
    request = object()

    def check(operation: str, parameters: dict[str, Any], send: Any) -> Any:
        if _request.get() is not request:
            return send()
        for action, table in _uses(operation, parameters):
            name = _LIKE.get(name := table.removeprefix(settings.table_prefix), name)
            if group is None or not _allows(group, action, name):
                raise ForbiddenUse(f"group {group and group.name} may not {action} on {name}")
        return only_consistent_reads(operation, parameters, send)

    connection.hooks.append(check)
    before = _request.set(request)
    try:
        yield
    finally:
        _request.reset(before)
        connection.hooks.remove(check)


def _allows(group: EndpointGroup, action: str, table: str) -> bool:
    """Whether a group may do this, as if the tables that have several forms now were shipped so."""
    is_rewriting = action == "UpdateItem" and table in _of_several_forms()
    return group.allows(action, table) or (is_rewriting and bool(group.rights_to(table)))


def _of_several_forms() -> set[str]:
    return {table.bare_name() for table in every_table() if table.forms.are_several}


class ForbiddenUse(BaseException):
    """Not an `Exception`, so that no handler takes it for an accident of the request."""


def _uses(operation: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if operation == "TransactWriteItems":
        for item in parameters["TransactItems"]:
            [(kind, request)] = item.items()
            yield _TRANSACT[kind], request["TableName"]
    elif "RequestItems" in parameters:
        yield from ((operation, table) for table in parameters["RequestItems"])
    else:
        yield operation, parameters["TableName"]
