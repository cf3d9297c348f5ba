from __future__ import annotations

from uuid import uuid4

import orjson
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core.models import patch_client

from chalicelib.settings import settings
from infra.local_server.engine import Engine
from infra.local_server.limits import size_of_item
from infra.local_server.strict import Strict
from tests.infra_local.clients import TABLE, create_table, find, key, open_client, put
from tests.support.environment import ENGINE


@pytest.fixture(params=["dynamodb-local"] if ENGINE == "dynamodb-local" else ["ministack", "moto"])
def client(request):
    """A strict client of each imitation of DynamoDB, with an empty table; AWS's own as it is."""
    if request.param == "dynamodb-local":
        request.getfixturevalue("cloud")
        client = open_client(settings.dynamodb_endpoint)
        create_table(client)
        yield client
        client.delete_table(TableName=TABLE)
    elif request.param == "moto":
        with mock_aws():
            client = open_client()
            patch_client(client)
            _strict(client)
            yield client
            client.delete_table(TableName=TABLE)
    else:
        client = open_client()
        Engine().attach(client)
        yield _strict(client)


def _strict(client):
    Strict().attach(client)
    create_table(client)
    return client


def raises(code, match=""):
    return pytest.raises(ClientError, match=rf"\(({code})\).*({match})")


def new_token():
    """AWS's own engine keeps tokens, whatever becomes of the table."""
    return str(uuid4())


def add_one(client, token, amount="1"):
    client.transact_write_items(
        ClientRequestToken=token,
        TransactItems=[
            {
                "Update": {
                    "TableName": TABLE,
                    "Key": key("ada", "counter"),
                    "UpdateExpression": "ADD amount :amount",
                    "ExpressionAttributeValues": {":amount": {"N": amount}},
                }
            }
        ],
    )


def test_a_hundred_rows_fit_a_transaction(client):
    client.transact_write_items(TransactItems=[put("ada", f"n{n}") for n in range(100)])

    assert find(client, "ada", "n99") is not None


def test_a_hundred_and_one_rows_do_not(client):
    with raises("ValidationException", "Member must have length"):
        client.transact_write_items(TransactItems=[put("ada", f"n{n}") for n in range(101)])

    assert find(client, "ada", "n0") is None


def test_a_transaction_holds_4_mb(client):
    large = {"data": {"S": "x" * 390_000}}
    client.transact_write_items(TransactItems=[put("ada", f"n{n}", **large) for n in range(10)])

    with raises("ValidationException", "4 ?MB"):
        client.transact_write_items(TransactItems=[put("bob", f"n{n}", **large) for n in range(11)])


def test_an_item_holds_400_kb(client):
    small, large = {"data": {"S": "x" * 400_000}}, {"data": {"S": "é" * 204_800}}
    client.put_item(TableName=TABLE, Item={**key("ada", "small"), **small})

    with raises("ValidationException", "Item size"):
        client.put_item(TableName=TABLE, Item={**key("ada", "large"), **large})
    with raises("ValidationException", "Item size"):
        client.transact_write_items(TransactItems=[put("ada", "large", **large)])


def test_no_update_makes_an_item_larger(client):
    client.put_item(TableName=TABLE, Item={**key("ada", "full"), "data": {"S": "x" * 400_000}})
    grow = {
        "TableName": TABLE,
        "Key": key("ada", "full"),
        "UpdateExpression": "SET more = :more",
        "ExpressionAttributeValues": {":more": {"S": "x" * 20_000}},
    }

    with raises("ValidationException", "Item size"):
        client.update_item(**grow)
    with raises("TransactionCanceledException|ValidationException", "Item size|ValidationError"):
        client.transact_write_items(TransactItems=[put("ada", "a"), {"Update": grow}])

    assert find(client, "ada", "a") is None
    assert "more" not in find(client, "ada", "full")


