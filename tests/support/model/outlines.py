"""What is stored, to be compared but for what chance has made: identifiers, tokens, seals.

Rows count as whoever meets them will find them: what is staged and not committed is nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import orjson

from chalicelib.settings import settings
from chalicelib.storage.base import every_table
from integrity.settling import settled
from tests.support.storage import Storage

Outline = tuple[str, ...]
_CHANCE = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}"
    r"|-----BEGIN PGP MESSAGE-----.*?-----END PGP MESSAGE-----",
    re.ASCII,
)


class Outlines:
    """Outlines of one storage; what is there when this is made stays as it is."""

    def __init__(self, store: Storage) -> None:
        self._store = store
        self._known = {name for row in self._rows() for name in _CHANCE.findall(row)}
        self._outlined: dict[str, str] = {}

    def now(self) -> Outline:
        """All rows, of which those that differ by chance alone are alike."""
        return tuple(sorted(map(self._outline, self._rows())))

    def _outline(self, row: str) -> str:
        """Of each row once: most of them are the same at the end of every trial."""
        if row not in self._outlined:
            self._outlined[row] = _in_order(_CHANCE.sub(self._kept, row))
        return self._outlined[row]

    def _kept(self, found: re.Match[str]) -> str:
        return found[0] if found[0] in self._known else "new"

    def _rows(self) -> list[str]:
        names = [table.stored_as() for table in every_table()]
        tables = {
            name.removeprefix(settings.table_prefix): self._store.rows(name) for name in names
        }
        return [
            f"{name} {orjson.dumps(row, option=orjson.OPT_SORT_KEYS).decode()}"
            for name, rows in settled(tables).items()
            if name != "operations"
            for row in rows
        ]


def _in_order(row: str) -> str:
    """The same, whatever the order of members and of sets whose names chance has made."""
    table, _, members = row.partition(" ")
    ordered = json.loads(members, object_pairs_hook=_sorted)
    return f"{table} {json.dumps(ordered)}"


def _sorted(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    named = [(name, sorted(value) if name == "SS" else value) for name, value in pairs]
    return sorted(named, key=str)


def difference(found: Outline, expected: Sequence[Outline]) -> str:
    """What is more and less than in each of the outlines that would do."""
    says = []
    for rows in expected:
        says.append("compared with one that would do:")
        says += [f"  more: {row}" for row in found if row not in rows]
        says += [f"  less: {row}" for row in rows if row not in found]
    return "\n".join(says)
