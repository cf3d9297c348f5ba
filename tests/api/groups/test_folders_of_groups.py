"""What becomes of what lies in a group's folders as the group grows."""

from __future__ import annotations

from chalicelib.domain.items.permissions import PermissionType
from tests.support.faults.hooks import Recorder
from tests.support.model.invariants import check_invariants
from tests.support.storage import Storage
from tests.support.world import groups, make
from tests.support.world.items import folders, shares
from tests.support.world.items.folders import folder, move, parent, share
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType


def test_a_reader_moves_nothing_of_others_by_a_group_that_grows(
    ada: Somebody, betty: Somebody, carol: Somebody, store: Storage
) -> None:
    """AC11: what Ada only filed in a folder that was hers alone leaves it, as in a share."""
    play = folders.shared(betty, carol, "play", type_=OWNER)
    mail = make.resource(betty, {ada: READ, carol: READ})
    assert move(betty, "resource", mail, play).status == 200
    team, work = make.group(ada), folder(ada)
    assert share(ada, work, shares.add(team, UPDATE)).status == 200
    assert move(ada, "resource", mail, work).status == 200  # nobody else has the folder so far

    assert groups.update(ada, team, groups.add(betty)).status == 200

    check_invariants(store)
    assert parent(betty, "resource", mail) == parent(carol, "resource", mail) == play
    assert parent(ada, "resource", mail) is None


def test_a_reader_takes_nothing_out_of_folders_that_they_do_not_see(
    ada: Somebody, betty: Somebody, carol: Somebody, store: Storage
) -> None:
    """AC11: Carol's mail, which Ada may read by a group, lies where only Carol and Betty see it."""
    team = make.group(ada)
    mail = make.resource(carol, {team: READ})
    play = folders.shared(carol, betty, "play")
    assert move(carol, "resource", mail, play).status == 200
    work = folder(ada)
    assert share(ada, work, shares.add(team)).status == 200
    assert move(ada, "resource", mail, work).status == 200

    secret = groups.secret(betty, mail)
    assert groups.update(ada, team, groups.add(betty), secrets=[secret]).status == 200

    check_invariants(store)
    assert parent(carol, "resource", mail) == parent(betty, "resource", mail) == play
    assert parent(ada, "resource", mail) is None


def test_what_its_only_member_may_change_stays_and_is_found_there(
    ada: Somebody, betty: Somebody, store: Storage
) -> None:
    """What Betty owns, and Ada may change, counts as laid there by both."""
    mail = make.resource(betty, {ada: UPDATE})
    team, work = make.group(ada), folder(ada)
    assert share(ada, work, shares.add(team, UPDATE)).status == 200
    assert move(ada, "resource", mail, work).status == 200

    assert groups.update(ada, team, groups.add(betty)).status == 200

    check_invariants(store)
    assert parent(ada, "resource", mail) == parent(betty, "resource", mail) == work


def test_what_lies_in_many_folders_is_asked_for_together(ada: Somebody, betty: Somebody) -> None:
    team = make.group(ada)
    for _ in range(6):
        work = folder(ada)
        assert share(ada, work, shares.add(team)).status == 200
        mail = make.resource(betty, {ada: READ})
        assert move(ada, "resource", mail, work).status == 200

    with Recorder() as seen:
        assert groups.update(ada, team, groups.add(betty)).status == 200
    assert seen.steps <= 16
