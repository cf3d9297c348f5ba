"""What lies in the tables, as the model has it."""

from __future__ import annotations

from typing import Any

from chalicelib.settings import settings
from infra.model.schedules import State
from tests.model_schedules.actors import FILLER, changes_in
from tests.support.storage import Storage

_LINES = {"2/groups/a": "a", "2/groups/b": "b", "1/group_items/a/p": "p", "1/group_items/b/q": "q"}

Tables = dict[str, Any]


def of_storage(store: Storage) -> Tables:
    """The tables: rows, what belongs to them, and the one operation."""
    groups = {row["id"]["S"]: row for row in store.rows(settings.table_prefix + "groups")}
    items = store.rows(settings.table_prefix + "group_items")
    parts = {row["part"]["S"]: row for row in store.rows(settings.table_prefix + "operations")}
    header = parts.pop("0", None)
    return {
        "rows": {name: _row(groups[name]) for name in ("a", "b")},
        "plain": _plain(items),
        "header": _header(header),
        "lines": frozenset(_LINES[name] for name in parts if name in _LINES),
        "whole": _are_whole(items, parts),
    }


def of_model(state: State, operation: str) -> Tables:
    """The same of a state of the model."""
    header = state.headers[operation]
    is_there = header in ("pending", "committed")
    return {
        "rows": {
            name: (row.version, row.changes, row.lock is not None)
            for name, row in state.rows.items()
        },
        "plain": dict(state.plain),
        "header": (header, state.applied[operation]) if is_there else None,
        "lines": state.lines[operation],
        "whole": True,
    }


def _row(row: Any) -> Any:
    return int(row["version"]["N"]), changes_in(row["name"]["S"]), "lock" in row


def _plain(items: Any) -> Any:
    found = {row["item_id"]["S"]: changes_in(row["kind"]["S"]) for row in items}
    return {name: found.get(name, frozenset()) for name in ("p", "q")}


def _header(header: Any) -> Any:
    if header is None:
        return None
    pages = 0 if header["done"]["S"] == "0" else 1
    return "committed" if "committed" in header else "pending", pages


def _are_whole(items: Any, parts: Any) -> bool:
    """Whether the other rows, and their lines, are there where their neighbours are."""
    fillers = sum(row["group_id"]["S"] == FILLER for row in items)
    lines = sum(f"/{FILLER}/" in name for name in parts)
    is_staged = bool(_LINES.keys() & parts.keys())
    is_changed = any("change" in changes_in(row["kind"]["S"]) for row in items)
    return fillers == (98 if is_changed else 0) and (lines in (98, 99)) == is_staged
