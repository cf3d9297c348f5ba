"""Races over trees: two requests at once, in every order of their storage calls.

As in `test_races.py`: each order ends as if one request had come after the other, and every
tree is one.
"""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.resources import Resource
from tests.support.faults.hooks import Once
from tests.support.faults.meanwhile import Torn
from tests.support.model.invariants import check_invariants
from tests.support.races.at_once import Ask
from tests.support.wire.asks import changing, deleting, removing, sharing
from tests.support.world import groups, make
from tests.support.world.items import folders, resources
from tests.support.world.items.folders import folder, move, parent, path, resource, taking
from tests.support.world.items.shares import add, change, remove
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType


def moving(who: Somebody, kind: str, item_id: str, to: str | None) -> Ask:
    return lambda: move(who, kind, item_id, to)


def sharing_folder(who: Somebody, folder_id: str, *rows: dict[str, Any]) -> Ask:
    return lambda: folders.share(who, folder_id, *rows)


def deleting_folder(who: Somebody, folder_id: str, query: str = "") -> Ask:
    return lambda: who.client.delete(path(folder_id) + query)


def creating(who: Somebody, parent: str) -> Ask:
    return lambda: folders.create(who, {"name": "new", "folder_parent_id": parent})


@pytest.fixture
def work(ada, betty) -> str:
    """A folder of Ada's that she shares with Betty."""
    return folders.shared(ada, betty, "work")


@pytest.fixture
def home(ada, betty) -> str:
    """Another."""
    return folders.shared(ada, betty, "home")


def test_two_folders_are_moved_into_each_other(ada, betty, work, home, race):
    """RA06, I5"""
    assert race(moving(ada, "folder", work, home), moving(betty, "folder", home, work)) == {
        *((200, 400), (400, 200)),
    }


def test_three_folders_are_moved_into_each_other(ada, betty, work, home, race):
    """I5"""
    third = folders.shared(ada, betty, "third")
    assert move(ada, "folder", home, third).status == 200
    assert race(moving(ada, "folder", work, home), moving(betty, "folder", third, work)) == {
        *((200, 400), (400, 200)),
    }


def test_one_thing_is_moved_into_two_folders(ada, betty, work, home, race):
    mail = make.resource(ada, {betty: UPDATE})
    assert race(moving(ada, "resource", mail, work), moving(betty, "resource", mail, home)) == {
        (200, 200)
    }


def test_what_is_moved_into_a_folder_is_shared(ada, betty, carol, work, race):
    assert folders.share(ada, work, add(carol)).status == 200
    mail = make.resource(ada, {betty: OWNER})
    assert race(
        moving(ada, "resource", mail, work), sharing(betty, mail, add(carol), new=[carol])
    ) == {(200, 200)}


def test_a_folder_is_shared_while_something_is_moved_into_it(ada, betty, carol, work, race):
    mail = make.resource(ada, {betty: OWNER, carol: READ})
    assert race(moving(betty, "resource", mail, work), sharing_folder(ada, work, add(carol))) == {
        (200, 200)
    }


def test_a_folder_of_ones_own_is_shared_while_something_is_moved_into_it(ada, carol, race):
    own, mail = folder(ada), make.resource(ada, {carol: READ})
    assert race(moving(ada, "resource", mail, own), sharing_folder(ada, own, add(carol))) == {
        (200, 200)
    }


def test_a_folder_and_what_lies_in_it_are_shared(ada, betty, carol, work, race):
    mail = make.resource(ada, {betty: OWNER})
    assert move(ada, "resource", mail, work).status == 200
    assert race(
        sharing_folder(ada, work, add(carol)), sharing(betty, mail, add(carol), new=[carol])
    ) == {(200, 200)}


def test_something_is_moved_into_a_folder_that_is_taken_away(ada, betty, carol, work, race):
    assert folders.share(ada, work, add(carol)).status == 200
    mail = make.resource(ada, {betty: UPDATE, carol: READ})
    assert race(
        moving(betty, "resource", mail, work), sharing_folder(ada, work, taking(work, carol))
    ) == {(200, 200)}


def test_who_moves_something_loses_the_folder(ada, betty, work, race):
    mail = make.resource(ada, {betty: UPDATE})
    assert race(
        moving(betty, "resource", mail, work), sharing_folder(ada, work, taking(work, betty))
    ) == {(200, 200), (400, 200)}


