"""What is stored, to be compared but for what chance has made: identifiers, tokens, seals.

Rows count as whoever meets them will find them: what is staged and not committed is nothing, and
what the sweeper makes of a reading says no more than the reading does. How far the sweeper has come
with the mails of a day, or with forms, is nothing that a request leaves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from chalicelib.settings import settings
from chalicelib.storage.base import every_table
from chalicelib.tables.logs.action_logs import GIVEN
from chalicelib.tables.logs.readings import Reading
from chalicelib.tables.settings import EXPIRY_NOTICES, UPGRADE
from integrity.settling import settled
from tests.support.storage import Storage

Outline = tuple[str, ...]
_CHANCE = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}"
    r'|(?<="secrets":{"S":")[A-Za-z0-9+/=]+'  # identifiers, packed
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

    def told(self, text: str) -> str:
        """What a request shows, but for what chance has made and nobody keeps."""
        return _CHANCE.sub(self._kept, text)

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
        counted = settled(tables)
        return [
            *sorted(set(_given(counted["readings"], counted["action_logs"]))),
            *(
                _says(name, row)
                for name, rows in counted.items()
                if name not in _NOT_COMPARED
                for row in rows
                if not _is_said_otherwise(name, row)
            ),
        ]


_NOT_COMPARED = {"operations", "readings", "secret_accesses"}


def _is_said_otherwise(table: str, row: Any) -> bool:
    """Whether this tells of a reading, or is where the sweeper notes how far it is."""
    noted = table == "settings" and row["name"]["S"] in (EXPIRY_NOTICES, UPGRADE)
    return noted or row.get("action") == {"S": GIVEN}


def _given(readings: Sequence[Any], lines: Sequence[Any]) -> Iterator[str]:
    """Who was given the secret of what: spread over the logs, or not yet."""
    for row in readings:
        for resource_id in Reading.from_raw(row).resource_ids:
            yield _says("given", {"user": row["user_id"], "resource": resource_id})
    for row in lines:
        if row["action"] == {"S": GIVEN}:
            yield _says("given", {"user": row["actor"], "resource": row["subject"]["S"]})


def _says(name: str, row: Any) -> str:
    return f"{name} {orjson.dumps(row, option=orjson.OPT_SORT_KEYS).decode()}"


def _in_order(row: str) -> str:
    """The same, whatever the order of members and of sets whose names chance has made."""
    table, _, members = row.partition(" ")
    ordered = json.loads(members, object_pairs_hook=_sorted)
    return f"{table} {json.dumps(ordered)}"


def _sorted(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return sorted(((name, _unordered(name, value)) for name, value in pairs), key=str)


def _unordered(name: str, value: Any) -> Any:
    """Sets; and what went with something that was deleted, in the log of that."""
    if name == "SS":
        return sorted(value)
    if name == "details":
        [(kind, text)] = value
        told = json.loads(text)
        gone = {what: sorted(ids) for what, ids in told.get("gone", {}).items()}
        return [(kind, json.dumps({**told, "gone": gone}))]
    return value


def difference(found: Outline, expected: Sequence[Outline]) -> str:
    """What is more and less than in each of the outlines that would do."""
    says = []
    for rows in expected:
        says.append("compared with one that would do:")
        says += [f"  more: {row}" for row in found if row not in rows]
        says += [f"  less: {row}" for row in rows if row not in found]
    return "\n".join(says)
