"""Rows of the embedded tables share the values they have in common, and nothing shows it."""

from __future__ import annotations

import pytest

from infra.local_server import values
from infra.local_server.engine import Engine
from infra.local_server.values import SharedValues
from tests.infra_local.clients import TABLE, create_table, find, key, open_client, put

KIND = {"S": "mail"}
MORE = {
    "kind": KIND,
    "size": {"N": "12"},
    "gone": {"BOOL": False},
    "parent": {"S": "root"},
    "holders": {"M": {"ada": {"M": {"type": {"N": "15"}}}}},
}


@pytest.fixture
def client():
    return open_client()


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "tables.db"


@pytest.fixture
def engine(client, journal):
    engine = Engine(journal)
    engine.attach(client)
    create_table(client)
    client.put_item(TableName=TABLE, Item={**key("ada", "1"), **MORE})
    client.transact_write_items(TransactItems=[put("bob", "1", **MORE)])
    yield engine
    engine.close()


def are_shared(engine):
    one, other = engine.rows(TABLE)
    return all(one[name] is other[name] for name in ("id", "kind", "size", "gone", "parent"))


def test_rows_that_were_written_apart_share_their_values(engine):
    one, other = engine.rows(TABLE)
    assert one == {**other, "owner": {"S": "ada"}}
    assert are_shared(engine)


def test_rows_of_a_journal_share_their_values(engine, journal):
    engine.close()
    again = Engine(journal)
    assert are_shared(again)
    again.close()


def test_rows_that_were_updated_share_their_values(engine, client):
    for owner in ("ada", "bob"):
        client.update_item(
            TableName=TABLE,
            Key=key(owner, "1"),
            UpdateExpression="SET kind = :kind ADD size :one",
            ExpressionAttributeValues={":kind": {"S": "note"}, ":one": {"N": "1"}},
        )
    assert find(client, "ada", "1")["size"] == {"N": "13"}
    assert are_shared(engine)


@pytest.mark.usefixtures("engine")
def test_a_change_of_one_row_is_not_seen_in_another(client):
    update = {
        "TableName": TABLE,
        "Key": key("ada", "1"),
        "UpdateExpression": "SET holders.ada = :new, kind = parent REMOVE gone ADD size :one",
        "ExpressionAttributeValues": {":new": {"S": "nobody"}, ":one": {"N": "1"}},
    }
    client.update_item(**update)
    client.transact_write_items(TransactItems=[{"Update": update}])

    assert find(client, "ada", "1") == {
        **key("ada", "1"),
        "kind": {"S": "root"},
        "size": {"N": "14"},
        "parent": {"S": "root"},
        "holders": {"M": {"ada": {"S": "nobody"}}},
    }
    assert find(client, "bob", "1") == {**key("bob", "1"), **MORE}


def test_long_texts_are_not_kept_for_others():
    shared = SharedValues()
    long = "x" * (values.LONGEST + 1)
    one, other = (shared.row({"data": {"S": long}})["data"] for _ in range(2))
    assert one == other
    assert one is not other


def test_what_was_last_stored_long_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr(values, "REMEMBERED", 3)
    shared = SharedValues()
    once, often = ({"S": name} for name in ("once", "often"))
    shared.row({"a": once})
    for number in range(10):
        shared.row({"a": often, "b": {"S": f"{number}"}})

    assert shared.row({"a": {"S": "often"}})["a"] is often
    assert shared.row({"a": {"S": "once"}})["a"] is not once
