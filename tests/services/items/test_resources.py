"""Resources: what each transaction holds, and what becomes of requests that meet each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import Context
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.operator import sweeper
from chalicelib.storage.connection import connection
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.settings import RESOURCE_TYPES, Setting
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import (
    FAULTS,
    UNKNOWN_OUTCOMES,
    WRITES,
    Failing,
    Killed,
    Killing,
    Recorder,
    in_conflict,
    kill_points,
)
from tests.support.faults.meanwhile import Meanwhile, Torn
from tests.support.model.invariants import check_invariants
from tests.support.races.scheduler import Race, races
from tests.support.wire.client import Client, Response
from tests.support.world import make, people
from tests.support.world.items import folders
from tests.support.world.items.resources import (
    MISSING,
    PGP,
    actions,
    create,
    created,
    delete_type,
    give,
    leave,
    long_message,
    metadata,
    path,
    rules,
    secret_of,
    secrets,
    secrets_of,
    stored,
    take,
    v4,
)
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
KEY = {"headers": {"idempotency-key": "8f1a"}}
MANY = 110
"""More users than one transaction has rows."""


# Creation


def test_a_creation_writes_the_resource_its_holding_and_its_record(ada, store):
    before = people.counts(store)

    resource_id = created(ada)["id"]

    after = people.counts(store)
    assert {name for name in after if after[name] != before.get(name, 0)} == {
        "resources",
        "holdings",
        "action_logs",
    }
    assert secret_of(ada, resource_id) == PGP
    check_invariants(store)


def test_who_is_deleted_meanwhile_creates_nothing(ada, refused_after):
    response = refused_after(lambda: people.delete(ada), lambda: create(ada))

    assert (response.status, response.message) == (403, "Authentication is required to continue")


def test_a_type_that_is_deleted_meanwhile_is_not_given(ada, refused_after):
    """IN22"""
    totp = resource_types.TOTP

    response = refused_after(
        lambda: delete_type(totp), lambda: create(ada, v4(resource_type_id=totp.id))
    )

    assert rules(response, "resource_type_id") == {"resource_type_is_not_soft_deleted"}


def test_two_creations_with_one_key_make_one_resource(ada, store):
    """FT03"""
    first: list[Any] = []

    with Meanwhile(lambda: first.append(create(ada, v4(), **KEY).body)):
        second = create(ada, v4(), **KEY)

    assert (second.status, second.body) == (200, first[0])
    assert people.counts(store)["resources"] == 1


def test_two_creations_with_one_key_and_two_contents_are_in_conflict(ada, refused_after):
    other = v4(name="other")

    response = refused_after(lambda: create(ada, other, **KEY), lambda: create(ada, v4(), **KEY))

    assert response.status == 409


# Updates


def test_an_update_is_decided_again_when_the_resource_has_changed(ada, betty, store):
    """RA05"""
    resource_id = make.resource(ada, {betty: UPDATE}, username="u")
    theirs, mine = secrets(ada, betty, text="theirs"), secrets(ada, betty, text="mine")

    def other() -> None:
        sent = {"name": "theirs", "uri": "theirs", "secrets": theirs}
        assert betty.client.put(path(resource_id), sent).status == 200

    with Meanwhile(other):
        response = ada.client.put(path(resource_id), {"name": "mine", "secrets": mine})

    assert response.status == 200
    row = stored(resource_id)
    assert (row.name, row.uri, row.version) == ("mine", "theirs", 3)
    assert [secret_of(who, resource_id) for who in (ada, betty)] == [s["data"] for s in mine]
    check_invariants(store)


def test_an_update_beside_new_secrets_is_written_once(ada, betty, store):
    """RA05: the resource is read after the other update, the holding before it."""
    resource_id = make.resource(ada, {betty: UPDATE})
    theirs = secrets(ada, betty, text="theirs")

    def other() -> None:
        assert betty.client.put(path(resource_id), {"secrets": theirs}).status == 200

    with Torn(other, old=Holding, new=Resource) as torn:
        response = ada.client.put(path(resource_id), {"name": "mine"})

    assert torn.happened
    assert response.status == 200
    assert response.body["secrets"][0]["data"] == theirs[0]["data"]
    assert (stored(resource_id).name, stored(resource_id).version) == ("mine", 3)
    assert actions(store, resource_id).count("Resources.updated") == 2
    check_invariants(store)


def test_an_update_that_cannot_be_shown_is_not_written(ada, store):
    """FT05: what is shown is read before it is written."""
    resource_id = make.resource(ada)
    assert folders.move(ada, "resource", resource_id, make.folder(ada)).status == 200
    with Recorder() as seen:
        assert ada.client.put(path(resource_id), {"name": "one"}).status == 200

    assert seen.operations[-1] == "TransactWriteItems"


def test_who_loses_access_meanwhile_changes_nothing(ada, betty, refused_after):
    """I8"""
    resource_id = make.resource(ada, {betty: UPDATE})

    response = refused_after(
        lambda: take(resource_id, betty),
        lambda: betty.client.put(path(resource_id), {"name": "new"}),
    )

    assert (response.status, response.message) == (404, MISSING)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_who_becomes_a_reader_meanwhile_changes_nothing(ada, betty, refused_after, method):
    resource_id = make.resource(ada, {betty: UPDATE})

    response = refused_after(
        lambda: give(resource_id, betty, READ),
        lambda: betty.client.request(method, path(resource_id), json={"name": "new"}),
    )

    assert response.status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_who_leaves_the_group_meanwhile_changes_nothing(ada, betty, refused_after, method):
    resource_id = make.resource(ada, {make.group(betty): UPDATE})

    response = refused_after(
        lambda: leave(betty),
        lambda: betty.client.request(method, path(resource_id), json={"name": "new"}),
    )

    assert (response.status, response.message) == (404, MISSING)


def test_a_type_that_is_deleted_meanwhile_is_not_kept(ada, refused_after):
    resource_id = make.resource(ada)

    response = refused_after(
        lambda: delete_type(resource_types.PASSWORD_STRING),
        lambda: ada.client.put(path(resource_id), {"name": "new"}),
    )

    assert rules(response, "resource_type_id") == {"resource_type_is_not_soft_deleted"}


def test_who_gains_access_meanwhile_needs_a_secret_too(ada, betty, refused_after):
    """I1, RA04"""
    resource_id = make.resource(ada)

    response = refused_after(
        lambda: give(resource_id, betty, READ),
        lambda: ada.client.put(path(resource_id), {"name": "new", "secrets": secrets(ada)}),
    )

    assert rules(response, "secrets") == {"secrets_provided"}


def test_what_is_deleted_meanwhile_stays_deleted(ada, betty, refused_after, store):
    """RA07, I9"""
    resource_id = make.resource(ada, {betty: UPDATE})

    response = refused_after(
        lambda: ada.client.delete(path(resource_id)),
        lambda: betty.client.put(
            path(resource_id), {"name": "new", "secrets": secrets(ada, betty)}
        ),
    )

    assert (response.status, response.message) == (404, MISSING)
    check_invariants(store)


def test_metadata_for_one_user_is_refused_when_another_gains_access_meanwhile(
    ada, betty, refused_after
):
    """I6"""
    resource_id = make.resource(ada, **metadata(ada), resource_type_id=resource_types.V5_DEFAULT.id)

    response = refused_after(
        lambda: give(resource_id, betty, READ),
        lambda: ada.client.put(path(resource_id), metadata(ada)),
    )

    assert rules(response, "metadata_key_type") == {"isMetadataKeyTypeSharedOnSharedItem"}


def test_a_resource_that_never_rests_is_in_conflict(ada, betty):
    """I14"""
    resource_id = make.resource(ada, {betty: UPDATE})

    def touch() -> None:
        row = stored(resource_id)
        row.version += 1
        row.save()

    def always(operation: str, parameters: Any, send: Any) -> Any:
        if operation == "TransactWriteItems":
            Context().run(touch)
        return send()

    connection.hooks.append(always)
    response = ada.client.put(path(resource_id), {"name": "new"})

    assert response.status == 409
    assert stored(resource_id).name == "mail"


# Deletion


def test_a_deletion_is_decided_again_when_the_resource_has_changed(ada, betty, carol, store):
    """RA07, I9"""
    resource_id = make.resource(ada, {betty: READ})

    with Meanwhile(lambda: give(resource_id, carol, READ)):
        assert ada.client.delete(path(resource_id)).status == 200

    assert secret_of(carol, resource_id) is None
    check_invariants(store)


def test_who_loses_access_meanwhile_deletes_nothing(ada, betty, refused_after):
    resource_id = make.resource(ada, {betty: UPDATE})

    response = refused_after(
        lambda: take(resource_id, betty), lambda: betty.client.delete(path(resource_id))
    )

    assert (response.status, response.message) == (404, MISSING)


def test_what_is_deleted_meanwhile_is_not_deleted_twice(ada, betty, store):
    """IN33"""
    resource_id = make.resource(ada, {betty: UPDATE})

    with Meanwhile(lambda: betty.client.delete(path(resource_id))):
        assert ada.client.delete(path(resource_id)).status == 404

    assert actions(store, resource_id) == ["Resources.deleted"]


# Races

Ask = Callable[[], Response]


def updating(who: Somebody, resource_id: str, sent: Any) -> Ask:
    return lambda: who.client.put(path(resource_id), sent)


def deleting(who: Somebody, resource_id: str) -> Ask:
    return lambda: who.client.delete(path(resource_id))


def creating(who: Somebody, key: str, sent: Any) -> Ask:
    return lambda: create(who, sent, headers={"idempotency-key": key})


def schedules() -> Iterator[Race]:
    """All with at most two switches, and some of the others."""
    return races(limit=50, sampled=10)


def test_of_two_updates_each_is_whole(ada, betty, store):
    """RA05, I14"""
    for race in schedules():
        resource_id = make.resource(ada, {betty: UPDATE})
        new = {who: secrets(ada, betty, text=who.key.name) for who in (ada, betty)}
        asked = [
            updating(who, resource_id, {"name": who.key.name, "secrets": new[who]}) for who in new
        ]

        outcomes = race.run(*asked)

        assert [each.get().status for each in outcomes] == [200, 200], race.order
        last = ada if stored(resource_id).name == "ada" else betty
        found = [secret_of(who, resource_id) for who in (ada, betty)]
        assert found == [each["data"] for each in new[last]], race.order
        assert stored(resource_id).version == 3
    check_invariants(store)


def test_of_an_update_and_a_deletion_nothing_remains(ada, betty, store):
    """RA07, I9"""
    for race in schedules():
        resource_id = make.resource(ada, {betty: UPDATE})
        sent = {"name": "new", "secrets": secrets(ada, betty)}

        update, delete = race.run(updating(ada, resource_id, sent), deleting(betty, resource_id))

        assert update.get().status in (200, 404), race.order
        assert delete.get().status == 200, race.order
        assert [secret_of(who, resource_id) for who in (ada, betty)] == [None, None]
    check_invariants(store)


def test_of_two_deletions_one_is_done(ada, betty, store):
    """IN33"""
    for race in schedules():
        resource_id = make.resource(ada, {betty: UPDATE})

        outcomes = race.run(deleting(ada, resource_id), deleting(betty, resource_id))

        assert sorted(each.get().status for each in outcomes) == [200, 404], race.order
    check_invariants(store)


def test_of_two_creations_with_one_key_one_is_done(ada, store):
    """I15"""
    for n, race in enumerate(schedules()):
        one, other = race.run(*[creating(ada, f"race {n}", v4())] * 2)

        assert one.get().status == other.get().status == 200, race.order
        assert one.get().body == other.get().body, race.order
    check_invariants(store)


def test_a_type_is_not_deleted_under_a_creation(ada, betty, store):
    totp = resource_types.TOTP
    for n, race in enumerate(schedules()):
        creation, deletion = race.run(
            creating(betty, f"race {n}", v4(resource_type_id=totp.id)),
            lambda: ada.client.delete(f"/resource-types/{totp.id}.json"),
        )

        is_created = creation.get().status == 200
        assert is_created != (deletion.get().status == 200), race.order
        if is_created:
            betty.client.delete(path(creation.get().body["id"]))
        else:
            Setting(RESOURCE_TYPES).save()
    check_invariants(store)


# Faults


@pytest.fixture(params=["create", "update", "delete", "type", "secret"])
def new_request(request: Any, ada: Somebody, betty: Somebody) -> Callable[[], Ask]:
    """Makes a new request of a kind, which may be sent again."""
    ada.client.get("/resources.json")  # reads the signing keys, which are then kept

    def new() -> Ask:
        if request.param == "create":
            return creating(ada, new_id(), v4())
        if request.param == "type":
            Setting(RESOURCE_TYPES).save()
            return lambda: ada.client.delete(f"/resource-types/{resource_types.TOTP.id}.json")
        resource_id = make.resource(ada, {betty: UPDATE})
        if request.param == "secret":
            return lambda: ada.client.get(f"/secrets/resource/{resource_id}.json")
        if request.param == "update":
            sent = {"name": "new", "secrets": secrets(ada, betty)}
            return updating(ada, resource_id, sent)
        return deleting(ada, resource_id)

    return new


AGAIN = (200, 400, 404)
"""Answers to a request that is sent again: a deletion may find that it was done."""


def test_a_process_may_die_at_any_moment(store, new_request):
    """FT01, FT02"""
    ask = new_request()
    with Recorder() as seen:
        assert ask().status == 200
    for death in kill_points(len(seen.calls)):
        ask = new_request()
        with pytest.raises(Killed), death:
            ask()
        check_invariants(store)
        assert ask().status in AGAIN
        check_invariants(store)


@pytest.mark.parametrize("fault", [*FAULTS, in_conflict])
def test_a_storage_that_fails_once_is_asked_again(store, new_request, digest, fault):
    """FT04, FT05"""
    ask = new_request()
    with Recorder() as seen:
        assert ask().status == 200
    for at in range(len(seen.calls)):
        ask = new_request()
        before = digest()
        with Failing(fault, at=at):
            response = ask()
        assert response.status in (200, 503)
        if response.status == 503:
            assert digest() == before
    check_invariants(store)


@pytest.mark.parametrize("fault", UNKNOWN_OUTCOMES)
def test_a_lost_answer_is_not_a_second_change(store, new_request, fault):
    """FT06"""
    ask = new_request()
    with Failing(fault, only=WRITES):
        assert ask().status in (200, 503)
    check_invariants(store)
    assert ask().status in AGAIN
    check_invariants(store)


# Large changes


@pytest.fixture
def crowd(ada: Somebody) -> tuple[Somebody, ...]:
    return make.crowd(MANY)


def shared(ada: Somebody, crowd: tuple[Somebody, ...]) -> str:
    return make.resource(ada, dict.fromkeys(crowd, READ))


def renewal(ada: Somebody, crowd: tuple[Somebody, ...]) -> dict[str, Any]:
    sent = [{"user_id": who.id, "data": PGP} for who in (ada, *crowd)]
    return {"name": "new", "secrets": sent}


def reader(who: Somebody) -> Client:
    return Client(make.access_token(who.user))


def test_the_secrets_of_many_are_renewed_together(ada, crowd, store):
    """FT10"""
    resource_id = shared(ada, crowd)

    response = ada.client.put(path(resource_id), renewal(ada, crowd))

    assert response.status == 200
    assert response.body["data"] == PGP
    assert secrets_of((ada, *crowd), resource_id) == {PGP}
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_a_resource_of_many_is_deleted_for_all(ada, crowd, store):
    """I9, FT12"""
    resource_id = shared(ada, crowd)

    assert ada.client.delete(path(resource_id)).status == 200

    assert secrets_of((ada, *crowd), resource_id) == {None}
    assert store.rows("test-operations") == []
    check_invariants(store)


@pytest.mark.parametrize(
    "query",
    [
        "/secrets/resource/{}.json",
        "/resources/{}.json?contain[secret]=1",
        "/resources.json?contain[secret]=1&filter[has-id]={}",
    ],
)
def test_a_reader_is_shown_a_half_written_secret_and_writes_nothing(time, ada, crowd, store, query):
    """FT11, I13"""
    resource_id = shared(ada, crowd)
    after_commit(lambda: ada.client.put(path(resource_id), renewal(ada, crowd)))
    assert stored(resource_id).lock is not None
    staged = store.rows("test-operations")

    response = reader(crowd[-1]).get(query.format(resource_id))

    assert PGP.split("\n")[3] in response.content.decode()
    assert store.rows("test-operations") == staged
    check_invariants(store)


def test_the_next_writer_finishes_what_is_half_written(time, ada, crowd, store):
    """I14"""
    resource_id = shared(ada, crowd)
    after_commit(lambda: ada.client.put(path(resource_id), renewal(ada, crowd)))

    response = ada.client.put(path(resource_id), {"uri": "newer"})

    assert (response.status, response.body["name"], response.body["data"]) == (200, "new", PGP)
    assert secrets_of((ada, *crowd), resource_id) == {PGP}
    check_invariants(store)


def test_access_to_a_deleted_resource_ends_with_the_commit(time, ada, crowd, store):
    """FT12, I9"""
    resource_id = shared(ada, crowd)
    after_commit(lambda: ada.client.delete(path(resource_id)))
    assert secret_of(crowd[-1], resource_id) is not None

    client = reader(crowd[-1])
    assert client.get(f"/secrets/resource/{resource_id}.json").status == 404
    assert client.get("/resources.json").body == []
    time.pass_by(minutes=15)
    sweeper.sweep()

    assert secrets_of((ada, *crowd), resource_id) == {None}
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_a_process_that_dies_before_the_commit_has_changed_nothing(ada, crowd, digest, store):
    """FT02"""
    resource_id = shared(ada, crowd)
    row = stored(resource_id).serialize()
    before = secrets_of(crowd, resource_id)

    with pytest.raises(Killed), Killing(at=5):
        ada.client.put(path(resource_id), renewal(ada, crowd))

    assert stored(resource_id).serialize() == row
    assert secrets_of(crowd, resource_id) == before
    check_invariants(store)


def test_secrets_of_more_than_4_mb_are_renewed_together(ada, store):
    """FT13"""
    crowd = make.crowd(11)
    resource_id = shared(ada, crowd)
    data = long_message(286_000)
    sent = [{"user_id": who.id, "data": data} for who in (ada, *crowd)]

    response = ada.client.put(path(resource_id), {"secrets": sent})

    assert response.status == 200, response.json
    assert secrets_of((ada, *crowd), resource_id) == {data}
    check_invariants(store)
