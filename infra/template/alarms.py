"""What rings when a tenant is not well: of which numbers, and after which time."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.operator.metrics import DIMENSION, NAMESPACE, Metric
from chalicelib.storage.base import Table
from infra.template.elements import NO_VALUE, Json, Resources, logical, ref, resource, sub
from infra.template.functions import ALIAS, FUNCTIONS, Function
from infra.template.identity import DIMENSION as DIMENSION_OF_SET
from infra.template.identity import HAS_IDENTITY, SET_NAME
from infra.template.tables import global_indexes, our_tables, table_id
from infra.template.tiers import Tier

MINUTE = 60
A_WHILE = 5 * MINUTE
"""At most between two tries of what failed, nothing is told."""
CALLS_MISSED = 3
"""Calls on the schedule that do not come, or the most of which fail, before it is told."""
AN_HOUR = 60 * MINUTE
LATE_MS = 10 * MINUTE * 1000
SLOW_MS = 10_000
A_DAY = 24 * AN_HOUR
BOUNCED, COMPLAINED = 10, 1
"""Mails of a day."""
BOUNCES, COMPLAINTS = "MailsBounce", "MailsAnnoy"
OF_RECIPIENTS = frozenset({BOUNCES, COMPLAINTS})
"""What rings of these says nothing of a release, and for a day."""
OVERLOADED, OF_MINUTES = 2, 5
"""Minutes of the last ones: of the newest DynamoDB has not told yet, and that counts as none."""
IF_NONE_IS_SENT = "IF(FILL(sent, 0) == 0, FILL(refused, 0), 0)"


def alarms(tier: Tier, epoch: int) -> Resources:
    always = {
        **{each.errors: _errors(each) for each in FUNCTIONS},
        **{each.accidents: _accidents(each) for each in FUNCTIONS},
        **{each.silent: _silent(each) for each in FUNCTIONS if each.group.is_scheduled},
        **{each.refused: _mails_refused(each) for each in FUNCTIONS if each.group.sends_mails},
    }
    if not tier.is_watched:
        return always
    return {
        **always,
        **{each.slow: _slow(each) for each in FUNCTIONS if each.is_served},
        **{
            logical(name, "throttles"): _throttles(name, table, epoch)
            for name, table in our_tables().items()
        },
        "GatewayErrors": _gateway_errors(),
        "FailedWork": _failed_work(),
        **{each.delay: _delay(each) for each in FUNCTIONS if each.group.follows},
        **{each.held_back: _held_back(each) for each in FUNCTIONS if each.group.follows},
        BOUNCES: _come_back("Bounce", BOUNCED, "mails bounce"),
        COMPLAINTS: _come_back("Complaint", COMPLAINED, "mails annoy"),
    }


def of_release(function: Function) -> tuple[str, ...]:
    """Alarms that lead a release of the function back."""
    return function.errors, function.accidents, function.slow


def _errors(function: Function) -> Json:
    """Of the alias, whatever version it leads to: so a release that fails goes back.

    What the schedule calls may fail once, as its next call is the second try.
    """
    about, metric = "the function fails", "Errors"
    if function.group.is_scheduled:
        period = CALLS_MISSED * function.every
        return _of_function(function, about, metric, threshold=2, periods=1, Period=period)
    return _of_function(function, about, metric, periods=1 if function.is_served else 2)


def _accidents(function: Function) -> Json:
    """What a function answers with 500, or gives up, is no error to Lambda, as it returned.

    One is enough, since nobody expected it; and where few people are at work there is no second.
    """
    return _alarm(
        f"{function.name}: an accident",
        threshold=1,
        periods=1,
        Namespace=NAMESPACE,
        MetricName=str(Metric.ACCIDENTS),
        Dimensions=_of_ours(function),
    )


def _silent(function: Function) -> Json:
    """Nobody calls it, and what is not called tells nothing: so to hear nothing is to be told.

    Of periods in which nothing is heard CloudWatch goes by earlier ones, until there are none as
    far back as it looks; so they count as none.
    """
    calls = _summed("calls", "AWS/Lambda", "Invocations", _of_alias(function), function.every)
    return _alarm(
        f"{function.name}: the schedule does not call the function",
        threshold=1,
        periods=CALLS_MISSED,
        ComparisonOperator="LessThanThreshold",
        TreatMissingData="breaching",
        Metrics=[calls, _expressed("calls, or none", "FILL(calls, 0)")],
    )


def _slow(function: Function) -> Json:
    """One answer in ten takes longer than people wait; of few answers nothing is concluded."""
    return _of_function(
        function,
        "the function is slow",
        "Duration",
        threshold=SLOW_MS,
        periods=3,
        Statistic=NO_VALUE,
        ExtendedStatistic="p90",
        EvaluateLowSampleCountPercentile="ignore",
    )


def _mails_refused(function: Function) -> Json:
    """SES refuses mails for good and takes none: it is the sender, not somebody's address."""
    return _alarm(
        f"{function.name}: all mails are refused",
        threshold=1,
        periods=1,
        Metrics=[
            _summed("sent", NAMESPACE, str(Metric.MAILS_SENT), _of_ours(function), AN_HOUR),
            _summed("refused", NAMESPACE, str(Metric.MAILS_REFUSED), _of_ours(function), AN_HOUR),
            _expressed("refused, and none sent", IF_NONE_IS_SENT),
        ],
    )


