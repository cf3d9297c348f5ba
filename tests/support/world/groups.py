"""What requests about groups are made of, and what is stored of a group afterwards."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.errors import FieldErrors
from chalicelib.domain.ids import GroupId, ResourceId, UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import reading
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from tests.support.wire.client import Response
from tests.support.world import make
from tests.support.world.keys import message
from tests.support.world.make import Somebody, Team

INVALID = "Could not validate group data."


def path(group: Team | str) -> str:
    return f"/groups/{_id(group)}.json"


def body(*members: Somebody, name: str = "team", **fields: Any) -> dict[str, Any]:
    """The body of a creation; the first of the members manages the group."""
    entries = [{"user_id": who.id, "is_admin": who is members[0]} for who in members]
    return {"name": name, "groups_users": entries, **fields}


def create(who: Somebody, sent: Any, query: str = "") -> Response:
    return who.client.post(f"/groups.json{query}", sent)


def created(who: Somebody, *members: Somebody, name: str = "team") -> Any:
    response = create(who, body(*members, name=name))
    assert response.status == 200, response.json
    return response.body


def update(who: Somebody, group: Team | str, *changes: Any, **fields: Any) -> Response:
    """Ask for these changes of memberships, and what else the fields say."""
    return who.client.put(path(group), {"groups_users": list(changes), **fields})


def dry_run(who: Somebody, group: Team | str, *changes: Any, **fields: Any) -> Response:
    sent = {"groups_users": list(changes), **fields}
    return who.client.put(f"/groups/{_id(group)}/dry-run.json", sent)


def add(who: Somebody, *, manages: bool = False) -> dict[str, Any]:
    return {"user_id": who.id, "is_admin": manages}


def promote(group: Team | str, who: Somebody) -> dict[str, Any]:
    return {"id": membership(group, who).id, "is_admin": True}


def demote(group: Team | str, who: Somebody) -> dict[str, Any]:
    return {"id": membership(group, who).id, "is_admin": False}


def remove(group: Team | str, who: Somebody) -> dict[str, Any]:
    return {"id": membership(group, who).id, "delete": True}


def secret(who: Somebody, resource_id: str, text: str = "secret") -> dict[str, str]:
    data = message(text, who.key.public)
    return {"user_id": who.id, "resource_id": resource_id, "data": data}


def shared(owner: Somebody, *groups: Team) -> ResourceId:
    """A resource of somebody that groups may read."""
    return make.resource(owner, dict.fromkeys(groups, PermissionType.READ))


def membership(group: Team | str, who: Somebody) -> Membership:
    key = Membership.of(GroupId(_id(group)), UserId(who.id))
    row = reading.find(key)
    assert row is not None, "they are no member"
    return Membership.from_raw(row)


def members(group: Team | str) -> dict[str, bool]:
    """Who belongs to a group, each with whether they manage it."""
    return {row.user_id: row.is_admin for row in Membership.in_group(GroupId(_id(group)))}


def stored(group: Team | str) -> Group:
    row = reading.find(Group.by_id(GroupId(_id(group))))
    assert row is not None
    return Group.from_raw(row)


def errors(response: Response) -> FieldErrors:
    """What a refused group is refused for: rules by field."""
    assert (response.status, response.message) == (400, INVALID), response.json
    return _rules(response.body)


def at(position: int, *path: str, rules: set[str]) -> Any:
    """The refusal of an entry, by the path below it."""
    found: Any = rules
    for name in reversed(path):
        found = {name: found}
    return {"groups_users": {str(position): found}}


def _rules(found: Any) -> Any:
    """The rules without what they say."""
    if isinstance(found, dict) and all(isinstance(each, str | list) for each in found.values()):
        return set(found)
    return {name: _rules(each) for name, each in found.items()}


def _id(group: Team | str) -> str:
    return group.id if isinstance(group, Team) else group