def test_one_transaction_names_a_row_once(client):
    check = {
        "ConditionCheck": {
            "TableName": TABLE,
            "Key": key("ada", "a"),
            "ConditionExpression": "attribute_exists(id)",
        }
    }

    with raises("ValidationException", "multiple operations on one item"):
        client.transact_write_items(TransactItems=[put("ada", "a"), check])


def is_stored(client, attribute, value, comparison="="):
    """Whether a condition on what is stored lets a transaction pass."""
    condition = {
        "TableName": TABLE,
        "Key": key("ada", "mail"),
        "ConditionExpression": f"{attribute} {comparison} :value",
        "ExpressionAttributeValues": {":value": value},
    }
    try:
        client.transact_write_items(TransactItems=[{"ConditionCheck": condition}])
    except ClientError as error:
        if "[ConditionalCheckFailed]" not in str(error):
            raise
        return False
    return True


NESTED = {"M": {"ada": {"M": {"type": {"N": "15"}}}, "bob": {"L": [{"S": "x"}, {"S": "y"}]}}}
LIST = {"L": [{"S": "x"}, NESTED]}


@pytest.mark.parametrize(
    ("stored", "same", "others"),
    [
        (
            NESTED,
            {"M": {"bob": NESTED["M"]["bob"], "ada": {"M": {"type": {"N": "15.0"}}}}},
            [
                {"M": {}},
                {"M": {"ada": NESTED["M"]["ada"]}},
                {"M": {**NESTED["M"], "carol": {"S": "x"}}},
                {"M": {**NESTED["M"], "ada": {"M": {"type": {"N": "1"}}}}},
                {"M": {**NESTED["M"], "ada": {"M": {"type": {"S": "15"}}}}},
                {"M": {**NESTED["M"], "bob": {"L": [{"S": "y"}, {"S": "x"}]}}},
                LIST,
            ],
        ),
        (LIST, LIST, [{"L": []}, {"L": LIST["L"][:1]}, {"L": LIST["L"][::-1]}, NESTED]),
    ],
    ids=["map", "list"],
)
def test_maps_and_lists_are_compared_by_what_is_in_them(client, stored, same, others):
    client.put_item(TableName=TABLE, Item={**key("ada", "mail"), "holders": stored})

    assert is_stored(client, "holders", same)
    assert not is_stored(client, "holders", same, "<>")
    for other in others:
        assert not is_stored(client, "holders", other)
        assert is_stored(client, "holders", other, "<>")


def test_a_repeated_request_token_is_applied_once(client):
    token = new_token()
    add_one(client, token)
    add_one(client, token)
    add_one(client, new_token())

    assert find(client, "ada", "counter")["amount"] == {"N": "2"}


def test_a_request_token_with_other_content_is_refused(client):
    token = new_token()
    add_one(client, token)

    with raises("IdempotentParameterMismatchException"):
        add_one(client, token, amount="5")

    assert find(client, "ada", "counter")["amount"] == {"N": "1"}


def test_the_token_of_a_refused_transaction_may_be_used_again(client):
    token = new_token()
    client.put_item(TableName=TABLE, Item=key("ada", "a"))
    with raises("TransactionCanceledException"):
        client.transact_write_items(ClientRequestToken=token, TransactItems=[put("ada", "a")])
    client.delete_item(TableName=TABLE, Key=key("ada", "a"))

    client.transact_write_items(ClientRequestToken=token, TransactItems=[put("ada", "a")])

    assert find(client, "ada", "a") is not None


def test_a_batch_writes_25_rows(client):
    def batch(count):
        return {TABLE: [{"PutRequest": {"Item": key("ada", f"n{n}")}} for n in range(count)]}

    client.batch_write_item(RequestItems=batch(25))

    with raises("ValidationException", "Too many items"):
        client.batch_write_item(RequestItems=batch(26))
    with raises("ValidationException", "duplicates"):
        client.batch_write_item(RequestItems={TABLE: batch(1)[TABLE] * 2})


