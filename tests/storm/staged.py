"""What the storm knows of staged operations, in one place: how their calls and rows look."""

from __future__ import annotations

from chalicelib.storage.changes.parts import Part
from chalicelib.storage.connection import Json
from chalicelib.storage.versioned import LOCK
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User
from tests.support.faults.deaths import commits
from tests.support.storage import Storage

STAGE, HOLD, COMMIT, APPLY, END, CLEAR = "stage", "hold", "commit", "apply", "end", "clear"
"""The calls of an operation by what they do, in their order."""
WITHIN = (HOLD, COMMIT, APPLY, END)
"""Those between which others meet it."""


def moment(operation: str, parameters: Json) -> str | None:
    """Which of an operation's calls this is, if it is one."""
    if operation == "BatchWriteItem":
        writes = parameters["RequestItems"].get(Part.stored_as(), [])
        if not writes:
            return None
        return STAGE if any("PutRequest" in write for write in writes) else CLEAR
    lines = [
        (verb, line)
        for item in parameters.get("TransactItems", ())
        for verb, line in item.items()
        if line["TableName"] == Part.stored_as()
    ]
    if any(commits({verb: line}) for verb, line in lines):
        return COMMIT
    verbs = {verb for verb, _ in lines}
    kinds = {"Put": STAGE, "Update": APPLY, "Delete": END, "ConditionCheck": HOLD}
    return next((kind for verb, kind in kinds.items() if verb in verbs), None)


def under_way(store: Storage) -> bool:
    """Whether anything of any operation is stored."""
    return bool(store.rows(Part.stored_as()))


def left_behind(store: Storage) -> list[str]:
    """Rows of operations, and rows that operations hold."""
    parts = [f"part of {row['operation']['S']}" for row in store.rows(Part.stored_as())]
    held = [
        f"{table.stored_as()} {row['id']['S']}"
        for table in (Resource, Group, User)
        for row in store.rows(table.stored_as())
        if LOCK in row
    ]
    return parts + held
