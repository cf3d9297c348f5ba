"""Moves: what is refused, in which order, and what others see of a move."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from tests.support.faults.hooks import Recorder
from tests.support.model.invariants import check_invariants
from tests.support.world import make
from tests.support.world.items import folders, resources, shares
from tests.support.world.items.folders import INVALID_MOVE, folder, move, parent, resource

READ, UPDATE, OWNER = PermissionType
MISSING = "The object to move does not exist."


def refused(response: Any) -> dict[str, str]:
    """What is wrong with the folder that a move names."""
    assert (response.status, response.message) == (400, INVALID_MOVE), response.json
    found: dict[str, str] = response.body["folder_parent_id"]
    return found


@pytest.mark.parametrize("method", ["put", "post"])
@pytest.mark.parametrize(("kind", "make_item"), [("Folder", folder), ("RESOURCE", resource)])
def test_an_item_is_moved_into_a_folder_and_out_again(ada, store, method, kind, make_item):
    work, item_id = folder(ada), make_item(ada)
    ask = getattr(ada.client, method)

    response = ask(f"/move/{kind}/{item_id}.json", {"folder_parent_id": work, "name": 5})

    assert (response.status, response.message) == (
        200,
        "The object has been moved successfully.",
    )
    assert response.body is None
    assert parent(ada, kind.lower(), item_id) == work
    assert ask(f"/move/{kind}/{item_id}.json", {"folder_parent_id": None}).status == 200
    assert parent(ada, kind.lower(), item_id) is None
    check_invariants(store)


def test_how_deep_a_reader_has_filed_a_folder_costs_others_nothing(ada, betty):
    shared = folders.shared(ada, betty, type_=READ)

    def calls_of_a_move() -> int:
        moved = folder(ada)
        with Recorder() as seen:
            assert move(ada, "folder", moved, shared).status == 200
        return len(seen.calls)

    calls = []
    inner = shared
    for _ in range(8):
        outer = folder(betty)
        assert move(betty, "folder", inner, outer).status == 200
        inner = outer
        calls.append(calls_of_a_move())
    assert len(set(calls[1:])) == 1


@pytest.mark.parametrize("is_opened", [True, False], ids=["opened to a third", "private"])
@pytest.mark.parametrize("is_moved", [True, False], ids=["move", "share"])
def test_very_deep_is_not_read_level_by_level(ada, betty, carol, is_opened, is_moved):
    """Who may change a folder opens those above it; who may read it has it in their own."""
    shared = folders.shared(ada, betty, type_=UPDATE if is_opened else READ)

    def steps() -> int:
        changed = folder(ada) if is_moved else folder(ada, parent=shared)
        with Recorder() as seen:
            if is_moved:
                assert move(ada, "folder", changed, shared).status == 200
            else:
                assert folders.share(ada, changed, shares.add(betty)).status == 200
        return seen.steps

    cost = []
    inner = shared
    for _ in range(14):
        outer = folder(betty)
        assert move(betty, "folder", inner, outer).status == 200
        if is_opened:
            assert folders.share(betty, outer, shares.add(carol)).status == 200
        inner = outer
        cost.append(steps())
    assert max(cost[11:]) <= max(cost[:11])


def test_a_move_leaves_the_date_of_the_last_change(ada):
    mail, work = resource(ada), folder(ada)
    before = ada.client.get(f"/resources/{mail}.json").body["modified"]
    assert move(ada, "resource", mail, work).status == 200
    assert ada.client.get(f"/resources/{mail}.json").body["modified"] == before


def test_only_folders_and_resources_are_moved(ada):
    response = ada.client.put("/move/tag/x.json", {})
    assert (response.status, response.message) == (
        400,
        "The object type should be one of the following: Folder, Resource.",
    )


def test_an_identifier_comes_before_the_body(ada):
    response = ada.client.put("/move/folder/x.json", {})
    assert (response.status, response.message) == (
        400,
        "The object identifier should be a valid UUID.",
    )


@pytest.mark.parametrize("body", [{}, None, [], {"parent": None}])
def test_a_move_says_where_to(ada, body):
    response = ada.client.put(f"/move/folder/{new_id()}.json", body)
    assert refused(response) == {"_required": "A folder parent identifier is required."}


@pytest.mark.parametrize("sent", ["", 5, [], False, "x", {}])
def test_where_to_is_an_identifier(ada, sent):
    response = ada.client.put(f"/move/folder/{new_id()}.json", {"folder_parent_id": sent})
    said = "The folder parent identifier should be a valid UUID."
    assert refused(response)["uuid"] == said


def test_what_the_caller_does_not_have_is_not_moved(ada, betty, digest):
    """AC01"""
    work, mail = folder(ada), resource(ada)
    gone = resource(betty)
    assert betty.client.delete(f"/resources/{gone}.json").status == 200
    before = digest()
    for kind, item_id in (
        *(("folder", work), ("resource", mail), ("resource", gone), ("folder", new_id())),
        *(("resource", work), ("folder", mail)),
    ):
        response = move(betty, kind, item_id, None)
        assert (response.status, response.message) == (404, MISSING)
    assert digest() == before
    assert move(ada, "folder", mail, None).status == 404


def test_an_item_is_moved_into_nothing_but_a_folder_of_the_callers(ada, betty, digest):
    mail, other, hers = resource(ada), resource(ada), folder(betty)
    before = digest()
    for to in (other, hers, new_id()):
        assert refused(move(ada, "resource", mail, to)) == {
            "folder_exists": "The folder parent does not exist."
        }
    assert digest() == before


def test_a_reader_files_what_they_read_for_themselves(ada, betty, store):
    """AC10"""
    mail, own = make.resource(ada, {betty: READ}), folder(betty)

    assert move(betty, "resource", mail, own).status == 200
    assert (parent(betty, "resource", mail), parent(ada, "resource", mail)) == (own, None)
    assert move(betty, "resource", mail, None).status == 200
    assert parent(betty, "resource", mail) is None
    check_invariants(store)


def test_a_reader_takes_nothing_out_of_a_shared_folder(ada, betty, digest):
    """AC11"""
    work, mail = folders.shared(ada, betty, type_=READ), make.resource(ada, {betty: UPDATE})
    assert move(ada, "resource", mail, work).status == 200
    before = digest()
    assert refused(move(betty, "resource", mail, None)) == {
        "has_folder_access": "You are not allowed to move this item out of its parent folder."
    }
    assert digest() == before


def test_what_one_may_only_read_stays_in_a_shared_folder(ada, betty, digest):
    """AC11"""
    work, mail = folders.shared(ada, betty, type_=UPDATE), make.resource(ada, {betty: READ})
    assert move(ada, "resource", mail, work).status == 200
    before = digest()
    assert refused(move(betty, "resource", mail, None)) == {
        "has_access": "You are not allowed to move this item."
    }
    assert digest() == before


def test_nothing_is_moved_into_a_folder_that_one_may_only_read(ada, betty, digest):
    """AC12"""
    work, mail = folders.shared(ada, betty, type_=READ), resource(betty)
    before = digest()
    assert refused(move(betty, "resource", mail, work)) == {
        "has_folder_access": "You are not allowed to create content into the parent folder."
    }
    assert digest() == before


def test_what_one_may_only_read_is_not_moved_into_a_shared_folder(ada, betty, digest):
    """AC11"""
    work, mail = folders.shared(ada, betty, type_=UPDATE), make.resource(ada, {betty: READ})
    before = digest()
    assert refused(move(betty, "resource", mail, work)) == {
        "has_access": "You are not allowed to move an item in read only into the parent folder."
    }
    assert digest() == before


@pytest.mark.parametrize("kind", ["resource", "folder"])
def test_what_is_encrypted_for_one_user_is_not_moved_into_a_shared_folder(ada, betty, digest, kind):
    """IN13"""
    resources.allow(allow_creation_of_v5_folders=True)
    work, own = folders.shared(ada, betty), folder(ada)
    if kind == "resource":
        item = resources.created(ada, resources.v5(ada))["id"]
    else:
        item = folders.create(ada, resources.metadata(ada)).body["id"]
    before = digest()

    assert refused(move(ada, kind, item, work)).keys() == {"isMetadataKeyTypeSharedOnSharedItem"}
    assert digest() == before
    assert move(ada, kind, item, own).status == 200


def test_a_move_to_where_it_is_changes_nothing(ada, betty, digest):
    work, mail = folders.shared(ada, betty, type_=READ), make.resource(ada, {betty: READ})
    assert move(ada, "resource", mail, work).status == 200
    before = digest()
    assert move(betty, "resource", mail, work).status == 200
    assert move(ada, "resource", mail, work).status == 200
    assert digest() == before


def chain(who: Any, length: int) -> list[str]:
    """Folders that each lie in the one before."""
    found = [folder(who, "0")]
    for number in range(1, length):
        found.append(folder(who, str(number), found[-1]))
    return found


@pytest.mark.parametrize("depth", [0, 1, 30])
def test_no_folder_is_moved_into_itself_or_below(ada, digest, depth):
    """IN30"""
    found = chain(ada, depth + 1)
    before = digest()
    assert refused(move(ada, "folder", found[0], found[-1])) == {
        "cycle": "The folder cannot be moved into one of its descendants."
    }
    assert digest() == before


def test_who_sees_both_sees_the_move(ada, betty, carol, store):
    work, other = folders.shared(ada, betty), folders.shared(ada, betty, "other")
    mail = make.resource(ada, {betty: READ, carol: READ})

    assert move(ada, "resource", mail, work).status == 200
    assert [parent(who, "resource", mail) for who in (ada, betty, carol)] == [work, work, None]
    assert move(ada, "resource", mail, other).status == 200
    assert [parent(who, "resource", mail) for who in (ada, betty, carol)] == [other, other, None]
    own = folder(ada, "own")
    assert move(ada, "resource", mail, own).status == 200
    assert [parent(who, "resource", mail) for who in (ada, betty, carol)] == [own, None, None]
    check_invariants(store)


def test_a_team_sees_a_move(ada, betty, carol, store):
    team = make.group(ada, betty, carol)
    work, sub = folder(ada), folder(ada, "sub")
    for each in (work, sub):
        given = {"aro": "Group", "aro_foreign_key": team.id, "type": int(UPDATE)}
        assert folders.share(ada, each, given).status == 200

    assert move(betty, "folder", sub, work).status == 200

    assert {parent(who, "folder", sub) for who in (ada, betty, carol)} == {work}
    check_invariants(store)


def test_what_is_of_a_deleted_type_is_not_moved(ada):
    mail = resource(ada)
    kind = resources.stored(mail).resource_type_id
    resources.delete_type(next(k for k in resources.resource_types.RESOURCE_TYPES if k.id == kind))
    assert move(ada, "resource", mail, None).status == 404
