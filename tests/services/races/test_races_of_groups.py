"""Races of requests about groups, as in `test_races.py`."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.claims import GROUP
from tests.support.faults.hooks import SmallPages
from tests.support.faults.meanwhile import BetweenPages
from tests.support.races.at_once import Ask, all_orders
from tests.support.wire.asks import (
    changing,
    deleting,
    founding,
    marking,
    removing,
    renaming,
    sharing,
    updating,
)
from tests.support.wire.client import Response
from tests.support.world import departures, groups, make
from tests.support.world.groups import demote, promote, secret
from tests.support.world.items.resources import path
from tests.support.world.items.shares import add, remove
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType


@pytest.fixture
def dave(store: Any) -> Somebody:
    return make.user("dave")


@pytest.fixture
def team(betty: Somebody) -> Team:
    """A group that Betty manages and nobody else belongs to."""
    return make.group(betty, name="team")


def joining(manager: Somebody, team: Team, who: Somebody, *resource_ids: str) -> Any:
    """Somebody is added, with secrets of these resources."""
    sent = [secret(who, each) for each in resource_ids]
    return changing(manager, team, groups.add(who), secrets=sent)


def in_turn(*requests: Ask) -> Ask:
    """Requests of one client, each sent when the one before it is answered."""

    def asked() -> Response:
        *_, last = [request() for request in requests]
        return last

    return asked


# Members who join


def test_a_share_with_a_group_and_a_new_member(ada, betty, carol, team, race):
    """RA01, I1"""
    resource_id = make.resource(ada)

    assert race(sharing(ada, resource_id, add(team), new=[betty]), joining(betty, team, carol)) == {
        (200, 400),
        (404, 200),
    }


def test_a_share_with_a_group_and_a_new_member_who_knows_of_it(ada, betty, carol, team, race):
    """RA01, I1"""
    resource_id = make.resource(ada)

    assert race(
        sharing(ada, resource_id, add(team), new=[betty]),
        joining(betty, team, carol, resource_id),
    ) == {(200, 200), (200, 400)}


def test_new_secrets_and_a_new_member(ada, betty, carol, team, race):
    """RA04, I1: of the secrets the member is given, and those all others get"""
    resource_id = make.resource(ada, {team: READ})

    assert race(
        updating(ada, resource_id, ada, betty), joining(betty, team, carol, resource_id)
    ) == {(200, 200), (400, 200)}


def test_the_deletion_of_a_resource_and_a_new_member(ada, betty, carol, team, race):
    """RA07, I9"""
    resource_id = make.resource(ada, {team: READ})

    assert race(deleting(ada, resource_id), joining(betty, team, carol, resource_id)) == {
        (200, 200),
        (200, 400),
    }


def test_the_deletion_of_a_resource_and_a_new_member_who_has_it(ada, betty, carol, team, race):
    """RA07, I13: its secret is needed neither before nor after"""
    resource_id = make.resource(ada, {team: READ, carol: READ})

    assert race(deleting(ada, resource_id), joining(betty, team, carol)) == {(200, 200)}


def test_new_secrets_and_a_reader_who_has_access_in_another_way(ada, betty, carol, race):
    """RA04, I13: they have access all the time, first by their group, then by themselves"""
    team = make.group(betty, carol, name="team")
    resource_id = make.resource(ada, {team: READ})
    given = sharing(ada, resource_id, add(carol))
    left = changing(betty, team, groups.remove(team, carol))

    assert race(updating(ada, resource_id, ada, betty, carol), in_turn(given, left)) == {(200, 200)}


@pytest.mark.parametrize(
    "view",
    [
        "/resources/{0}.json?contain[secret]=1",
        "/resources.json?filter[has-id][]={0}",
        "/secrets/resource/{0}.json",
        "/permissions/resource/{0}.json",
    ],
)
def test_who_has_access_in_another_way_has_it_all_the_time(ada, betty, carol, view, store):
    """I13: first by themselves, then by their group"""
    team = make.group(betty, name="team")
    resource_id = make.resource(ada, {carol: READ, team: READ})
    joined = joining(betty, team, carol)
    by_group = sharing(ada, resource_id, remove(resource_id, carol))
    start = store.contents()

    for order in all_orders():
        store.put_back(start)
        response, _ = order.run(
            lambda: carol.client.get(view.format(resource_id)), in_turn(joined, by_group)
        )
        seen = response.get()
        assert seen.status == 200, order.order
        assert seen.body if "has-id" not in view else len(seen.body) == 1, order.order


def test_a_change_of_what_ones_own_group_has_and_of_what_else_it_gets(ada, race):
    """I14, RA05: done once, though its answer tells of a group that changes meanwhile"""
    own = make.group(ada, name="own")
    resource_id, other = make.resource(own), make.resource(ada)

    assert race(renaming(ada, resource_id), sharing(ada, other, add(own))) == {(200, 200)}


def test_the_end_of_a_groups_access_and_a_new_member(ada, betty, carol, team, race):
    """RA12, I1"""
    resource_id = make.resource(ada, {team: READ})

    assert race(
        sharing(ada, resource_id, remove(resource_id, team)),
        joining(betty, team, carol, resource_id),
    ) == {(200, 200), (200, 400)}


def test_the_end_of_a_users_access_and_their_joining_with_it(ada, betty, carol, team, race):
    """RA12, I1"""
    resource_id = make.resource(ada, {team: READ, carol: READ})

    assert race(
        sharing(ada, resource_id, remove(resource_id, carol)), joining(betty, team, carol)
    ) == {(200, 200), (200, 400)}


def test_the_end_of_a_users_access_and_their_joining_with_a_secret(ada, betty, carol, team, race):
    """RA12, I1"""
    resource_id = make.resource(ada, {team: READ, carol: READ})

    assert race(
        sharing(ada, resource_id, remove(resource_id, carol)),
        joining(betty, team, carol, resource_id),
    ) == {(200, 200), (200, 400)}


def test_a_share_with_a_user_and_their_joining(ada, betty, carol, team, race):
    """I1: the second to come finds that they have access"""
    resource_id = make.resource(ada, {team: READ})

    assert race(
        sharing(ada, resource_id, add(carol), new=[carol]),
        joining(betty, team, carol, resource_id),
    ) == {(200, 200), (200, 400)}


def test_a_user_joins_two_groups_that_have_the_same(ada, betty, carol, dave, team, race):
    """I1"""
    other = make.group(dave)
    resource_id = make.resource(ada, {team: READ, other: READ})

    assert race(
        joining(betty, team, carol, resource_id), joining(dave, other, carol, resource_id)
    ) == {(200, 400), (400, 200)}


def test_two_managers_add_the_same_user(ada, betty, carol, dave, race):
    """IN25"""
    team = make.group(betty, dave, managers=2)
    resource_id = make.resource(ada, {team: READ})

    assert race(
        joining(betty, team, carol, resource_id), joining(dave, team, carol, resource_id)
    ) == {(200, 400), (400, 200)}


def test_two_managers_add_two_users(ada, betty, carol, dave, race):
    team = make.group(betty, ada, managers=2)
    resource_id = make.resource(ada, {team: READ})

    assert race(
        joining(betty, team, carol, resource_id), joining(ada, team, dave, resource_id)
    ) == {(200, 200)}


# Members who leave


def test_both_ways_of_access_are_taken(ada, betty, carol, race):
    """RA12, I1, I8"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {team: READ, carol: READ})
    marking(carol, resource_id)()

    assert race(
        sharing(ada, resource_id, remove(resource_id, carol)),
        changing(betty, team, groups.remove(team, carol)),
    ) == {(200, 200)}
    assert carol.client.get("/resources.json").body == []


