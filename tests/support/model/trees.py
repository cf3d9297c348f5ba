"""Everybody's trees in plain Python: who has what, with which permission, and where.

It knows all places at once, and finds who loses or gains what by comparing before and after. The
service reads what it needs to know, and must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field

from chalicelib.domain.items.places import ROOT
from chalicelib.domain.items.trees import Cycle, Trees

READ, UPDATE, OWNER = 1, 7, 15
OK, INVALID, FORBIDDEN, MISSING = 200, 400, 403, 404
NOW = "now"


@dataclass
class Woods:
    """Items with their permissions, groups with their members, and everybody's trees."""

    users: list[str]
    groups: dict[str, list[str]]
    permissions: dict[str, dict[str, int]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    trees: Trees = field(default_factory=lambda: Trees({}, ()))

    # Who has what

    def users_of(self, item: str) -> set[str]:
        return self.reached(self.permissions.get(item, {}))

    def reached(self, holders: Iterable[str]) -> set[str]:
        return {user for who in holders for user in self.groups.get(who, [who])}

    def type_of(self, user: str, item: str) -> int:
        held = self.permissions.get(item, {})
        ways = (held[who] for who in held if user in self.groups.get(who, [who]))
        return max(ways, default=0)

    def is_shared(self, folder: str) -> bool:
        return len(self.users_of(folder)) > 1

    def tree_of(self, user: str) -> dict[str, str | None]:
        found = {item: self.trees.place(item, user) for item in self.permissions}
        return {item: place.parent for item, place in found.items() if place is not None}

    # What people do

    def create(self, actor: str, item: str, parent: str | None, *, is_folder: bool) -> int:
        if parent is not None and self.type_of(actor, parent) < UPDATE:
            return INVALID
        self.add(actor, item, parent, is_folder=is_folder)
        return OK

    def add(self, actor: str, item: str, parent: str | None, *, is_folder: bool) -> None:
        self.permissions[item] = {actor: OWNER}
        if is_folder:
            self.folders.add(item)
        self._regrow()
        self.trees.add(actor, actor, [item], NOW, lambda _: False)
        self.trees.file(item, actor, parent)

    def move(self, actor: str, item: str, to: str | None) -> int:
        place = self.trees.place(item, actor)
        if place is None:
            return MISSING
        if to == item or (to is not None and self.trees.place(to, actor) is None):
            return INVALID
        if place.parent == to:
            return OK
        for folder in (place.parent, to):
            needs = folder is not None and self.is_shared(folder)
            if needs and min(self.type_of(actor, str(folder)), self.type_of(actor, item)) < UPDATE:
                return INVALID
        after = deepcopy(self.trees)
        try:
            after.move(actor, item, to)
        except Cycle:
            return INVALID
        self.trees = after
        return OK

    def share(self, actor: str, item: str, holder: str, type_: int | None) -> int:
        """Give a permission, or take it away."""
        return self.share_all(actor, item, {holder: type_})

    def share_all(self, actor: str, item: str, rows: Mapping[str, int | None]) -> int:
        """Give and take permissions at once."""
        if not self.type_of(actor, item):
            return MISSING
        if self.type_of(actor, item) < OWNER:
            return FORBIDDEN
        before = self.permissions[item]
        if any((type_ is None) != (holder in before) for holder, type_ in rows.items()):
            return INVALID
        given = {holder: type_ for holder, type_ in rows.items() if type_ is not None}
        after = {who: type_ for who, type_ in before.items() if who not in rows} | given
        if OWNER not in after.values():
            return INVALID
        if item in self.folders:
            self._share_folder(actor, item, after, is_given=bool(given))
        else:
            self._share_resource(actor, item, after)
        return OK

    def _share_folder(
        self, actor: str, folder: str, after: dict[str, int], *, is_given: bool
    ) -> None:
        """Who loses a folder loses it before others gain it."""
        if is_given and not self.is_shared(folder):
            self._take_out(actor, folder)
        with self._changing(actor):
            self.permissions[folder] = after

    def _share_resource(self, actor: str, resource: str, after: dict[str, int]) -> None:
        """Who loses a resource loses it after others have gained it."""
        with self._changing(actor):
            self.permissions[resource] = self.permissions[resource] | after
        with self._changing(actor):
            self.permissions[resource] = after

    def _take_out(self, actor: str, folder: str) -> None:
        """What was only filed in a folder of one's own leaves it when others get it."""
        for item, parent in self.tree_of(actor).items():
            if parent == folder and self.type_of(actor, item) < UPDATE:
                self.trees.file(item, actor, ROOT)

    def replace(self, actor: str, group: str, user: str, other: str) -> int:
        """Let a user join and another leave, who loses things after the other gained them."""
        self.join(actor, group, user)
        return self.leave(actor, group, other)

    def join(self, actor: str, group: str, user: str) -> int:
        """What was only its member's so far is opened, as by a share."""
        for member in self.groups[group]:
            for folder in self.folders:
                if group in self.permissions[folder] and self.users_of(folder) == {member}:
                    self._take_out(member, folder)
        with self._changing(actor):
            self.groups[group] = [*self.groups[group], user]
        return OK

    def leave(self, actor: str, group: str, user: str) -> int:
        with self._changing(actor):
            self.groups[group] = [each for each in self.groups[group] if each != user]
        return OK

    def delete(self, actor: str, folder: str, *, cascade: bool) -> int:
        if not self.type_of(actor, folder):
            return MISSING
        if self.type_of(actor, folder) < UPDATE:
            return FORBIDDEN
        gone = {folder} | (self._below(actor, folder) if cascade else set())
        with self._changing(actor):
            for item in gone:
                self.permissions[item] = {}
        self._forget(gone)
        return OK

    def delete_holder(self, actor: str, holder: str) -> int:
        """Delete a user or group, and what nobody else has, unless others were left ownerless."""
        had = {item for item, held in self.permissions.items() if holder in held}
        others = {item: {**self.permissions[item]} for item in had}
        is_owner = {item: held.pop(holder) == OWNER for item, held in others.items()}
        if any(is_owner[i] and held and OWNER not in held.values() for i, held in others.items()):
            return INVALID
        with self._changing(actor):
            self.permissions |= others
            self.groups.pop(holder, None)
            for group, members in self.groups.items():
                self.groups[group] = [each for each in members if each != holder]
        self._forget({item for item, held in others.items() if not held})
        return OK

    def _forget(self, items: set[str]) -> None:
        for item in items:
            del self.permissions[item]
            self.folders.discard(item)
        self._regrow()

    def _below(self, actor: str, folder: str) -> set[str]:
        """What lies in a folder for anybody, as far as the actor may delete it, level by level."""
        found, level = set[str](), {folder}
        while level:
            inside = {
                item
                for item in self.permissions.keys() - found
                for edge in self.trees.edges_of(item)
                if edge.parent in level and self.type_of(actor, item) >= UPDATE
            }
            found |= inside
            level = inside & self.folders
        return found

    @contextmanager
    def _changing(self, actor: str) -> Iterator[None]:
        """Take from and give to people what they lose and gain by what is done meanwhile."""
        before = {item: self.users_of(item) for item in self.permissions}
        yield
        after = {item: self.users_of(item) for item in self.permissions}
        for user in self.users:
            lost = [i for i in before if user in before[i] - after[i]]
            self.trees.remove(user, lost)
        for user in sorted(self.users):
            gained = [i for i in after if user in after[i] - before[i]]
            had = {i for i in after if user in after[i]}
            if gained:
                self.trees.add(actor, user, gained, NOW, had.__contains__)

    def _regrow(self) -> None:
        self.trees = Trees(self.trees.places, self.folders)
