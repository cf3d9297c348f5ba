"""People in a storm: each a thread that sends requests over HTTP, and judges the answers."""

from __future__ import annotations

import random
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any

import requests

from chalicelib.domain.items.permissions import PermissionType
from tests.storm.ledger import Ledger, Register, Value
from tests.storm.world import Crowd, World
from tests.support.world import make
from tests.support.world.items.resources import message_with
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = map(int, PermissionType)
OK, UNAVAILABLE = 200, 503
REFUSED = frozenset({400, 403, 404, 409})
PATIENCE = 60
CUT_OFF = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,  # of any answer of which a part is missing
)
"""What comes of a server that dies before its answer is all there."""
TOKEN_LASTS = 120
"""Seconds after which somebody takes a new access token; one is good for five minutes."""


@cache
def sealed(tag: int) -> str:
    """The message of this tag, for nobody in particular."""
    return message_with(f"{tag:060}".encode())


@dataclass
class Storm:
    """What the people of a storm have in common."""

    world: World
    urls: list[str]
    ledger: Ledger = field(default_factory=Ledger)
    over: threading.Event = field(default_factory=threading.Event)
    troubles: list[str] = field(default_factory=list)
    """What must not have been answered."""
    counts: Counter[str] = field(default_factory=Counter)
    handed: defaultdict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    """Tags of secrets that were handed on, by item and user: they may have been old by then."""
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _leaving: list[Somebody] = field(init=False)
    _tags: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._leaving = list(self.world.leavers)
        for item_id, item in self.world.items.items():
            readers = {self.may(item_id, each): READ for each in item.readers}
            owner = self.may(item_id, item.owner)
            self.ledger.note({("item", item_id): 0, owner: OWNER, **readers})
        for crowd in self.world.crowds:
            for who in crowd.team.members:
                manages = who == crowd.manager
                self.ledger.note({self.member(crowd.team.id, who.id): manages})
        for who, items in self.world.leavers.items():
            self.ledger.note({("user", who.id): True})
            for item_id in items:
                self.ledger.belongs(("item", item_id), ("user", who.id))
                self.ledger.note({("item", item_id): 0})

    def may(self, item: str, holder: Somebody | Team) -> Register:
        """What somebody may do with an item."""
        register = ("may", item, holder.id)
        kind = "group" if isinstance(holder, Team) else "user"
        self.ledger.belongs(register, ("item", item), (kind, holder.id))
        return register

    def member(self, group_id: str, user_id: str) -> Register:
        """Whether somebody manages a group they belong to."""
        register = ("member", group_id, user_id)
        self.ledger.belongs(register, ("group", group_id), ("user", user_id))
        return register

    def new_tag(self) -> int:
        tag = next(self._numbers)
        self._tags[sealed(tag)] = tag
        return tag

    def tag_in(self, secret: str) -> int:
        return self._tags.get(secret, 0)

    def next_to_leave(self) -> Somebody | None:
        return self._leaving.pop() if self._leaving else None

    def expect(self, is_so: bool, says: str) -> None:  # noqa: FBT001 - reads as an assertion
        if not is_so:
            self.troubles.append(says)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    since: float
    until: float


class Person:
    """Somebody with a session, who asks whichever server answers."""

    def __init__(self, storm: Storm, who: Somebody, chance: random.Random) -> None:
        self.storm, self.who, self.chance = storm, who, chance
        self._token, self._expires = "", 0.0

    def ask(self, method: str, path: str, sent: Any = None) -> Answer | None:
        """The answer; `None` where nobody knows whether the request was carried out."""
        since = time.monotonic()
        try:
            response = self._send(method, path, sent)
        except CUT_OFF as error:
            self.storm.counts[f"{type(error).__name__}"] += 1
            return None
        status = response.status_code
        self.storm.counts[f"{method} {status}"] += 1
        if status == UNAVAILABLE:
            return None
        said = f"{method} {path}: {status} {response.text[:500]}"
        self.storm.expect(status == OK or status in REFUSED, said)
        return Answer(status, response.json()["body"], since, time.monotonic())

    def read(self, path: str) -> Answer | None:
        """The answer, if it is a success."""
        answer = self.ask("GET", path)
        return answer if answer is not None and answer.status == OK else None

    def write(self, what: str, method: str, path: str, sent: Any, values: Values) -> Answer | None:
        """Change registers; returns the answer if it is a success."""
        begun = self.storm.ledger.begin(values)
        answer = self.ask(method, path, sent)
        if answer is None:
            self.storm.counts[f"{what}: unknown"] += 1
            return None
        if answer.status != OK:
            begun.refused()
            self.storm.counts[f"{what}: refused"] += 1
            return None
        begun.done()
        self.storm.counts[f"{what}: done"] += 1
        return answer

    def _send(self, method: str, path: str, sent: Any) -> requests.Response:
        """Send to a server that is there; nothing was sent to one that is not."""
        if time.monotonic() > self._expires:
            self._token = make.access_token(self.who.user)
            self._expires = time.monotonic() + TOKEN_LASTS
        headers = {"Authorization": f"Bearer {self._token}"}
        while True:
            url = self.chance.choice(self.storm.urls) + path
            try:
                return requests.request(method, url, json=sent, headers=headers, timeout=PATIENCE)
            except requests.ConnectionError as error:
                if "NewConnectionError" not in str(error) or self.storm.over.is_set():
                    raise
                time.sleep(0.05)


