"""What IAM is asked when a command calls AWS: the action, the resource, and what conditions see.

Mostly the action is called as the operation is, and one is asked. Where a call takes further
rights (a role is handed over, rows are written for whoever restores), those are asked too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.kms.models import kms_backends

from infra.template.cell.deployers import ROW_ACTIONS
from tests.infra_cloud.fakes import CloudFormation
from tests.support.iam import ACCOUNT, REGION, known_actions

Params = Mapping[str, Any]
_HERE = f"{REGION}:{ACCOUNT}"
_PREFIXES = {"monitoring": "cloudwatch"}
"""Services that IAM calls otherwise than their signatures do."""
_ACTIONS = {
    "HeadObject": "GetObject",
    "ListObjectsV2": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "ListBuckets": "ListAllMyBuckets",
    "Invoke": "InvokeFunction",
}
"""Operations whose action has another name."""
_FREE = frozenset({"sts:GetCallerIdentity"})
"""What AWS allows everybody."""
_ROWS_OF_TENANTS = "keyhaven-"
"""How tables begin whose rows are under a key of a tenant; the registry's key is AWS's own."""
_KEY_USES = (
    *("Encrypt", "Decrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo", "CreateGrant"),
)
"""What DynamoDB does with a key for whoever makes a table under it."""


@dataclass(frozen=True, slots=True)
class Asked:
    action: str
    on: str = "*"
    known: Params = field(default_factory=dict)
    """Values of condition keys."""

    def __str__(self) -> str:
        return f"{self.action} on {self.on} with {dict(self.known)}"


def asked(model: Any, params: Params, stacks: CloudFormation) -> list[Asked]:
    """What IAM is asked about a call; an error where nothing here knows it."""
    service = model.service_model.signing_name
    service = _PREFIXES.get(service, service)
    action = f"{service}:{_ACTIONS.get(model.name, model.name)}"
    if action in _FREE:
        return []
    found = list(_asked(service, action, params, stacks))
    if unknown := [each.action for each in found if _about(each.action) is None]:
        raise AssertionError(f"IAM knows no {', '.join(unknown)}: name the action in _ACTIONS.")
    return found


def _asked(service: str, action: str, params: Params, stacks: CloudFormation) -> Iterator[Asked]:
    about = _about(action)
    if about is not None and not about.get("Resources"):
        yield Asked(action)
    elif service == "cloudformation":
        yield from _of_stacks(action, params, stacks)
    elif service in _OF_SERVICES:
        yield from _OF_SERVICES[service](action, params)
    else:
        raise AssertionError(f"Nothing here knows on what {action} is asked.")


def _about(action: str) -> Params | None:
    """What AWS says of an action; nothing where there is none."""
    service, _, bare = action.partition(":")
    found: Params | None = known_actions()[service]["Actions"].get(bare.lower())
    return found


def _of_stacks(action: str, params: Params, stacks: CloudFormation) -> Iterator[Asked]:
    name = params["StackName"]
    on, known = f"arn:aws:cloudformation:{_HERE}:stack/{name}/a-b-c", {}
    stack = stacks.stacks.get(name)
    if stack is not None and stack.status != "REVIEW_IN_PROGRESS":
        known["aws:ResourceTag/service"] = "keyhaven"
    if role := params.get("RoleARN"):
        known["cloudformation:RoleArn"] = role
        yield _passing(role, "cloudformation")
    if url := params.get("TemplateURL"):
        yield Asked("s3:GetObject", f"arn:aws:s3:::{url.split('/', 3)[3]}")
    if params.get("Tags"):
        yield Asked("cloudformation:TagResource", on, known)
    yield Asked(action, on, known)


def _of_tables(action: str, params: Params) -> Iterator[Asked]:
    keys = [str(value) for each in params.get("Key", {}).values() for value in each.values()]
    known = {"dynamodb:LeadingKeys": keys} if keys else {}
    for on in _tables(params):
        yield Asked(action, on, known)
        if action.partition(":")[2] in ROW_ACTIONS and f"/{_ROWS_OF_TENANTS}" in on:
            yield _through("dynamodb", "Decrypt")
    if "SSESpecification" in params or "SSESpecificationOverride" in params:
        yield from (_through("dynamodb", use) for use in _KEY_USES)
        yield Asked("kms:DescribeKey", _key("tenant"))
    if action == "dynamodb:RestoreTableToPointInTime":
        for each in ROW_ACTIONS:
            yield Asked(f"dynamodb:{each}", _table(params["TargetTableName"]))
    if action == "dynamodb:ExportTableToPointInTime":
        where = f"arn:aws:s3:::{params['S3Bucket']}/{params['S3Prefix']}/data"
        for each in ("PutObject", "PutObjectAcl", "AbortMultipartUpload"):
            yield Asked(f"s3:{each}", where)


def _tables(params: Params) -> Iterator[str]:
    yield from map(_table, params.get("RequestItems", ()))
    for named in ("TableName", "SourceTableName", "TargetTableName"):
        if named in params:
            yield _table(params[named])
    for named in ("TableArn", "ExportArn", "ResourceArn"):
        if named in params:
            yield _as_aws_names(params[named])


def _of_objects(action: str, params: Params) -> Iterator[Asked]:
    bucket = f"arn:aws:s3:::{params['Bucket']}"
    on = f"{bucket}/{params['Key']}" if "Key" in params else bucket
    if action == "s3:CopyObject":
        source = params["CopySource"]
        yield Asked("s3:GetObject", f"arn:aws:s3:::{source['Bucket']}/{source['Key']}")
        yield _through("s3", "Decrypt")
        yield Asked("s3:PutObject", on)
    elif action == "s3:DeleteObjects":
        for each in params["Delete"]["Objects"]:
            version = "Version" if each.get("VersionId") else ""
            yield Asked(f"s3:DeleteObject{version}", f"{bucket}/{each['Key']}")
    else:
        named = (("s3:prefix", "Prefix"), ("s3:if-none-match", "IfNoneMatch"))
        known = {key: params[name] for key, name in named if name in params}
        yield Asked(action, on, known)
    if action == "s3:GetObject":
        yield Asked("s3:ListBucket", bucket)  # or S3 refuses what is not there, and says no more


def _of_functions(action: str, params: Params) -> Iterator[Asked]:
    version = f":{params['Qualifier']}" if "Qualifier" in params else ""
    yield Asked(action, f"arn:aws:lambda:{_HERE}:function:{params['FunctionName']}{version}")


def _of_keys(action: str, params: Params) -> Iterator[Asked]:
    key = kms_backends[ACCOUNT][REGION].describe_key(params["KeyId"])
    is_tenants = key.description.startswith("Keyhaven, tenant ")
    yield Asked(action, _key(key.id), {"aws:ResourceTag/tenant": "any"} if is_tenants else {})


def _of_secrets(action: str, params: Params) -> Iterator[Asked]:
    said = params["SecretId"]
    on = f"arn:aws:secretsmanager:{_HERE}:secret:{said}-AbCdEf"
    forced = params.get("ForceDeleteWithoutRecovery")
    known = {"secretsmanager:ForceDeleteWithoutRecovery": str(forced).lower()}
    yield Asked(action, said if said.startswith("arn:") else on, {} if forced is None else known)


def _of_logs(action: str, params: Params) -> Iterator[Asked]:
    yield Asked(action, f"arn:aws:logs:{_HERE}:log-group:{params['logGroupName']}:*")


def _of_copies(action: str, params: Params) -> Iterator[Asked]:
    if "BackupVaultName" in params:
        yield Asked(action, f"arn:aws:backup:{_HERE}:backup-vault:keyhaven-copies")
    else:
        yield Asked(action, params["RecoveryPointArn"])
        yield _passing(params["IamRoleArn"], "backup")


def _of_topics(action: str, params: Params) -> Iterator[Asked]:
    yield Asked(action, params["TopicArn"])


def _of_identities(action: str, params: Params) -> Iterator[Asked]:
    yield Asked(action, f"arn:aws:ses:{_HERE}:identity/{params['EmailIdentity']}")


def _of_alarms(action: str, _: Params) -> Iterator[Asked]:
    """Of several at once, which only a right to all of them allows."""
    yield Asked(action)


_OF_SERVICES: Mapping[str, Callable[[str, Params], Iterator[Asked]]] = {
    "backup": _of_copies,
    "cloudwatch": _of_alarms,
    "dynamodb": _of_tables,
    "kms": _of_keys,
    "lambda": _of_functions,
    "logs": _of_logs,
    "s3": _of_objects,
    "secretsmanager": _of_secrets,
    "ses": _of_identities,
    "sns": _of_topics,
}


def _passing(role: str, service: str) -> Asked:
    return Asked("iam:PassRole", role, {"iam:PassedToService": f"{service}.amazonaws.com"})


def _through(service: str, use: str) -> Asked:
    """A tenant's key, used by a service for whoever calls it."""
    by = {"kms:ViaService": f"{service}.{REGION}.amazonaws.com"}
    return Asked(f"kms:{use}", _key("tenant"), by)


def _key(name: str) -> str:
    return f"arn:aws:kms:{_HERE}:key/{name}"


def _as_aws_names(arn: str) -> str:
    """The mock calls an export an import, of a table whose name is the ARN of the exported one."""
    return arn.replace(_table(_table("")), _table("")).replace("/import/", "/export/")


def _table(name: str) -> str:
    return f"arn:aws:dynamodb:{_HERE}:table/{name}"
