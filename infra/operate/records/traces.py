"""The spans that a tenant's functions have written, read from their logs for a collector."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from chalicelib.domain.operator.audit import SPANS
from chalicelib.domain.operator.spans import Span, Value, attribute
from infra.operate import functions
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.template.elements import Json
from infra.template.functions import FUNCTIONS

ENOUGH = 500
"""Spans that are sent without waiting for more."""
_VERSION = re.compile(r"\[(.+)\]")


def batches(account: Account, entry: Entry, first: datetime, end: datetime) -> Iterator[Json]:
    """What a collector is sent: spans of one instance of a function, some hundreds at once."""
    for each in FUNCTIONS:
        waiting: dict[str, list[Span]] = defaultdict(list)
        group = f"/keyhaven/{entry.tenant}/{each.name}"
        for stream, spans in _written(account, group, first, end) if each.is_served else ():
            waiting[stream] += spans
            if len(waiting[stream]) >= ENOUGH:
                yield _batch(entry, each.name, stream, waiting.pop(stream))
        for stream, spans in waiting.items():
            yield _batch(entry, each.name, stream, spans)


def _written(
    account: Account, group: str, first: datetime, end: datetime
) -> Iterator[tuple[str, list[Span]]]:
    """The spans of each line, with its stream: that of an instance of a function.

    A function that a release has not brought to the tenant yet has no log.
    """
    listed = account.pages(
        *("logs", "filter_log_events", "events"),
        logGroupName=group,
        filterPattern=f'{{ $.event = "{SPANS}" }}',
        startTime=_milliseconds(first),
        endTime=_milliseconds(end) - 1,
    )
    with suppress(account.client("logs").exceptions.ResourceNotFoundException):
        for each in listed:
            if found := _spans(each["message"]):
                yield each["logStreamName"], found


def _spans(message: str) -> list[Span]:
    """Of a line that has some; the filter finds no other."""
    try:
        line = json.loads(message)
    except ValueError:
        return []
    is_ours = isinstance(line, dict) and line.get("event") == SPANS
    return list(line["spans"]) if is_ours else []


def _batch(entry: Entry, function: str, stream: str, spans: list[Span]) -> Json:
    resource = [attribute(*each) for each in _resource(entry, function, stream).items()]
    scope = {"scope": {"name": "keyhaven"}, "spans": spans}
    return {
        "resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": [scope]}],
    }


def _resource(entry: Entry, function: str, stream: str) -> dict[str, Value]:
    owner, region = entry.cell.split("/")
    version = _VERSION.search(stream)
    told: dict[str, Value] = {
        "service.name": "keyhaven",
        "service.namespace": entry.tenant,
        "cloud.provider": "aws",
        "cloud.platform": "aws_lambda",
        "cloud.region": region,
        "cloud.account.id": owner,
        "faas.name": functions.name_of(entry.tenant, function),
        "faas.instance": stream,
    }
    return {**told, "faas.version": version[1]} if version else told


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def count(batch: Json) -> int:
    [resource] = batch["resourceSpans"]
    [scope] = resource["scopeSpans"]
    return len(scope["spans"])