Values = Mapping[Register, Value]
Act = Callable[[Person], None]


# Reading


def look_at_list(person: Person) -> None:
    answer = person.read("/resources.json?contain[secret]=1&contain[permission]=1")
    for row in answer.body if answer else ():
        _judge_item(person, answer, row)


def _judge_item(person: Person, answer: Answer, row: Mapping[str, Any]) -> None:
    """An item is called as its secret is: both are of one revision, or it was handed on old."""
    storm, item = person.storm, row["id"]
    name, secret = _tag_of(row["name"]), storm.tag_in(row["secrets"][0]["data"])
    storm.counts["items read"] += 1
    whole = secret == name or secret in storm.handed[item, person.who.id]
    storm.expect(whole, f"{person.who.id} read {item}: name {name}, secret {secret}")
    _judge(storm, answer, ("item", item), name)


def _judge(storm: Storm, answer: Answer, register: Register, value: Value) -> None:
    if not storm.ledger.knows(register):  # it was made just now, or nobody knows by whom
        return
    possible = storm.ledger.possible(register, answer.since, answer.until)
    storm.expect(value in possible, f"{register} read as {value}, not one of {possible}")


def _tag_of(name: str) -> int:
    return int(name.removeprefix("tag "))


def look_at_secret(person: Person) -> None:
    """The owner's secret is one that the item has: nobody hands it on to them."""
    storm = person.storm
    item = person.chance.choice(_owned(person))
    answer = person.read(f"/secrets/resource/{item}.json")
    if answer is not None:
        _judge(storm, answer, ("item", item), storm.tag_in(answer.body["data"]))
        storm.counts["secrets read"] += 1


def _owned(person: Person) -> list[str]:
    return [id_ for id_, item in person.storm.world.items.items() if item.owner == person.who]


def look_at_group(person: Person) -> None:
    _members(person, person.chance.choice(person.storm.world.crowds))


def _members(person: Person, crowd: Crowd) -> dict[str, dict[str, Any]] | None:
    """The memberships of a group, by user."""
    storm, team = person.storm, crowd.team
    answer = person.read(f"/groups/{team.id}.json?contain[groups_users]=1")
    if answer is None:
        return None
    found = {row["user_id"]: row for row in answer.body["groups_users"]}
    _judge_crowd(storm, crowd, found, "are members")
    for user_id, row in found.items():
        _judge(storm, answer, storm.member(team.id, user_id), row["is_admin"])
    storm.counts["groups read"] += 1
    return found


def _judge_crowd(storm: Storm, crowd: Crowd, found: Collection[str], says: str) -> None:
    """Those who come and go together are all there or not at all."""
    there = sum(who.id in found for who in crowd.people)
    storm.expect(there in (0, len(crowd.people)), f"{there} of {crowd.team.id} {says}")


def look_who_has_access(person: Person) -> None:
    """The holders of an item, among whom there are whole crowds."""
    _holders(person, person.chance.choice(list(person.storm.world.items)))


def _holders(person: Person, item: str) -> set[str]:
    answer = person.read(f"/users.json?filter[has-access][]={item}")
    found = {row["id"] for row in answer.body} if answer else set()
    for crowd in person.storm.world.crowds:
        _judge_crowd(person.storm, crowd, found, f"hold {item}")
    return found


# Changing


