"""What IAM is asked when a command calls AWS: the actions, the resources, and what conditions see.

Mostly the action is called as the operation is, and one is asked. Where a call takes further
rights (a role is handed over, rows are written for whoever restores), those are asked too. A call
about which nothing is known here is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from moto.kms.models import kms_backends

from tests.infra_cloud.given.authorization import HERE, Authorization, Context, key, passing
from tests.infra_cloud.given.fakes import CloudFormation
from tests.infra_cloud.given.needed_of_objects import of_objects
from tests.infra_cloud.given.needed_of_tables import of_tables
from tests.infra_cloud.given.vault import NAME as VAULT
from tests.support.iam import ACCOUNT, REGION, known_actions

Params = Mapping[str, Any]
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


def needed(model: Any, params: Params, stacks: CloudFormation) -> list[Authorization]:
    """What IAM is asked about a call; an error where nothing here knows it."""
    service = model.service_model.signing_name
    service = _PREFIXES.get(service, service)
    action = f"{service}:{_ACTIONS.get(model.name, model.name)}"
    if action in _FREE:
        return []
    found = list(_needed(service, action, params, stacks))
    if not found:
        raise AssertionError(f"Nothing here knows what {action} asks.")
    if unknown := [each.action for each in found if _about(each.action) is None]:
        raise AssertionError(f"IAM knows no {', '.join(unknown)}: name the action in _ACTIONS.")
    return found


def _needed(
    service: str, action: str, params: Params, stacks: CloudFormation
) -> Iterator[Authorization]:
    about = _about(action)
    if about is not None and not about.get("Resources"):
        yield Authorization(action)
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


def _of_stacks(action: str, params: Params, stacks: CloudFormation) -> Iterator[Authorization]:
    name = params["StackName"]
    on = f"arn:aws:cloudformation:{HERE}:stack/{name}/a-b-c"
    roles = [params["RoleARN"]] if "RoleARN" in params else []
    context = (
        *_tags(stacks.tags(name)),
        *(("cloudformation:RoleArn", role) for role in roles),
    )
    yield Authorization(action, on, context)
    yield from (passing(role, "cloudformation") for role in roles)
    if url := params.get("TemplateURL"):
        yield Authorization("s3:GetObject", f"arn:aws:s3:::{url.split('/', 3)[3]}")
    if params.get("Tags"):
        yield Authorization("cloudformation:TagResource", on, context)


def _tags(of: Mapping[str, str]) -> Context:
    return tuple((f"aws:ResourceTag/{name}", value) for name, value in of.items())


def _of_functions(action: str, params: Params) -> Iterator[Authorization]:
    version = f":{params['Qualifier']}" if "Qualifier" in params else ""
    name = f"{params['FunctionName']}{version}"
    yield Authorization(action, f"arn:aws:lambda:{HERE}:function:{name}")


def _of_schedules(action: str, params: Params) -> Iterator[Authorization]:
    yield Authorization(action, f"arn:aws:events:{HERE}:rule/{params['Name']}")


def _of_keys(action: str, params: Params) -> Iterator[Authorization]:
    backend = kms_backends[ACCOUNT][REGION]
    key_id = backend.describe_key(params["KeyId"]).id
    told = backend.list_resource_tags(key_id)["Tags"]
    tags = {each["TagKey"]: each["TagValue"] for each in told}
    yield Authorization(action, key(key_id), _tags(tags))


def _of_secrets(action: str, params: Params) -> Iterator[Authorization]:
    said = params["SecretId"]
    on = f"arn:aws:secretsmanager:{HERE}:secret:{said}-AbCdEf"
    forced = params.get("ForceDeleteWithoutRecovery")
    known = ("secretsmanager:ForceDeleteWithoutRecovery", str(forced).lower())
    context = () if forced is None else (known,)
    yield Authorization(action, said if said.startswith("arn:") else on, context)


def _of_logs(action: str, params: Params) -> Iterator[Authorization]:
    yield Authorization(action, f"arn:aws:logs:{HERE}:log-group:{params['logGroupName']}:*")


def _of_copies(action: str, params: Params) -> Iterator[Authorization]:
    if name := params.get("BackupVaultName"):
        on = "keyhaven-copies" if name == VAULT else name
        yield Authorization(action, f"arn:aws:backup:{HERE}:backup-vault:{on}")
    else:
        yield Authorization(action, params["RecoveryPointArn"])
        yield passing(params["IamRoleArn"], "backup")


def _of_topics(action: str, params: Params) -> Iterator[Authorization]:
    yield Authorization(action, params["TopicArn"])


def _of_identities(action: str, params: Params) -> Iterator[Authorization]:
    yield Authorization(action, f"arn:aws:ses:{HERE}:identity/{params['EmailIdentity']}")


def _of_alarms(action: str, _: Params) -> Iterator[Authorization]:
    """Of several at once, which only a right to all of them allows."""
    yield Authorization(action)


_OF_SERVICES: Mapping[str, Callable[[str, Params], Iterator[Authorization]]] = {
    "backup": _of_copies,
    "cloudwatch": _of_alarms,
    "dynamodb": of_tables,
    "events": _of_schedules,
    "kms": _of_keys,
    "lambda": _of_functions,
    "logs": _of_logs,
    "s3": of_objects,
    "secretsmanager": _of_secrets,
    "ses": _of_identities,
    "sns": _of_topics,
}
