"""What each function may do: the rights its group names, and no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chalicelib.endpoint_groups import EndpointGroup, Right
from chalicelib.objects.answers import ANSWERS
from chalicelib.objects.avatars import AVATARS, NOTES
from chalicelib.objects.exports import EXPORTS
from infra.template.elements import Json, Resources, arn, either, ref, resource, sub
from infra.template.functions import FUNCTIONS, Function
from infra.template.identity import HAS_IDENTITY, SENDING
from infra.template.stores import SECRET_OF
from infra.template.streams import READING, stream
from infra.template.tables import index_names, our_tables, table_id
from infra.template.tiers import Tier

_LISTS = "ListBucket"
_INDEXED = "Query"
"""The one action a function may ask of an index; rights are never decided from one."""


def role(function: Function, epoch: int, tier: Tier) -> Resources:
    group = function.group
    statements = (
        *_rows(group, epoch),
        *_objects(group),
        *_answers(group),
        *_exports(group),
        *_private_keys(group),
        *_stream(group, epoch),
        *_mails(group),
        *_key(group),
        *_failures(function),
        *_versions(function, tier),
        _logs(function),
        _traces(),
    )
    properties: Json = {
        "Path": "/keyhaven/",
        "AssumeRolePolicyDocument": trust("lambda.amazonaws.com"),
        "PermissionsBoundary": ref("PermissionsBoundary"),
        "Policies": [policy("work", statements)],
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }
    return {function.role: resource("IAM::Role", properties)}


def trust(service: str) -> Json:
    allowed = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    return {"Version": "2012-10-17", "Statement": [allowed]}


def policy(name: str, statements: Iterable[Json]) -> Json:
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    return {"PolicyName": name, "PolicyDocument": document}


def allow(actions: Sequence[str], resources: Sequence[Json | str], **further: Json) -> Json:
    return {
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": list(resources),
        **further,
    }


def _rows(group: EndpointGroup, epoch: int) -> Iterator[Json]:
    tables = our_tables()
    for right in Right:
        names = [name for name in tables if right in group.rights_to(name)]
        if names:
            actions = [f"dynamodb:{action}" for action in right.value]
            yield allow(actions, [arn(table_id(name, epoch)) for name in names])
    indexes = [
        sub(f"${{{table_id(name, epoch)}.Arn}}/index/{index}")
        for name, table in tables.items()
        if group.allows(_INDEXED, name)
        for index in index_names(table)
    ]
    if indexes:
        yield allow([f"dynamodb:{_INDEXED}"], indexes)


def _objects(group: EndpointGroup) -> Iterator[Json]:
    """Avatars, and the notes of their changes for whoever makes or ends changes."""
    is_changing = group.avatars != {"GetObject"}
    folders = (AVATARS, NOTES) if is_changing else (AVATARS,)
    actions = sorted(group.avatars - {_LISTS})
    if actions:
        objects = [sub(f"${{Objects.Arn}}/{folder}/*") for folder in folders]
        yield allow([f"s3:{action}" for action in actions], objects)
    if _LISTS in group.avatars:
        only_notes = {"StringLike": {"s3:prefix": f"{NOTES}/*"}}
        yield allow([f"s3:{_LISTS}"], [arn("Objects")], Condition=only_notes)


def _answers(group: EndpointGroup) -> Iterator[Json]:
    """Answers too large to send. Their addresses are signed with this right to read them."""
    if group.leaves_answers:
        yield allow(["s3:GetObject", "s3:PutObject"], [sub(f"${{Objects.Arn}}/{ANSWERS}/*")])


def _exports(group: EndpointGroup) -> Iterator[Json]:
    """Days of the logs: written, and listed, and never read again."""
    if group.exports_logs:
        yield allow(["s3:PutObject"], [sub(f"${{Objects.Arn}}/{EXPORTS}/*")])
        only_exports = {"StringLike": {"s3:prefix": f"{EXPORTS}/*"}}
        yield allow([f"s3:{_LISTS}"], [arn("Objects")], Condition=only_exports)


def _private_keys(group: EndpointGroup) -> Iterator[Json]:
    actions = ["GetSecretValue"]
    if group.makes_private_keys:
        actions += ["DescribeSecret", "PutSecretValue"]
    if group.private_keys:
        named = [f"secretsmanager:{action}" for action in actions]
        yield allow(
            named, [ref(SECRET_OF[key]) for key in sorted(group.private_keys, reverse=True)]
        )


def _stream(group: EndpointGroup, epoch: int) -> Iterator[Json]:
    """Lambda reads the stream as the function it calls."""
    if group.follows:
        actions = [f"dynamodb:{action}" for action in READING]
        yield allow(actions, [stream(group.follows, epoch)])


def _mails(group: EndpointGroup) -> Iterator[Json]:
    """Mails from the tenant's address, by the identity and the set of its own where it has them.

    Else by what somebody has verified: the address itself, or its domain.
    """
    if group.sends_mails:
        only_from = {"StringEquals": {"ses:FromAddress": ref("MailSender")}}
        its_own = _identity(ref("MailIdentity")), sub(f"{_SES}:configuration-set/${{{SENDING}}}")
        others = _identity(ref("MailSender")), _identity(_domain_of("MailSender"))
        by = [either(HAS_IDENTITY, *each) for each in zip(its_own, others, strict=True)]
        yield allow(["ses:SendEmail"], by, Condition=only_from)


_SES = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}"


def _identity(name: Json) -> Json:
    return {"Fn::Sub": [f"{_SES}:identity/${{Name}}", {"Name": name}]}


def _domain_of(parameter: str) -> Json:
    """What stands behind the sign of an address; nothing where the address is not given."""
    return {"Fn::Select": [1, {"Fn::Split": ["@", sub(f"${{{parameter}}}@")]}]}


def _key(group: EndpointGroup) -> Iterator[Json]:
    """The tenant's key, but only in the hands of the services the function calls."""
    services = [sub(f"{name}.${{AWS::Region}}.amazonaws.com") for name in _services(group)]
    if services:
        through = {"StringEquals": {"kms:ViaService": services}}
        actions = ["kms:Decrypt", "kms:GenerateDataKey"]
        yield allow(actions, [arn("TenantKey")], Condition=through)


