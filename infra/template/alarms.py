"""What rings when a tenant is not well."""

from __future__ import annotations

from typing import Any

from infra.template.elements import Json, Resources, logical, ref, resource, sub
from infra.template.functions import ALIAS, FUNCTIONS, Function
from infra.template.tables import our_tables, table_id
from infra.template.tiers import Tier

MINUTE = 60
A_WHILE = 5 * MINUTE
"""Between two calls on the schedule, and at most between two tries of what failed, nothing is
told."""
LATE_MS = 10 * MINUTE * 1000


def alarms(tier: Tier, epoch: int) -> Resources:
    errors = {each.errors: _errors(each) for each in FUNCTIONS}
    if not tier.is_watched:
        return errors
    return {
        **errors,
        **{logical(name, "throttles"): _throttles(name, epoch) for name in our_tables()},
        "GatewayErrors": _gateway_errors(),
        "FailedWork": _failed_work(),
        **{each.delay: _delay(each) for each in FUNCTIONS if each.group.follows},
        **{each.held_back: _held_back(each) for each in FUNCTIONS if each.group.follows},
    }


def _errors(function: Function) -> Json:
    """Of the alias, whatever version it leads to: so a release that fails goes back.

    What runs every five minutes never fails in two minutes that follow each other.
    """
    how = {"Period": A_WHILE} if function.group.is_scheduled else {}
    return _of_function(function, "the function fails", "Errors", **how)


def _delay(function: Function) -> Json:
    """How old what it is called with has become: nothing is lost yet, and nothing goes on."""
    how = {"Statistic": "Maximum", "Period": A_WHILE}
    return _of_function(
        function, "the function comes late", "IteratorAge", threshold=LATE_MS, **how
    )


def _held_back(function: Function) -> Json:
    """No instance was free to run it: then it does not even tell how late it is."""
    return _of_function(function, "the function is not let run", "Throttles", Period=A_WHILE)


def _of_function(
    function: Function, about: str, metric: str, threshold: int = 1, **how: Any
) -> Json:
    alias = [
        {"Name": "FunctionName", "Value": ref(function.id)},
        {"Name": "Resource", "Value": sub(f"${{{function.id}}}:{ALIAS}")},
    ]
    return _alarm(
        f"{function.name}: {about}",
        threshold=threshold,
        periods=2,
        Namespace="AWS/Lambda",
        MetricName=metric,
        Dimensions=alias,
        **how,
    )


def _gateway_errors() -> Json:
    return _alarm(
        "the gateway answers with errors of the service",
        threshold=5,
        periods=3,
        Namespace="AWS/ApiGateway",
        MetricName="5XXError",
        Dimensions=[
            {"Name": "ApiName", "Value": sub("keyhaven-${TenantId}")},
            {"Name": "Stage", "Value": ref("Stage")},
        ],
    )


def _failed_work() -> Json:
    return _alarm(
        "a worker has failed",
        threshold=1,
        periods=1,
        Namespace="AWS/SQS",
        MetricName="ApproximateNumberOfMessagesVisible",
        Dimensions=[{"Name": "QueueName", "Value": {"Fn::GetAtt": ["DeadLetters", "QueueName"]}}],
    )


def _throttles(name: str, epoch: int) -> Json:
    table = [{"Name": "TableName", "Value": ref(table_id(name, epoch))}]
    return _alarm(
        f"the table {name} is overloaded",
        threshold=1,
        periods=2,
        Metrics=[
            _counted("reads", "ReadThrottleEvents", table),
            _counted("writes", "WriteThrottleEvents", table),
            {
                "Id": "all",
                "Label": "throttled",
                "Expression": "FILL(reads, 0) + FILL(writes, 0)",
                "ReturnData": True,
            },
        ],
    )


def _counted(word: str, metric: str, dimensions: list[Json]) -> Json:
    measured = {"Namespace": "AWS/DynamoDB", "MetricName": metric, "Dimensions": dimensions}
    stat = {"Metric": measured, "Period": MINUTE, "Stat": "Sum"}
    return {"Id": word, "MetricStat": stat, "ReturnData": False}


def _alarm(about: str, threshold: int, periods: int, **measured: Any) -> Json:
    is_plain = "MetricName" in measured
    properties: Json = {
        "AlarmDescription": sub(f"Keyhaven, tenant ${{TenantId}}: {about}"),
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "Threshold": threshold,
        "EvaluationPeriods": periods,
        "TreatMissingData": "notBreaching",
        "AlarmActions": [ref("AlarmTopic")],
        **({"Statistic": "Sum", "Period": MINUTE} if is_plain else {}),
        **measured,
    }
    return resource("CloudWatch::Alarm", properties)
