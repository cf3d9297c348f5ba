"""Secrets: each user's own copy, for as long as they have access."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.logs.readings import Reading
from tests.support.faults.hooks import FAULTS, WRITES, Failing, Recorder
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import make
from tests.support.world.items.resources import actions, created, delete_type, secret_of, stored
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
UNKNOWN = "8e3874ae-4b40-590b-968a-418f704b9d9a"
MISSING = "The secret does not exist."


def path(resource_id: str) -> str:
    return f"/secrets/resource/{resource_id}.json"


def test_a_secret_is_shown_to_its_holder(time, ada, betty):
    resource_id = make.resource(ada, {betty: READ})

    for who in (ada, betty):
        response = who.client.get(path(resource_id))
        assert (response.status, response.message) == (200, "The operation was successful.")
        assert {name: response.body[name] for name in response.body if name != "id"} == {
            "user_id": who.id,
            "resource_id": resource_id,
            "data": secret_of(who, resource_id),
            "created": "2026-11-21T12:00:00+00:00",
            "modified": "2026-11-21T12:00:00+00:00",
            "created_by": who.id,
            "modified_by": who.id,
            "secret_revision_id": stored(resource_id).secret_revision,
            "deleted": None,
        }


def test_a_secret_can_be_read_through_a_group(ada, betty):
    resource_id = make.resource(ada, {make.group(betty): READ})

    assert betty.client.get(path(resource_id)).body["data"] == secret_of(betty, resource_id)


def test_the_creators_secret_keeps_its_identifier(ada):
    body = created(ada)

    assert ada.client.get(path(body["id"])).body == body["secrets"][0]


def test_each_reading_is_on_record_with_the_answers_identifier(ada, store):
    """HD10"""
    resource_id = make.resource(ada)

    responses = [ada.client.get(path(resource_id)) for _ in range(2)]

    assert actions(store, resource_id) == ["Resource.Secrets.read"] * 2
    rows = [Reading.from_raw(row) for row in store.rows(Reading.stored_as())]
    assert {row.user_id for row in rows} == {ada.id}
    assert {row.request_id for row in rows} == {each.header["id"] for each in responses}


def refused(who: Somebody, resource_id: str) -> None:
    response = who.client.get(path(resource_id))
    assert (response.status, response.message, response.body) == (404, MISSING, "")


def test_a_secret_nobody_may_read_looks_as_if_it_did_not_exist(ada, betty, digest):
    """AC03, AC05"""
    hidden = make.resource(betty)
    before = digest()

    refused(ada, hidden)
    refused(ada, UNKNOWN)
    refused(ada, ada.id)
    assert digest() == before


def test_a_secret_ends_with_the_resource(ada, betty, digest):
    """AC30, I9"""
    resource_id = make.resource(ada, {betty: READ})
    ada.client.delete(f"/resources/{resource_id}.json")
    before = digest()

    refused(ada, resource_id)
    refused(betty, resource_id)
    assert digest() == before


def test_a_secret_without_permission_is_not_shown(ada, betty):
    """FT12"""
    resource_id = make.resource(ada)
    Holding(betty.id, resource_id, **Holding.new_secret("left over", ada.id, "revision")).save()

    refused(betty, resource_id)


def test_a_folder_has_no_secret(ada, digest):
    folder = new_id()
    Holding(ada.id, folder, kind="Folder").save()
    before = digest()

    refused(ada, folder)
    assert digest() == before


def test_a_secret_of_a_deleted_type_is_not_shown(ada):
    resource_id = make.resource(ada, resource_type_id=resource_types.TOTP.id)
    delete_type(resource_types.TOTP)

    refused(ada, resource_id)


def test_the_identifier_is_one(ada):
    """NP01, NP02"""
    resource_id = make.resource(ada)

    response = ada.client.get(path("abc"))
    assert (response.status, response.message) == (
        400,
        "The resource identifier should be a valid UUID.",
    )
    assert ada.client.get(path(resource_id.upper())).status == 200


def test_a_secret_costs_two_steps(ada):
    resource_id = make.resource(ada)
    ada.client.get(path(resource_id))  # reads the signing keys, which are then kept

    with Recorder() as seen:
        ada.client.get(path(resource_id))

    assert seen.steps == 2
    assert sorted(seen.operations) == ["BatchGetItem", "BatchGetItem", "TransactWriteItems"]


@pytest.mark.parametrize("fault", FAULTS)
def test_no_secret_leaves_without_a_record(ada, store, fault):
    resource_id = make.resource(ada)

    with Failing(fault, times=1_000, only=WRITES):
        response = ada.client.get(path(resource_id))

    assert response.status == 503
    assert "PGP" not in response.content.decode()
    assert actions(store, resource_id) == []


def test_a_secret_that_is_taken_away_meanwhile_is_not_shown(ada, betty, store):
    """I8"""
    resource_id = make.resource(ada, {betty: READ})

    def unshare() -> None:
        row = stored(resource_id)
        row.permissions = {ada.id: row.permissions[ada.id]}
        row.save()
        Holding.get(betty.id, resource_id).delete()

    with Meanwhile(unshare):
        refused(betty, resource_id)
    assert actions(store, resource_id) == []
