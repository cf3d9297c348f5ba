"""What the embedded tables look up by themselves is what ministack would have answered."""

from __future__ import annotations

import json
import sqlite3

import pytest

from chalicelib.storage import reading
from chalicelib.tables.settings import Setting
from infra.local_server import mini
from infra.local_server.engine import Engine
from tests.infra_local.clients import TABLE, create_table, find, key, open_client

ADA = {":k": {"S": "ada"}}
OWNER = {"#k": "owner"}
PARTITION = {
    "TableName": TABLE,
    "KeyConditionExpression": "#k = :k",
    "ExpressionAttributeNames": OWNER,
    "ExpressionAttributeValues": ADA,
    "ConsistentRead": True,
    "ReturnConsumedCapacity": "TOTAL",
}
AFTER = {
    "KeyConditionExpression": "(#k = :k AND #s > :s)",
    "ExpressionAttributeNames": {**OWNER, "#s": "id"},
    "ExpressionAttributeValues": {**ADA, ":s": {"S": "1"}},
}
BEGINNING = AFTER | {"KeyConditionExpression": "(#k = :k AND begins_with (#s, :s))"}
QUERIES = {
    "all rows": {},
    "after a key": AFTER,
    "after a key, a limit": AFTER | {"Limit": 1},
    "after a key, a limit of all": AFTER | {"Limit": 2},
    "after a key, backwards": AFTER | {"ScanIndexForward": False, "Limit": 1},
    "after a key, nobody's rows": AFTER
    | {"ExpressionAttributeValues": {":k": {"S": "carol"}, ":s": {"S": "1"}}},
    "after a key, going on": AFTER | {"ExclusiveStartKey": key("ada", "2"), "Limit": 1},
    "after a key, of those a part": AFTER
    | {
        "FilterExpression": "attribute_exists(parent)",
        "Limit": 2,
    },
    "after a key of an index": AFTER
    | {"IndexName": "by_parent", "ExpressionAttributeNames": {**OWNER, "#s": "parent"}},
    "after a number": AFTER | {"ExpressionAttributeValues": {**ADA, ":s": {"N": "1"}}},
    "after another attribute": AFTER | {"ExpressionAttributeNames": {**OWNER, "#s": "kind"}},
    "after nothing": AFTER | {"ExpressionAttributeValues": ADA},
    "a limit of none": AFTER | {"Limit": 0},
    "a beginning": BEGINNING,
    "a beginning, a limit": BEGINNING | {"Limit": 1},
    "a beginning that none has": BEGINNING
    | {"ExpressionAttributeValues": {**ADA, ":s": {"S": "4"}}},
    "an index": {"IndexName": "by_parent"},
    "nobody's rows": {"ExpressionAttributeValues": {":k": {"S": "carol"}}},
    "a limit": {"Limit": 1},
    "backwards": {"ScanIndexForward": False},
    "a count": {"Select": "COUNT"},
    "a number": {"ExpressionAttributeValues": {":k": {"N": "1"}}},
    "another attribute": {"ExpressionAttributeNames": {"#k": "kind"}},
    "an unknown index": {"IndexName": "by_name"},
    "an unused value": {"ExpressionAttributeValues": {**ADA, ":x": {"S": "x"}}},
}
GETS = {
    "two rows and one that is not there": [key("ada", "2"), key("bob", "1"), key("bob", "9")],
    "the same row twice": [key("ada", "1"), key("ada", "1")],
    "half a key": [{"owner": {"S": "ada"}}],
    "more than a key": [{**key("ada", "1"), "kind": {"S": "x"}}],
    "a number": [{"owner": {"N": "1"}, "id": {"S": "1"}}],
    "too many": [key("ada", str(n)) for n in range(101)],
    "none": [],
}
INDEX = PARTITION | QUERIES["an index"]
CHANGES = {
    "a new row": ("put_item", {"Item": {**key("ada", "0"), "parent": {"S": "b"}}}),
    "another row in its place": (
        "put_item",
        {"Item": {**key("ada", "2"), "parent": {"S": "a"}, "kind": {"S": "new"}}},
    ),
    "another order": (
        "update_item",
        {
            "Key": key("ada", "1"),
            "UpdateExpression": "SET parent = :new",
            "ExpressionAttributeValues": {":new": {"S": "0"}},
        },
    ),
    "a row that joins": (
        "update_item",
        {
            "Key": key("ada", "3"),
            "UpdateExpression": "SET parent = :new",
            "ExpressionAttributeValues": {":new": {"S": "a"}},
        },
    ),
    "a row that leaves": (
        "update_item",
        {"Key": key("ada", "1"), "UpdateExpression": "REMOVE parent"},
    ),
    "what the index does not show": (
        "update_item",
        {
            "Key": key("ada", "1"),
            "UpdateExpression": "SET version = :new",
            "ExpressionAttributeValues": {":new": {"S": "x"}},
        },
    ),
    "a row that is removed": ("delete_item", {"Key": key("ada", "1")}),
    "another partition": ("put_item", {"Item": {**key("bob", "2"), "parent": {"S": "a"}}}),
}
LOOKED_UP = {
    "all rows": ("Query", PARTITION),
    "an index": ("Query", INDEX),
    "rows by key": ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [key("ada", "1")]}}}),
}