def test_who_moves_something_loses_it(ada, betty, work, race):
    mail = make.resource(ada, {betty: UPDATE})
    assert race(moving(betty, "resource", mail, work), sharing(ada, mail, remove(mail, betty))) == {
        (200, 200),
        (404, 200),
    }


def test_something_is_moved_into_a_folder_that_is_deleted(ada, betty, work, race):
    mail = make.resource(ada, {betty: UPDATE})
    assert race(moving(betty, "resource", mail, work), deleting_folder(ada, work)) == {
        *((200, 200), (400, 200)),
    }


def test_something_is_moved_into_a_folder_that_is_deleted_whole(ada, betty, work, race):
    mail = make.resource(ada, {betty: UPDATE})
    assert race(
        moving(betty, "resource", mail, work), deleting_folder(ada, work, "?cascade=1")
    ) == {(200, 200), (400, 200)}


@pytest.mark.parametrize("query", ["", "?cascade=1"])
def test_a_folder_is_moved_into_one_that_is_deleted(ada, race, query):
    """RA07"""
    own, to = folder(ada), folder(ada)
    assert race(moving(ada, "folder", own, to), deleting_folder(ada, to, query)) == {
        *((200, 200), (400, 200)),
    }


def test_something_is_moved_out_of_a_folder_that_is_deleted_whole(ada, work, race):
    """RA07: what is at the root because its folder is gone, is gone too"""
    mail = resource(ada, work)
    assert race(moving(ada, "resource", mail, None), deleting_folder(ada, work, "?cascade=1")) == {
        (200, 200),
        (404, 200),
    }


def test_something_is_deleted_while_it_is_moved(ada, betty, work, race):
    """RA07"""
    mail = make.resource(ada, {betty: UPDATE})
    assert race(moving(betty, "resource", mail, work), deleting(ada, mail)) == {
        *((200, 200), (404, 200)),
    }


def test_two_delete_a_folder(ada, betty, work, race):
    resource(ada, work)
    assert race(deleting_folder(ada, work, "?cascade=1"), deleting_folder(betty, work)) == {
        *((200, 404), (404, 200)),
    }


def test_a_folder_is_made_in_one_that_is_deleted(ada, betty, work, race):
    assert race(creating(betty, work), deleting_folder(ada, work)) == {(200, 200), (400, 200)}


@pytest.fixture
def team(ada, betty) -> Team:
    return make.group(ada, betty)


def joining(who: Somebody, team: Team, new: Somebody, *items: str) -> Ask:
    secrets = [groups.secret(new, item) for item in items]
    return changing(who, team, groups.add(new), secrets=secrets)


def test_who_joins_a_group_and_what_is_moved_into_its_folder(ada, betty, carol, team, race):
    """RA01"""
    mail, shared = make.resource(ada, {team: UPDATE}), folder(ada)
    assert folders.share(ada, shared, add(team, UPDATE)).status == 200
    assert race(joining(ada, team, carol, mail), moving(betty, "resource", mail, shared)) == {
        (200, 200)
    }


def test_who_joins_a_group_and_a_folder_of_it_that_is_deleted_whole(ada, carol, team, race):
    """RA07, I9: what is taken of a group's content is taken from all its members"""
    work, mail = make.folder(ada, {team: UPDATE}), make.resource(ada, {team: UPDATE})
    assert move(ada, "resource", mail, work).status == 200
    assert race(joining(ada, team, carol, mail), deleting_folder(ada, work, "?cascade=1")) == {
        (200, 200),
        (400, 200),
    }


@pytest.mark.parametrize("at", [1, 2])
def test_who_leaves_a_group_deletes_only_what_they_still_have(ada, betty, team, at):
    """AC03: of content that the actor had by a group which has the folder too"""
    assert groups.update(ada, team, groups.promote(team, betty)).status == 200
    work, mail = folder(ada), make.resource(betty, {team: UPDATE})
    assert folders.share(ada, work, add(team, UPDATE)).status == 200
    assert move(betty, "resource", mail, work).status == 200

    with Once(at, changing(betty, team, groups.remove(team, ada))):
        assert deleting_folder(ada, work, "?cascade=1")().status == 200

    assert not resources.stored(mail).deleted