def test_both_groups_that_gave_access_are_left(ada, betty, carol, dave, race):
    """I1, I8"""
    one, other = make.group(betty, carol), make.group(dave, carol)
    resource_id = make.resource(ada, {one: READ, other: READ})

    assert race(
        changing(betty, one, groups.remove(one, carol)),
        changing(dave, other, groups.remove(other, carol)),
    ) == {(200, 200)}
    assert carol.client.get(path(resource_id)).status == 404


def test_the_end_of_a_groups_access_and_of_a_membership(ada, betty, carol, race):
    """I8"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {team: READ})

    assert race(
        sharing(ada, resource_id, remove(resource_id, team)),
        changing(betty, team, groups.remove(team, carol)),
    ) == {(200, 200)}


def test_a_share_with_who_leaves_a_group(ada, betty, carol, race):
    """I1: they keep their secret, or are given another"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {team: READ})

    assert race(
        sharing(ada, resource_id, add(carol), new=[carol]),
        changing(betty, team, groups.remove(team, carol)),
    ) == {(200, 200)}


def test_new_secrets_and_a_member_who_leaves(ada, betty, carol, race):
    """RA04, I1"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {team: READ})

    assert race(
        updating(ada, resource_id, ada, betty, carol),
        changing(betty, team, groups.remove(team, carol)),
    ) == {(200, 200), (400, 200)}


@pytest.mark.parametrize("kind", ["update", "favorite", "delete", "share"])
def test_who_leaves_a_group_does_nothing_more_by_it(ada, betty, carol, dave, race, kind):
    """I8"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {team: OWNER})
    ask = {
        "update": renaming(carol, resource_id),
        "favorite": marking(carol, resource_id),
        "delete": deleting(carol, resource_id),
        "share": sharing(carol, resource_id, add(dave), new=[dave]),
    }[kind]

    assert race(changing(betty, team, groups.remove(team, carol)), ask) == {(200, 200), (200, 404)}


