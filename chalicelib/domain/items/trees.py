"""Everybody's own tree over shared things: what becomes of places as items come, go and move.

Each user who has access to an item has it at one place of their own: under a folder that they
have too, or at the root. An *edge* says that an item lies under a folder, for the users who have
it there. What people share they find at the same place, but where they filed it elsewhere for
themselves. An item is *personal* while one user alone has it.

These are values and no rows: a service reads what a change has to know into `Trees`, has it
changed, and stores what `moved` says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import combinations_with_replacement

from chalicelib.domain.items.places import ROOT, Edge, Place, Places


class Cycle(Exception):  # noqa: N818 - says what would be
    """A folder would lie inside of itself."""


class Trees:
    """The places of items in the trees of all who have them, as far as a change has to know."""

    def __init__(self, places: Mapping[str, Mapping[str, Place]], folders: Collection[str]) -> None:
        """Take places by item and user; `folders` says which of the items are folders."""
        self._places = Places(places)
        self._folders = frozenset(folders)
        self._before = {item: dict(users) for item, users in places.items()}

    def place(self, item: str, user: str) -> Place | None:
        return self._places.of(item).get(user)

    @property
    def places(self) -> Mapping[str, Mapping[str, Place]]:
        """All places, by item and user."""
        return self._places.by_item

    def file(self, item: str, user: str, to: str | None) -> None:
        """Put an item elsewhere in one user's tree alone."""
        self._move_for(item, [user], to)

    def is_personal(self, item: str) -> bool:
        return len(self._places.of(item)) == 1

    @property
    def moved(self) -> dict[tuple[str, str], Place | None]:
        """The places that are new or others than before, by item and user; none that is gone."""
        changed: dict[tuple[str, str], Place | None] = {}
        for item in self._before.keys() | self.places.keys():
            before, after = self._before.get(item, {}), self._places.of(item)
            for user in before.keys() | after.keys():
                if before.get(user) != after.get(user):
                    changed[item, user] = after.get(user)
        return changed

    # Items come and go

    def add(
        self,
        operator: str,
        target: str,
        items: Collection[str],
        now: str,
        sees: Callable[[str], bool],
    ) -> None:
        """Give items to the target, where others have them, as far as they `see` the folder.

        Where others disagree the operator's place counts first, then the more usual one, then the
        older one; and those who have it elsewhere get it at the root. What the target has already
        lies under the folders that come as it does for others.
        """
        for item in items:
            self._places.put(item, target, Place(ROOT, now))
        for edge in self._winners(self._candidates(target, items, sees), operator):
            self._move_for(edge.child, [target], edge.parent)
        added = [item for item in items if item in self._folders]
        if self._may_close(added):
            self.repair_shared(operator, target)
        if self._may_close_for(target, added):
            self._repair_own(target)

    def remove(self, target: str, items: Iterable[str]) -> None:
        """Take items from the target; what lies in folders of theirs comes to their root."""
        for item in items:
            if item in self._folders:
                for edge in [*self._places.under(item).values()]:
                    self._move_for(edge.child, edge.users & {target}, ROOT)
            self._places.take(item, target)

    def _candidates(
        self, target: str, items: Collection[str], sees: Callable[[str], bool]
    ) -> list[Edge]:
        """The edges that lead to the items from above, and then those that lead from them."""
        above = [
            edge
            for item in items
            for edge in self.edges_of(item)
            if edge.parent in self._folders and sees(edge.parent)
        ]
        added = {item for item in items if item in self._folders}
        below = [
            edge
            for folder in added
            for edge in self._places.under(folder).values()
            if target in self._places.of(edge.child)
        ]
        known = {(edge.child, edge.parent) for edge in above}
        return [*above, *(edge for edge in below if (edge.child, edge.parent) not in known)]

    def _winners(self, candidates: Iterable[Edge], operator: str) -> Iterator[Edge]:
        """The edge of each child that counts; the others are dissolved for everybody."""
        won: set[str] = set()
        for edge in sorted(candidates, key=lambda each: _weight(each, operator)):
            if edge.child in won:
                self._take_to_root(edge.child, [edge.parent])
            else:
                won.add(edge.child)
                yield edge

    # Items move

    def move(self, operator: str, item: str, to: str | None) -> None:
        """Move an item in the operator's tree, and for all who have it and its place as they do.

        Raises `Cycle` where a folder would come into itself in the operator's tree.
        """
        origin = self._places.of(item)[operator].parent
        if to is ROOT:
            self._take_to_root(item, [origin])
            return
        users = self._places.of(item).keys() & self._places.of(to).keys()
        parents = {self._places.of(item)[user].parent for user in users}
        self._take_to_root(item, parents)
        self._move_for(item, users, to)
        if item in self._folders:
            if self._cycle_of(operator):
                raise Cycle
            self.repair_shared(operator, operator)
            for user in sorted(users):  # who has one of them under a folder of their own
                self._repair_own(user)

    def _take_to_root(self, child: str, parents: Collection[str | None]) -> None:
        """Move a child to the root for everybody who has it in one of these folders."""
        for edge in self.edges_of(child):
            if edge.parent in parents:
                self._move_for(child, [*edge.users], ROOT)

    def _move_for(self, child: str, users: Iterable[str], to: str | None) -> None:
        for user in users:
            place = self.place(child, user)
            if place is not None:
                self._places.put(child, user, place._replace(parent=to))

    # Edges

    def edges_of(self, child: str) -> list[Edge]:
        return [*self._places.above(child).values()]

    def _shared_edges(self) -> list[Edge]:
        """The edges of folders that several people have: a personal one is in nobody's way."""
        shared = (each for each in self._folders if len(self._places.of(each)) > 1)
        return [edge for folder in shared for edge in self.edges_of(folder)]

    # Cycles

    def _may_close(self, added: Collection[str]) -> bool:
        """Whether one of these folders has something above it and a folder below, for anybody."""
        above = (folder for folder in added if self._places.above(folder))
        return any(not self._folders.isdisjoint(self._places.under(each)) for each in above)

    def _may_close_for(self, user: str, added: Collection[str]) -> bool:
        """Whether one of these folders has something above it and a folder below, for a user."""

        def parent(folder: str) -> str | None:
            place = self.place(folder, user)
            return None if place is None else place.parent

        above = {folder for folder in added if parent(folder)}
        return any(parent(folder) in above for folder in self._folders)

    def shared_cycle(self) -> list[Edge]:
        """A shortest cycle of which two people see every edge between them, if there is one."""
        return _shortest_seen(self._shared_edges())

    def repair_shared(self, operator: str, target: str) -> None:
        """Dissolve edges until no two people see a cycle between them."""
        while cycle := self.shared_cycle():
            weakest = max(cycle, key=lambda edge: _strength(edge, operator, target))
            self._take_to_root(weakest.child, [weakest.parent])

    def _repair_own(self, user: str) -> None:
        """Dissolve edges to personal folders until nothing lies in itself in a user's tree."""
        while cycle := self._cycle_of(user):
            child, parent = next((e for e in cycle if self.is_personal(e[1])), cycle[0])
            self._take_to_root(child, [parent])

    def _cycle_of(self, user: str) -> list[tuple[str, str]]:
        """The edges of a cycle in a user's tree, child and parent; none where there is none."""
        places = ((folder, self.place(folder, user)) for folder in sorted(self._folders))
        parents = {folder: place.parent for folder, place in places if place and place.parent}
        done: set[str] = set()
        for start in parents:
            path: list[str] = []
            at = start
            while at in parents and at not in done:
                done.add(at)
                path.append(at)
                at = parents[at]
            if at in path:
                return [(folder, parents[folder]) for folder in path[path.index(at) :]]
        return []


