"""Which calls to the storage are which steps of the model."""

from __future__ import annotations

from typing import Any

from chalicelib.settings import settings
from chalicelib.storage.connection import Json
from tests.support.races.scheduler import Waiting

CALL_OF = {
    "read_rows": "read rows",
    "look_again": "read rows",
    "read_again": "read rows",
    "find_held": "read rows",
    "read_headers": "read headers and lines",
    "find_header": "read headers",
    "require_whole": "read headers",
    "find_current": "read headers",
    "line_headers": "read headers",
    "read_set": "query a set",
    "read_whole": "query a set",
    "read_lines": "query lines of a set",
    "find_page": "query lines",
    "find_lines": "query lines",
    "find_left": "query lines",
    "scan": "scan",
    "begin": "begin",
    "stage": "put lines",
    "delete_lines": "delete lines",
    "commit": "commit",
    "apply": "apply",
    "undo": "undo",
    "free": "free",
    "write": "write",
    "create": "create",
}
"""The call that the code makes for each step."""
OF_SEVERAL = frozenset({"put lines", "delete lines"})
"""One step of the model, and as many calls as the lines of the other rows take."""
_OPERATIONS, _ROWS = "operations", "groups"


def name(waiting: Waiting) -> str:
    """What a call does, in the words of `CALL_OF`."""
    parameters = waiting.parameters
    if waiting.operation == "TransactWriteItems":
        return _transaction(parameters)
    if waiting.operation == "BatchGetItem":
        return _read(parameters)
    if waiting.operation == "Query":
        return _query(parameters)
    if waiting.operation == "BatchWriteItem":
        return _batch(parameters)
    return waiting.operation.lower()


def _read(parameters: Json) -> str:
    wanted = {_bare(table): asked["Keys"] for table, asked in parameters["RequestItems"].items()}
    if _OPERATIONS not in wanted:
        return "read rows"
    parts = {key["part"]["S"] for key in wanted[_OPERATIONS]}
    return "read headers" if parts == {"0"} else "read headers and lines"


def _query(parameters: Json) -> str:
    if _bare(parameters["TableName"]) != _OPERATIONS:
        return "query a set"
    is_set = "begins_with" in parameters["KeyConditionExpression"]
    return "query lines of a set" if is_set else "query lines"


def _batch(parameters: Json) -> str:
    [requests] = parameters["RequestItems"].values()
    if "DeleteRequest" in requests[0]:
        return "delete lines"
    is_header = requests[0]["PutRequest"]["Item"]["part"]["S"] == "0"
    return "begin" if is_header else "put lines"


def _transaction(parameters: Json) -> str:
    done: dict[str, list[tuple[str, Any]]] = {}
    for item in parameters["TransactItems"]:
        [(verb, request)] = item.items()
        done.setdefault(_bare(request["TableName"]), []).append((verb, request))
    if _OPERATIONS in done:
        [(verb, request)] = done.pop(_OPERATIONS)
        return _on_header(verb, request, done)
    [(verb, request)] = done[_ROWS]
    if verb == "ConditionCheck":
        return "create"
    return "write" if "version" in request["ExpressionAttributeNames"].values() else "free"


def _on_header(verb: str, request: Json, others: dict[str, Any]) -> str:
    names = request.get("ExpressionAttributeNames", {}).values()
    if verb == "Put":
        return "begin"
    if verb == "ConditionCheck":
        return "create"
    if verb == "Delete":
        return "undo" if "committed" in names else "apply"
    return "commit" if "committed" in names else "apply"


def _bare(table: str) -> str:
    return table.removeprefix(settings.table_prefix)