def test_a_member_is_removed_twice(ada, betty, carol, race):
    team = make.group(betty, carol)
    gone = groups.remove(team, carol)

    assert race(changing(ada, team, gone), changing(betty, team, gone)) == {(200, 400), (400, 200)}


# Managers


@pytest.mark.parametrize("change", [groups.remove, demote])
def test_two_managers_who_put_each_other_out(betty, carol, dave, race, change):
    """I3, IN23"""
    team = make.group(betty, carol, dave, managers=2)

    assert race(
        changing(betty, team, change(team, carol)), changing(carol, team, change(team, betty))
    ) == {(200, 403), (403, 200)}


@pytest.mark.parametrize("change", [groups.remove, demote])
def test_two_managers_who_both_leave(betty, carol, dave, race, change):
    """I3, IN23"""
    team = make.group(betty, carol, dave, managers=2)

    assert race(
        changing(betty, team, change(team, betty)), changing(carol, team, change(team, carol))
    ) == {(200, 400), (400, 200)}


def test_a_promotion_and_a_manager_who_leaves(ada, betty, carol, race):
    """I3"""
    team = make.group(betty, carol)

    assert race(
        changing(ada, team, promote(team, carol)),
        changing(betty, team, groups.remove(team, betty)),
    ) == {(200, 200), (200, 400)}


def test_the_promotion_of_who_is_removed(ada, betty, carol, race):
    """I3"""
    team = make.group(betty, carol)

    assert race(
        changing(ada, team, promote(team, carol)),
        changing(betty, team, groups.remove(team, carol)),
    ) == {(200, 200), (400, 200)}


def test_a_manager_who_is_demoted_adds_nobody(ada, betty, carol, dave, race):
    """W5: an administrator's words count, and what the other asks is refused or was done"""
    team = make.group(betty, carol, managers=2)

    assert race(changing(ada, team, demote(team, betty)), joining(betty, team, dave)) == {
        (200, 200),
        (200, 403),
    }


# Names


def test_a_group_is_renamed_twice(ada, team, race):
    """RA10"""
    other = make.user("dave", admin=True)

    assert race(changing(ada, team, name="one"), changing(other, team, name="other")) == {
        (200, 200)
    }


def test_two_groups_get_one_name(ada, betty, team, race):
    """RA10, I10"""
    other = make.group(betty, name="other")

    assert race(changing(ada, team, name="crew"), changing(ada, other, name="CREW")) == {
        (200, 400),
        (400, 200),
    }


def test_two_groups_are_made_of_one_name(ada, betty, carol, race):
    """RA10, I10"""
    assert race(founding(ada, betty, name="crew"), founding(ada, carol, name="CREW")) == {
        (200, 400),
        (400, 200),
    }


def test_a_name_is_given_and_taken(ada, betty, team, race):
    """RA10, I10"""
    assert race(changing(ada, team, name="crew"), founding(ada, betty, name="Crew")) == {
        (200, 400),
        (400, 200),
    }


@pytest.mark.parametrize("kind", ["rename", "delete"])
def test_a_name_that_is_given_up_is_taken(ada, betty, team, race, kind):
    """RA10, I10"""
    ask = changing(ada, team, name="crew") if kind == "rename" else removing(ada, team)

    assert race(ask, founding(ada, betty, name="team")) == {(200, 200), (200, 400)}


def test_a_new_name_and_a_new_member(ada, betty, carol, team, race):
    """I14"""
    assert race(changing(ada, team, name="crew"), joining(betty, team, carol)) == {(200, 200)}


def test_who_names_a_group_again_is_shown_it_as_it_was_at_one_moment(ada, team, store):
    """Nothing is written then that would rest on what was read."""
    assert groups.update(ada, team, name="crew").status == 200
    start = store.contents()

    for order in all_orders():
        store.put_back(start)
        naming, _ = order.run(changing(ada, team, name="crew"), removing(ada, team))
        named = naming.get()
        assert named.status in (200, 404), order.order
        assert named.status == 404 or len(named.body["groups_users"]) == 1, order.order


