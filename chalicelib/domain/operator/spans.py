"""Spans of one request by OpenTelemetry's conventions, as its protocol writes them in JSON.

One is the request, the others are its calls to DynamoDB. They say what, when, for how long and
with which outcome: no path, no identifier of a person or a thing, and of what a client has sent
nothing but the identifiers of the trace that it says it belongs to.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id

MOST_CALLS = 100
"""Of one request that are told each; further ones are counted."""
SERVER, CLIENT = 2, 3
"""Kinds of spans."""
_FAILED = 2
_FIRST_FAILURE = 500
_PARENT = re.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?", re.ASCII)
_ONLY_VERSION = "00"
_NO_VERSION = "ff"

Value = str | int | Sequence[str]
Span = dict[str, Any]


class Parent(NamedTuple):
    """The span of whoever asks, by W3C's `traceparent`."""

    trace_id: str
    span_id: str


def find_parent(header: str | None) -> Parent | None:
    """What the header names; nothing where it is none, or not well formed."""
    match = _PARENT.fullmatch(header or "")
    if match is None:
        return None
    version, trace_id, span_id, further = match.groups()
    is_longer = version == _ONLY_VERSION and further is not None
    if version == _NO_VERSION or is_longer or not (trace_id.strip("0") and span_id.strip("0")):
        return None
    return Parent(trace_id, span_id)


class Trace:
    """The spans of a request while it is answered."""

    def __init__(self, parent: Parent | None) -> None:
        self.trace_id = new_id().replace("-", "") if parent is None else parent.trace_id
        self.span_id = _new_span_id()
        self._parent_id = None if parent is None else parent.span_id
        self._ticks = time.perf_counter_ns()
        self._began = clock.nanoseconds()
        self._calls: list[Span] = []
        self._count = 0

    def now(self) -> int:
        """Nanoseconds since 1970, which go on even when the clock is set back."""
        return self._began + time.perf_counter_ns() - self._ticks

    def add_call(self, operation: str, tables: Sequence[str], began: int, error: str) -> None:
        """Tell of a call to DynamoDB that has ended."""
        self._count += 1
        if len(self._calls) == MOST_CALLS:
            return
        attributes: dict[str, Value] = {
            "db.system.name": "aws.dynamodb",
            "db.operation.name": operation,
            "aws.dynamodb.table_names": tables,
        }
        name = f"{operation} {tables[0]}" if len(tables) == 1 else operation
        span = self._span(name, CLIENT, began, attributes, error)
        self._calls.append({**span, "spanId": _new_span_id(), "parentSpanId": self.span_id})

    def ended(self, name: str, status: int, attributes: Mapping[str, Value]) -> list[Span]:
        """All spans, that of the request first."""
        error = str(status) if status >= _FIRST_FAILURE else ""
        told = {**attributes, "http.response.status_code": status}
        if self._count > len(self._calls):
            told["keyhaven.dynamodb.calls"] = self._count
        span = self._span(name, SERVER, self._began, told, error)
        span["spanId"] = self.span_id
        if self._parent_id is not None:
            span["parentSpanId"] = self._parent_id
        return [span, *self._calls]

    def _span(
        self, name: str, kind: int, began: int, attributes: Mapping[str, Value], error: str
    ) -> Span:
        told = {**attributes, "error.type": error} if error else attributes
        return {
            "traceId": self.trace_id,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(began),
            "endTimeUnixNano": str(self.now()),
            "attributes": [attribute(key, value) for key, value in told.items()],
            **({"status": {"code": _FAILED}} if error else {}),
        }


def attribute(key: str, value: Value) -> dict[str, Any]:
    return {"key": key, "value": _value(value)}


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"arrayValue": {"values": [_value(each) for each in value]}}


def _new_span_id() -> str:
    """The first half of a random identifier, which is never nothing: it says its version."""
    return new_id().replace("-", "")[:16]
