"""What rings for a whole cell: backups that fail, a certificate that ends, mails that come back."""

from __future__ import annotations

from collections.abc import Mapping

from infra.template.elements import Json, Resources, arn, ref, resource, sub

A_DAY = 24 * 3600
AN_HOUR = 3600
DAYS_LEFT = 30
"""AWS renews a certificate sixty days before its end; what is left by then needs somebody."""
BOUNCED = 0.05
COMPLAINED = 0.001
"""Parts of the mails; AWS looks into an account from these on, and pauses it at twice as many."""
NOTHING: Mapping[str, str] = {}
_JOBS = ("Backup Job State Change", "Copy Job State Change")
_BAD = ["FAILED", "ABORTED", "EXPIRED"]


def cell_alarms() -> Resources:
    return {
        "AlarmPolicy": resource("SNS::TopicPolicy", _who_tells()),
        "FailedBackups": resource("Events::Rule", _failed_backups()),
        "CertificateEnds": _certificate_ends(),
        "MailsBounce": _mails_come_back("Reputation.BounceRate", BOUNCED, "mails bounce"),
        "MailsAnnoy": _mails_come_back("Reputation.ComplaintRate", COMPLAINED, "mails annoy"),
    }


def _failed_backups() -> Json:
    """A night without a copy is noticed in the morning, not on the day it is needed."""
    job = {"state": "$.detail.state", "of": "$.resources[0]", "why": "$.detail.statusMessage"}
    said = '"Keyhaven: a backup or its copy is <state>: <of> <why>"'
    return {
        "Description": "Keyhaven, backups that fail",
        "State": "ENABLED",
        "EventPattern": {
            "source": ["aws.backup"],
            "detail-type": list(_JOBS),
            "detail": {"state": _BAD},
        },
        "Targets": [
            {
                "Id": "alarms",
                "Arn": ref("AlarmTopic"),
                "InputTransformer": {"InputPathsMap": job, "InputTemplate": said},
            }
        ],
    }


def _who_tells() -> Json:
    """Alarms and events of this account; without a word on them, events are refused."""
    ours = {"StringEquals": {"aws:SourceAccount": ref("AWS::AccountId")}}
    rule = {"ArnEquals": {"aws:SourceArn": arn("FailedBackups")}}
    return {
        "Topics": [ref("AlarmTopic")],
        "PolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                _may_tell("Alarms", "cloudwatch.amazonaws.com", ours),
                _may_tell("Events", "events.amazonaws.com", rule),
            ],
        },
    }


def _may_tell(name: str, service: str, only: Json) -> Json:
    return {
        "Sid": name,
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sns:Publish",
        "Resource": ref("AlarmTopic"),
        "Condition": only,
    }


def _certificate_ends() -> Json:
    return _alarm(
        "the certificate ends within a month",
        DAYS_LEFT,
        "LessThanThreshold",
        only_if={"Condition": "HasCertificate"},
        Namespace="AWS/CertificateManager",
        MetricName="DaysToExpiry",
        Dimensions=[{"Name": "CertificateArn", "Value": ref("Certificate")}],
        Statistic="Minimum",
        Period=A_DAY,
    )


def _mails_come_back(metric: str, part: float, about: str) -> Json:
    """Of the account, as AWS judges it: all tenants of the cell send in its name."""
    return _alarm(
        about,
        part,
        "GreaterThanOrEqualToThreshold",
        Namespace="AWS/SES",
        MetricName=metric,
        Dimensions=[],
        Statistic="Maximum",
        Period=AN_HOUR,
    )


def _alarm(
    about: str,
    threshold: float,
    compared: str,
    only_if: Mapping[str, str] = NOTHING,
    **measured: object,
) -> Json:
    properties: Json = {
        "AlarmDescription": sub(f"Keyhaven, cell ${{AWS::Region}}: {about}"),
        "ComparisonOperator": compared,
        "Threshold": threshold,
        "EvaluationPeriods": 1,
        "TreatMissingData": "notBreaching",
        "AlarmActions": [ref("AlarmTopic")],
        **measured,
    }
    return resource("CloudWatch::Alarm", properties, **only_if)
