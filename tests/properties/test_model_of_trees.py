"""Whatever people do to shared folders, the service and a plain model of everybody's trees agree.

The model is `tests/support/model/trees.py`, which knows everything at once. After each step the
answer's status and everybody's tree are compared, and what is stored is sound.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.environment import ENGINE
from tests.support.model.invariants import check_invariants
from tests.support.model.trees import OK, OWNER, READ, UPDATE, Woods
from tests.support.proving import PROVING, fewer, more
from tests.support.storage import Contents, Storage
from tests.support.wire.client import Response
from tests.support.world import departures, groups, make
from tests.support.world.items import folders, resources, shares
from tests.support.world.items.resources import PGP
from tests.support.world.make import Somebody, Team

EXAMPLES = more(fewer(12, 60), 600) if ENGINE == "embedded" else more(fewer(2, 6), 60)
NAMES = ("ada", "betty", "carol", "dave")
USERS = st.sampled_from(NAMES)
TEAM = "team"
HOLDERS = st.sampled_from([*NAMES, TEAM])
TYPES = st.sampled_from([READ, UPDATE, OWNER, OWNER])
FOLDERS, RESOURCES = Bundle("folders"), Bundle("resources")
ITEMS = st.one_of(FOLDERS, RESOURCES)
MOST_GONE = 2
PLACES = st.one_of(FOLDERS, FOLDERS, st.none())


@dataclass(frozen=True)
class Start:
    """Four people, a group of Ada, who manages it, and Betty; and Edith, who administers."""

    store: Storage
    contents: Contents
    people: dict[str, Somebody]
    team: Team
    edith: Somebody

    @classmethod
    def of(cls, store: Storage) -> Start:
        people = {name: make.user(name) for name in NAMES}
        team = make.group(people["ada"], people["betty"])
        edith = make.user("edith", admin=True)
        return cls(store, store.contents(), people, team, edith)


class Gardeners(RuleBasedStateMachine):
    def __init__(self, start: Start) -> None:
        super().__init__()
        start.store.put_back(start.contents)
        self.start = start
        self.gone = set[str]()
        members = [start.people[name].id for name in ("ada", "betty")]
        self.woods = Woods([who.id for who in start.people.values()], {start.team.id: members})

    def who(self, name: str) -> Somebody:
        """Ada stands in for who has been deleted."""
        return self.start.people["ada" if name in self.gone else name]

    def holder(self, name: str) -> Somebody | Team:
        return self.start.team if name == TEAM and TEAM not in self.gone else self.who(name)

    @initialize(target=FOLDERS)
    def first_folders(self) -> Any:
        """Two of Ada's and two of Betty's, which both have, one of each in the other."""
        made = []
        for name, other in (("ada", "betty"), ("betty", "ada")):
            who, outer = self.who(name), self._first(name, other, None)
            made += [outer, self._first(name, other, outer)]
            assert self.woods.tree_of(who.id)[made[-1]] == outer
        return multiple(*made)

    def _first(self, name: str, other: str, parent: str | None) -> str:
        folder_id = folders.folder(self.who(name), "first", parent)
        self.woods.add(self.who(name).id, folder_id, parent, is_folder=True)
        self.share_folder(name, folder_id, other, OWNER)
        return folder_id

    @initialize(target=RESOURCES)
    def first_resources(self) -> Any:
        made = []
        for name in ("ada", "betty", "carol"):
            resource_id = folders.resource(self.who(name))
            self.woods.add(self.who(name).id, resource_id, None, is_folder=False)
            self._share_resource(name, resource_id, "ada" if name != "ada" else "betty", OWNER)
            made.append(resource_id)
        return multiple(*made)

    @rule(item=ITEMS, to=PLACES, luck=st.integers(0, 3))
    def tidy(self, item: str, to: str | None, luck: int) -> None:
        """A move by somebody who has both."""
        able = [
            name
            for name in NAMES
            if self.woods.type_of(self.who(name).id, item)
            and (to is None or self.woods.type_of(self.who(name).id, to))
        ]
        if able:
            self.move(able[luck % len(able)], item, to)

    @rule(actor=USERS, parent=PLACES, target=FOLDERS)
    def create_folder(self, actor: str, parent: str | None) -> Any:
        response = folders.create(self.who(actor), {"name": "x", "folder_parent_id": parent})
        return self._created(actor, parent, response, is_folder=True)

    @rule(actor=USERS, parent=PLACES, target=RESOURCES)
    def create_resource(self, actor: str, parent: str | None) -> Any:
        body = resources.v4(folder_parent_id=parent)
        response = resources.create(self.who(actor), body)
        return self._created(actor, parent, response, is_folder=False)

    @rule(actor=USERS, item=ITEMS, to=PLACES)
    def move(self, actor: str, item: str, to: str | None) -> None:
        kind = "folder" if self._is_folder(item) else "resource"
        response = folders.move(self.who(actor), kind, item, to)
        if item in self.woods.permissions:
            assert response.status == self.woods.move(self.who(actor).id, item, to), response.json
        else:
            assert response.status == 404

    @rule(actor=USERS, item=FOLDERS, holder=HOLDERS, type_=TYPES)
    def share_folder(self, actor: str, item: str, holder: str, type_: int) -> None:
        row = {**shares.add(self.holder(holder)), "type": type_}
        response = folders.share(self.who(actor), item, row)
        self._agree(response, actor, item, holder, type_)

    @rule(actor=USERS, item=RESOURCES, holder=HOLDERS, type_=TYPES)
    def share_resource(self, actor: str, item: str, holder: str, type_: int) -> None:
        self._share_resource(actor, item, holder, type_)

    @rule(item=ITEMS, holder=HOLDERS, type_=TYPES)
    def give(self, item: str, holder: str, type_: int) -> None:
        """By somebody who may."""
        for actor in self._owners(item)[:1]:
            if self._is_folder(item):
                self.share_folder(actor, item, holder, type_)
            else:
                self._share_resource(actor, item, holder, type_)

    @rule(item=ITEMS, holder=HOLDERS)
    def take(self, item: str, holder: str) -> None:
        held = self.woods.permissions.get(item, {})
        if self.holder(holder).id not in held:
            return
        for actor in self._owners(item)[:1]:
            response = self._share(actor, item, [self._taking(item, holder)], ())
            self._agree(response, actor, item, holder, None)

    @rule(item=ITEMS, type_=TYPES, luck=st.integers(0, 60), is_renewed=st.booleans())
    def exchange(self, item: str, type_: int, luck: int, is_renewed: bool) -> None:  # noqa: FBT001
        """One holder gets what another loses, by an owner; who keeps it may get another secret."""
        held, owners = self.woods.permissions.get(item, {}), self._owners(item)
        live = [name for name in (*NAMES, TEAM) if name not in self.gone]
        pairs = [
            (given, lost)
            for given, lost in permutations(live, 2)
            if self.holder(given).id not in held and self.holder(lost).id in held
        ]
        if not owners or not pairs:
            return
        (given, lost), actor = pairs[luck % len(pairs)], owners[luck % len(owners)]
        rows = [{**shares.add(self.holder(given)), "type": type_}, self._taking(item, lost)]
        named = {self.holder(given).id: type_, self.holder(lost).id: None}
        has = self.woods.reached({*held, *named} - {self.holder(lost).id})
        sent = has if is_renewed else has - self.woods.users_of(item)
        response = self._share(actor, item, rows, sent)
        assert response.status == self.woods.share_all(self.who(actor).id, item, named)

    @precondition(lambda self: TEAM not in self.gone)
    @rule(name=st.sampled_from(["carol", "dave"]))
    def join(self, name: str) -> None:
        who, ada = self.who(name), self.who("ada")
        if who.id not in self._members():
            secrets = self._secrets_of_group(who)
            response = groups.update(ada, self.start.team, groups.add(who), secrets=secrets)
            assert response.status == self.woods.join(ada.id, self.start.team.id, who.id)

    @precondition(lambda self: TEAM not in self.gone)
    @rule(name=st.sampled_from(["betty", "carol", "dave"]), luck=st.integers(0, 3))
    def replace(self, name: str, luck: int) -> None:
        """One joins and another leaves by one update."""
        who, ada, team = self.who(name), self.who("ada"), self.start.team
        others = sorted({*self._members()} - {ada.id})
        if not others or who.id in self._members():
            return
        [other] = [w for w in self.start.people.values() if w.id == others[luck % len(others)]]
        changes = groups.add(who), groups.remove(team, other)
        response = groups.update(ada, team, *changes, secrets=self._secrets_of_group(who))
        assert response.status == self.woods.replace(ada.id, team.id, who.id, other.id)

    @precondition(lambda self: TEAM not in self.gone)
    @rule(name=st.sampled_from(["betty", "carol", "dave"]))
    def leave(self, name: str) -> None:
        ada, who = self.who("ada"), self.who(name)
        if who is not ada and who.id in self._members():
            change = groups.remove(self.start.team, who)
            response = groups.update(ada, self.start.team, change)
            assert response.status == self.woods.leave(ada.id, self.start.team.id, who.id)

    @rule(actor=USERS, item=FOLDERS, cascade=st.booleans())
    def delete(self, actor: str, item: str, cascade: bool) -> None:  # noqa: FBT001
        who = self.who(actor)
        response = who.client.delete(f"{folders.path(item)}?cascade={int(cascade)}")
        assert response.status == self.woods.delete(who.id, item, cascade=cascade), response.json

    @precondition(lambda self: len(self.gone) < MOST_GONE)
    @rule(name=st.sampled_from(["betty", "carol", "dave", TEAM]))
    def delete_holder(self, name: str) -> None:
        """I2, I8"""
        if name in self.gone:
            return
        holder, edith = self.holder(name), self.start.edith
        response = departures.delete(edith, holder)
        assert response.status == self.woods.delete_holder(edith.id, holder.id), response.json
        self.gone |= {name} if response.status == OK else set()

    @invariant()
    def everybody_has_the_tree_they_should(self) -> None:
        for name in NAMES:
            seen = {
                each["id"]: each["folder_parent_id"]
                for kind in ("folders", "resources")
                for each in self.who(name).client.get(f"/{kind}.json").body
            }
            assert seen == self.woods.tree_of(self.who(name).id), name

    @invariant()
    def what_is_stored_is_sound(self) -> None:
        check_invariants(self.start.store)

    def _created(
        self, actor: str, parent: str | None, response: Response, *, is_folder: bool
    ) -> Any:
        who = self.who(actor).id
        if parent is not None and self.woods.type_of(who, parent) < UPDATE:
            assert response.status == 400
            return multiple()
        assert response.status == OK, response.json
        self.woods.add(who, response.body["id"], parent, is_folder=is_folder)
        return response.body["id"]

    def _share_resource(self, actor: str, item: str, holder: str, type_: int) -> None:
        row = {**shares.add(self.holder(holder)), "type": type_}
        gained = self.woods.reached([self.holder(holder).id]) - self.woods.users_of(item)
        response = self._share(actor, item, [row], gained)
        self._agree(response, actor, item, holder, type_)

    def _share(self, actor: str, item: str, rows: list[Any], secrets: Collection[str]) -> Response:
        """A share with secrets for these users, if it is one of a resource."""
        if self._is_folder(item):
            return folders.share(self.who(actor), item, *rows)
        sent = [{"user_id": each, "data": PGP} for each in sorted(secrets)]
        return shares.share(self.who(actor), item, rows, sent)

    def _taking(self, item: str, holder: str) -> dict[str, Any]:
        if self._is_folder(item):
            return folders.taking(item, self.holder(holder))
        return shares.remove(item, self.holder(holder))

    def _secrets_of_group(self, who: Somebody) -> list[dict[str, str]]:
        """The secrets of somebody who joins the group."""
        return [
            {"user_id": who.id, "resource_id": item, "data": PGP}
            for item, held in self.woods.permissions.items()
            if self.start.team.id in held and who.id not in self.woods.users_of(item)
            if not self._is_folder(item)
        ]

    def _agree(
        self, response: Response, actor: str, item: str, holder: str, type_: int | None
    ) -> None:
        who, named = self.who(actor).id, self.holder(holder).id
        assert response.status == self.woods.share(who, item, named, type_), response.json

    def _owners(self, item: str) -> list[str]:
        return [n for n in NAMES if self.woods.type_of(self.who(n).id, item) == OWNER]

    def _members(self) -> list[str]:
        return self.woods.groups[self.start.team.id]

    def _is_folder(self, item: str) -> bool:
        return item in self.woods.folders


def test_the_service_agrees_with_the_model_of_trees(store):
    start = Start.of(store)
    run_state_machine_as_test(
        lambda: Gardeners(start),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=more(30, 60),
            derandomize=not PROVING,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