@pytest.fixture
def client():
    return open_client()


@pytest.fixture
def engine(client):
    engine = Engine()
    engine.attach(client)
    create_table(client)
    for owner, name, more in (
        ("ada", "2", {"parent": {"S": "a"}, "kind": {"S": "é"}, "other": {"N": "1"}}),
        ("ada", "1", {"parent": {"S": "b"}}),
        ("ada", "10", {"parent": {"S": "a"}}),
        ("ada", "3", {"kind": {"S": "no parent"}}),
        ("bob", "1", {"parent": {"S": "a"}}),
    ):
        client.put_item(TableName=TABLE, Item={**key(owner, name), **more})
    return engine


@pytest.fixture
def ministack(engine, monkeypatch):
    """Asks ministack, past what stands before it."""

    def ask(operation, request):
        with monkeypatch.context() as patch:
            patch.setattr(mini.mini, "_query", mini._whole_query)
            patch.setattr(mini.mini, "_batch_get_item", mini._whole_batch)
            return read(engine.answer(operation, json.dumps(request)))

    return ask


def read(answer):
    status, _, body = answer
    return status, json.loads(body)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_answered_as_by_ministack(engine, ministack, name):
    request = PARTITION | QUERIES[name]
    assert read(engine.answer("Query", json.dumps(request))) == ministack("Query", request)


@pytest.mark.parametrize("name", CHANGES)
def test_an_index_follows_what_is_written(engine, client, ministack, name):
    operation, change = CHANGES[name]
    before = read(engine.answer("Query", json.dumps(INDEX)))

    getattr(client, operation)(TableName=TABLE, **change)

    assert read(engine.answer("Query", json.dumps(INDEX))) == ministack("Query", INDEX)
    assert before[1]["Count"] == 3


