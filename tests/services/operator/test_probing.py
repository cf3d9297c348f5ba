"""The prober: a tenant that does not answer is told of, and so is a build before its release."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app import app
from chalicelib.post import probes
from chalicelib.post.probes import NO_ANSWER, ask_inside, ask_version, tell_release
from chalicelib.services.operator import probing
from chalicelib.services.operator.probing import ADDRESSES, Unanswered
from chalicelib.settings import Probe
from infra.template.functions import FUNCTIONS
from infra.template.probes import probed
from tests.infra_cloud.given.fakes import answering

PROBES = [Probe(*probed(each), each.name) for each in FUNCTIONS if each.is_served]


class Functions:
    """Lambda, whose functions are the service as it is here."""

    def __init__(self) -> None:
        self.fails = False

    def Invoke(self, FunctionName, Payload):  # noqa: N802, N803
        if self.fails:
            told = b'{"errorMessage": "cannot be loaded"}'
            return {"Payload": io.BytesIO(told), "FunctionError": "Unhandled"}
        return {"Payload": io.BytesIO(json.dumps(app(json.loads(Payload), None)).encode())}


class Releases:
    def __init__(self) -> None:
        self.told: list[dict[str, str]] = []

    def PutLifecycleEventHookExecutionStatus(self, **told):  # noqa: N802
        self.told.append(told)


@pytest.fixture
def functions(store) -> Iterator[Functions]:
    functions = Functions()
    probes._client.cache_clear()
    with answering("lambda", functions):
        yield functions
    probes._client.cache_clear()


def test_functions_that_are_well_refuse_or_answer_what_is_asked(functions):
    assert probing.faults(PROBES, ask_version) == []


def test_a_function_that_cannot_be_loaded_is_a_fault(functions):
    functions.fails = True
    told = probing.faults(PROBES[:1], ask_version)
    assert told == ["GET /auth/verify.json: no answer"]


@pytest.mark.parametrize(
    ("status", "running", "is_told"),
    [
        *((200, 200, False), (303, 200, False), (403, 200, False), (500, 200, True)),
        *((503, 200, True), (503, 503, False), (500, 500, True), (500, 503, True)),
    ],
)
def test_what_a_version_answers_decides_and_what_runs_beside_it(status, running, is_told):
    """A tenant that has no keys yet is not available before the release either."""
    probe = Probe("GET", "/x.json", "arn:aws:lambda:r:1:function:keyhaven-acme-auth:7")
    answers = {
        probe.version: status,
        "arn:aws:lambda:r:1:function:keyhaven-acme-auth:live": running,
    }
    told = probing.faults([probe], lambda asked: answers[asked.version])
    assert told == [f"GET /x.json: {status}"] * is_told


@pytest.mark.parametrize(("is_well", "status"), [(True, "Succeeded"), (False, "Failed")])
def test_a_release_goes_on_or_back_by_what_was_answered(is_well, status):
    releases = Releases()
    probes._client.cache_clear()
    with answering("codedeploy", releases):
        event = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "hook"}
        tell_release(event, is_well=is_well)
    probes._client.cache_clear()
    [told] = releases.told
    assert told == {
        "deploymentId": "d-1",
        "lifecycleEventHookExecutionId": "hook",
        "status": status,
    }


def test_a_tenant_that_answers_is_well():
    probing.require_answers(lambda _: 200)


@pytest.mark.parametrize("status", [NO_ANSWER, 403, 500, 503])
def test_a_tenant_that_answers_otherwise_is_told_of(status):
    with pytest.raises(Unanswered):
        probing.require_answers(lambda path: status if path == ADDRESSES[1] else 200)


def test_an_address_is_asked_as_anybody_asks_it(address):
    assert probes.ask_address("/there.json", address) == 200
    assert probes.ask_address("/busy.json", address) == 503


def test_an_address_that_nobody_serves_does_not_answer():
    assert probes.ask_address("/there.json", "http://127.0.0.1:9") == NO_ANSWER


def test_an_address_that_only_networks_reach_is_asked_past_the_gateway(functions):
    watched = [Probe("GET", path, "keyhaven-acme-any:live") for path in ADDRESSES]

    probing.require_answers(lambda path: ask_inside(path, watched))

    functions.fails = True
    with pytest.raises(Unanswered):
        probing.require_answers(lambda path: ask_inside(path, watched))


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/tenant/there.json" else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/tenant"
        server.shutdown()
