"""What the people of the model send, and what they see (`tests/support/model/tenant.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.model.tenant import OK, GroupChange, Holder, Item, Person, Team
from tests.support.world import groups, people
from tests.support.world.items import resources
from tests.support.world.make import Somebody


def secret_rows(secrets: Mapping[Person, str]) -> list[dict[str, str]]:
    return [{"user_id": person.id, "data": data} for person, data in secrets.items()]


def permission_row(item: Item, holder: Holder, type_: int | None) -> dict[str, Any] | None:
    """The row of a share that changes what somebody may do, if it does."""
    if holder in item.access:
        change = {"delete": True} if type_ is None else {"type": type_}
        return {"id": _permission(item, holder), **change}
    if type_ is None:
        return None
    aro = "User" if isinstance(holder, Person) else "Group"
    return {"is_new": True, "aro": aro, "aro_foreign_key": holder.id, "type": type_}


def group_change(team: Team, change: GroupChange) -> dict[str, Any]:
    joining, roles = change.joining.items(), change.roles.items()
    secrets = [
        {"user_id": person.id, "resource_id": item.id, "data": data}
        for person, given in change.secrets.items()
        for item, data in given.items()
    ]
    entries = [
        *({"user_id": person.id, "is_admin": manages} for person, manages in joining),
        *({"id": _membership(team, person), "is_admin": manages} for person, manages in roles),
        *({"id": _membership(team, person), "delete": True} for person in change.leaving),
    ]
    name = {} if change.name is None else {"name": change.name}
    return {**name, "groups_users": entries, "secrets": secrets}


def new_owners(owners: Mapping[Item, Holder]) -> list[dict[str, str]]:
    return [
        {"id": _permission(item, holder), "aco_foreign_key": item.id}
        for item, holder in owners.items()
    ]


def new_managers(managers: Mapping[Team, Person]) -> list[dict[str, str]]:
    return [
        {"id": _membership(team, person), "group_id": team.id} for team, person in managers.items()
    ]


def somebody(person: Person) -> Somebody:
    return Somebody(people.stored(person.id), person.key, "", person.client)


def resources_of(person: Person) -> dict[str, Any]:
    query = "contain[permission]=1&contain[secret]=1&contain[favorite]=1"
    response = person.client.get(f"/resources.json?{query}")
    assert response.status == OK, response.json
    return {
        row["id"]: (
            row["name"],
            row["permission"]["type"],
            row["secrets"][0]["data"],
            row["favorite"] is not None,
        )
        for row in response.body
    }


def groups_of(person: Person) -> dict[str, Any]:
    response = person.client.get("/groups.json?contain[groups_users]=1")
    assert response.status == OK, response.json
    return {
        row["id"]: (
            row["name"],
            {member["user_id"]: member["is_admin"] for member in row["groups_users"]},
        )
        for row in response.body
    }


def _permission(item: Item, holder: Holder) -> str:
    return resources.stored(item.id).permissions[holder.id].id


def _membership(team: Team, person: Person) -> str:
    return groups.membership(team.id, somebody(person)).id