def _services(group: EndpointGroup) -> Iterator[str]:
    if group.reads or group.writes:
        yield "dynamodb"
    if group.avatars or group.leaves_answers or group.exports_logs:
        yield "s3"
    if group.private_keys:
        yield "secretsmanager"


def _failures(function: Function) -> Iterator[Json]:
    """What a worker could not do, it puts where somebody sees it."""
    if function.group.is_scheduled or function.group.follows:
        yield allow(["sqs:SendMessage"], [arn("DeadLetters")])
        through = {"StringEquals": {"kms:ViaService": [sub("sqs.${AWS::Region}.amazonaws.com")]}}
        yield allow(["kms:Decrypt", "kms:GenerateDataKey"], [arn("TenantKey")], Condition=through)


def _versions(function: Function, tier: Tier) -> Iterator[Json]:
    """Ask the versions of functions that are served, and tell CodeDeploy how they answered."""
    if function.group.asks_versions:
        versions = [sub(f"${{{each.id}.Arn}}:*") for each in FUNCTIONS if each.is_served]
        yield allow(["lambda:InvokeFunction"], versions)
    if function.group.asks_versions and tier.is_gradual:
        groups = (
            "arn:${AWS::Partition}:codedeploy:${AWS::Region}:${AWS::AccountId}"
            ":deploymentgroup:${Releases}/*"
        )
        yield allow(["codedeploy:PutLifecycleEventHookExecutionStatus"], [sub(groups)])


def _logs(function: Function) -> Json:
    return allow(["logs:CreateLogStream", "logs:PutLogEvents"], [arn(function.logs)])


def _traces() -> Json:
    """X-Ray has no resources that could be named."""
    return allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"])