def renew_secrets(person: Person) -> None:
    storm = person.storm
    item = person.chance.choice(list(storm.world.items))
    owner = _as(person, storm.world.items[item].owner)
    holders, tag = _holders(owner, item), storm.new_tag()
    if not holders:  # without secrets it would be a new name alone
        return
    secrets = [{"user_id": user_id, "data": sealed(tag)} for user_id in holders]
    sent = {"name": f"tag {tag}", "secrets": secrets}
    owner.write("renew", "PUT", f"/resources/{item}.json", sent, {("item", item): tag})


def _as(person: Person, who: Somebody) -> Person:
    return person if person.who == who else Person(person.storm, who, person.chance)


def let_crowd_come_or_go(person: Person) -> None:
    crowd = person.chance.choice(person.storm.world.crowds)
    _come_or_go(_as(person, crowd.manager), crowd, crowd.people)


def let_somebody_come_or_go(person: Person) -> None:
    crowd = person.chance.choice(person.storm.world.crowds)
    _come_or_go(_as(person, crowd.manager), crowd, [person.chance.choice(crowd.others)])


def _come_or_go(manager: Person, crowd: Crowd, people: Iterable[Somebody]) -> None:
    """Let people join a group or leave it, all the same."""
    found = _members(manager, crowd)
    if found is None:
        return
    gone = [found[who.id] for who in people if who.id in found]
    if gone:
        changes = [{"id": row["id"], "delete": True} for row in gone]
        values = {manager.storm.member(crowd.team.id, row["user_id"]): None for row in gone}
        _change_group(manager, "leave", crowd, {"groups_users": changes}, values)
        return
    changes = [{"user_id": who.id, "is_admin": False} for who in people]
    values = {manager.storm.member(crowd.team.id, who.id): False for who in people}
    secrets = _secrets_for_members(manager, crowd, changes)
    if secrets is not None:
        sent = {"groups_users": changes, "secrets": secrets}
        _change_group(manager, "join", crowd, sent, values)


def _change_group(manager: Person, what: str, crowd: Crowd, sent: Any, values: Values) -> None:
    manager.write(what, "PUT", f"/groups/{crowd.team.id}.json", sent, values)


def _secrets_for_members(manager: Person, crowd: Crowd, changes: Any) -> list[Any] | None:
    """What those who join have to be given, of what the manager can read."""
    path = f"/groups/{crowd.team.id}/dry-run.json"
    tried = manager.ask("PUT", path, {"groups_users": changes})
    listed = manager.read(
        f"/resources.json?filter[is-shared-with-group]={crowd.team.id}&contain[secret]=1"
    )
    if tried is None or tried.status != OK or listed is None:
        return None
    data = {row["id"]: row["secrets"][0]["data"] for row in listed.body}
    needs = [need["Secret"] for need in tried.body["dry-run"]["SecretsNeeded"]]
    needs = [need for need in needs if need["resource_id"] in data]
    return [{**need, "data": _handed_on(manager, **need, data=data)} for need in needs]


def _handed_on(by: Person, resource_id: str, user_id: str, data: Mapping[str, str]) -> str:
    secret = data[resource_id]
    by.storm.handed[resource_id, user_id].add(by.storm.tag_in(secret))
    return secret


def promote_or_demote(person: Person) -> None:
    crowd = person.chance.choice(person.storm.world.crowds)
    manager = _as(person, crowd.manager)
    found = _members(manager, crowd) or {}
    rows = [row for user_id, row in found.items() if user_id != crowd.manager.id]
    if rows:
        row = person.chance.choice(rows)
        sent = {"groups_users": [{"id": row["id"], "is_admin": not row["is_admin"]}]}
        values = {person.storm.member(crowd.team.id, row["user_id"]): not row["is_admin"]}
        _change_group(manager, "promote", crowd, sent, values)


def share_or_unshare(person: Person) -> None:
    """Give an item to somebody, give them more or less, or take it from them."""
    storm, chance = person.storm, person.chance
    item = chance.choice(list(storm.world.items))
    owner = _as(person, storm.world.items[item].owner)
    holder = chance.choice([*(crowd.team for crowd in storm.world.crowds), *storm.world.keepers])
    if holder != owner.who:
        _share(owner, item, holder)


