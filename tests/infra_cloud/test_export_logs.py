"""The export of a tenant's logs by a command: whole, in order, and begun anew after a death."""

from __future__ import annotations

import gzip
import json
import sys

import pytest

from chalicelib.services.operator import sweeper
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading
from chalicelib.views.logs import log_events
from infra.command_line.entry import infra
from infra.operate.records import auditing
from infra.operate.registry import ACTIVE, Registry
from tests.support.faults.deaths import after_commit
from tests.support.leaks import watch
from tests.support.world import groups, make
from tests.support.world.items import resources
from tests.support.world.operator.releases import beside, newer, older, rewrite_all

TABLES = ("action_logs", "readings", "operations")


@pytest.fixture
def tell(cell, store):
    """Puts what the tests have stored into the tables of the tenant, in place of what was there."""
    cell.set_up()
    steps = cell.onboarding(cell.entry())
    for step in [*steps[:5], steps[6]]:  # without its first administrator
        step.do()
    client = cell.client("dynamodb")

    def told():
        for name in TABLES:
            table = f"keyhaven-acme-1-{name}"
            keys = [each["AttributeName"] for each in _table(client, table)["KeySchema"]]
            for row in client.scan(TableName=table)["Items"]:
                client.delete_item(TableName=table, Key={key: row[key] for key in keys})
            for row in store.rows(f"test-{name}"):
                client.put_item(TableName=table, Item=row)

    return told


def _table(client, name):
    return client.describe_table(TableName=name)["Table"]


@pytest.fixture
def give(cell, monkeypatch, capfd):
    """Gives the command; returns the events, and what is said beside them or why it ends."""

    def given(*words):
        monkeypatch.setattr(sys, "argv", ["infra", "export-logs", "acme", *words])
        capfd.readouterr()
        try:
            infra()
        except SystemExit as ended:
            said = capfd.readouterr()
            return said.out, said.err if isinstance(ended.code, int) else str(ended.code)
        said = capfd.readouterr()
        watch.said("an export", said.out)
        return said.out, said.err

    return given


@pytest.fixture
def history(store, ada, betty, time):
    """Three days: groups, a resource that is read, and one reading that is not spread."""
    for _ in range(3):
        groups.created(ada, ada, betty, name=f"{time.now}")
        resource_id = make.resource(ada)
        assert ada.client.get(f"/secrets/resource/{resource_id}.json").status == 200
        time.pass_by(days=1)
        ada.client.token = make.access_token(ada.user)
        if len(store.rows("test-readings")) == 2:
            sweeper.sweep()
    assert len(store.rows("test-readings")) == 1
    time.pass_by(days=1)


def wanted(store):
    readings = map(Reading.from_raw, store.rows("test-readings"))
    rows = [row for each in readings for row in ActionLog.rows_of(each)]
    rows += store.rows("test-action_logs")
    return sorted({log_events.written(row).decode() for row in rows})


def test_everything_is_told_once_in_order(history, tell, give, store):
    tell()
    out, said = give()

    assert out.splitlines(keepends=True) == wanted(store)
    assert out.count("\n") == 6
    assert said == "6 events until the end of 2026-11-24.\n"


@pytest.mark.parametrize("other", [newer, older])
def test_rows_of_another_form_are_told_like_others(other, history, tell, give, store):
    expected = wanted(store)
    with beside(other, ActionLog, Reading):
        rewrite_all(store, ActionLog, Reading)
        tell()
        assert give()[0].splitlines(keepends=True) == expected


def test_days_are_those_of_utc_and_both_included(history, tell, give):
    tell()
    out, _ = give("--from", "2026-11-22", "--to", "2026-11-22")
    assert {json.loads(line)["time"] for line in out.splitlines()} == {"2026-11-22T12:00:00+00:00"}
    assert out.count("\n") == 2
    assert give("--to", "2026-11-20") == ("", "0 events until the end of 2026-11-20.\n")


def test_it_is_told_that_readings_have_expired(history, tell, give, cell):
    tell()
    registry = Registry(cell.account)
    registry.begin("acme", "x", ACTIVE)
    kept = {**registry.fetch("acme").parameters, "ReadingDays": "2"}
    registry.end("acme", "x", parameters=kept)
    expired = "Who read secrets more than 2 days ago (ReadingDays) is not in it any more."
    assert expired in give()[1]
    assert expired in give("--from", "2026-11-22")[1]
    assert expired not in give("--from", "2026-11-23")[1]


