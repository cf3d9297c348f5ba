"""The connection: hooks around each call, calls side by side, and what becomes of errors."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from time import monotonic, sleep

import orjson
import pytest
from botocore.exceptions import ConnectionClosedError
from pynamodb.exceptions import VerboseClientError

from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.storage import pace, reading
from chalicelib.storage.connection import (
    LONGEST_CALL,
    StorageConnection,
    connection,
    current_branch,
)
from chalicelib.tables.settings import Setting
from tests.support.faults import hooks
from tests.support.faults.hooks import ALWAYS, Failing, Recorder
from tests.support.faults.watch import worn

PARALLEL = 4


@pytest.fixture
def parallel(store):
    return StorageConnection(parallel_calls=PARALLEL)


@pytest.fixture(params=[1, PARALLEL], ids=["in turn", "parallel"])
def any_connection(request, store):
    return StorageConnection(parallel_calls=request.param)


# Hooks


def test_the_hook_entered_last_is_the_outermost(store):
    order = []

    def hook(name):
        def around(operation, parameters, send):
            order.append(name)
            return send()

        return around

    connection.hooks += [hook("inner"), hook("outer")]
    reading.find(Setting.named("theme"))

    assert order == ["outer", "inner"]


def test_a_hook_may_answer_in_the_place_of_storage(store):
    name = Setting.stored_as()
    row = {"name": {"S": "theme"}, "value": {"S": "{}"}}
    connection.hooks.append(lambda *_: {"Responses": {name: [row]}})

    assert reading.find(Setting.named("theme")) == row


def test_rows_saved_by_their_model_pass_the_hooks_too(store):
    with Recorder() as seen:
        Setting("theme", value={}).save()

    assert seen.operations == ["PutItem"]


# Errors


OVERLOAD = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "InternalServerError",
    "InternalFailure",
    "ServiceUnavailable",
    "TransactionInProgressException",
    "502",
    "503",
]


def _refused_with(code, times):
    def fault(operation, parameters, send):
        raise hooks.refusal(code, operation)

    return Failing(fault, times=times)


@pytest.mark.parametrize("code", OVERLOAD)
def test_overload_that_passes_is_not_noticed(store, code):
    """FT05"""
    Setting("theme", value={}).save()

    with _refused_with(code, 3):
        assert reading.find(Setting.named("theme")) is not None


@pytest.mark.parametrize("code", OVERLOAD)
def test_overload_that_stays_is_unavailable_and_says_when_to_come_again(store, code):
    """FT05"""
    failing = _refused_with(code, ALWAYS)
    with failing, pytest.raises(Unavailable) as raised:
        reading.find(Setting.named("theme"))

    assert raised.value.seconds > 0
    assert failing.seen == pace.ATTEMPTS


@pytest.mark.parametrize("code", ["AccessDeniedException", "ResourceNotFoundException"])
def test_what_storage_refuses_for_good_is_not_tried_again(store, code):
    failing = _refused_with(code, ALWAYS)
    with failing, pytest.raises(VerboseClientError):
        reading.find(Setting.named("theme"))

    assert failing.seen == 1


# In time


def test_a_call_that_could_end_too_late_is_not_made(store):
    within = deadline.within(LONGEST_CALL - 0.1)
    with worn(), within, Recorder() as seen, pytest.raises(Unavailable):
        reading.find(Setting.named("theme"))

    assert seen.calls == []


def test_a_call_is_tried_again_only_while_it_could_end_in_time(store):
    failing = Failing(hooks.throttled, times=ALWAYS)
    within = deadline.within(LONGEST_CALL + 0.1)
    with worn(), within, failing, pytest.raises(Unavailable):
        reading.find(Setting.named("theme"))

    assert failing.seen == 2


def test_calls_side_by_side_have_the_deadline_of_who_makes_them(any_connection):
    with worn() as watch, deadline.within(10):
        watch.pass_by(8)
        allowed = any_connection.together([lambda: deadline.allows(3)] * 2 * PARALLEL)

    assert allowed == [False] * 2 * PARALLEL


def test_calls_side_by_side_that_all_fail_end_together_in_time(parallel):
    failing = Failing(hooks.timed_out, times=ALWAYS, only={"ListTables"})
    with worn() as watch, deadline.within(20):
        failing.fault = watch.slowly(hooks.timed_out, LONGEST_CALL)
        parallel.hooks.append(failing)
        with pytest.raises(Unavailable):
            parallel.together([lambda: parallel.call("ListTables", {})] * 100)

    assert watch.seconds <= 20 + PARALLEL * LONGEST_CALL, "they take their time side by side"
    assert 0 < failing.seen <= PARALLEL * pace.ATTEMPTS


# Side by side


def test_results_stand_in_the_order_of_the_calls(any_connection):
    def late(n):
        sleep(0.02 * (6 - n))
        return n

    assert any_connection.together([lambda n=n: late(n) for n in range(6)]) == list(range(6))


def test_no_calls_have_no_results(any_connection):
    assert any_connection.together([]) == []


def test_calls_run_at_the_same_time(parallel):
    meeting = threading.Barrier(PARALLEL, timeout=5)

    parallel.together([meeting.wait] * PARALLEL)

    assert not meeting.broken


def test_what_a_call_raises_is_raised_when_all_have_ended(parallel):
    ended = []

    def fail():
        raise Unavailable

    def end():
        sleep(0.05)
        ended.append(True)

    with pytest.raises(Unavailable):
        parallel.together([fail, end, end])
    assert ended == [True, True]


def test_calls_inside_of_calls_do_not_wait_for_each_other(any_connection):
    def inside(n):
        return any_connection.together([lambda m=m: n * m for m in range(PARALLEL)])

    results = any_connection.together([lambda n=n: inside(n) for n in range(3 * PARALLEL)])

    assert results == [[n * m for m in range(PARALLEL)] for n in range(3 * PARALLEL)]


def test_each_call_knows_its_branch_and_who_called_is_in_none(any_connection):
    branches = any_connection.together([current_branch.get] * 3)

    assert len({group for group, _ in branches}) == 1
    assert [n for _, n in branches] == [0, 1, 2]
    assert current_branch.get() is None


# Out of reach


@pytest.fixture
def silent():
    """An address that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def full():
    """An address that does not even take connections, as a host that is not there."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        yield address[1]
        for each in waiting:
            each.close()


@pytest.fixture
def closed():
    """An address nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.parametrize("where", ["closed", "full", "silent"])