def _delay(function: Function) -> Json:
    """How old what it is called with has become: nothing is lost yet, and nothing goes on."""
    return _of_function(
        function,
        "the function comes late",
        "IteratorAge",
        threshold=LATE_MS,
        Statistic="Maximum",
        Period=A_WHILE,
    )


def _held_back(function: Function) -> Json:
    """No instance was free to run it: then it does not even tell how late it is."""
    return _of_function(function, "the function is not let run", "Throttles", Period=A_WHILE)


def _of_function(
    function: Function,
    about: str,
    metric: str,
    threshold: int = 1,
    periods: int = 2,
    **how: Any,
) -> Json:
    return _alarm(
        f"{function.name}: {about}",
        threshold=threshold,
        periods=periods,
        Namespace="AWS/Lambda",
        MetricName=metric,
        Dimensions=_of_alias(function),
        **how,
    )


def _of_alias(function: Function) -> list[Json]:
    return [
        {"Name": "FunctionName", "Value": ref(function.id)},
        {"Name": "Resource", "Value": sub(f"${{{function.id}}}:{ALIAS}")},
    ]


def _of_ours(function: Function) -> list[Json]:
    """Of what the function's log counts (`chalicelib/domain/operator/metrics.py`)."""
    return [{"Name": DIMENSION, "Value": ref(function.id)}]


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


def _come_back(metric: str, mails: int, about: str) -> Json:
    """Of a tenant with an identity of its own; of others, only the cell's alarms tell."""
    its_set = [{"Name": DIMENSION_OF_SET, "Value": sub(SET_NAME)}]
    made = _alarm(
        about,
        threshold=mails,
        periods=1,
        Namespace="AWS/SES",
        MetricName=metric,
        Dimensions=its_set,
        Period=A_DAY,
    )
    return {**made, "Condition": HAS_IDENTITY}


def _failed_work() -> Json:
    return _alarm(
        "a worker has failed",
        threshold=1,
        periods=1,
        Namespace="AWS/SQS",
        MetricName="ApproximateNumberOfMessagesVisible",
        Dimensions=[{"Name": "QueueName", "Value": {"Fn::GetAtt": ["DeadLetters", "QueueName"]}}],
    )


def _throttles(name: str, table: type[Table], epoch: int) -> Json:
    """Of a table, and of each index that has a throughput of its own: DynamoDB tells them apart."""
    whole: Json = {"Name": "TableName", "Value": ref(table_id(name, epoch))}
    parts = [{"Name": "GlobalSecondaryIndexName", "Value": each} for each in global_indexes(table)]
    counted = [
        _summed(f"{what.lower()}{n}", "AWS/DynamoDB", f"{what}ThrottleEvents", dimensions, MINUTE)
        for n, dimensions in enumerate([[whole], *([whole, part] for part in parts)])
        for what in ("Read", "Write")
    ]
    return _alarm(
        f"the table {name} is overloaded",
        threshold=1,
        periods=OF_MINUTES,
        DatapointsToAlarm=OVERLOADED,
        Metrics=[
            *counted,
            _expressed("throttled", " + ".join(f"FILL({each['Id']}, 0)" for each in counted)),
        ],
    )


def _summed(word: str, space: str, metric: str, dimensions: list[Json], period: int) -> Json:
    measured = {"Namespace": space, "MetricName": metric, "Dimensions": dimensions}
    stat = {"Metric": measured, "Period": period, "Stat": "Sum"}
    return {"Id": word, "MetricStat": stat, "ReturnData": False}


def _expressed(label: str, expression: str) -> Json:
    """What the alarm looks at, made of the sums beside it."""
    return {"Id": "all", "Label": label, "Expression": expression, "ReturnData": True}


def _alarm(about: str, threshold: int, periods: int, **measured: Any) -> Json:
    is_plain = "MetricName" in measured
    properties: Json = {
        "AlarmDescription": sub(f"Keyhaven, tenant ${{TenantId}}: {about}"),
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "Threshold": threshold,
        "EvaluationPeriods": periods,
        "TreatMissingData": "notBreaching",
        "AlarmActions": [ref("AlarmTopic")],
        "OKActions": [ref("AlarmTopic")],
        **({"Statistic": "Sum", "Period": MINUTE} if is_plain else {}),
        **measured,
    }
    return resource("CloudWatch::Alarm", properties)
