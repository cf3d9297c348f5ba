"""Changes without a body: who has none makes the same value, and it is applied the same way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.changes import (
    Addition,
    Changed,
    Given,
    GroupChange,
    HandedOver,
    NewGroup,
    Removal,
    RoleChange,
    SecretFor,
    SecretOf,
    Sharing,
    Taken,
    Transfer,
)
from chalicelib.domain.errors import Blocked, Forbidden, Invalid, NotFound
from chalicelib.domain.ids import ItemId, ResourceId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users.rbacs import GROUPS_ADD
from chalicelib.services.access import allowances
from chalicelib.services.deletion import group_deletion, user_deletion
from chalicelib.services.groups import group_updates
from chalicelib.services.groups import groups as new_groups
from chalicelib.services.items.sharing import shares
from chalicelib.storage import reading
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User
from tests.support.model.invariants import check_invariants
from tests.support.storage import Storage
from tests.support.world import groups, make
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType


def permissions(resource_id: ResourceId) -> dict[str, Permission]:
    found = reading.read([Resource.by_id(resource_id)]).find(Resource, resource_id)
    assert found is not None
    return dict(found.permissions)


def types(resource_id: ResourceId) -> dict[str, PermissionType]:
    return {holder: each.type for holder, each in permissions(resource_id).items()}


def share(owner: Somebody, resource_id: ResourceId, sharing: Sharing) -> None:
    shares.apply(owner.actor, *shares.shareable(owner.actor, resource_id), sharing)


def sealed(who: Somebody) -> str:
    return message("secret", who.key.public)


def secret(who: Somebody, resource_id: str) -> str:
    answer = who.client.get(f"/secrets/resource/{resource_id}.json")
    assert answer.status == 200, answer.json
    return str(answer.body["data"])


def test_an_item_is_shared(ada: Somebody, betty: Somebody, carol: Somebody, store: Storage) -> None:
    item = make.resource(ada, {betty: READ})
    data = sealed(carol)

    share(
        ada,
        item,
        Sharing(
            [Given("User", carol.id, UPDATE), Taken(permissions(item)[betty.id].id)],
            [SecretFor(carol.id, data)],
        ),
    )

    assert types(item) == {ada.id: OWNER, carol.id: UPDATE}
    assert secret(carol, item) == data
    check_invariants(store)


def test_a_permission_becomes_another(ada: Somebody, betty: Somebody, store: Storage) -> None:
    item = make.resource(ada, {betty: READ})

    share(ada, item, Sharing([Changed(permissions(item)[betty.id].id, OWNER)]))

    assert types(item) == {ada.id: OWNER, betty.id: OWNER}
    check_invariants(store)


def test_who_gains_access_needs_a_secret(ada: Somebody, betty: Somebody, store: Storage) -> None:
    item = make.resource(ada)
    before = store.contents()

    with pytest.raises(NotFound, match="Could not validate resource data"):
        share(ada, item, Sharing([Given("User", betty.id, READ)]))

    assert store.contents() == before


def test_a_refusal_is_raised_when_its_turn_has_come(
    ada: Somebody, betty: Somebody, store: Storage
) -> None:
    """The first entry that fails decides, whether it was sent wrongly or cannot be applied."""
    item, wrong = make.resource(ada), Invalid("It was sent wrongly.")
    unknown = Taken("no permission", position="0")

    for permissions_, message_ in (
        ([unknown, wrong], "Could not validate"),
        ([wrong, unknown], "sent wrongly"),
        ([Given("User", betty.id, READ), wrong], "sent wrongly"),
    ):
        with pytest.raises(Invalid, match=message_):
            share(ada, item, Sharing(permissions_, wrong))
    with pytest.raises(Invalid, match="sent wrongly"):
        share(ada, item, Sharing([Given("User", betty.id, READ)], wrong))
    assert types(item) == {ada.id: OWNER}


def test_a_group_is_made(ada: Somebody, betty: Somebody, carol: Somebody, store: Storage) -> None:
    members = [Addition(betty.id, is_admin=True), Addition(carol.id, is_admin=False)]

    grant = allowances.require(ada.actor, GROUPS_ADD, Forbidden("This is for administrators."))
    found = new_groups.apply(ada.actor, grant, NewGroup("crew", members))

    assert groups.members(found.groups[0].row["id"]["S"]) == {betty.id: True, carol.id: False}
    check_invariants(store)


def test_a_group_changes(ada: Somebody, betty: Somebody, carol: Somebody, store: Storage) -> None:
    team = make.group(ada, betty)
    item = make.resource(ada, {team: READ})
    data = sealed(carol)
    joining = Addition(carol.id, is_admin=True, secrets=[SecretOf(ItemId(item), data)])
    promoted = RoleChange(groups.membership(team, betty).id, is_admin=True)
    leaving = Removal(groups.membership(team, ada).id)

    manager = replace(ada.actor, groups={team.id: True})
    group_updates.apply(
        manager, groups.stored(team), GroupChange("crew", [joining], [promoted], [leaving])
    )

    assert groups.stored(team).name == "crew"
    assert groups.members(team) == {betty.id: True, carol.id: True}
    assert secret(carol, item) == data
    check_invariants(store)


def test_a_user_is_deleted_and_what_they_leave_is_handed_over(
    ada: Somebody, betty: Somebody, carol: Somebody, store: Storage
) -> None:
    team = make.group(betty, carol)
    item = make.resource(betty, {carol: READ})
    user = reading.read([User.by_id(betty.id)]).find(User, betty.id)
    assert user is not None
    manager, owner = groups.membership(team, carol).id, permissions(item)[carol.id].id

    with pytest.raises(Blocked):
        user_deletion.apply(ada.actor, user, Transfer())
    user_deletion.apply(
        ada.actor,
        user,
        Transfer(
            owners=HandedOver(frozenset({owner}), (item,)),
            managers=HandedOver(frozenset({manager}), (team.id,)),
        ),
    )

    assert types(item) == {carol.id: OWNER}
    assert groups.members(team) == {carol.id: True}
    check_invariants(store)


def test_a_group_is_deleted_and_what_it_leaves_is_handed_over(
    ada: Somebody, betty: Somebody, carol: Somebody, store: Storage
) -> None:
    team = make.group(betty)
    item = make.resource(team, {carol: READ})
    owner = permissions(item)[carol.id].id

    with pytest.raises(Blocked):
        group_deletion.apply(ada.actor, groups.stored(team), Transfer())
    group_deletion.apply(
        ada.actor, groups.stored(team), Transfer(HandedOver(frozenset({owner}), (item,)))
    )

    assert types(item) == {carol.id: OWNER}
    assert groups.stored(team).deleted
    check_invariants(store)
