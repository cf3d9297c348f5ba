"""Spans in the log: of a request and of its calls, by OpenTelemetry's conventions."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys

import pytest

from chalicelib.domain.operator.audit import SPANS
from chalicelib.settings import settings
from chalicelib.storage.connection import connection
from chalicelib.web import dispatch, tracing
from tests.support.collecting import read_spans, told
from tests.support.faults.hooks import Failing, Recorder, throttled
from tests.support.world import make

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SERVER, CLIENT = 2, 3
FAILED = 2


@pytest.fixture
def traced(monkeypatch, caplog):
    """The tenant writes spans; those of the last request, read by the protocol's own messages."""
    hooks = list(connection.hooks)
    monkeypatch.setattr(dispatch, "settings", settings._replace(traces=True))
    monkeypatch.setattr(dispatch, "tracing", tracing, raising=False)
    caplog.set_level(logging.INFO)

    def written():
        [*_, last] = lines(caplog)
        return read_spans(last["spans"])

    yield written
    connection.hooks[:] = hooks


def lines(caplog):
    own = (json.loads(each.message) for each in caplog.records if each.name == "keyhaven")
    return [line for line in own if line["event"] == SPANS]


def test_a_request_is_a_span_with_those_of_its_calls(traced, ada):
    resource_id = make.resource(ada)

    with Recorder() as seen:
        answer = ada.client.get(f"/resources/{resource_id}.json")

    request, *calls = traced()
    assert (request.kind, request.name) == (SERVER, "GET /resources/{resource_id}.json")
    assert told(request.attributes) == {
        "http.request.method": "GET",
        "http.route": "/resources/{resource_id}.json",
        "http.response.status_code": 200,
        "url.scheme": "https",
        "server.address": "keyhaven.test",
        "faas.trigger": "http",
        "keyhaven.action": "ResourcesView.view",
        "keyhaven.request_id": answer.header["id"],
    }
    assert not request.HasField("status")
    assert len(calls) == len(seen.calls) > 0
    for each in calls:
        assert each.kind == CLIENT
        assert (each.trace_id, each.parent_span_id) == (request.trace_id, request.span_id)
        assert request.start_time_unix_nano <= each.start_time_unix_nano
        assert each.start_time_unix_nano <= each.end_time_unix_nano <= request.end_time_unix_nano
        attributes = told(each.attributes)
        assert attributes["db.system.name"] == "aws.dynamodb"
        assert attributes["aws.dynamodb.table_names"]


def test_calls_say_what_they_ask_of_which_tables(traced, ada):
    ada.client.get("/users/me.json")

    _, *calls = traced()
    names = {each.name for each in calls}
    operations = {told(each.attributes)["db.operation.name"] for each in calls}
    assert operations <= {"GetItem", "BatchGetItem", "Query", "TransactWriteItems", "PutItem"}
    assert any("test-users" in str(told(each.attributes)) for each in calls), names


def test_a_request_belongs_to_the_trace_of_who_asks(traced, ada):
    header = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "secret=of-the-client"}

    ada.client.request("GET", "/users/me.json", headers=header)

    request, *calls = traced()
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, SPAN)
    assert {each.trace_id.hex() for each in calls} == {TRACE}


def test_what_is_no_traceparent_begins_a_trace(traced, ada):
    ada.client.request("GET", "/users/me.json", headers={"traceparent": "<script>"})

    request, *_ = traced()
    assert len(request.trace_id) == 16
    assert request.parent_span_id == b""


def test_a_refusal_is_no_error_of_the_service(traced, ada):
    ada.client.get("/resources/c0ffee00-0000-4000-8000-000000000000.json")

    request, *_ = traced()
    attributes = told(request.attributes)
    assert attributes["http.response.status_code"] == 404
    assert "error.type" not in attributes
    assert not request.HasField("status")


def test_a_call_that_fails_says_how(traced, ada):
    with Failing(throttled, at=1):
        ada.client.get("/users/me.json")

    request, *calls = traced()
    failed = [each for each in calls if each.status.code == FAILED]
    assert [told(each.attributes)["error.type"] for each in failed] == [
        "ProvisionedThroughputExceededException"
    ]
    assert not request.HasField("status")


def test_an_accident_is_an_error_of_the_request(traced, ada, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a canary")

    monkeypatch.setattr(dispatch, "_answer_of", broken)

    ada.client.get("/users/me.json")

    request, *_ = traced()
    assert request.status.code == FAILED
    assert told(request.attributes)["error.type"] == "500"
    assert "canary" not in str(request)


def test_a_process_that_writes_none_does_not_import_what_writes_them():
    script = (
        "import sys, chalicelib.web.dispatch;"
        "print([name for name in sys.modules if name in "
        "('chalicelib.web.tracing', 'chalicelib.storage.traced',"
        " 'chalicelib.domain.operator.spans')])"
    )
    told = {traces: imported_with(script, traces) for traces in ("no", "yes")}
    assert told["no"] == "[]"
    assert told["yes"].count("chalicelib") == 3


def imported_with(script, traces):
    environment = {**os.environ, "TRACES": traces}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_nothing_is_written_unless_it_is_asked_for(caplog, ada):
    caplog.set_level(logging.INFO)

    ada.client.get("/users/me.json")

    assert lines(caplog) == []
    assert not [hook for hook in connection.hooks if "traced" in getattr(hook, "__module__", "")]
