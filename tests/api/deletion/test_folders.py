"""Folders when a user or a group who has them is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from tests.support.model.invariants import check_invariants
from tests.support.world import make
from tests.support.world.departures import causes, delete, dry_run, held_by
from tests.support.world.items import folders
from tests.support.world.items.folders import move, parent

READ, UPDATE, OWNER = PermissionType
PLAIN = {
    *("id", "created", "modified", "created_by", "modified_by", "permissions", "personal"),
    *("name", "metadata", "metadata_key_id", "metadata_key_type", "folder_parent_id"),
}


def owner(folder_id: str, holder: Any) -> dict[str, str]:
    """The entry of a transfer that makes somebody who has a folder its owner."""
    permission = folders.stored(folder_id).permissions[holder.id]
    return {"id": permission.id, "aco_foreign_key": folder_id}


@pytest.mark.parametrize("ask", [delete, dry_run])
def test_a_folder_that_would_have_no_owner_stands_in_the_way(ada, betty, carol, digest, ask):
    work = make.folder(betty, {carol: READ})
    mail = make.resource(betty, {carol: READ})
    make.folder(betty)
    before = digest()

    response = ask(ada, betty)

    assert causes(response) == {"resources": {mail}, "folders": {work}}
    [shown] = response.body["errors"]["folders"]["sole_owner"]
    assert shown.keys() == PLAIN
    assert (shown["name"], shown["metadata"], shown["personal"]) == ("work", None, False)
    permissions = {each["aro_foreign_key"]: each for each in shown["permissions"]}
    assert permissions[carol.id]["aco"] == "Folder"
    assert permissions[carol.id]["user"]["profile"]["avatar"]["url"]["medium"]
    assert permissions[carol.id]["group"] is None
    assert digest() == before


def test_a_folder_is_handed_over(ada, betty, carol, store):
    work = make.folder(betty, {carol: READ})
    mail = make.resource(carol)
    assert move(carol, "resource", mail, None).status == 200

    assert delete(ada, betty, owners=[owner(work, carol)]).status == 200

    shown = carol.client.get(f"/folders/{work}.json?contain[permission]=1").body
    assert (shown["permission"]["type"], shown["personal"]) == (OWNER, True)
    check_invariants(store)


def test_folders_of_nobody_else_go_with_their_owner(ada, betty, carol, store):
    own = folders.folder(betty, "own")
    mail = make.resource(carol, {betty: READ})
    assert move(betty, "resource", mail, own).status == 200

    assert delete(ada, betty).status == 200

    assert folders.stored(own).deleted
    assert held_by(betty) == set()
    assert parent(carol, "resource", mail) is None
    check_invariants(store)


def test_what_lies_in_folders_of_a_group_that_goes_is_at_the_root(ada, betty, carol, store):
    team = make.group(ada, betty)
    work, mail = make.folder(team), make.resource(ada, {betty: UPDATE})
    assert move(ada, "resource", mail, work).status == 200
    assert parent(betty, "resource", mail) == work

    assert delete(ada, team).status == 200

    assert [parent(who, "resource", mail) for who in (ada, betty)] == [None, None]
    assert ada.client.get("/folders.json").body == []
    check_invariants(store)


def test_a_group_that_alone_owns_a_folder_stands_in_its_own_way(ada, betty, carol):
    team = make.group(ada, betty)
    work = make.folder(team, {carol: READ})

    assert causes(dry_run(ada, team)) == {"folders": {work}}
    assert delete(ada, team, owners=[owner(work, carol)]).status == 200
    assert carol.client.get(f"/folders/{work}.json").body["personal"] is True


def test_a_dry_run_lists_no_folders(ada, betty):
    team = make.group(ada, betty)
    make.folder(team)
    mail = make.resource(team)
    assert [each["id"] for each in dry_run(ada, team).body] == [mail]
