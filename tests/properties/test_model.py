"""Whatever people do one after the other, the service and a plain model of it agree.

The model is `tests/support/model/tenant.py`. After each step the answer's status,
what everybody sees, and what is stored are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
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

from chalicelib.domain.items.permissions import PermissionType
from tests.support.environment import ENGINE
from tests.support.model import wire
from tests.support.model.invariants import check_invariants
from tests.support.model.tenant import (
    FORBIDDEN,
    INVALID,
    OK,
    OWNER,
    READ,
    UPDATE,
    GroupChange,
    Holder,
    Item,
    Person,
    Team,
    Tenant,
    changed,
    reached_by,
)
from tests.support.proving import PROVING, fewer, more
from tests.support.storage import Contents, Storage
from tests.support.wire.client import Client, Response
from tests.support.world import groups, make, people
from tests.support.world.items import resources
from tests.support.world.keys import KEYS, message
from tests.support.world.make import Somebody
from tests.support.world.people import Invited

NAMED = ("ada", "betty", "carol", "dave", "edith", "frances")
EXAMPLES = more(fewer(15, 40), 300) if ENGINE == "embedded" else more(fewer(4, 8), 100)
PEOPLE, TEAMS, ITEMS = Bundle("people"), Bundle("teams"), Bundle("items")
NAMES = st.sampled_from(["crew", "Crew", "staff", "board"])
TYPES = st.sampled_from([READ, UPDATE, OWNER])
HOLDERS = st.one_of(PEOPLE, TEAMS)
SHARES = st.dictionaries(HOLDERS, st.none() | TYPES, min_size=1, max_size=3)
MEMBERS = st.dictionaries(PEOPLE, st.booleans(), min_size=1, max_size=3)
SECRETS = st.sampled_from(["right", "right", "right", "one missing", "one too many"])
LUCK = st.integers(0, 7)
"""Who asks: seldom anybody, mostly one of those who may."""


@dataclass(frozen=True)
class Start:
    """Two administrators, a manager, who owns a resource, and a member, who may read it."""

    store: Storage
    contents: Contents
    people: tuple[Somebody, ...]
    team: make.Team
    item_id: str

    @classmethod
    def of(cls, store: Storage) -> Start:
        ada, betty = (make.user(name, admin=True) for name in ("ada", "betty"))
        carol, dave = (make.user(name) for name in ("carol", "dave"))
        team = make.group(carol, dave, name="crew")
        item_id = make.resource(carol, {team: PermissionType.READ})
        return cls(store, store.contents(), (ada, betty, carol, dave), team, item_id)

    def tenant(self) -> Tenant:
        """Go back to it."""
        self.store.put_back(self.contents)
        persons = [Person(who.id, who.key, who.client, who.user.is_admin) for who in self.people]
        _, _, carol, dave = persons
        team = Team(self.team.id, "crew", {carol: True, dave: False})
        held = {
            each: resources.secret_of(wire.somebody(each), self.item_id) for each in (carol, dave)
        }
        item = Item(self.item_id, "mail", {carol: OWNER, team: READ}, held)
        return Tenant(persons, [team], [item])


class People(RuleBasedStateMachine):
    """What administrators, managers, owners and others ask for."""

    def __init__(self, start: Start) -> None:
        super().__init__()
        self.store = start.store
        self.tenant = start.tenant()
        self.links: dict[Person, Invited] = {}
        self.marks: dict[tuple[Person, Item], str] = {}
        self.messages = 0

    @initialize(target=PEOPLE)
    def first_people(self) -> Any:
        return multiple(*self.tenant.people)

    @initialize(target=TEAMS)
    def first_team(self) -> Any:
        return multiple(*self.tenant.teams)

    @initialize(target=ITEMS)
    def first_item(self) -> Any:
        return multiple(*self.tenant.items)

    # Resources

    @rule(actor=PEOPLE, target=ITEMS)
    def create_item(self, actor: Person) -> Any:
        secret = self._message(actor)
        sent = resources.v4(name="new", secrets=[{"data": secret}])
        response = actor.client.post("/resources.json", sent)
        if not self._agree(actor, response, lambda: OK):
            return multiple()
        item = Item(response.body["id"], "new", {actor: OWNER}, {actor: secret})
        self.tenant.items.append(item)
        return item

    @rule(anybody=PEOPLE, luck=LUCK, item=ITEMS, secrets=st.none() | SECRETS)
    def update_item(self, anybody: Person, luck: int, item: Item, secrets: str | None) -> None:
        actor = _one_of(luck, _able_to(UPDATE, item), anybody)
        # An empty list says nothing of secrets, as if there were none.
        new = None if secrets is None else self._secrets(item.reached, secrets) or None
        name = f"name {self.messages}"
        sent: dict[str, Any] = {"name": name}
        if new is not None:
            sent["secrets"] = wire.secret_rows(new)
        response = actor.client.put(resources.path(item.id), sent)
        self._agree(actor, response, lambda: self.tenant.update_item(actor, item, name, new))

    @rule(anybody=PEOPLE, luck=LUCK, item=ITEMS)
    def delete_item(self, anybody: Person, luck: int, item: Item) -> None:
        actor = _one_of(luck, _able_to(UPDATE, item), anybody)
        response = actor.client.delete(resources.path(item.id))
        self._agree(actor, response, lambda: self.tenant.delete_item(actor, item))

    @rule(anybody=PEOPLE, luck=LUCK, item=ITEMS, changes=SHARES, secrets=SECRETS)
    def share(
        self,
        anybody: Person,
        luck: int,
        item: Item,
        changes: Mapping[Holder, int | None],
        secrets: str,
    ) -> None:
        self._share(_one_of(luck, _able_to(OWNER, item), anybody), item, changes, secrets)

    @rule(item=ITEMS, holder=HOLDERS, type_=TYPES)
    def give(self, item: Item, holder: Holder, type_: int) -> None:
        for owner in _able_to(OWNER, item)[:1]:
            self._share(owner, item, {holder: type_}, "right")

    @rule(item=ITEMS, luck=LUCK)
    def take(self, item: Item, luck: int) -> None:
        for owner in _able_to(OWNER, item)[:1]:
            holder = [*item.access][luck % len(item.access)]
            self._share(owner, item, {holder: None}, "right")

    @rule(anybody=PEOPLE, luck=LUCK, item=ITEMS)
    def mark(self, anybody: Person, luck: int, item: Item) -> None:
        actor = _one_of(luck, _able_to(READ, item), anybody)
        response = actor.client.post(f"/favorites/resource/{item.id}.json")
        if self._agree(actor, response, lambda: self.tenant.mark(actor, item)):
            self.marks[actor, item] = response.body["id"]

    @precondition(lambda self: self.marks)
    @rule(luck=LUCK)
    def unmark(self, luck: int) -> None:
        actor, item = [*self.marks][luck % len(self.marks)]
        response = actor.client.delete(f"/favorites/{self.marks[actor, item]}.json")
        self._agree(actor, response, lambda: self.tenant.unmark(actor, item))

    # Groups

    @rule(anybody=PEOPLE, luck=LUCK, name=NAMES, members=MEMBERS, target=TEAMS)
    def create_team(
        self, anybody: Person, luck: int, name: str, members: dict[Person, bool]
    ) -> Any:
        actor = _one_of(luck, self._administrators(), anybody)
        entries = [{"user_id": who.id, "is_admin": manages} for who, manages in members.items()]
        response = actor.client.post("/groups.json", {"name": name, "groups_users": entries})
        verdict = self.tenant.create_team
        if not self._agree(actor, response, lambda: verdict(actor, name, members)):
            return multiple()
        team = Team(response.body["id"], name, members)
        self.tenant.teams.append(team)
        return team

    @rule(anybody=PEOPLE, luck=LUCK, team=TEAMS, joining=MEMBERS, secrets=SECRETS)
    def add_members(
        self, anybody: Person, luck: int, team: Team, joining: dict[Person, bool], secrets: str
    ) -> None:
        actor = _one_of(luck, _managers(team), anybody)
        strangers = {who: manages for who, manages in joining.items() if who not in team.members}
        joining = strangers or joining
        given = {
            person: self._secrets_of(person, self.tenant.needed(team, person), secrets)
            for person in joining
        }
        self._change(actor, team, GroupChange(joining=joining, secrets=given))

    @rule(
        anybody=PEOPLE, luck=LUCK, team=TEAMS, roles=MEMBERS, leaving=st.lists(PEOPLE, max_size=2)
    )
    def change_members(
        self,
        anybody: Person,
        luck: int,
        team: Team,
        roles: dict[Person, bool],
        leaving: list[Person],
    ) -> None:
        actor = _one_of(luck, [*self._administrators(), *_managers(team)], anybody)
        roles = {person: role for person, role in roles.items() if person in team.members}
        going = [person for person in dict.fromkeys(leaving) if person in team.members]
        self._change(actor, team, GroupChange(roles=roles, leaving=going))

    @rule(
        anybody=PEOPLE,
        luck=LUCK,
        team=TEAMS,
        leaving=PEOPLE,
        joining=PEOPLE,
        name=st.none() | NAMES,
    )
    def replace_member(
        self,
        anybody: Person,
        luck: int,
        team: Team,
        leaving: Person,
        joining: Person,
        name: str | None,
    ) -> None:
        actor = _one_of(luck, _managers(team), anybody)
        given = self._secrets_of(joining, self.tenant.needed(team, joining), "right")
        going = [leaving] if leaving in team.members else []
        change = GroupChange(name, {joining: True}, {joining: given}, leaving=going)
        self._change(actor, team, change)

    @rule(anybody=PEOPLE, luck=LUCK, team=TEAMS, name=NAMES)
    def rename(self, anybody: Person, luck: int, team: Team, name: str) -> None:
        actor = _one_of(luck, [*self._administrators(), *_managers(team)], anybody)
        self._change(actor, team, GroupChange(name))

    @rule(
        anybody=PEOPLE,
        luck=LUCK,
        team=TEAMS,
        hands_over=st.sampled_from(["nothing", "all"]),
        data=st.data(),
    )
    def delete_team(
        self, anybody: Person, luck: int, team: Team, hands_over: str, data: st.DataObject
    ) -> None:
        actor = _one_of(luck, [*self._administrators(), *_managers(team)], anybody)
        blocking = self.tenant.blocking({team}) if hands_over == "all" else []
        owners = {item: data.draw(st.sampled_from([*item.access])) for item in blocking}
        sent = {"transfer": {"owners": wire.new_owners(owners)}}
        response = actor.client.delete(groups.path(team.id), json=sent)
        self._agree(actor, response, lambda: self.tenant.delete_team(actor, team, owners))

    # People

    @precondition(lambda self: self._uninvited())
    @rule(anybody=PEOPLE, luck=LUCK, target=PEOPLE)
    def invite(self, anybody: Person, luck: int) -> Any:
        actor = _one_of(luck, self._administrators(), anybody)
        name, *_ = self._uninvited()
        response = actor.client.post("/users.json", people.invitation(name))
        if not self._agree(actor, response, lambda: OK if actor.is_admin else FORBIDDEN):
            return multiple()
        link = people.invited(self.store, response)
        person = Person(link.id, KEYS[name], Client(), is_active=False)
        self.links[person] = link
        self.tenant.people.append(person)
        return person

    @precondition(lambda self: self.links)
    @rule(luck=LUCK)
    def set_up(self, luck: int) -> None:
        person = [*self.links][luck % len(self.links)]
        key = {"armored_key": person.key.public}
        sent = {"authentication_token": {"token": self.links[person].token}, "gpgkey": key}
        response = Client().post(f"/setup/complete/{person.id}.json", sent)
        is_waiting = not (person.is_active or person.is_suspended or person.is_deleted)
        assert response.status == (OK if is_waiting else INVALID), response.json
        if is_waiting:
            person.is_active = True
            self._sign_in(person)

    @rule(anybody=PEOPLE, luck=LUCK, person=PEOPLE)
    def suspend(self, anybody: Person, luck: int, person: Person) -> None:
        actor = _one_of(luck, self._administrators(), anybody)
        if actor is person:
            return
        end = "" if person.is_suspended else "2026-11-21 10:00:00"
        response = actor.client.put(f"/users/{person.id}.json", {"disabled": end})
        done = self._agree(actor, response, lambda: self.tenant.suspend(actor, person))
        if done and person.is_able:
            self._sign_in(person)

    @rule(
        anybody=PEOPLE,
        luck=LUCK,
        person=PEOPLE,
        hands_over=st.sampled_from(["nothing", "all", "all", "groups", "items"]),
        data=st.data(),
    )
    def delete_person(
        self, anybody: Person, luck: int, person: Person, hands_over: str, data: st.DataObject
    ) -> None:
        actor = _one_of(luck, self._administrators(), anybody)
        teams = self.tenant.unmanaged(person) if hands_over in ("all", "groups") else []
        items = self.tenant.blocking({person, *self.tenant.lonely(person)})
        managers = {team: data.draw(st.sampled_from([*team.members])) for team in teams}
        owners = {item: data.draw(st.sampled_from([*item.access])) for item in items}
        owners = owners if hands_over in ("all", "items") else {}
        sent = {"managers": wire.new_managers(managers), "owners": wire.new_owners(owners)}
        response = actor.client.delete(f"/users/{person.id}.json", json={"transfer": sent})
        verdict = self.tenant.delete_person
        self._agree(actor, response, lambda: verdict(actor, person, managers, owners))

    # What must be true

    @invariant()
    def everybody_sees_what_there_is(self) -> None:
        able = [person for person in self.tenant.people if person.is_able]
        for person in able:
            assert wire.resources_of(person) == self._expected(person), person
        for person in able[:1]:
            assert wire.groups_of(person) == self._expected_groups()

    @invariant()
    def access_lists_are_right(self) -> None:
        for item in self.tenant.live_items:
            actor = next((person for person in item.reached if person.is_able), None)
            if actor is not None:
                found = actor.client.get(f"/permissions/resource/{item.id}.json").body
                types = {each["aro_foreign_key"]: each["type"] for each in found}
                assert types == {holder.id: type_ for holder, type_ in item.access.items()}

    @invariant()
    def what_is_stored_is_sound(self) -> None:
        check_invariants(self.store)

    def _expected(self, person: Person) -> dict[str, Any]:
        return {
            item.id: (
                item.name,
                item.type_of(person),
                item.secrets[person],
                person in item.favorites,
            )
            for item in self.tenant.items
            if item.type_of(person)
        }

    def _expected_groups(self) -> dict[str, Any]:
        return {
            team.id: (team.name, {who.id: manages for who, manages in team.members.items()})
            for team in self.tenant.teams
            if not team.is_deleted
        }

    # Asking

    def _agree(self, actor: Person, response: Response, verdict: Callable[[], int]) -> bool:
        """See that the model gives the same answer; say whether it was done."""
        expected = verdict() if actor.is_able else FORBIDDEN
        assert response.status == expected, response.json
        return response.status == OK

    def _share(
        self, actor: Person, item: Item, changes: Mapping[Holder, int | None], kind: str
    ) -> None:
        gaining = reached_by(changed(item.access, changes)) - item.reached
        secrets = self._secrets(gaining, kind)
        rows = [row for each in changes.items() if (row := wire.permission_row(item, *each))]
        body = {"permissions": rows, "secrets": wire.secret_rows(secrets)}
        response = actor.client.put(f"/share/resource/{item.id}.json", body)
        self._agree(actor, response, lambda: self.tenant.share(actor, item, changes, secrets))

    def _change(self, actor: Person, team: Team, change: GroupChange) -> None:
        response = actor.client.put(groups.path(team.id), wire.group_change(team, change))
        self._agree(actor, response, lambda: self.tenant.change_team(actor, team, change))

    def _secrets(self, wanted: Collection[Person], kind: str) -> dict[Person, str]:
        """A secret for each of these; or for one less, or for somebody else as well."""
        ordered = [person for person in self.tenant.people if person in wanted]
        others = [person for person in self.tenant.people if person not in wanted]
        return {who: self._message(who) for who in _altered(ordered, others, kind)}

    def _secrets_of(self, person: Person, items: Collection[Item], kind: str) -> dict[Item, str]:
        ordered = [item for item in self.tenant.items if item in items]
        others = [item for item in self.tenant.items if item not in items]
        return {item: self._message(person) for item in _altered(ordered, others, kind)}

    def _uninvited(self) -> list[str]:
        known = {person.key.name for person in self.tenant.people}
        return [name for name in NAMED if name not in known]

    def _administrators(self) -> list[Person]:
        return [person for person in self.tenant.people if person.is_admin and person.is_able]

    def _message(self, person: Person) -> str:
        self.messages += 1
        return message(f"secret {self.messages}", person.key.public)

    def _sign_in(self, person: Person) -> None:
        person.client = Client(make.access_token(people.stored(person.id)))


def _one_of(luck: int, fit: list[Person], anybody: Person) -> Person:
    """Somebody who may do it, where there is one; or anybody."""
    return fit[luck % len(fit)] if luck and fit else anybody


def _able_to(at_least: int, item: Item) -> list[Person]:
    return sorted((p for p in item.reached if item.type_of(p) >= at_least), key=repr)


def _managers(team: Team) -> list[Person]:
    return [person for person, manages in team.members.items() if manages]


def _altered(wanted: list[Any], others: list[Any], kind: str) -> list[Any]:
    if kind == "one missing":
        return wanted[1:]
    return [*wanted, *others[:1]] if kind == "one too many" else wanted


def test_the_service_agrees_with_the_model(store):
    start = Start.of(store)
    run_state_machine_as_test(
        lambda: People(start),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=more(20, 50),
            derandomize=not PROVING,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