def test_it_is_told_that_more_may_come(history, tell, give, time):
    tell()
    _, said = give("--to", "2026-11-30")
    assert "From 2026-11-25 on there may be more of them later." in said
    _, said = give("--from", "2026-11-25")
    assert said == "2026-11-25 is not over yet: it may get further events. Give --to."


def test_what_a_large_change_left_is_waited_for(store, ada, tell, give, time):
    marks = [{"id": make.resource(ada), "expired": "2027-01-01T00:00:00Z"} for _ in range(105)]
    after_commit(lambda: ada.client.post("/password-expiry/resources.json", marks))
    time.pass_by(days=3)
    tell()
    assert give()[1] == "0 events until the end of 2026-11-20.\n"
    sweeper.sweep()
    tell()
    assert give()[1] == "105 events until the end of 2026-11-23.\n"


@pytest.mark.parametrize("name", ["events.jsonl", "events.jsonl.gz"])
def test_a_file_has_its_name_once_it_is_whole(
    name, history, tell, give, store, tmp_path, monkeypatch
):
    """It is begun anew by who gives the command again."""
    tell()
    file = tmp_path / name
    written = log_events.written
    for count in range(6):
        left = iter(range(count))

        def dying(row, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return written(row)

        monkeypatch.setattr(log_events, "written", dying)
        assert "Ended from the keyboard" in give("--into", str(file))[1]
        assert not file.exists()
    monkeypatch.setattr(log_events, "written", written)
    give("--into", str(file))

    content = file.read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    assert text.decode().splitlines(keepends=True) == wanted(store)
    assert [each.name for each in tmp_path.glob("events*")] == [name]
    assert file.stat().st_mode & 0o077 == 0
    assert "is there already" in give("--into", str(file))[1]
    assert file.read_bytes() == content


def test_it_needs_little_memory(history, tell, give, store, monkeypatch):
    """Pieces lie in files, and pages are small."""
    tell()
    with_pieces = auditing.SortedLines
    monkeypatch.setattr(auditing, "SortedLines", lambda: with_pieces(piece=1))
    assert give()[0].splitlines(keepends=True) == wanted(store)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--from", "yesterday"), "'yesterday' is no day; one is given as 2026-11-30"),
        (("--from", "2026-02-30"), "'2026-02-30' is no day; one is given as 2026-11-30"),
        (("--to", "20261130"), "'20261130' is no day; one is given as 2026-11-30"),
        (("--to", "2026-11-30T00:00"), "'2026-11-30T00:00' is no day"),
        (("--to", "9999-12-31"), "'9999-12-31' is no day"),
        (
            ("--from", "2026-11-02", "--to", "2026-11-01"),
            "--from 2026-11-02 is after --to 2026-11-01.",
        ),
    ],
)
def test_days_that_are_none_are_told_before_an_account_is_asked(words, why, give):
    assert why in give(*words)[1]


def test_a_folder_that_is_not_there_is_told(history, tell, give, tmp_path):
    tell()
    assert give("--into", str(tmp_path / "no" / "file"))[1].endswith("No such file or directory.")


def test_the_secrets_of_nobody_are_in_it(store, ada, tell, give, time):
    """HD08: names, descriptions, addresses and messages are not told."""
    marked = "canary"
    body = resources.v4() | {"name": marked, "description": marked, "uri": marked}
    made = ada.client.post("/resources.json", body)
    assert made.status == 200, made.content
    ada.client.post("/folders.json", {"name": marked})
    groups.created(ada, ada, name=marked)
    ada.client.post(f"/comments/resource/{made.body['id']}.json", {"content": marked})
    ada.client.get(f"/secrets/resource/{made.body['id']}.json?{marked}")
    time.pass_by(days=2)
    tell()
    out, said = give()

    assert out.count("\n") == 4, out
    assert marked not in out + said
    for forbidden in ("BEGIN PGP", "@", ada.client.token, "example"):
        assert forbidden not in out