def in_cycles(above: Mapping[str, Collection[str]]) -> set[str]:
    """The folders that may lie in themselves, given in which each lies for anybody."""
    pairs = {(child, parent) for child, parents in above.items() for parent in parents}
    return {child for child, _ in _trimmed(pairs)}


def _weight(edge: Edge, operator: str) -> tuple[object, ...]:
    """What stands first counts first."""
    return (operator not in edge.users, -len(edge.users), edge.since, edge.child, edge.parent)


def _strength(edge: Edge, operator: str, target: str) -> tuple[object, ...]:
    """What stands last is dissolved."""
    return (
        operator not in edge.users,
        -len(edge.users),
        target not in edge.users,
        edge.since,
        edge.child,
        edge.parent,
    )


def _shortest_seen(edges: Collection[Edge]) -> list[Edge]:
    """A shortest cycle whose every edge is in the tree of one of two people; empty without one.

    People with the same edges are alike, so each kind of them is asked once.
    """
    tangled = _tangled(edges)
    by_user: dict[str, set[Edge]] = defaultdict(set)
    for edge in tangled:
        for user in edge.users:
            by_user[user].add(edge)
    kinds = sorted({frozenset(each) for each in by_user.values()}, key=_ordered)
    found = (_shortest(one | other) for one, other in combinations_with_replacement(kinds, 2))
    return min(filter(None, found), key=lambda cycle: (len(cycle), _ordered(cycle)), default=[])


def _ordered(edges: Iterable[Edge]) -> list[tuple[str, str]]:
    return sorted((edge.child, edge.parent) for edge in edges)


def _tangled(edges: Collection[Edge]) -> set[Edge]:
    """The edges that may be of a cycle."""
    kept = _trimmed({(edge.child, edge.parent) for edge in edges})
    return {edge for edge in edges if (edge.child, edge.parent) in kept}


def _trimmed(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Children and parents that may be of a cycle: what ends, above or below, is of none."""
    while True:
        children, parents = {child for child, _ in pairs}, {parent for _, parent in pairs}
        kept = {each for each in pairs if each[0] in parents and each[1] in children}
        if kept == pairs:
            return kept
        pairs = kept


def _shortest(edges: Iterable[Edge]) -> list[Edge]:
    """A shortest cycle of these edges, from child to parent; empty where there is none."""
    upward: dict[str, list[Edge]] = defaultdict(list)
    for edge in sorted(edges, key=lambda each: (each.child, each.parent)):
        upward[edge.child].append(edge)
    best: list[Edge] = []
    for start in sorted(upward):
        cycle = _back_to(start, upward, len(best))
        if cycle:
            best = cycle
    return best


def _back_to(start: str, upward: Mapping[str, list[Edge]], shorter_than: int) -> list[Edge]:
    """A shortest way from a folder up to itself, if it is shorter than the best so far."""
    ways: dict[str, list[Edge]] = {start: []}
    level = [start]
    while level and not 0 < shorter_than <= len(ways[level[0]]) + 1:
        above: list[str] = []
        for folder in level:
            for edge in upward.get(folder, ()):
                way = [*ways[folder], edge]
                if edge.parent == start:
                    return way
                if edge.parent not in ways:
                    ways[edge.parent] = way
                    above.append(edge.parent)
        level = above
    return []
