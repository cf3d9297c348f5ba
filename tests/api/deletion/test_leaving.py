"""What a member can no longer read once they have left a group."""

from __future__ import annotations

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.users.users import User
from tests.support.model.invariants import check_invariants
from tests.support.world import make
from tests.support.world.items.resources import path
from tests.support.world.make import Somebody, Team

READ = PermissionType.READ


def leave(team: Team, who: Somebody, by: Somebody) -> None:
    membership = User.get(who.id).groups[team.id].id
    change = {"groups_users": [{"id": membership, "delete": True}]}
    assert by.client.put(f"/groups/{team.id}.json", change).status == 200


def test_who_leaves_a_group_reads_nothing_of_it_at_once(ada, betty, carol, store):
    """AC31, I8"""
    team = make.group(carol, betty)
    resource_id = make.resource(ada, {team: READ})
    comment = {"content": "mine"}
    addresses = (
        path(resource_id),
        f"/secrets/resource/{resource_id}.json",
        f"/permissions/resource/{resource_id}.json",
        f"/comments/resource/{resource_id}.json",
    )
    assert betty.client.post(f"/comments/resource/{resource_id}.json", comment).status == 200
    favorite = betty.client.post(f"/favorites/resource/{resource_id}.json").body["id"]
    assert {betty.client.get(address).status for address in addresses} == {200}

    leave(team, betty, by=carol)

    assert {betty.client.get(address).status for address in addresses} == {404}
    assert betty.client.get("/resources.json?contain[secret]=1").body == []
    assert betty.client.get(f"/resources.json?filter[has-id]={resource_id}").body == []
    assert betty.client.get(f"/users.json?filter[has-access]={resource_id}").status == 403
    assert betty.client.delete(f"/favorites/{favorite}.json").status == 404
    assert carol.client.get(path(resource_id)).status == 200
    check_invariants(store)
