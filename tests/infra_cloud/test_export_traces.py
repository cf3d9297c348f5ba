"""`export-traces`: from the logs of functions to a collector, by OpenTelemetry's protocol."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from datetime import timedelta

import pytest

from chalicelib.domain.operator.audit import SPANS
from chalicelib.domain.operator.spans import Parent, Trace
from infra.command_line.entry import infra
from infra.operate.records.traces import ENOUGH
from infra.operate.registry import ACTIVE, Registry
from infra.template.functions import FUNCTIONS
from tests.infra_cloud.conftest import NOW
from tests.support.collecting import collecting, told

BEGIN = NOW - timedelta(minutes=10)
STREAM = "2026/11/21/[7]0123456789abcdef"


@pytest.fixture
def tenant(cell):
    """With groups of logs; nobody needs more of its stack."""
    cell.set_up()
    registry = Registry(cell.account)
    registry.reserve(cell.entry())
    parameters = {**cell.entry().parameters, "Traces": "yes"}
    registry.begin("acme", "x", "reserved")
    registry.end("acme", "x", state=ACTIVE, parameters=parameters)
    for name in ("acme", "acme-2"):
        for each in FUNCTIONS:
            cell.client("logs").create_log_group(logGroupName=f"/keyhaven/{name}/{each.name}")
    return cell


@pytest.fixture
def collector():
    with collecting() as taking:
        yield taking


@pytest.fixture
def give(tenant, monkeypatch, capsys):
    def given(*words):
        monkeypatch.setattr(sys, "argv", ["infra", "export-traces", "acme", *words])
        capsys.readouterr()
        try:
            infra(account=lambda _: tenant.account)
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    return given


def written(cell, *, moment=BEGIN, group="/keyhaven/acme/auth", stream=STREAM, calls=1):
    """A line of the log as a function has written it; the identifiers of its spans."""
    trace = Trace(Parent("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"))
    for _ in range(calls):
        trace.add_call("GetItem", ["keyhaven-acme-1-users"], trace.now(), "")
    spans = trace.ended("GET /users.json", 200, {"http.request.method": "GET"})
    log(cell, json.dumps({"event": SPANS, "spans": spans}), moment, group, stream)
    return {each["spanId"] for each in spans}


def log(cell, message, moment=BEGIN, group="/keyhaven/acme/auth", stream=STREAM):
    client = cell.client("logs")
    with suppress(client.exceptions.ResourceAlreadyExistsException):
        client.create_log_stream(logGroupName=group, logStreamName=stream)
    event = {"timestamp": int(moment.timestamp() * 1000), "message": message}
    client.put_log_events(logGroupName=group, logStreamName=stream, logEvents=[event])


def taken(collector):
    return {each.span_id.hex() for each in collector.spans()}


def test_spans_of_the_logs_reach_the_collector(tenant, give, collector):
    wanted = written(tenant) | written(tenant, group="/keyhaven/acme/users", calls=3)

    shown = give("--to", collector.address)

    assert taken(collector) == wanted
    assert shown == (
        f"{len(wanted)} spans until 2026-11-21T11:58:00Z. Go on with --from 2026-11-21T11:58:00Z.\n"
    )


def test_functions_that_the_tenant_does_not_have_yet_have_written_nothing(tenant, give, collector):
    """A release that brings a function has not reached it: there is no log of that name."""
    wanted = written(tenant) | written(tenant, group="/keyhaven/acme/users")
    tenant.client("logs").delete_log_group(logGroupName="/keyhaven/acme/resources")

    assert give("--to", collector.address).startswith(f"{len(wanted)} spans until")
    assert taken(collector) == wanted


def test_they_say_of_which_function_they_are(tenant, give, collector):
    written(tenant)

    give("--to", collector.address)

    [sent] = collector.taken
    assert told(sent.resource_spans[0].resource.attributes) == {
        "service.name": "keyhaven",
        "service.namespace": "acme",
        "cloud.provider": "aws",
        "cloud.platform": "aws_lambda",
        "cloud.region": "eu-central-1",
        "cloud.account.id": "123456789012",
        "faas.name": "keyhaven-acme-auth",
        "faas.version": "7",
        "faas.instance": STREAM,
    }


def test_other_lines_and_other_tenants_are_left_alone(tenant, give, collector):
    log(tenant, json.dumps({"event": "request", "actor": "somebody"}))
    log(tenant, "REPORT RequestId: 1 spans")
    log(tenant, json.dumps(["spans"]))
    written(tenant, group="/keyhaven/acme-2/auth")

    assert give("--to", collector.address).startswith("0 spans until")
    assert collector.taken == []


def test_a_span_of_time_has_its_beginning_and_not_its_end(tenant, give, collector):
    second = timedelta(seconds=1)
    written(tenant, moment=BEGIN - second)
    wanted = written(tenant, moment=BEGIN)
    later = written(tenant, moment=BEGIN + second)
    text, end = f"{BEGIN:%Y-%m-%dT%H:%M:%SZ}", f"{BEGIN + second:%Y-%m-%dT%H:%M:%SZ}"

    shown = give("--to", collector.address, "--from", text, "--until", end)

    assert taken(collector) == wanted
    assert f"Go on with --from {end}." in shown
    give("--to", collector.address, "--from", end)
    assert taken(collector) == wanted | later


def test_many_spans_are_sent_in_parts(tenant, give, collector):
    wanted = set()
    for _ in range(ENOUGH // 100 + 1):
        wanted |= written(tenant, calls=100)

    give("--to", collector.address)

    assert taken(collector) == wanted
    assert len(collector.taken) == 2


def test_headers_let_us_in(tenant, give, collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=a%20key, authorization=Bearer=1")
    written(tenant)

    give("--to", collector.address)

    [sent] = collector.headers
    headers = {name.lower(): value for name, value in sent.items()}
    assert (headers["x-api-key"], headers["authorization"]) == ("a key", "Bearer=1")
    assert headers["content-type"] == "application/json"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_collector_that_is_busy_is_asked_again(tenant, give, collector, status):
    collector.answers = [(status, {"Retry-After": "7"}, b""), (status, {}, b"")]
    wanted = written(tenant)

    give("--to", collector.address)

    assert taken(collector) == wanted
    assert tenant.pauses[-2:] == [7, 2]


def test_a_collector_that_stays_busy_is_told(tenant, give, collector):
    collector.answers = [(503, {"Retry-After": "3600"}, b"no room")] * 9
    written(tenant)

    assert give("--to", collector.address) == "The collector answers with 503: no room"
    assert tenant.pauses[-1] == 60


@pytest.mark.parametrize("status", [302, 400, 401, 404, 500])
def test_a_collector_that_refuses_is_not_asked_again(tenant, give, collector, status):
    collector.answers = [(status, {"Location": "http://127.0.0.1:1/"}, b"not that")]
    written(tenant)

    assert give("--to", collector.address) == f"The collector answers with {status}: not that"
    assert len(collector.headers) == 1


def test_what_a_collector_does_not_take_is_told(tenant, give, collector):
    refused = {"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}
    collector.answers = [(200, {}, json.dumps(refused).encode())]
    written(tenant)

    assert "2 spans are refused: too old\n" in give("--to", collector.address)


@pytest.mark.parametrize("said", [b"", b"{}", b"ok", b"[]", b'{"partialSuccess": {}}'])
def test_a_collector_may_say_what_it_likes_of_what_it_takes(tenant, give, collector, said):
    collector.answers = [(200, {}, said)]
    written(tenant)

    assert give("--to", collector.address).startswith("2 spans until")


def test_nobody_there_is_told(tenant, give):
    written(tenant)

    assert "The collector does not answer" in give("--to", "http://127.0.0.1:1/v1/traces")


@pytest.mark.parametrize(
    "address", ["http://collector.example/v1/traces", "file:///etc/passwd", "collector", "https://"]
)
def test_spans_go_nowhere_in_clear(give, address):
    assert f"{address!r} is no address of a collector" in give("--to", address)


def test_no_time_at_all_is_refused(give):
    moment = "2026-11-21T11:58:00Z"
    https = ("--to", "https://collector.example/v1/traces")
    assert give(*https, "--from", moment) == f"{moment} is not before {moment}."


def test_odd_headers_are_refused_without_being_shown(give, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "a-secret")
    shown = give("--to", "https://collector.example/v1/traces")
    assert "is not of the form name=value" in shown
    assert "a-secret" not in shown


def test_a_tenant_that_writes_none_is_said_to(tenant, give, collector):
    Registry(tenant.account).begin("acme", "x", ACTIVE)
    Registry(tenant.account).end("acme", "x", parameters=tenant.entry().parameters)

    assert "acme writes no spans now: `deploy acme --set Traces=yes`." in give(
        "--to", collector.address
    )
