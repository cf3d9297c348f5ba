"""Who may do what: the permission that counts, the refusals, and the rows a grant rests on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, NotFound
from chalicelib.domain.ids import GroupId, RoleId, UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.access import grants
from chalicelib.storage.base import Check
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User

READ, UPDATE, OWNER = PermissionType
ME, OTHER = UserId("me"), UserId("other")
TEAM, CREW = GroupId("team"), GroupId("crew")
ACTOR = Actor(ME, RoleId("user"), groups={TEAM: False, CREW: True})


@dataclass
class Thing:
    """An item with an access list, and nothing else."""

    permissions: dict[str, Permission]
    deleted: bool = False
    check: Check = field(
        default_factory=lambda: Check(Resource(hash_key="thing").key, Resource.version == 1)
    )

    def is_unchanged(self) -> Check:
        return self.check


def thing(**types: PermissionType) -> Thing:
    now = clock.now()
    return Thing(
        {
            holder: Permission(holder, aro, holder, type_, now, now)
            for holder, type_ in types.items()
            for aro in ("Group" if holder in (TEAM, CREW) else "User",)
        }
    )


def test_the_strongest_permission_counts():
    item = thing(me=READ, team=UPDATE, crew=READ, other=OWNER)

    found = grants.find_permission(ACTOR, item)

    assert found is not None
    assert (found.aro_id, found.type) == (TEAM, UPDATE)


def test_of_equal_permissions_the_actors_own_counts():
    found = grants.find_permission(ACTOR, thing(team=READ, me=READ))

    assert found is not None
    assert found.aro_id == ME


def test_groups_the_actor_is_not_in_give_nothing():
    stranger = replace(ACTOR, groups={})

    assert grants.find_permission(stranger, thing(team=OWNER, other=OWNER)) is None


def require(item: Thing | None, at_least: PermissionType):
    return grants.require(ACTOR, item, at_least, missing="Missing.", denied="Denied.")


@given(
    held=st.dictionaries(
        st.sampled_from([ME, OTHER, TEAM, CREW, "stranger"]), st.sampled_from(PermissionType)
    ),
    at_least=st.sampled_from(PermissionType),
    deleted=st.booleans(),
)
def test_a_grant_needs_a_permission_that_is_strong_enough(held, at_least, deleted):
    item = replace(thing(**held), deleted=deleted)
    mine = [type_ for holder, type_ in held.items() if holder in (ME, TEAM, CREW)]

    if deleted or not mine:
        with pytest.raises(NotFound, match=r"^Missing\.$"):
            require(item, at_least)
    elif max(mine) < at_least:
        with pytest.raises(Forbidden, match=r"^Denied\.$"):
            require(item, at_least)
    else:
        assert item.check in require(item, at_least).checks


def test_what_does_not_exist_is_missing():
    with pytest.raises(NotFound, match=r"^Missing\.$"):
        require(None, READ)


def test_a_grant_of_the_actors_own_rests_on_the_item():
    item = thing(me=OWNER, team=READ)

    assert require(item, OWNER).checks == (item.check,)


def test_a_grant_through_a_group_rests_on_the_membership_too():
    item = thing(me=READ, team=OWNER)

    first, second = require(item, OWNER).checks

    assert first == item.check
    assert second.key == User.by_id(ME)
    assert str(second.condition) == str(User.belongs_to(ME, TEAM, None).condition)
