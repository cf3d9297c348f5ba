"""Calls to DynamoDB told as spans of the request that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.domain.operator.spans import Trace
from chalicelib.storage.connection import Json, Send, connection

_current: ContextVar[Trace | None] = ContextVar("current_trace", default=None)


@contextmanager
def within(trace: Trace) -> Iterator[None]:
    """Tell the trace of each call that is made inside, also in threads of its own."""
    if _tell not in connection.hooks:
        connection.hooks.append(_tell)
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)


def _tell(operation: str, parameters: Json, send: Send) -> Json:
    trace = _current.get()
    if trace is None:
        return send()
    began, error = trace.now(), ""
    try:
        return send()
    except ClientError as refused:
        error = refused.response["Error"]["Code"]
        raise
    except BotoCoreError as failed:
        error = type(failed).__name__
        raise
    finally:
        trace.add_call(operation, _tables(parameters), began, error)


def _tables(parameters: Json) -> list[str]:
    """The tables that are asked, whose names are not secret; no key and no value of any row."""
    if "TableName" in parameters:
        return [parameters["TableName"]]
    if "TransactItems" in parameters:
        lines = (each for line in parameters["TransactItems"] for each in line.values())
        return sorted({each["TableName"] for each in lines})
    return sorted(parameters.get("RequestItems", ()))
