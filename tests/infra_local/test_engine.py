from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from infra.local_server.engine import Engine
from infra.local_server.journal import JournalInUse
from tests.infra_local.clients import TABLE, create_table, find, key, open_client, put

ROOT = Path(__file__).parents[2]


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "tables.db"


def opened(journal):
    engine = Engine(journal)
    client = open_client()
    engine.attach(client)
    return engine, client


@pytest.fixture
def stored(journal):
    engine, client = opened(journal)
    create_table(client)
    yield engine, client
    engine.close()


def reopened(engine, journal):
    engine.close()
    return opened(journal)


def raise_version(client, owner, name):
    client.update_item(
        TableName=TABLE,
        Key=key(owner, name),
        UpdateExpression="ADD version :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )


def test_what_was_stored_is_there_after_a_restart(stored, journal):
    engine, client = stored
    client.transact_write_items(TransactItems=[put("ada", "mail"), put("ada", "bank")])
    raise_version(client, "ada", "mail")
    client.delete_item(TableName=TABLE, Key=key("ada", "bank"))

    again, client = reopened(engine, journal)

    assert find(client, "ada", "mail")["version"] == {"N": "1"}
    assert find(client, "ada", "bank") is None
    again.close()


def test_a_batch_is_there_after_a_restart(stored, journal):
    engine, client = stored
    requests = [{"PutRequest": {"Item": key("ada", f"n{n}")}} for n in range(25)]
    client.batch_write_item(RequestItems={TABLE: requests})

    again, client = reopened(engine, journal)

    assert len(again.rows(TABLE)) == 25
    again.close()


def test_rows_are_loaded_in_the_order_of_their_keys(stored, journal):
    engine, client = stored
    for name in ("c", "a", "b"):
        client.put_item(TableName=TABLE, Item=key("ada", name))

    again, _ = reopened(engine, journal)

    assert [row["id"]["S"] for row in again.rows(TABLE)] == ["a", "b", "c"]
    again.close()


def test_a_refused_transaction_leaves_nothing_in_the_journal(stored, journal):
    engine, client = stored
    client.put_item(TableName=TABLE, Item=key("ada", "taken"))

    with pytest.raises(ClientError) as refused:
        client.transact_write_items(TransactItems=[put("ada", "new"), put("ada", "taken")])

    codes = [reason["Code"] for reason in refused.value.response["CancellationReasons"]]
    again, client = reopened(engine, journal)
    assert codes == ["None", "ConditionalCheckFailed"]
    assert find(client, "ada", "new") is None
    again.close()


def test_the_journal_grows_with_the_rows_and_not_with_their_history(stored, journal):
    engine, client = stored
    for _ in range(50):
        raise_version(client, "ada", "mail")
    engine.close()

    with sqlite3.connect(journal) as file:
        assert file.execute("select count(*) from rows").fetchone() == (1,)
    file.close()


def test_a_write_that_cannot_be_journalled_did_not_happen(stored):
    engine, client = stored
    client.put_item(TableName=TABLE, Item=key("ada", "before"))
    engine.close()

    with pytest.raises(sqlite3.ProgrammingError):
        client.transact_write_items(TransactItems=[put("ada", "a"), put("ada", "b")])
    with pytest.raises(sqlite3.ProgrammingError):
        client.delete_item(TableName=TABLE, Key=key("ada", "before"))

    assert [row["id"]["S"] for row in engine.rows(TABLE)] == ["before"]


@pytest.mark.usefixtures("stored")
def test_a_second_engine_on_the_same_journal_is_refused(journal):
    with pytest.raises(JournalInUse):
        Engine(journal)


def test_a_file_that_is_no_journal_is_refused(journal):
    journal.write_text("something else, long enough to have a header of its own " * 20)

    with pytest.raises(OSError, match="not a database"):
        Engine(journal)


def test_a_journal_that_is_damaged_is_refused(stored, journal):
    engine, client = stored
    client.transact_write_items(TransactItems=[put("ada", str(number)) for number in range(90)])
    engine.close()
    with journal.open("r+b") as file:
        file.seek(4096)
        file.write(b"x" * (journal.stat().st_size - 4096))

    with pytest.raises(OSError, match=rf"{journal}: .*malformed"):
        Engine(journal)


def test_a_journal_with_a_damaged_row_is_refused(stored, journal):
    engine, client = stored
    client.put_item(TableName=TABLE, Item=key("ada", "mail"))
    engine.close()
    with closing(sqlite3.connect(journal)) as file, file:
        file.execute("update rows set item = substr(item, 2)")

    with pytest.raises(OSError, match=rf"{journal}: a row cannot be read"):
        Engine(journal)


def test_rows_whose_time_is_over_are_not_loaded(stored, journal):
    engine, client = stored
    client.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"AttributeName": "ends", "Enabled": True}
    )
    now = int(time.time())
    for name, ends in (("old", now - 10), ("new", now + 1000)):
        client.put_item(TableName=TABLE, Item={**key("ada", name), "ends": {"N": str(ends)}})

    again, client = reopened(engine, journal)

    assert find(client, "ada", "old") is None
    assert find(client, "ada", "new") is not None
    again.close()


def test_a_deleted_table_stays_deleted_and_may_come_back_empty(stored, journal):
    engine, client = stored
    client.put_item(TableName=TABLE, Item=key("ada", "mail"))
    client.delete_table(TableName=TABLE)

    again, client = reopened(engine, journal)
    assert client.list_tables()["TableNames"] == []
    create_table(client)
    last, client = reopened(again, journal)

    assert last.rows(TABLE) == []
    last.close()