@pytest.mark.parametrize("condition", [AFTER, BEGINNING], ids=["after", "beginning"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_range_follows_what_is_written(engine, client, ministack, name, condition):
    operation, change = CHANGES[name]
    request = PARTITION | condition | {"ExpressionAttributeValues": {**ADA, ":s": {"S": "0"}}}
    engine.answer("Query", json.dumps(request))

    getattr(client, operation)(TableName=TABLE, **change)

    assert read(engine.answer("Query", json.dumps(request))) == ministack("Query", request)


def test_a_page_looks_at_the_rows_in_it_alone(engine, client, monkeypatch):
    """So a large operation takes no longer for each of its lines than a small one."""
    for number in range(300):
        client.put_item(TableName=TABLE, Item=key("ada", f"x{number:03}"))
    looked_at = []
    evaluate = mini.mini._evaluate_condition
    monkeypatch.setattr(
        mini.mini,
        "_evaluate_condition",
        lambda *asked, **more: looked_at.append(asked) or evaluate(*asked, **more),
    )
    request = PARTITION | AFTER | {"Limit": 10}
    request["ExpressionAttributeValues"] = {**ADA, ":s": {"S": "x100"}}

    _, answer = read(engine.answer("Query", json.dumps(request)))

    assert [row["id"]["S"] for row in answer["Items"]] == [f"x{n}" for n in range(101, 111)]
    assert len(looked_at) == 10


def test_a_range_of_which_much_was_removed_is_what_is_left(engine, client, ministack):
    request = PARTITION | AFTER | {"ExpressionAttributeValues": {**ADA, ":s": {"S": "0"}}}
    for name in ("1", "10", "3"):
        engine.answer("Query", json.dumps(request))
        client.delete_item(TableName=TABLE, Key=key("ada", name))
    client.put_item(TableName=TABLE, Item=key("ada", "10"))

    answer = read(engine.answer("Query", json.dumps(request)))
    assert answer == ministack("Query", request)
    assert [row["id"]["S"] for row in answer[1]["Items"]] == ["10", "2"]


def test_no_order_is_kept_of_what_is_empty(engine, client):
    """An operation leaves nothing behind once it is carried out."""
    engine.answer("Query", json.dumps(PARTITION | AFTER))
    for name in ("1", "2", "3", "10"):
        client.delete_item(TableName=TABLE, Key=key("ada", name))
    assert engine._tables._ranges._kept == {}


def test_an_index_is_as_it_was_after_a_write_that_could_not_be_journalled(tmp_path, client):
    engine = Engine(tmp_path / "tables.db")
    engine.attach(client)
    create_table(client)
    client.put_item(TableName=TABLE, Item={**key("ada", "1"), "parent": {"S": "a"}})
    before = read(engine.answer("Query", json.dumps(INDEX)))
    engine.close()

    with pytest.raises(sqlite3.ProgrammingError):
        client.put_item(TableName=TABLE, Item={**key("ada", "2"), "parent": {"S": "a"}})
    with pytest.raises(sqlite3.ProgrammingError):
        client.delete_item(TableName=TABLE, Key=key("ada", "1"))

    assert read(engine.answer("Query", json.dumps(INDEX))) == before
    assert before[1]["Count"] == 1


@pytest.mark.parametrize("asked", [INDEX, PARTITION | AFTER], ids=["index", "range"])
@pytest.mark.parametrize("forget", [Engine.empty, Engine.reset])
def test_what_was_removed_is_not_found(engine, client, forget, asked):
    engine.answer("Query", json.dumps(asked))
    forget(engine)
    if forget is Engine.reset:
        create_table(client)
    assert read(engine.answer("Query", json.dumps(asked)))[1]["Items"] == []


@pytest.mark.parametrize("asked", [INDEX, PARTITION | AFTER], ids=["index", "range"])
def test_what_was_in_a_table_that_was_deleted_is_not_found(engine, client, asked):
    engine.answer("Query", json.dumps(asked))
    client.delete_table(TableName=TABLE)
    create_table(client)
    assert read(engine.answer("Query", json.dumps(asked)))[1]["Items"] == []


@pytest.mark.parametrize("name", GETS)
def test_a_batch_is_answered_as_by_ministack(engine, ministack, name):
    request = {"RequestItems": {TABLE: {"Keys": GETS[name], "ConsistentRead": True}}}
    answer = read(engine.answer("BatchGetItem", json.dumps(request)))
    assert answer == ministack("BatchGetItem", request)


def test_a_part_of_rows_is_answered_as_by_ministack(engine, ministack):
    wanted = {"Keys": [key("ada", "2")], "ProjectionExpression": "kind"}
    request = {"RequestItems": {TABLE: wanted}}
    answer = read(engine.answer("BatchGetItem", json.dumps(request)))
    assert answer == ministack("BatchGetItem", request)
    assert answer[1]["Responses"] == {TABLE: [{"kind": {"S": "é"}}]}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_handed_over_as_it_is_sent(engine, name):
    request = PARTITION | QUERIES[name]
    _, sent = read(engine.answer("Query", json.dumps(request)))
    assert engine.hand_over("Query", request, lambda: sent) == sent


@pytest.mark.parametrize("name", GETS)
def test_a_batch_is_handed_over_as_it_is_sent(engine, name):
    request = {"RequestItems": {TABLE: {"Keys": GETS[name], "ConsistentRead": True}}}
    _, sent = read(engine.answer("BatchGetItem", json.dumps(request)))
    assert engine.hand_over("BatchGetItem", request, lambda: sent) == sent


@pytest.mark.parametrize("name", LOOKED_UP)
def test_rows_asked_for_by_key_are_not_sent(engine, name):
    operation, request = LOOKED_UP[name]
    answer = engine.hand_over(operation, request, lambda: pytest.fail("It was sent."))
    assert answer == read(engine.answer(operation, json.dumps(request)))[1]


def test_everything_else_is_sent(engine):
    for operation in ("GetItem", "PutItem", "TransactWriteItems", "Scan"):
        assert engine.hand_over(operation, {"TableName": TABLE}, lambda: {"sent": 1}) == {"sent": 1}


def test_a_row_that_was_handed_over_stays_as_it_was(engine, client):
    handed = engine.hand_over(*LOOKED_UP["rows by key"], dict)["Responses"][TABLE][0]
    before = json.dumps(handed)

    update = {
        "UpdateExpression": "SET parent = :new ADD version :one",
        "ExpressionAttributeValues": {":new": {"S": "c"}, ":one": {"N": "1"}},
    }
    client.update_item(TableName=TABLE, Key=key("ada", "1"), **update)
    line = {"TableName": TABLE, "Key": key("ada", "1"), **update}
    client.transact_write_items(TransactItems=[{"Update": line}])

    assert json.dumps(handed) == before
    assert find(client, "ada", "1")["version"] == {"N": "2"}


@pytest.mark.usefixtures("store")
def test_a_row_that_a_test_has_read_refuses_to_be_changed():
    Setting("theme", value={"name": "midgar"}).save()
    row = reading.find(Setting.named("theme"))

    with pytest.raises(TypeError, match="is not changed"):
        row["value"] = {"S": "{}"}
    with pytest.raises(TypeError, match="is not changed"):
        row["name"].update(S="colour")
