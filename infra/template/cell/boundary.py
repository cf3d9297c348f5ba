"""The bound of a cell: what no role of any tenant may exceed, whatever its own policy says."""

from __future__ import annotations

from chalicelib.endpoint_groups import Right
from infra.template.elements import Json, Resources, resource, sub
from infra.template.network import INTERFACES
from infra.template.roles import allow
from infra.template.streams import READING


def boundary() -> Resources:
    rows = [f"dynamodb:{action}" for right in Right for action in right.value]
    streams = [f"dynamodb:{action}" for action in READING]
    statements = [
        allow(rows, [_ours("dynamodb", "table/keyhaven-*")]),
        allow(streams, [_ours("dynamodb", "table/keyhaven-*/stream/*")]),
        allow(
            ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"],
            [sub("arn:${AWS::Partition}:s3:::keyhaven-*")],
        ),
        allow(
            [
                "secretsmanager:GetSecretValue",
                "secretsmanager:DescribeSecret",
                "secretsmanager:PutSecretValue",
            ],
            [_ours("secretsmanager", "secret:keyhaven/*")],
        ),
        allow(["sqs:SendMessage"], [_ours("sqs", "*")]),
        allow(
            ["ses:SendEmail"],
            [_ours("ses", "identity/*"), _ours("ses", "configuration-set/keyhaven-*")],
        ),
        allow(["kms:Decrypt", "kms:GenerateDataKey"], [_ours("kms", "key/*")]),
        allow(
            ["logs:CreateLogStream", "logs:PutLogEvents"],
            [_ours("logs", "log-group:/keyhaven/*")],
        ),
        allow([f"ec2:{action}" for action in INTERFACES], ["*"]),
        allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"]),
        allow(
            ["lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"],
            [_ours("lambda", "function:keyhaven-*")],
        ),
        allow(["lambda:InvokeFunction"], [_ours("lambda", "function:keyhaven-*")]),
        allow(
            ["codedeploy:PutLifecycleEventHookExecutionStatus"],
            [_ours("codedeploy", "deploymentgroup:*")],
        ),
        allow(["cloudwatch:DescribeAlarms"], [_ours("cloudwatch", "alarm:*")]),
    ]
    properties: Json = {
        "ManagedPolicyName": sub("keyhaven-boundary-${AWS::Region}"),
        "Description": "The most a role of a Keyhaven tenant may do.",
        "PolicyDocument": {"Version": "2012-10-17", "Statement": statements},
    }
    return {"Boundary": resource("IAM::ManagedPolicy", properties)}


def _ours(service: str, what: str) -> Json:
    return sub(f"arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:{what}")
