"""Whatever administrators do with metadata keys, and people with items, a plain model agrees.

After each step the answer's status is the model's, the lists of what is to be rotated or upgraded
are, and what is stored is sound: no item is for a deleted key, and at most two keys are active.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.environment import ENGINE
from tests.support.model.invariants import check_invariants
from tests.support.proving import PROVING, fewer, more
from tests.support.storage import Contents, Storage
from tests.support.world import make
from tests.support.world.items import folders, shares
from tests.support.world.items.metadata import (
    KEYS,
    PRIVATES,
    SharedKey,
    allow_v5,
    body_of,
    copy_for,
    described,
    expire,
    opened,
    pair,
    v5_resource,
)
from tests.support.world.items.resources import V5_DEFAULT, metadata, v4
from tests.support.world.make import Somebody

EXAMPLES = more(fewer(8, 40), 400) if ENGINE == "embedded" else more(fewer(2, 4), 40)
NAMES = ("ada", "betty", "carol")
USERS = st.sampled_from(NAMES)
NUMBERS = st.integers(1, 4)
KINDS = st.sampled_from(["resources", "folders"])
LUCK = st.integers(0, 20)
MOST_ACTIVE = 2


class State(Enum):
    ACTIVE = "active"
    EXPIRED = "expired"
    DELETED = "deleted"


@dataclass
class Known:
    """A key as the model has it."""

    key: SharedKey
    state: State = State.ACTIVE
    holders: set[str] = field(default_factory=set)


@dataclass
class Item:
    """An item of its owner and of whom they share it with: for a shared key, or in clear."""

    kind: str
    owner: str
    row: Any
    number: int | None
    text: str
    readers: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Start:
    """Ada, who administers, and two others; all formats may be made."""

    store: Storage
    contents: Contents
    people: dict[str, Somebody]

    @classmethod
    def of(cls, store: Storage) -> Start:
        people = {name: make.user(name, admin=name == "ada") for name in NAMES}
        return cls(store, store.contents(), people)


class Organisation(RuleBasedStateMachine):
    def __init__(self, start: Start) -> None:
        super().__init__()
        start.store.put_back(start.contents)
        self.start = start
        self.keys: dict[int, Known] = {}
        self.items: dict[str, Item] = {}
        self.count = 0

    @property
    def admin(self) -> Somebody:
        return self.start.people["ada"]

    def who(self, name: str) -> Somebody:
        return self.start.people[name]

    def active(self) -> list[int]:
        return [n for n, known in self.keys.items() if known.state is State.ACTIVE]

    def is_used(self, number: int) -> bool:
        return any(item.number == number for item in self.items.values())

    @initialize(number=NUMBERS)
    def begin(self, number: int) -> None:
        self.make_key(number, "betty")
        allow_v5(self.admin)

    @rule(number=NUMBERS, user=USERS)
    def make_key(self, number: int, user: str) -> None:
        holders = {"ada", user}
        body = body_of(pair(number), *(self.who(name) for name in sorted(holders)))
        response = self.admin.client.post(KEYS, body)
        may_be = number not in self.keys and len(self.active()) < MOST_ACTIVE
        assert response.status == (200 if may_be else 400), response.json
        if may_be:
            [made] = response.body
            self.keys[number] = Known(replace(pair(number), id=made["id"]), holders=holders)

    @rule(number=NUMBERS)
    def expire_key(self, number: int) -> None:
        if number in self.keys:
            known = self.keys[number]
            expected = {State.ACTIVE: 200, State.EXPIRED: 400, State.DELETED: 404}[known.state]
            assert expire(self.admin, known.key).status == expected
            known.state = State.EXPIRED if known.state is State.ACTIVE else known.state

    @rule(number=NUMBERS)
    def delete_key(self, number: int) -> None:
        if number in self.keys:
            known = self.keys[number]
            may_be = known.state is State.EXPIRED and not self.is_used(number)
            expected = 200 if may_be else 404 if known.state is State.DELETED else 400
            assert self.admin.client.delete(known.key.path).status == expected
            known.state = State.DELETED if may_be else known.state
            known.holders = set() if may_be else known.holders

    @rule(number=NUMBERS, user=USERS)
    def give_key(self, number: int, user: str) -> None:
        if number in self.keys:
            known, who = self.keys[number], self.who(user)
            entry = {"metadata_key_id": known.key.id, "user_id": who.id}
            response = self.admin.client.post(
                PRIVATES, [entry | {"data": copy_for(known.key, who)}]
            )
            may_be = known.state is not State.DELETED and user not in known.holders
            assert response.status == (200 if may_be else 400), response.json
            known.holders |= {user} if may_be else set()

    @rule(kind=KINDS, user=USERS, number=st.one_of(NUMBERS, st.none()))
    def create(self, kind: str, user: str, number: int | None) -> None:
        body, text = self._body(kind, user, number)
        response = self.who(user).client.post(f"/{kind}.json", body)
        assert response.status == (200 if self._may_use(number) else 400), response.json
        if response.status == 200:
            self.items[response.body["id"]] = Item(kind, user, response.body, number, text)

    @rule(luck=LUCK, number=st.one_of(NUMBERS, st.none()))
    def update(self, luck: int, number: int | None) -> None:
        item = self._some(luck)
        if item is not None:
            body, text = self._body(item.kind, item.owner, number)
            body.pop("secrets", None)
            where = f"/{item.kind}/{item.row['id']}.json"
            response = self.who(item.owner).client.put(where, body)
            assert response.status == (200 if self._may_use(number) else 400), response.json
            if response.status == 200:
                item.row, item.number, item.text = response.body, number, text

    @rule(luck=LUCK)
    def delete(self, luck: int) -> None:
        item = self._some(luck)
        if item is not None:
            where = f"/{item.kind}/{item.row['id']}.json"
            assert self.who(item.owner).client.delete(where).status == 200
            del self.items[item.row["id"]]

    @rule(luck=LUCK, user=USERS)
    def share(self, luck: int, user: str) -> None:
        """The item is given to a user, or taken from them where they have it."""
        item = self._some(luck)
        if item is None or user == item.owner:
            return
        id_, owner, other = item.row["id"], self.who(item.owner), self.who(user)
        if item.kind == "folders":
            taken = folders.taking(id_, other) if user in item.readers else shares.add(other)
            response = folders.share(owner, id_, taken)
        elif user in item.readers:
            response = shares.share(owner, id_, [shares.remove(id_, other)])
        else:
            secret = {"user_id": other.id, "data": v4()["secrets"][0]["data"]}
            response = shares.share(owner, id_, [shares.add(other)], [secret])
        assert response.status == 200, response.json
        item.readers ^= {user}

    @precondition(lambda self: self.active())
    @rule(kind=KINDS)
    def rotate(self, kind: str) -> None:
        """A page is rotated, if one key alone is active."""
        to = self.active()[0]
        rows = self._listed("rotate-key", kind)
        if not rows:
            return
        batch = [{**row, **described(self.keys[to].key, self._text(row))} for row in rows]
        response = self.admin.client.post(f"/metadata/rotate-key/{kind}.json", batch)
        assert response.status == (200 if len(self.active()) == 1 else 400), response.json
        self._follow(rows, to, response.status)

    @precondition(lambda self: self.active())
    @rule(kind=KINDS)
    def upgrade(self, kind: str) -> None:
        to = self.active()[0]
        rows = self._listed("upgrade", kind)
        if not rows:
            return
        batch = [{**row, **described(self.keys[to].key, self._text(row))} for row in rows]
        response = self.admin.client.post(f"/metadata/upgrade/{kind}.json", batch)
        assert response.status == (200 if len(self.active()) == 1 else 400), response.json
        self._follow(rows, to, response.status)

    @invariant()
    def everything_agrees(self) -> None:
        check_invariants(self.start.store)
        listed = {
            key["id"]: (key["expired"] is not None, key["deleted"] is not None)
            for key in self.admin.client.get(KEYS).body
        }
        assert listed == {
            known.key.id: (known.state is not State.ACTIVE, known.state is State.DELETED)
            for known in self.keys.values()
        }
        for kind in ("resources", "folders"):
            for name, is_wanted in (("rotate-key", self._is_stale), ("upgrade", self._is_clear)):
                expected = {
                    id_ for id_, each in self.items.items() if each.kind == kind and is_wanted(each)
                }
                assert {row["id"] for row in self._listed(name, kind)} == expected
            shared = {id_ for id_ in expected if self.items[id_].readers}
            query = "?filter[is-shared]=true"
            assert {row["id"] for row in self._listed("upgrade", kind, query)} == shared
        self._everybody_reads()

    def _everybody_reads(self) -> None:
        """Nothing is lost: each item says what was written last, to all who have it, and them."""
        for id_, item in self.items.items():
            for name in NAMES:
                answer = self.who(name).client.get(f"/{item.kind}/{id_}.json")
                if name not in {item.owner, *item.readers}:
                    assert answer.status == 404
                elif item.number is not None:
                    key = self.keys[item.number].key
                    assert opened(key, answer.body["metadata"]) == item.text
                else:
                    assert answer.body["name"] == item.text

    def _is_stale(self, item: Item) -> bool:
        return item.number is not None and self.keys[item.number].state is State.EXPIRED

    @staticmethod
    def _is_clear(item: Item) -> bool:
        return item.number is None

    def _may_use(self, number: int | None) -> bool:
        return number is None or number in self.active()

    def _some(self, luck: int) -> Item | None:
        items = list(self.items.values())
        return items[luck % len(items)] if items else None

    def _body(self, kind: str, user: str, number: int | None) -> tuple[dict[str, Any], str]:
        """An item for this key; where there is none, for the user's own, which is none of them."""
        self.count += 1
        text = f"text {self.count}"
        if number is None:
            return (v4(name=text) if kind == "resources" else {"name": text}), text
        key = self.keys[number].key if number in self.keys else None
        if key is None:
            strange = metadata(self.who(user)) | {"metadata_key_type": "shared_key"}
            more_of_it = {"resource_type_id": V5_DEFAULT, "secrets": v4()["secrets"]}
            return strange | (more_of_it if kind == "resources" else {}), text
        return (v5_resource(key, text) if kind == "resources" else described(key, text)), text

    def _listed(self, name: str, kind: str, query: str = "") -> list[Any]:
        response = self.admin.client.get(f"/metadata/{name}/{kind}.json{query}")
        assert response.status == 200
        rows: list[Any] = response.body
        return rows

    def _text(self, row: Any) -> str:
        return self.items[row["id"]].text

    def _follow(self, rows: list[Any], to: int, status: int) -> None:
        for row in rows if status == 200 else ():
            item = self.items[row["id"]]
            item.number = to


def test_keys_and_items_are_as_a_plain_model_has_them(store: Storage) -> None:
    """I7, I14"""
    start = Start.of(store)
    run_state_machine_as_test(
        lambda: Organisation(start),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=more(20, 40),
            deadline=None,
            derandomize=not PROVING,
            suppress_health_check=list(HealthCheck),
        ),
    )