def test_who_joins_a_group_and_a_folder_that_is_shared_with_it(ada, carol, team, race):
    own = folder(ada)
    mail = make.resource(ada, {team: UPDATE})
    assert move(ada, "resource", mail, own).status == 200
    assert race(joining(ada, team, carol, mail), sharing_folder(ada, own, add(team))) == {
        (200, 200)
    }


def test_who_leaves_a_group_moves_what_it_has(ada, betty, team, race):
    mail, shared = make.resource(ada, {team: UPDATE}), folder(ada)
    assert folders.share(ada, shared, add(team, UPDATE)).status == 200
    assert race(
        moving(betty, "resource", mail, shared), changing(ada, team, groups.remove(team, betty))
    ) == {(200, 200), (404, 200)}


def test_folders_of_two_groups_cross(ada, betty, carol, race):
    """I5: each joins where the folders lie the other way round"""
    dave = make.user("dave")
    one, two = make.group(ada, betty), make.group(carol, dave)
    left, right = folder(ada, "left"), folder(carol, "right")
    for who, each, teams in ((ada, left, (one, two)), (carol, right, (two, one))):
        for group in teams:
            assert folders.share(who, each, add(group, UPDATE)).status == 200
    edith = make.user("edith")
    assert race(
        moving(betty, "folder", left, right),
        moving(dave, "folder", right, left),
        joining(ada, one, edith),
    ) <= {(200, 400, 200), (400, 200, 200)}


def test_a_user_is_deleted_while_they_are_given_a_folder(ada, betty, carol, work, race):
    assert race(sharing_folder(betty, work, add(carol)), removing(ada, carol)) <= {
        *((403, 200), (200, 200), (400, 200)),
    }


def test_two_move_while_one_shares(ada, betty, carol, work, home, race):
    mail = make.resource(ada, {betty: OWNER})
    assert race(
        moving(ada, "resource", mail, work),
        moving(betty, "resource", mail, home),
        sharing(ada, mail, add(carol), new=[carol]),
    ) == {(200, 200, 200)}


# Reads that are not one instant: the item after another's move, where the actor has it before it


def torn_by_a_move(who: Somebody, kind: str, item_id: str, to: str | None) -> Torn:
    table: type[Item] = Folder if kind == "folder" else Resource

    def other() -> None:
        assert move(who, kind, item_id, to).status == 200

    return Torn(other, old=Holding, new=table)


@pytest.fixture(params=["resource", "folder"])
def read_only(request: Any, ada: Somebody, betty: Somebody) -> tuple[str, str]:
    """Something that Betty may only read, by its kind and identifier."""
    if request.param == "folder":
        return "folder", folders.shared(ada, betty, "read", READ)
    return "resource", make.resource(ada, {betty: READ})


def test_a_reader_takes_nothing_out_of_a_folder_it_has_just_come_to(ada, betty, store, read_only):
    """AC11"""
    own, team = folder(betty), folders.shared(ada, betty, type_=READ)
    assert move(betty, *read_only, own).status == 200

    with torn_by_a_move(ada, *read_only, team) as torn:
        response = move(betty, *read_only, None)

    assert torn.happened
    assert response.status == 400
    assert {parent(who, *read_only) for who in (ada, betty)} == {team}
    check_invariants(store)


def test_what_has_just_been_taken_elsewhere_is_moved_back(ada, betty, work, home, store):
    mail = make.resource(ada, {betty: UPDATE})
    assert move(betty, "resource", mail, work).status == 200

    with torn_by_a_move(ada, "resource", mail, home) as torn:
        assert move(betty, "resource", mail, work).status == 200

    assert torn.happened
    assert {parent(who, "resource", mail) for who in (ada, betty)} == {work}
    check_invariants(store)


def test_nobody_is_refused_for_where_something_lay_before(ada, betty, store):
    """The caller might move it while it lay in the folder, and may since it lies there no more."""
    team, mail = folders.shared(ada, betty, "team", UPDATE), make.resource(ada, {betty: UPDATE})
    own = folder(betty)
    assert move(ada, "resource", mail, team).status == 200

    def other() -> None:
        assert move(ada, "resource", mail, None).status == 200
        assert sharing(ada, mail, change(mail, betty, READ))().status == 200

    with Torn(other, old=Holding, new=Resource) as torn:
        assert move(betty, "resource", mail, own).status == 200

    assert torn.happened
    assert parent(betty, "resource", mail) == own
    check_invariants(store)