def test_a_batch_reads_100_rows_of_all_tables_together(client):
    def batch(count):
        return {TABLE: {"Keys": [key("ada", f"n{n}") for n in range(count)]}}

    client.batch_get_item(RequestItems=batch(100))

    with raises("ValidationException", "Too many items"):
        client.batch_get_item(RequestItems=batch(101))
    with raises("ValidationException", "duplicates"):
        client.batch_get_item(RequestItems={TABLE: {"Keys": [key("ada", "a")] * 2}})


@pytest.mark.parametrize("parent", [{"NULL": True}, {"S": ""}, {"N": "1"}])
def test_what_is_no_index_key_cannot_stand_where_one_does(client, parent):
    with raises(
        "ValidationException|TransactionCanceledException", "parent|Invalid|ValidationError"
    ):
        client.transact_write_items(TransactItems=[put("ada", "a", parent=parent)])

    assert find(client, "ada", "a") is None


def test_a_row_has_its_whole_key(client):
    with raises("ValidationException", "Missing the key id|required keys"):
        client.put_item(TableName=TABLE, Item={"owner": {"S": "ada"}})


LONG_KEYS = [key("a" * 2049, "a"), key("ada", "a" * 1025), key("ada", "ä" * 513)]


def too_long():
    """AWS's own engine says it in other words where a key is read."""
    said = "size limit|must be under|ValidationError"
    return raises("ValidationException|TransactionCanceledException", said)


@pytest.mark.parametrize("long", LONG_KEYS, ids=["hash", "range", "range in bytes"])
def test_a_key_has_a_length(client, long):
    asked = {TABLE: {"Keys": [long]}}
    written = {TABLE: [{"DeleteRequest": {"Key": long}}]}
    with too_long():
        client.get_item(TableName=TABLE, Key=long)
    with too_long():
        client.batch_get_item(RequestItems=asked)
    with too_long():
        client.put_item(TableName=TABLE, Item=long)
    with too_long():
        client.delete_item(TableName=TABLE, Key=long)
    with too_long():
        client.batch_write_item(RequestItems=written)
    with too_long():
        client.transact_write_items(TransactItems=[{"Delete": {"TableName": TABLE, "Key": long}}])


def test_a_key_may_be_as_long_as_that(client):
    client.transact_write_items(TransactItems=[put("a" * 2048, "a" * 1024)])

    assert find(client, "a" * 2048, "a" * 1024)


@pytest.mark.parametrize("values", [{}, {":a": {"S": "a"}, ":b": {"S": "b"}}])
def test_expressions_and_their_values_belong_together(client, values):
    with raises("ValidationException"):
        client.update_item(
            TableName=TABLE,
            Key=key("ada", "a"),
            UpdateExpression="SET kind = :a",
            **({"ExpressionAttributeValues": values} if values else {}),
        )


def test_an_expression_holds_4_kb(client):
    with raises("ValidationException", "Expression size"):
        client.transact_write_items(
            TransactItems=[
                {
                    "Update": {
                        "TableName": TABLE,
                        "Key": key("ada", "a"),
                        "UpdateExpression": "SET kind" + " " * 4096 + "= :a",
                        "ExpressionAttributeValues": {":a": {"S": "a"}},
                    }
                }
            ]
        )


@pytest.mark.parametrize(
    "item",
    [
        {"": {"S": ""}},
        {"é": {"S": 'é"\n'}},
        {"number": {"N": "-1"}, "numbers": {"NS": ["1", "22"]}},
        {"bytes": {"B": "AA=="}},
        {"texts": {"SS": ["a", "bc"]}},
        {"yes": {"BOOL": True}, "none": {"NULL": True}},
        {"list": {"L": [{"L": []}, {"M": {}}, {"N": "1"}]}, "map": {"M": {"": {"M": {}}}}},
    ],
)
def test_no_item_is_larger_than_it_is_in_json(item):
    assert size_of_item(item) < len(orjson.dumps(item))
