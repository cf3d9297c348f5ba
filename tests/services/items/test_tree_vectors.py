"""The vectors of the tree, stored and carried out by the services."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.changes import Changed, Given, GroupChange, Removal, Sharing, Taken
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import FolderId, ItemId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.access import grants
from chalicelib.services.groups import group_updates
from chalicelib.services.items.folders import folder_deletion, folders, moves
from chalicelib.services.items.sharing import shares
from chalicelib.services.items.trees import arrivals
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import among, key_of
from chalicelib.tables.users.users import User
from tests.support.model.invariants import check_invariants
from tests.support.world.items.trees import Grove, grown, kind_of

VECTORS = json.loads((Path(__file__).parents[2] / "domain" / "tree_vectors.json").read_text())


def each(kind: str, has: str) -> Any:
    vectors = {vector["case"]: vector for vector in VECTORS[kind] if has in vector}
    assert vectors
    return pytest.mark.parametrize("vector", vectors.values(), ids=vectors)


def stored(vector: Any, *also: tuple[str, str]) -> Grove:
    groups, age = vector.get("groups", {}), vector.get("age", {})
    return grown(vector["before"], vector["perms"], groups, age, also)


@each("add", "add")
def test_items_that_somebody_gets_lie_where_others_have_them(vector, store):
    add = vector["add"]
    strangers = ((who, "nothing") for who in (add["operator"], add["to"]))
    grove = stored(vector, *((add["to"], name) for name in add["items"]), *strangers)
    target = grove.people[add["to"]]
    keys = [key_of(kind_of(name), grove.ids[name]) for name in add["items"]]
    items = among(reading.read(keys), keys)
    gained = {target.id: [item.id for item in items]}

    arrival = arrivals.placed(grove.actor(add["operator"]), gained, items)
    before = User.get(target.id)
    with Change(before, before.copy()) as tx:
        for item in items:
            secret = item.new_secret("s", target.id)
            place = arrival.place(item.id, target.id)
            tx.then_put(Holding(target.id, item.id, kind=item.kind, place=place, **secret))
        arrival.write(tx)

    assert grove.drawn() == vector["after"]
    check_invariants(store)


def shared_alone(vector: Any) -> bool:
    """Whether it is one folder that is given, by somebody who has it."""
    operator, items = vector["add"]["operator"], vector["add"]["items"]
    has_it = bool(items) and items[0] in vector["before"].get(operator, {})
    return len(items) == 1 and items[0].isupper() and has_it


@pytest.mark.parametrize(
    "vector",
    [pytest.param(v, id=v["case"]) for v in VECTORS["add"] if shared_alone(v)],
)
def test_a_folder_that_is_shared_lies_where_others_have_it(vector, store):
    """The same by a share, where the target has no permission before."""
    add = vector["add"]
    [name] = add["items"]
    grove = stored(vector, (add["to"], "nothing"))
    target = grove.people[add["to"]]
    actor = grove.actor(add["operator"])
    loaded = folders.load(actor, FolderId(grove.ids[name]))
    grant = grants.require(actor, loaded.folder, PermissionType.READ, missing="", denied="")

    change = Given("User", target.id, PermissionType.OWNER)
    shares.apply(actor, loaded.folder, grant, Sharing([change]))

    assert grove.drawn() == vector["after"]
    check_invariants(store)


@each("move", "move")
def test_what_somebody_moves_lies_there_for_all_who_see_both(vector, store):
    grove, move = stored(vector), vector["move"]
    to = None if move["to"] == "root" else grove.ids.get(move["to"], new_id())
    item_id = ItemId(grove.ids[move["item"]])
    refused = None

    try:
        moves.apply(grove.actor(move["operator"]), kind_of(move["item"]), item_id, to)
    except Invalid as error:
        [[path, rules]] = error.errors.items()
        [rule] = rules
        refused = f"{path}.{rule}"

    assert refused == vector.get("error")
    after = vector["before"] if refused else vector.get("after")
    assert grove.drawn() in vector.get("after_any_of", [after])
    check_invariants(store)


@each("share", "share")
def test_who_shares_a_folder_shares_nothing_in_it(vector, store):
    share = vector["share"]
    grove = stored(vector, *((who, "nothing") for who in share.get("add", {})))
    actor, item_id = grove.actor(share["operator"]), FolderId(grove.ids[share["item"]])
    loaded = folders.load(actor, item_id)
    held = loaded.folder.permissions
    changes = [
        *(given(grove, who, type_) for who, type_ in share.get("add", {}).items()),
        *(Taken(held[grove.holder(who).id].id) for who in share.get("remove", [])),
        *(
            Changed(held[grove.holder(who).id].id, PermissionType(type_))
            for who, type_ in share.get("change", {}).items()
        ),
    ]
    grant = grants.require(actor, loaded.folder, PermissionType.OWNER, missing="", denied="")

    shares.apply(actor, loaded.folder, grant, Sharing(changes))

    assert grove.drawn() == vector["after"]
    check_invariants(store)


def given(grove: Grove, who: str, type_: int) -> Given:
    aro = "Group" if who in grove.teams else "User"
    return Given(aro, grove.holder(who).id, PermissionType(type_))


@each("share", "remove_member")
def test_who_leaves_a_group_keeps_what_was_in_its_folders(vector, store):
    grove, leaving = stored(vector), vector["remove_member"]
    team = grove.teams[leaving["group"]]
    membership = User.get(grove.people[leaving["user"]].id).groups[team.id].id
    manager = next(name for name, who in grove.people.items() if who == team.members[0])

    change = GroupChange(removals=[Removal(membership)])
    group_updates.apply(grove.actor(manager), Group.get(team.id), change)

    assert grove.drawn() == vector["after"]
    check_invariants(store)


@each("share", "delete")
def test_who_deletes_a_folder_deletes_what_they_may(vector, store):
    grove, deletion = stored(vector), vector["delete"]
    delete = folder_deletion.delete_with_content if deletion["cascade"] else folders.delete

    delete(grove.actor(deletion["operator"]), FolderId(grove.ids[deletion["item"]]))

    assert grove.drawn() == vector["after"]
    check_invariants(store)
