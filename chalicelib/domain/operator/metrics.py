"""Numbers about a function that CloudWatch reads from its log, so that no call is made for them.

A line of the log with these members is a metric in CloudWatch (its embedded metric format). The
one dimension is the function's name, which names the tenant and the endpoint group and nobody
else. On one machine there is no function, and lines have no such members.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from chalicelib.domain import clock
from chalicelib.settings import settings

NAMESPACE = "Keyhaven"
DIMENSION = "FunctionName"


class Metric(StrEnum):
    ACCIDENTS = "Accidents"
    """What nobody expected: an answer of 500, or a piece of work that was given up."""
    MAILS_SENT = "MailsSent"
    MAILS_REFUSED = "MailsRefused"
    """What SES refuses for good."""


def members(counted: Mapping[Metric, int]) -> dict[str, Any]:
    """What a line of the log needs to be counted; it is nothing where nothing is counted."""
    if not (counted and settings.function_name):
        return {}
    declared = {
        "Namespace": NAMESPACE,
        "Dimensions": [[DIMENSION]],
        "Metrics": [{"Name": str(metric), "Unit": "Count"} for metric in counted],
    }
    return {
        "_aws": {"Timestamp": clock.timestamp() * 1000, "CloudWatchMetrics": [declared]},
        DIMENSION: settings.function_name,
        **{str(metric): count for metric, count in counted.items()},
    }
