"""Where users have items, and the edges of that: which item lies under which folder, for whom.

Edges are kept, not searched for among the places: that takes as long as there are people who have
the item, and it is asked for each of them when a folder is shared with all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from typing import NamedTuple

ROOT = None
"""The parent of what lies in no folder."""


class Place(NamedTuple):
    """Where one user has an item."""

    parent: str | None
    since: str = ""
    """When they got the item; moving it changes nothing about that."""


class Edge:
    """That an item lies under a folder, for these users; it changes with their places."""

    __slots__ = ("_counts", "_oldest", "_since", "child", "parent")

    def __init__(self, child: str, parent: str) -> None:
        self.child = child
        self.parent = parent
        self._since: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._oldest: list[str] = []

    @property
    def users(self) -> AbstractSet[str]:
        return self._since.keys()

    @property
    def since(self) -> str:
        """When the first of them got the item."""
        while self._oldest[0] not in self._counts:
            heappop(self._oldest)
        return self._oldest[0]

    def join(self, user: str, since: str) -> None:
        if since not in self._counts:
            heappush(self._oldest, since)
        self._since[user] = since
        self._counts[since] = self._counts.get(since, 0) + 1

    def leave(self, user: str) -> None:
        """Leave; the heap keeps the time until somebody asks for the oldest."""
        since = self._since.pop(user)
        self._counts[since] -= 1
        if not self._counts[since]:
            del self._counts[since]


class Places:
    """The places of items by user, and their edges: what changes the one changes the other."""

    def __init__(self, places: Mapping[str, Mapping[str, Place]]) -> None:
        self._of: dict[str, dict[str, Place]] = {item: {} for item in places}
        self._above: dict[str, dict[str, Edge]] = defaultdict(dict)
        self._under: dict[str, dict[str, Edge]] = defaultdict(dict)
        for item, users in places.items():
            for user, place in users.items():
                self.put(item, user, place)

    @property
    def by_item(self) -> Mapping[str, Mapping[str, Place]]:
        """All places, by item and user."""
        return self._of

    def of(self, item: str) -> Mapping[str, Place]:
        """Where everybody has an item, by user."""
        return self._of.get(item, {})

    def above(self, child: str) -> Mapping[str, Edge]:
        """The edges that lead up from an item, by folder."""
        return self._above.get(child, {})

    def under(self, parent: str) -> Mapping[str, Edge]:
        """The edges that lead down from a folder, by item."""
        return self._under.get(parent, {})

    def put(self, item: str, user: str, place: Place) -> None:
        """Let a user have an item here, wherever they had it."""
        users = self._of.setdefault(item, {})
        self._leave(item, user)
        users[user] = place
        if place.parent is not ROOT:
            self._edge(item, place.parent).join(user, place.since)

    def take(self, item: str, user: str) -> None:
        """Let a user not have an item, if they did."""
        if user in self.of(item):
            self._leave(item, user)
            del self._of[item][user]

    def _edge(self, child: str, parent: str) -> Edge:
        edge = self._above[child].get(parent)
        if edge is None:
            edge = Edge(child, parent)
            self._above[child][parent] = self._under[parent][child] = edge
        return edge

    def _leave(self, item: str, user: str) -> None:
        """Take a user from the edge they have an item by, which is no more without anybody."""
        place = self._of[item].get(user)
        if place is None or place.parent is ROOT:
            return
        edge = self._above[item][place.parent]
        edge.leave(user)
        if not edge.users:
            del self._above[item][place.parent], self._under[place.parent][item]
