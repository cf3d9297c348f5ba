"""All that is stored, and what rows say of each other: what the invariants are asked of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items import items

Row = Mapping[str, Any]
"""A row with plain values; `None` where an attribute is absent."""


@dataclass(frozen=True, slots=True)
class Violation:
    rule: str
    subject: str
    """The identifier of the row; never what it holds."""
    says: str

    def __str__(self) -> str:
        return f"{self.rule} {self.subject}: {self.says}"


class Stored:
    """All rows, and what they say of each other."""

    def __init__(self, tables: Mapping[str, list[defaultdict[str, Any]]]) -> None:
        self.tables = tables

    def rows(self, table: str) -> list[defaultdict[str, Any]]:
        return self.tables.get(table, [])

    def by_id(self, table: str) -> dict[str, Row]:
        return {row["id"]: row for row in self.rows(table)}

    @cached_property
    def users(self) -> dict[str, Row]:
        return self.by_id("users")

    @cached_property
    def live_users(self) -> dict[str, Row]:
        return {user_id: row for user_id, row in self.users.items() if not row["deleted"]}

    @cached_property
    def gpgkeys(self) -> dict[str, Row]:
        return self.by_id("gpgkeys")

    @cached_property
    def resources(self) -> dict[str, Row]:
        return self.by_id("resources")

    @cached_property
    def items(self) -> list[tuple[str, Row]]:
        """All items, each with its kind."""
        tables = {kind: table.bare_name() for kind, table in items.tables().items()}
        return [(kind, row) for kind, table in tables.items() for row in self.rows(table)]

    @cached_property
    def live_items(self) -> list[Row]:
        return [row for _, row in self.items if not row["deleted"]]

    @cached_property
    def groups(self) -> dict[str, Row]:
        return self.by_id("groups")

    @cached_property
    def live_resources(self) -> list[Row]:
        return [row for row in self.resources.values() if not row["deleted"]]

    @cached_property
    def members(self) -> dict[str, set[str]]:
        """The live users of each group."""
        members: dict[str, set[str]] = defaultdict(set)
        for user_id, user in self.live_users.items():
            for group_id in user["groups"] or ():
                members[group_id].add(user_id)
        return members

    @cached_property
    def holders(self) -> dict[str, set[str]]:
        """The users who hold each item."""
        holders: dict[str, set[str]] = defaultdict(set)
        for row in self.rows("holdings"):
            holders[row["item_id"]].add(row["user_id"])
        return holders

    def entitled(self, item: Row, at_least: PermissionType = PermissionType.READ) -> set[str]:
        """The live users whom the access list lets do this."""
        entitled: set[str] = set()
        for holder, permission in item["permissions"].items():
            if permission["type"] >= at_least:
                of_group = permission["aro"] == "Group"
                entitled |= self.members[holder] if of_group else {holder} & set(self.live_users)
        return entitled

    @cached_property
    def places(self) -> dict[str, dict[str, str | None]]:
        """By item and user where they have it: under a folder they hold, or at the root."""
        places: dict[str, dict[str, str | None]] = defaultdict(dict)
        for row in self.rows("holdings"):
            user_id, parent = row["user_id"], row["place"]
            is_there = row["item_id"] != parent and user_id in self.holders.get(parent, ())
            places[row["item_id"]][user_id] = parent if is_there else None
        return places


def plain(row: Mapping[str, Any]) -> defaultdict[str, Any]:
    """A row as DynamoDB sends it with plain values."""
    return defaultdict(lambda: None, {name: _plain(value) for name, value in row.items()})


def _plain(value: Mapping[str, Any]) -> Any:
    """One of DynamoDB's attribute values as a value of Python."""
    [(kind, content)] = value.items()
    match kind:
        case "N":
            return float(content) if "." in content else int(content)
        case "NULL":
            return None
        case "M":
            return {name: _plain(member) for name, member in content.items()}
        case "L":
            return [_plain(member) for member in content]
        case _:
            return content