def test_emptying_keeps_the_tables_and_resetting_does_not(stored, journal):
    engine, client = stored
    client.put_item(TableName=TABLE, Item=key("ada", "mail"))
    engine.empty()
    assert find(client, "ada", "mail") is None

    again, client = reopened(engine, journal)
    assert again.rows(TABLE) == []
    assert client.list_tables()["TableNames"] == [TABLE]

    again.reset()
    assert client.list_tables()["TableNames"] == []
    again.close()


def test_watchers_hear_of_new_rows_once_they_are_stored(stored):
    engine, client = stored
    heard = []

    engine.watch(TABLE, lambda row: heard.append((row["id"]["S"], row in engine.rows(TABLE))))
    client.transact_write_items(TransactItems=[put("ada", "a"), put("ada", "b")])
    raise_version(client, "ada", "a")
    with pytest.raises(ClientError):
        client.transact_write_items(TransactItems=[put("ada", "c"), put("ada", "b")])

    assert heard == [("a", True), ("b", True)]


def test_a_watcher_that_fails_does_not_fail_the_write(stored, caplog):
    engine, client = stored
    engine.watch(TABLE, lambda row: row["nothing"])

    client.put_item(TableName=TABLE, Item=key("ada", "mail"))

    assert find(client, "ada", "mail") is not None
    assert "A watcher of things failed." in caplog.text


def test_a_transaction_is_as_long_as_its_text_in_utf_8(stored):
    """Seven rows of 340 KB fit 4 MB, also where each character would be six if it were escaped."""
    engine, client = stored
    rows = [{**key("ада", f"n{n}"), "name": {"S": "ж" * 170_000}} for n in range(7)]

    client.transact_write_items(
        TransactItems=[{"Put": {"TableName": TABLE, "Item": row}} for row in rows]
    )

    assert engine.rows(TABLE) == rows


def test_a_failed_condition_is_told_before_an_update_that_does_not_fit(stored):
    _, client = stored
    update = {
        "TableName": TABLE,
        "Key": key("ada", "nowhere"),
        "UpdateExpression": "SET permissions.ada = :owner",
        "ConditionExpression": "attribute_exists(id)",
        "ExpressionAttributeValues": {":owner": {"N": "15"}},
    }

    with pytest.raises(ClientError) as refused:
        client.transact_write_items(TransactItems=[put("ada", "new"), {"Update": update}])

    codes = [reason["Code"] for reason in refused.value.response["CancellationReasons"]]
    assert codes == ["None", "ConditionalCheckFailed"]
    assert find(client, "ada", "new") is None


def test_a_local_index_answers_from_one_partition(stored):
    _, client = stored
    for owner in ("ada", "bob"):
        for name, parent in (("a", "p2"), ("b", "p1"), ("c", "p1")):
            row = {**key(owner, name), "parent": {"S": parent}, "kind": {"S": "R"}, "x": {"S": ""}}
            client.put_item(TableName=TABLE, Item=row)

    answer = client.query(
        TableName=TABLE,
        IndexName="by_parent",
        ConsistentRead=True,
        KeyConditionExpression="#owner = :owner AND parent = :parent",
        ExpressionAttributeNames={"#owner": "owner"},
        ExpressionAttributeValues={":owner": {"S": "bob"}, ":parent": {"S": "p1"}},
    )

    assert [row["id"]["S"] for row in answer["Items"]] == ["b", "c"]
    assert all(row.keys() == {"owner", "id", "parent", "kind"} for row in answer["Items"])


def test_what_the_service_does_not_use_is_not_offered(stored):
    _, client = stored

    with pytest.raises(NotImplementedError, match="ExecuteStatement"):
        client.execute_statement(Statement=f"SELECT * FROM {TABLE}")


def test_engines_in_one_process_do_not_know_each_other(stored):
    _, client = stored
    other = open_client()
    Engine().attach(other)
    create_table(other)
    other.put_item(TableName=TABLE, Item=key("ada", "other"))
    client.put_item(TableName=TABLE, Item=key("ada", "mail"))

    assert find(client, "ada", "other") is None
    assert find(other, "ada", "mail") is None


WRITER = """
import sys
from infra.local_server.engine import Engine
from tests.infra_local.clients import create_table, open_client, put
engine = Engine(__import__("pathlib").Path(sys.argv[1]))
client = open_client()
engine.attach(client)
if not client.list_tables()["TableNames"]:
    create_table(client)
n = int(sys.argv[2])
while True:
    client.transact_write_items(TransactItems=[put(f"n{n}", "a"), put(f"n{n}", "b")])
    print(n, flush=True)
    n += 1
"""


def test_kill_9_loses_nothing_acknowledged_and_leaves_no_half_transaction(journal):
    acknowledged = []
    for start in (0, 100_000):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(journal), str(start)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        acknowledged += [writer.stdout.readline().strip() for _ in range(150)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += writer.stdout.read().split()
        writer.stdout.close()
        writer.wait()

    engine = Engine(journal)
    rows = Counter(row["owner"]["S"] for row in engine.rows(TABLE))
    engine.close()
    assert {f"n{n}" for n in acknowledged} <= rows.keys()
    assert set(rows.values()) == {2}