@pytest.mark.parametrize("kind", ["deleted", "changed"])
@pytest.mark.parametrize("at", ["/groups.json", "/groups/{}.json", "/share/search-aros.json"])
def test_a_group_is_shown_with_its_members_as_it_was_at_one_moment(
    ada, betty, carol, team, store, at, kind
):
    """I13: no group that is gone without its members, and no name with those of another moment"""
    assert groups.update(betty, team, groups.add(ada, manages=True)).status == 200
    change = {
        "deleted": removing(ada, team),
        "changed": changing(ada, team, groups.add(carol), name="crew"),
    }[kind]
    address = f"{at.format(team.id)}?contain[groups_users]=1"
    start = store.contents()

    for order in all_orders():
        store.put_back(start)
        shown = order.run(lambda: betty.client.get(address), change)[0].get()
        found = [shown.body] if "{}" in at else shown.body
        seen = [(each["name"], len(each["groups_users"])) for each in found if "name" in each]
        assert shown.status == 404 or seen in ([], [("team", 2)], [("crew", 3)]), order.order


def test_people_are_shown_with_the_groups_that_count_them(ada, betty, store):
    """I13: all but one leave while it is looked for whom something can be shared with"""
    team = make.group(betty, *make.crowd(5), name="team")
    left = changing(betty, team, *[groups.remove(team, each) for each in team.members[1:]])
    address = "/share/search-aros.json?contain[groups_users]=1&contain[user_count]=1"
    start = store.contents()

    for order in all_orders():
        store.put_back(start)
        shown = order.run(lambda: betty.client.get(address), left)[0].get()
        belonging = sum(len(each["groups_users"]) for each in shown.body if "username" in each)
        [counted] = [int(each["user_count"]) for each in shown.body if "name" in each]
        assert (belonging, counted) in ((6, 6), (1, 1)), order.order


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize(("before", "after"), [("mmm", "aaa"), ("aaa", "zzz")])
def test_a_list_of_several_pages_has_each_group_once(ada, betty, before, after, nth):
    """FT08, where a name that is changed moves a group from one page to another."""
    team, other = make.group(betty, name=before), make.group(betty, name="ggg")
    searched = "/share/search-aros.json?contain[groups_users]=0"

    for address in ("/groups.json", searched):
        assert groups.update(ada, team, name=before).status == 200
        renamed = BetweenPages(lambda: groups.update(ada, team, name=after), of=GROUP, nth=nth)
        with SmallPages(1), renamed:
            found = betty.client.get(address)
        listed = sorted(each["id"] for each in found.body if "username" not in each)
        assert renamed.happened
        assert (found.status, listed) == (200, sorted([team.id, other.id])), address


def test_a_group_of_several_pages_is_found_by_its_new_name(ada, betty):
    """FT08, where it has that from the first reading of the names on."""
    team, _ = make.group(betty, name="zzz"), make.group(betty, name="ggg")

    for after in ("aaa", "yyy"):
        assert groups.update(ada, team, name="zzz").status == 200
        renamed = BetweenPages(partial(groups.update, ada, team, name=after), of=GROUP)
        with SmallPages(1), renamed:
            found = betty.client.get(f"/share/search-aros.json?filter[search]={after}")
        assert [each["name"] for each in found.body] == [after]


@pytest.mark.parametrize("address", ["/groups.json", "/share/search-aros.json"])
def test_a_list_of_several_pages_is_answered_while_groups_are_made(ada, betty, address):
    """FT08, RA14: as by a directory that makes several a second"""
    there = {make.group(betty, name=name).id for name in ("mmm", "nnn")}
    names = (f"a{number:02}" for number in range(99, 0, -1))
    made = BetweenPages(lambda: make.group(betty, name=next(names)), of=GROUP, nth=None)

    with SmallPages(1), made:
        found = betty.client.get(address)

    listed = [each["id"] for each in found.body or () if "username" not in each]
    assert made.happened
    assert found.status == 200
    assert there <= set(listed)
    assert len(listed) == len(set(listed))


def test_a_share_of_nothing_by_who_was_at_no_moment_an_owner(ada, betty, race):
    """Betty has left the group before it becomes one."""
    team, mail = make.group(ada, betty), make.resource(ada, {betty: READ})
    left = changing(ada, team, groups.remove(team, betty))
    given = sharing(ada, mail, add(team, OWNER))

    assert race(sharing(betty, mail), in_turn(left, given), orders=all_orders) == {(403, 200)}


# Deletion of a group


