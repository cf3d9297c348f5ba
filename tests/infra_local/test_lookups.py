"""What the embedded tables look up by themselves is what ministack would have answered."""

from __future__ import annotations

import json

import pytest

from infra.local import mini
from infra.local.engine import Engine
from tests.infra_local.clients import TABLE, create_table, key, open_client

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
QUERIES = {
    "all rows": {},
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


@pytest.fixture
def engine():
    engine = Engine()
    client = open_client()
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