def _share(owner: Person, item: str, holder: Somebody | Team) -> None:
    answer = owner.read(f"/permissions/resource/{item}.json")
    if answer is None:
        return
    storm = owner.storm
    entries = {row["aro_foreign_key"]: row for row in answer.body}
    entry = entries.get(holder.id)
    _judge(storm, answer, storm.may(item, holder), entry and entry["type"])
    if entry is None:
        _give(owner, item, holder)
    elif owner.chance.random() < 0.5:
        sent = {"permissions": [{"id": entry["id"], "delete": True}]}
        _put_share(owner, "unshare", item, sent, {storm.may(item, holder): None})
    else:
        type_ = READ if entry["type"] == UPDATE else UPDATE
        sent = {"permissions": [{"id": entry["id"], "type": type_}]}
        _put_share(owner, "share", item, sent, {storm.may(item, holder): type_})


def _give(owner: Person, item: str, holder: Somebody | Team) -> bool:
    aro = "Group" if isinstance(holder, Team) else "User"
    rows = [{"is_new": True, "aro": aro, "aro_foreign_key": holder.id, "type": READ}]
    tried = owner.ask("POST", f"/share/simulate/resource/{item}.json", {"permissions": rows})
    mine = owner.read(f"/secrets/resource/{item}.json")
    if tried is None or tried.status != OK or mine is None:
        return False
    new = [each["User"]["id"] if isinstance(each, dict) else each for each in _added(tried)]
    secrets = [
        {"user_id": user_id, "data": _handed_on(owner, item, user_id, {item: mine.body["data"]})}
        for user_id in new
    ]
    sent = {"permissions": rows, "secrets": secrets}
    return _put_share(owner, "share", item, sent, {owner.storm.may(item, holder): READ})


def _added(tried: Answer) -> list[Any]:
    return list(tried.body["changes"]["added"])


def _put_share(owner: Person, what: str, item: str, sent: Any, values: Values) -> bool:
    return owner.write(what, "PUT", f"/share/resource/{item}.json", sent, values) is not None


def make_and_delete_item(person: Person) -> None:
    """An item from its beginning to its end, shared with a crowd in between."""
    storm, tag = person.storm, person.storm.new_tag()
    sent = {"name": f"tag {tag}", "secrets": [{"data": sealed(tag)}]}
    created = person.write("create", "POST", "/resources.json", sent, {})
    if created is None:
        return
    item = created.body["id"]
    owned = {("item", item): tag, storm.may(item, person.who): OWNER}
    storm.ledger.note(owned, created.since)
    _give(person, item, person.chance.choice(storm.world.crowds).team)
    person.write("delete", "DELETE", f"/resources/{item}.json", None, {("item", item): None})


def found_and_dissolve_group(person: Person) -> None:
    """A group from its beginning to its end; what is shared with it in between stays."""
    storm, name = person.storm, f"group {person.storm.new_tag()}"
    people = [person.who, *storm.world.founders]
    rows = [{"user_id": who.id, "is_admin": who == person.who} for who in people]
    admin = _as(person, storm.world.admin)
    created = admin.write("found", "POST", "/groups.json", {"name": name, "groups_users": rows}, {})
    if created is None:
        return
    team = Team(created.body["id"], tuple(people))
    values = {storm.member(team.id, who.id): who == person.who for who in people}
    storm.ledger.note({("group", team.id): name, **values}, created.since)
    for item in _owned(person):
        _give(person, item, team)
    gone = {("group", team.id): None}
    admin.write("dissolve", "DELETE", f"/groups/{team.id}.json", None, gone)


def delete_user(person: Person) -> None:
    who = person.storm.next_to_leave()
    if who is not None:
        admin, gone = _as(person, person.storm.world.admin), {("user", who.id): None}
        admin.write("delete user", "DELETE", f"/users/{who.id}.json", None, gone)


READING: tuple[Act, ...] = (*3 * (look_at_group,), look_at_list, look_who_has_access)
CHANGING: tuple[Act, ...] = (
    *4 * (let_crowd_come_or_go,),
    *2 * (renew_secrets, share_or_unshare),
    *(let_somebody_come_or_go, promote_or_demote, make_and_delete_item),
    *(found_and_dissolve_group, look_at_secret, delete_user),
)


def act(storm: Storm, who: Somebody, acts: tuple[Act, ...], seed: str) -> None:
    """Do one after the other until the storm is over, or something was wrong."""
    person = Person(storm, who, random.Random(seed))
    while not storm.over.is_set() and not storm.troubles:
        try:
            person.chance.choice(acts)(person)
        except Exception:  # noqa: BLE001 - a thread has nobody who hears of it
            storm.troubles.append(traceback.format_exc())