def test_a_share_with_a_group_that_is_deleted(ada, betty, team, race):
    """I4, I9"""
    resource_id = make.resource(ada)

    assert race(removing(ada, team), sharing(ada, resource_id, add(team), new=[betty])) == {
        (200, 200),
        (200, 400),
    }


def test_the_end_of_access_of_a_group_that_is_deleted(ada, betty, team, race):
    """I9"""
    resource_id = make.resource(ada, {team: READ})

    assert race(removing(ada, team), sharing(ada, resource_id, remove(resource_id, team))) == {
        (200, 200),
        (200, 400),
    }


def test_a_member_of_a_group_that_is_deleted(ada, betty, carol, team, race):
    """I9"""
    resource_id = make.resource(ada, {team: READ})

    assert race(removing(ada, team), joining(betty, team, carol, resource_id)) == {
        (200, 200),
        (200, 403),
    }


@pytest.mark.parametrize("kind", ["name", "promote", "remove"])
def test_nothing_becomes_of_a_deleted_group(ada, betty, carol, race, kind):
    """I9"""
    team = make.group(betty, carol, name="team")
    make.resource(ada, {team: READ})
    ask = {
        "name": changing(ada, team, name="crew"),
        "promote": changing(ada, team, promote(team, carol)),
        "remove": changing(ada, team, groups.remove(team, carol)),
    }[kind]

    assert race(removing(ada, team), ask) == {(200, 200), (200, 404)}


def test_somebody_joins_while_another_group_of_its_folder_is_deleted(ada, betty, carol, team, race):
    """I9: they are decided from rows of before and after"""
    other = make.group(ada, name="other")
    make.folder(ada, {team: READ, other: READ})

    joins = joining(betty, team, carol)

    assert race(removing(ada, other), joins) == {(200, 200)}


def test_a_group_is_deleted_twice(ada, betty, carol, race):
    """IN33"""
    team = make.group(betty, carol, name="team")
    make.resource(ada, {team: READ})

    assert race(removing(ada, team), removing(betty, team)) == {(200, 403), (404, 200)}


@pytest.mark.parametrize("owner", ["ada", "team"])
@pytest.mark.parametrize("kind", ["delete", "name", "secrets", "favorite"])
def test_what_a_group_had_that_is_deleted(ada, betty, carol, race, owner, kind):
    """I8, I9"""
    team = make.group(betty, carol, name="team")
    resource_id = make.resource(ada, {team: UPDATE}) if owner == "ada" else make.resource(team)
    everybody = [betty, carol, *([ada] if owner == "ada" else [])]
    ask = {
        "delete": deleting(carol, resource_id),
        "name": renaming(carol, resource_id),
        "secrets": updating(carol, resource_id, *everybody),
        "favorite": marking(carol, resource_id),
    }[kind]

    assert race(removing(ada, team), ask) == {(200, 200), (200, 404)}


def test_new_secrets_of_what_a_group_had_that_is_deleted(ada, betty, carol, race):
    """RA04, I1"""
    team = make.group(betty, carol, name="team")
    resource_id = make.resource(ada, {team: READ})

    assert race(removing(ada, team), updating(ada, resource_id, ada, betty, carol)) == {
        (200, 200),
        (200, 400),
    }


def test_the_other_owner_goes_while_the_group_is_deleted(ada, betty, race):
    """I2"""
    team = make.group(betty, name="team")
    resource_id = make.resource(ada, {team: OWNER})

    assert race(removing(ada, team), sharing(ada, resource_id, remove(resource_id, ada))) == {
        (200, 200),
        (200, 400),
    }


def test_two_owning_groups_are_deleted(ada, betty, carol, race):
    """I2"""
    one, other = make.group(betty, name="one"), make.group(betty, name="other")
    make.resource(one, {other: OWNER, carol: READ})

    assert race(removing(ada, one), removing(ada, other)) == {(200, 400), (400, 200)}


def test_both_groups_that_gave_access_are_deleted(ada, betty, carol, race):
    """I1"""
    one, other = make.group(betty, name="one"), make.group(betty, name="other")
    make.resource(ada, {one: READ, other: READ})

    assert race(removing(ada, one), removing(ada, other)) == {(200, 200)}
    assert betty.client.get("/resources.json").body == []


def test_who_is_made_an_owner_loses_access(ada, betty, carol, race):
    """I2"""
    team = make.group(betty, name="team")
    resource_id = make.resource(team, {carol: READ})
    owners = [departures.owner(resource_id, carol)]

    assert race(
        removing(ada, team, owners=owners),
        sharing(betty, resource_id, remove(resource_id, carol)),
    ) == {(200, 404), (400, 200)}
