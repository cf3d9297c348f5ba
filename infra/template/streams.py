"""How a worker is called with new rows: how many at once, and how often again."""

from __future__ import annotations

import json

from chalicelib.tables.operator.outbox import KEPT_SECONDS
from infra.template.elements import Json, Resources, arn, attribute, ref, resource
from infra.template.functions import Function
from infra.template.tables import table_id

READING = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
BATCH = 10
"""Rows of a call: so many mails are through before it has to end, however slow SES is."""
TRIES = 10_000
"""Of what failed, until it is left to people: the most AWS knows, so that its day ends it first."""


def stream(name: str, epoch: int) -> Json:
    return attribute(table_id(name, epoch), "StreamArn")


def follower(which: Function, epoch: int) -> Resources:
    """Call a worker with each row that is new; what fails is tried again by itself.

    From the oldest record on: what was written in the minutes in which the call was made, or in
    the day before somebody gave the tenant a sender, is not passed over.
    """
    if which.group.follows is None:
        return {}
    mapping: Json = {
        "EventSourceArn": stream(which.group.follows, epoch),
        "FunctionName": ref(which.alias),
        "FilterCriteria": {"Filters": [{"Pattern": json.dumps({"eventName": ["INSERT"]})}]},
        "StartingPosition": "TRIM_HORIZON",
        "BatchSize": BATCH,
        "BisectBatchOnFunctionError": True,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "MaximumRetryAttempts": TRIES,
        "MaximumRecordAgeInSeconds": KEPT_SECONDS,
        "DestinationConfig": {"OnFailure": {"Destination": arn("DeadLetters")}},
    }
    kind = "Lambda::EventSourceMapping"
    return {f"{which.id}Stream": resource(kind, mapping, Condition="HasMailSender")}