def test_storage_out_of_reach_is_told_within_three_seconds(request, store, where):
    """FT23"""
    port = request.getfixturevalue(where)
    unreachable = StorageConnection(endpoint=f"http://127.0.0.1:{port}")
    _ = unreachable.client
    deadline.set_source(monotonic)
    start = monotonic()

    with pytest.raises(Unavailable):
        unreachable.call("ListTables", {})

    assert monotonic() - start < 3


def test_storage_that_is_back_in_reach_is_used_at_once(store):
    """FT23"""
    Setting("theme", value={}).save()
    with Failing(hooks.unreachable, times=ALWAYS), pytest.raises(Unavailable):
        reading.find(Setting.named("theme"))

    assert reading.find(Setting.named("theme")) is not None


# Over the network


@pytest.fixture
def answering(store):
    """Makes a connection to a storage that answers each request with these bytes, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def connected(answer):
            threading.Thread(target=_answer, args=(listener, answer), daemon=True).start()
            return StorageConnection(endpoint=f"http://127.0.0.1:{listener.getsockname()[1]}")

        yield connected


def _answer(listener, answer):
    with suppress(OSError):  # the listener is closed when the test is over
        while True:
            one, _ = listener.accept()
            with one, one.makefile("rb") as request:
                request.read(int(_headers(request)["content-length"]))
                one.sendall(answer)


def _headers(request):
    lines = iter(lambda: request.readline().decode().strip(), "")
    return {name.lower(): value for name, _, value in (line.partition(":") for line in lines)}


def _http(body, *, missing=0):
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body) + missing}\r\n\r\n"
    return head.encode() + body


ROWS = [{"name": {"S": f"{number}" * 1000}} for number in range(300)]
"""Far more than is read at once."""


def test_a_long_answer_comes_whole(answering):
    storage = answering(_http(orjson.dumps({"Items": ROWS})))

    assert storage.call("Query", {})["Items"] == ROWS


def test_an_answer_that_breaks_off_is_unavailable_not_half(answering):
    storage = answering(_http(orjson.dumps({"Items": ROWS}), missing=1))

    with pytest.raises(Unavailable) as caught:
        storage.call("Query", {})

    assert isinstance(caught.value.__cause__, ConnectionClosedError)


# What a client hears


def test_a_session_that_cannot_be_looked_up_is_neither_refused_nor_believed(store, ada):
    """FT24 FT05"""
    ada.client.get("/users/me.json")  # what is kept warm is read now
    with Recorder() as seen:
        assert ada.client.get("/users/me.json").status == 200
    assert len(seen.calls) > 1

    for at in range(len(seen.calls)):
        with Failing(hooks.throttled, at=at, times=ALWAYS):
            response = ada.client.get("/users/me.json")
        assert response.status == 503
        assert int(response.headers["retry-after"]) > 0
        with Failing(hooks.throttled, at=at):
            assert ada.client.get("/users/me.json").status == 200
