"""Spans: whose trace a request belongs to, and how many of its calls are told."""

from __future__ import annotations

import pytest

from chalicelib.domain.operator.spans import MOST_CALLS, Parent, Trace, find_parent
from tests.support.collecting import read_spans, told

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    "header",
    [f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00", f"cc-{TRACE}-{SPAN}-01-what-comes-later"],
)
def test_a_trace_is_that_of_who_asks(header):
    assert find_parent(header) == Parent(TRACE, SPAN)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01\n",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01, 00-{TRACE}-{SPAN}-01",
    ],
)
def test_what_is_no_parent_begins_a_trace(header):
    assert find_parent(header) is None


def test_a_trace_of_its_own_has_no_parent():
    trace = Trace(None)

    [span] = read_spans(trace.ended("GET /x", 200, {}))

    assert span.trace_id.hex() == trace.trace_id
    assert span.parent_span_id == b""
    assert span.start_time_unix_nano <= span.end_time_unix_nano


def test_of_very_many_calls_the_first_are_told_and_all_are_counted():
    trace = Trace(Parent(TRACE, SPAN))
    for _ in range(MOST_CALLS + 1):
        trace.add_call("GetItem", ["users"], trace.now(), "")

    first, *calls = read_spans(trace.ended("GET /x", 200, {}))

    assert len(calls) == MOST_CALLS
    assert len({each.span_id for each in calls}) == MOST_CALLS
    assert told(first.attributes)["keyhaven.dynamodb.calls"] == MOST_CALLS + 1


def test_a_clock_that_is_set_back_makes_no_span_end_before_it_begins(time):
    trace = Trace(None)
    time.pass_by(hours=-1)

    [span] = read_spans(trace.ended("GET /x", 200, {}))

    assert 0 <= span.end_time_unix_nano - span.start_time_unix_nano < 10**10
