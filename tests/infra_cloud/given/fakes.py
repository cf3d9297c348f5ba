"""Services of AWS the mock cloud does not have, as far as the deployer speaks to them.

The clients are boto3's own: what is asked is checked against AWS's description of the service,
and only then answered here instead of over the network.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy, deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any

import botocore.handlers
from botocore.exceptions import ClientError
from moto.dynamodb.models import dynamodb_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.ses.models import ses_backends

from app import app
from chalicelib.workers import founder
from infra.template.elements import digest
from tests.infra_cloud.given.clients import client
from tests.support.world.operator.operators import CONTEXT

LONG_AGO = datetime(2026, 11, 1, tzinfo=UTC)
REGION = "eu-central-1"
ACCOUNT = "123456789012"
_NAMED = re.compile(r"\$\{([A-Za-z0-9:]+)(?:\.([A-Za-z0-9]+))?\}")
_PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Region": REGION,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}


class Refused(Exception):  # noqa: N818
    """The service answers with an error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def answering(service: str, fake: object) -> Iterator[None]:
    """Let a fake answer what clients made from now on ask a service."""

    def note(params: Any, context: Any, **_: Any) -> None:
        context["asked"] = dict(params)

    def answer(model: Any, context: Any, **_: Any) -> Any:
        try:
            parsed = getattr(fake, model.name)(**context["asked"])
        except Refused as refused:
            error = {"Code": refused.code, "Message": str(refused)}
            return SimpleNamespace(status_code=400), {"Error": error, "ResponseMetadata": {}}
        return SimpleNamespace(status_code=200), {"ResponseMetadata": {}, **(parsed or {})}

    handlers = [
        (f"before-parameter-build.{service}", note),
        (f"before-call.{service}", answer),
    ]
    botocore.handlers.BUILTIN_HANDLERS.extend(handlers)
    try:
        yield
    finally:
        for handler in handlers:
            botocore.handlers.BUILTIN_HANDLERS.remove(handler)


@dataclass
class Stack:
    name: str
    status: str = "REVIEW_IN_PROGRESS"
    template: dict[str, Any] = field(default_factory=lambda: {"Resources": {}})
    parameters: dict[str, str] = field(default_factory=dict)
    physical: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    change_sets: dict[str, dict[str, Any]] = field(default_factory=dict)
    undone: dict[str, str] = field(default_factory=dict)
    """What an import that failed was to take in: it is told of, and nothing holds it."""
    left: dict[str, str] = field(default_factory=dict)
    """Functions that could not be deleted: they are told of, and the template has them no more."""
    is_protected: bool = False
    role: str | None = None
    """By which CloudFormation has changed it last."""
    tags: dict[str, str] = field(default_factory=dict)

    def tell(self, name: str, status: str, reason: str = "") -> None:
        self.events.insert(
            0,
            {
                "EventId": str(len(self.events)),
                "LogicalResourceId": name,
                "ResourceStatus": status,
                "ResourceStatusReason": reason,
            },
        )


class CloudFormation:
    """Stacks whose tables, buckets, secrets, keys, logs and alarms are made in the mock cloud."""

    def __init__(self) -> None:
        self.stacks: dict[str, Stack] = {}
        self.asked: list[str] = []
        self.deleted_by: dict[str, str | None] = {}
        """By which role each stack was deleted last, if by any."""
        self.fails: dict[str, str] = {}
        """By logical name: why a resource cannot be made."""
        self.replaces: set[str] = set()
        """By logical name: what a change would replace."""
        self.api_url = ""
        """What the gateway's address is, instead of one nobody reaches."""

    def CreateChangeSet(self, StackName, ChangeSetName, ChangeSetType, Parameters, **given):  # noqa: N802, N803
        self.asked.append(f"{ChangeSetType} {StackName}")
        stack = self.stacks.get(StackName)
        if ChangeSetType == "CREATE":
            if stack is not None and stack.status != "REVIEW_IN_PROGRESS":
                raise Refused("AlreadyExistsException", f"{StackName} is {stack.status}")
            stack = self.stacks.setdefault(StackName, Stack(StackName))
        if ChangeSetType == "IMPORT" and stack is None:
            stack = self.stacks.setdefault(StackName, Stack(StackName))
        assert stack is not None
        stack.role = given.get("RoleARN")
        template = _template(given)
        parameters = _with_defaults(template, Parameters)
        changes = list(_changes(stack, template, parameters, ChangeSetType))
        for each in changes:
            if each["LogicalResourceId"] in self.replaces:
                each["Replacement"] = "True"
        stack.change_sets[ChangeSetName] = {
            "template": template,
            "parameters": parameters,
            "changes": changes,
            "kind": ChangeSetType,
            "tags": {each["Key"]: each["Value"] for each in given.get("Tags", ())},
            "imported": {
                each["LogicalResourceId"]: each["ResourceIdentifier"]
                for each in given.get("ResourcesToImport", ())
            },
        }
        return {"Id": ChangeSetName}

    def DescribeChangeSet(self, StackName, ChangeSetName):  # noqa: N802, N803
        made = self.stacks[StackName].change_sets[ChangeSetName]
        if not made["changes"]:
            reason = "The submitted information didn't contain changes. Submit different ones."
            return {"Status": "FAILED", "StatusReason": reason}
        changes = [{"ResourceChange": each} for each in made["changes"]]
        return {"Status": "CREATE_COMPLETE", "Changes": changes}

    def ExecuteChangeSet(self, StackName, ChangeSetName, **given):  # noqa: N802, N803
        stack = self.stacks[StackName]
        made = stack.change_sets.pop(ChangeSetName)
        self.asked.append(f"execute {StackName}")
        assert (made["kind"] == "IMPORT") != given.get("RetainExceptOnCreate", False)
        before = deepcopy((stack.template, stack.parameters, stack.physical))
        stack.template, stack.parameters = made["template"], made["parameters"]
        stack.tags = made["tags"] or stack.tags
        try:
            self._carry_out(stack, made, before[0]["Resources"])
        except (Refused, ClientError) as problem:
            name = str(problem).partition(":")[0]
            stack.tell(name, "CREATE_FAILED", str(problem))
            for each in stack.physical.keys() - before[2].keys():
                if made["kind"] == "IMPORT":
                    stack.undone[each] = stack.physical[each]
                else:
                    _unmake(stack, each)
            stack.template, stack.parameters, stack.physical = before
            stack.status = _UNDONE[made["kind"]]
        else:
            stack.status = f"{made['kind']}_COMPLETE"

    def DeleteChangeSet(self, StackName, ChangeSetName):  # noqa: N802, N803
        self.stacks[StackName].change_sets.pop(ChangeSetName)

    def DescribeStacks(self, StackName):  # noqa: N802, N803
        stack = self.stacks.get(StackName)
        if stack is None:
            raise Refused("ValidationError", f"Stack with id {StackName} does not exist")
        outputs = stack.template.get("Outputs", {})
        told = {
            name: _resolved(stack, each["Value"])
            for name, each in outputs.items()
            if _holds(stack, each.get("Condition"))
        }
        if self.api_url and "ApiUrl" in told:
            told["ApiUrl"] = self.api_url
        described = {
            "StackName": StackName,
            "StackId": f"arn:{StackName}",
            "StackStatus": stack.status,
            "EnableTerminationProtection": stack.is_protected,
            "Parameters": [
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in stack.parameters.items()
            ],
            "Outputs": [{"OutputKey": name, "OutputValue": value} for name, value in told.items()],
        }
        return {"Stacks": [described]}

    def tags(self, name: str) -> dict[str, str]:
        return self.stacks[name].tags if name in self.stacks else {}

    def DescribeStackEvents(self, StackName):  # noqa: N802, N803
        return {"StackEvents": self.stacks[StackName].events}

    def ListStackResources(self, StackName):  # noqa: N802, N803
        stack = self.stacks[StackName]
        listed = [
            {
                "LogicalResourceId": name,
                "PhysicalResourceId": physical,
                "ResourceType": stack.template["Resources"][name]["Type"],
                "ResourceStatus": "CREATE_COMPLETE",
            }
            for name, physical in stack.physical.items()
        ]
        undone = stack.undone, "AWS::SecretsManager::Secret", "IMPORT_ROLLBACK_COMPLETE"
        left = stack.left, "AWS::Lambda::Function", "DELETE_FAILED"
        return {"StackResourceSummaries": [*listed, *_further(*undone), *_further(*left)]}

    def GetTemplate(self, StackName, **_):  # noqa: N802, N803
        return {"TemplateBody": deepcopy(self.stacks[StackName].template)}

    def UpdateTerminationProtection(self, StackName, EnableTerminationProtection):  # noqa: N802, N803
        self.stacks[StackName].is_protected = EnableTerminationProtection
        return {"StackId": f"arn:{StackName}"}

    def DeleteStack(self, StackName, RoleARN=None):  # noqa: N802, N803
        self.asked.append(f"delete {StackName}")
        self.deleted_by[StackName] = RoleARN
        if StackName in self.stacks and self.stacks[StackName].is_protected:
            raise Refused("ValidationError", f"Stack [{StackName}] has TerminationProtection")
        stack = self.stacks.pop(StackName, None)
        for name in () if stack is None else list(stack.physical):
            if stack.template["Resources"][name].get("DeletionPolicy") != "Retain":
                _unmake(stack, name)

    def _carry_out(self, stack: Stack, made: dict[str, Any], before: dict[str, Any]) -> None:
        for change in made["changes"]:
            name = change["LogicalResourceId"]
            if name in self.fails and change["Action"] in ("Add", "Import"):
                raise Refused("Failed", f"{name}: {self.fails[name]}")
            if change["Action"] == "Import":
                stack.physical[name] = _existing(made["imported"][name])
            elif change["Action"] == "Add":
                stack.physical[name] = _made(stack, name)
            elif change["Action"] == "Remove":
                if name in stack.template["Resources"]:  # its condition holds no longer
                    _unmake(stack, name)
                stack.physical.pop(name)
            elif change["ResourceType"] == "AWS::DynamoDB::Table":
                _index(stack, name, before[name])
            stack.tell(name, "CREATE_COMPLETE")
        if any(each["ResourceType"] == "AWS::Lambda::Version" for each in made["changes"]):
            _require_filled(stack)


def _index(stack: Stack, name: str, before: dict[str, Any]) -> None:
    """Begin to make an index of a table, which nobody waits for, and which is never taken back."""
    kind, table = "GlobalSecondaryIndexes", as_made(stack, name)
    held, wanted = (
        {each["IndexName"]: each for each in of.get(kind, ())}
        for of in (before["Properties"], table)
    )
    new = [{**wanted[each]} for each in wanted.keys() - held.keys()]
    if len(held.keys() ^ wanted.keys()) > 1:
        raise Refused("Failed", f"{name}: only one index can be created or deleted at once")
    for each in new:
        each.pop("OnDemandThroughput")
        _client("dynamodb").update_table(
            TableName=table["TableName"],
            AttributeDefinitions=table["AttributeDefinitions"],
            GlobalSecondaryIndexUpdates=[{"Create": each}],
        )
        _indexes(table["TableName"])[-1].status = "CREATING"


def _require_filled(stack: Stack) -> None:
    """What is released asks each index, and rings where one is not there yet."""
    for name, physical in stack.physical.items():
        if stack.template["Resources"][name]["Type"] == "AWS::DynamoDB::Table":
            for index in _indexes(physical):
                if index.status != "ACTIVE":
                    raise Refused("Failed", f"{name}: the alarm rang, as {index.name} is not there")


def fill_indexes() -> None:
    """Let DynamoDB be through with the rows."""
    for table in dynamodb_backends[ACCOUNT][REGION].tables.values():
        for index in table.global_indexes:
            index.status = "ACTIVE"


def _indexes(table: str) -> list[Any]:
    return dynamodb_backends[ACCOUNT][REGION].get_table(table).global_indexes


_UNDONE = {
    "CREATE": "ROLLBACK_COMPLETE",
    "UPDATE": "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT": "IMPORT_ROLLBACK_COMPLETE",
}


def _further(resources: dict[str, str], kind: str, status: str) -> Iterator[dict[str, str]]:
    """Resources that a stack lists beside those it has."""
    for name, physical in resources.items():
        yield {
            "LogicalResourceId": name,
            "PhysicalResourceId": physical,
            "ResourceType": kind,
            "ResourceStatus": status,
        }


def _template(given: dict[str, Any]) -> dict[str, Any]:
    if "TemplateBody" in given:
        return json.loads(given["TemplateBody"])
    bucket, key = given["TemplateURL"].split("/", 3)[3].split("/", 1)
    body = _client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return json.loads(body)


def _with_defaults(template: dict[str, Any], given: list[dict[str, str]]) -> dict[str, str]:
    values = {each["ParameterKey"]: each["ParameterValue"] for each in given}
    declared = template.get("Parameters", {})
    if stray := values.keys() - declared.keys():
        raise Refused("ValidationError", f"Parameters: {sorted(stray)} do not exist")
    for name, about in declared.items():
        if name not in values and "Default" not in about:
            raise Refused("ValidationError", f"Parameters: [{name}] must have values")
        values.setdefault(name, about.get("Default"))
        if not re.fullmatch(about.get("AllowedPattern", ".*"), values[name]):
            raise Refused("ValidationError", f"Parameter {name} failed to satisfy its pattern")
    return values


def _changes(stack, template, parameters, kind):
    old, new = stack.template["Resources"], template["Resources"]
    probe = Stack(stack.name, template=template, parameters=parameters)
    for name, each in new.items():
        if not _holds(probe, each.get("Condition")):
            continue
        change = {"LogicalResourceId": name, "ResourceType": each["Type"]}
        if name not in stack.physical:
            yield {**change, "Action": "Import" if kind == "IMPORT" else "Add"}
        elif each != old[name] or stack.parameters != parameters:
            if kind == "IMPORT":
                raise Refused("ValidationError", f"An import changes {name}")
            yield {**change, "Action": "Modify", "Replacement": "False"}
    standing = {name for name, each in new.items() if _holds(probe, each.get("Condition"))}
    for name in stack.physical.keys() - standing:
        if kind == "IMPORT":
            raise Refused("ValidationError", f"An import removes {name}")
        yield {"LogicalResourceId": name, "ResourceType": old[name]["Type"], "Action": "Remove"}


def _holds(stack: Stack, condition: str | None) -> bool:
    return condition is None or _truth(stack, stack.template["Conditions"][condition])


def _truth(stack: Stack, test: dict[str, Any]) -> bool:
    [(how, of)] = test.items()
    if how == "Fn::Equals":
        return _resolved(stack, of[0]) == _resolved(stack, of[1])
    if how == "Fn::Not":
        return not _truth(stack, of[0])
    return all(_truth(stack, each) for each in of)


def _resolved(stack: Stack, value: Any) -> Any:
    if isinstance(value, list):
        return [_resolved(stack, each) for each in value]
    if not isinstance(value, dict):
        return value
    for how in value.keys() & _FUNCTIONS.keys():
        return _FUNCTIONS[how](stack, value[how])
    resolved = {name: _resolved(stack, each) for name, each in value.items()}
    return {name: each for name, each in resolved.items() if each is not None}


def _substituted(stack: Stack, said: Any) -> str:
    """A text with names in it, which may be given beside it."""
    text, beside = (said, {}) if isinstance(said, str) else said
    given = _resolved(stack, beside)

    def put(match: re.Match[str]) -> str:
        if match[2]:
            return _attribute(stack, match[1], match[2])
        return given[match[1]] if match[1] in given else _ref(stack, match[1])

    return _NAMED.sub(put, text)


def _chosen(stack: Stack, of: Any) -> Any:
    condition, yes, no = of
    return _resolved(stack, yes if _holds(stack, condition) else no)


def _selected(stack: Stack, of: Any) -> Any:
    return _resolved(stack, of[1])[of[0]]


def _split(stack: Stack, of: Any) -> list[str]:
    return _resolved(stack, of[1]).split(of[0])


def as_made(stack: Stack, name: str) -> Any:
    """The properties of a resource, with what its stack puts in."""
    return _resolved(stack, stack.template["Resources"][name]["Properties"])


def _ref(stack: Stack, name: str) -> Any:
    known = {**_PSEUDO, **stack.parameters, **stack.physical, "AWS::NoValue": None}
    return known.get(name, name)


def _attribute(stack: Stack, name: str, which: str) -> str:
    if which.startswith("DkimDNSToken"):
        token = f"token{which[-1]}"
        ends = {"Name": f"_domainkey.{stack.physical.get(name)}", "Value": "dkim.amazonses.com"}
        return f"{token}.{ends[which.removeprefix('DkimDNSToken')[:-1]]}"
    return _arn(stack.physical.get(name, name))


_FUNCTIONS: dict[str, Callable[[Stack, Any], Any]] = {
    "Ref": _ref,
    "Fn::GetAtt": lambda stack, of: _attribute(stack, *of),
    "Fn::Sub": _substituted,
    "Fn::If": _chosen,
    "Fn::Select": _selected,
    "Fn::Split": _split,
}


def _made(stack: Stack, name: str) -> str:
    resource = stack.template["Resources"][name]
    properties = _resolved(stack, resource.get("Properties", {}))
    make: Callable[..., str] | None = _MAKERS.get(resource["Type"])
    if make is not None:
        return make(properties)
    plain = f"{stack.name}-{name}"
    if resource["Type"] == "AWS::Events::Rule":
        return _make_rule(plain, properties)
    return _arn(plain) if resource["Type"] in _REFERRED_BY_ARN else plain


_REFERRED_BY_ARN = (
    "AWS::SNS::Topic",
    "AWS::Lambda::LayerVersion",
    "AWS::IAM::ManagedPolicy",
    "AWS::CertificateManager::Certificate",
)


def _arn(name: str) -> str:
    return f"arn:aws:any:{REGION}:{ACCOUNT}:{name}"


@cache
def _client(service: str) -> Any:
    return client(service)


def _make_table(properties: dict[str, Any]) -> str:
    left_out = ("PointInTimeRecoverySpecification", "TimeToLiveSpecification", "SSESpecification")
    asked = {key: value for key, value in properties.items() if key not in left_out}
    if stream := properties.get("StreamSpecification"):
        asked["StreamSpecification"] = {"StreamEnabled": True, **stream}
    try:
        _client("dynamodb").create_table(**asked)
    except ClientError as error:
        raise Refused("Failed", f"{properties['TableName']}: {error}") from error
    made_at(properties["TableName"], LONG_AGO)
    return properties["TableName"]


def made_at(table: str, moment: datetime, *, recoverable: bool = True) -> None:
    """Let a table of the mock have been made at a moment, and be recoverable from then on."""
    stored = dynamodb_backends[ACCOUNT][REGION].get_table(table)
    stored.created_at = moment.replace(tzinfo=None)
    recovery = stored.continuous_backups["PointInTimeRecoveryDescription"]
    if recoverable and "EarliestRestorableDateTime" in recovery:
        recovery["EarliestRestorableDateTime"] = moment.timestamp()


def _existing(identifier: dict[str, str]) -> str:
    """A table by its name, or a secret by its ARN, that is no replica any more."""
    if name := identifier.get("TableName"):
        _client("dynamodb").describe_table(TableName=name)
        return name
    told = _client("secretsmanager").describe_secret(SecretId=identifier["Id"])
    if told.get("PrimaryRegion", REGION) != REGION:
        raise Refused("Failed", f"{told['Name']}: Operation not permitted on a replica secret.")
    return told["ARN"]


def _make_bucket(properties: dict[str, Any]) -> str:
    where = {"LocationConstraint": REGION}
    name = properties["BucketName"]
    _client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=where)
    return name


def _make_secret(properties: dict[str, Any]) -> str:
    return _client("secretsmanager").create_secret(Name=properties["Name"])["ARN"]


def _make_key(properties: dict[str, Any]) -> str:
    tags = [
        {"TagKey": each["Key"], "TagValue": each["Value"]} for each in properties.get("Tags", ())
    ]
    made = _client("kms").create_key(Description=properties.get("Description", ""), Tags=tags)
    return made["KeyMetadata"]["KeyId"]


def _make_log(properties: dict[str, Any]) -> str:
    _client("logs").create_log_group(logGroupName=properties["LogGroupName"])
    return properties["LogGroupName"]


def _make_alarm(properties: dict[str, Any]) -> str:
    name = f"alarm-{digest(properties)}"
    asked = {key: properties[key] for key in ("AlarmDescription", "ComparisonOperator")}
    _client("cloudwatch").put_metric_alarm(
        AlarmName=name, EvaluationPeriods=1, Threshold=1.0, MetricName="any", **asked
    )
    return name


def _make_api(_: dict[str, Any]) -> str:
    return "a1b2c3d4e5"


def _make_identity(properties: dict[str, Any]) -> str:
    domain = properties["EmailIdentity"]
    _client("sesv2").create_email_identity(EmailIdentity=domain)
    return domain


def verify(domain: str) -> None:
    """Let SES have found the records of a domain."""
    stored = ses_backends[ACCOUNT][REGION].email_identities[domain]
    stored.verified_for_sending_status = True


def _make_rule(name: str, properties: dict[str, Any]) -> str:
    asked = {key: properties[key] for key in ("ScheduleExpression", "State") if key in properties}
    if pattern := properties.get("EventPattern"):
        asked["EventPattern"] = json.dumps(pattern)
    _client("events").put_rule(Name=name, **asked)
    return name


def _make_function(properties: dict[str, Any]) -> str:
    return properties["FunctionName"]


_MAKERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "AWS::Lambda::Function": _make_function,
    "AWS::ApiGateway::RestApi": _make_api,
    "AWS::SES::EmailIdentity": _make_identity,
    "AWS::DynamoDB::Table": _make_table,
    "AWS::S3::Bucket": _make_bucket,
    "AWS::SecretsManager::Secret": _make_secret,
    "AWS::KMS::Key": _make_key,
    "AWS::Logs::LogGroup": _make_log,
    "AWS::CloudWatch::Alarm": _make_alarm,
}


def _unmake(stack: Stack, name: str) -> None:
    """Delete what a stack lets go and does not keep."""
    kind, physical = stack.template["Resources"][name]["Type"], stack.physical[name]
    if kind == "AWS::DynamoDB::Table":
        with suppress(ClientError):  # what is protected stays, and no stack has it
            _client("dynamodb").delete_table(TableName=physical)
    elif kind == "AWS::S3::Bucket":
        _client("s3").delete_bucket(Bucket=physical)
    elif kind == "AWS::SecretsManager::Secret":
        _client("secretsmanager").delete_secret(SecretId=physical, ForceDeleteWithoutRecovery=True)
    elif kind == "AWS::KMS::Key":
        _client("kms").schedule_key_deletion(KeyId=physical, PendingWindowInDays=30)
    elif kind == "AWS::SES::EmailIdentity":
        _client("sesv2").delete_email_identity(EmailIdentity=physical)
    elif kind == "AWS::Events::Rule":
        _client("events").delete_rule(Name=physical)
    elif kind == "AWS::Logs::LogGroup":
        _client("logs").delete_log_group(logGroupName=physical)


class Functions:
    """Lambda: the founder and what is served run as in the cloud, the others have settings."""

    def __init__(self) -> None:
        self.called: list[dict[str, Any]] = []
        self.reserved: dict[str, int] = {}
        self.waiting: dict[str, int] = {}
        """How many instances of each always wait."""
        self.is_releasing = False
        """Whether a part of the requests goes to new versions."""
        self.versions: dict[str, list[str]] = {}
        self.alias = "1"
        self.free = 1_000
        """How many functions more the account lets run at once."""
        self.breaks = ""
        self.unknown: set[str] = set()
        """Words of an event that the founder's build does not know yet."""
        self.refused: set[str] = set()
        """What the founder refuses to do with the server's key."""
        self.gone: set[str] = set()
        self.asked: list[str] = []
        """Functions that were asked what the gateway asks."""
        self.answers: int | None = None
        """The status of what is served, where it is not that of the service."""

    def Invoke(self, FunctionName, Payload):  # noqa: N802, N803
        event = json.loads(Payload)
        if not FunctionName.endswith("-founder:live"):
            return self._served(FunctionName, event)
        self.called.append(event)
        if self.breaks:
            told = json.dumps({"errorMessage": self.breaks}).encode()
            return {"Payload": io.BytesIO(told), "FunctionError": "Unhandled"}
        if event.get("server_key") in self.refused:
            return {"Payload": io.BytesIO(json.dumps({"refused": "made by a test"}).encode())}
        known = {word: event[word] for word in event if word not in self.unknown}
        return {"Payload": io.BytesIO(json.dumps(founder.handler(known, CONTEXT)).encode())}

    def _served(self, name: str, event: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(name)
        answer = app(event, CONTEXT)
        said = {**answer, **({"statusCode": self.answers} if self.answers else {})}
        return {"Payload": io.BytesIO(json.dumps(said).encode())}

    def PutFunctionConcurrency(self, FunctionName, ReservedConcurrentExecutions):  # noqa: N802, N803
        self._require_there(FunctionName)
        if self.waiting.get(FunctionName, 0) > ReservedConcurrentExecutions:
            reason = "should not be lower than function's total provisioned concurrency"
            raise Refused("InvalidParameterValueException", f"{FunctionName}: {reason}")
        self.reserved[FunctionName] = ReservedConcurrentExecutions

    def DeleteFunctionConcurrency(self, FunctionName):  # noqa: N802, N803
        self._require_there(FunctionName)
        self.reserved.pop(FunctionName, None)

    def PutProvisionedConcurrencyConfig(self, FunctionName, **given):  # noqa: N802, N803
        wanted = given["ProvisionedConcurrentExecutions"]
        if self.is_releasing:
            reason = "Alias with weights can not be used with Provisioned Concurrency"
            raise Refused("InvalidParameterValueException", reason)
        if self.reserved.get(FunctionName, self.free) < wanted:
            reason = "Requested Provisioned Concurrency should not be greater than the reserved"
            raise Refused("InvalidParameterValueException", f"{FunctionName}: {reason}")
        self.waiting[FunctionName] = wanted

    def DeleteProvisionedConcurrencyConfig(self, FunctionName, **_):  # noqa: N802, N803
        self._require_there(FunctionName)
        self.waiting.pop(FunctionName, None)

    def _require_there(self, name: str) -> None:
        if name in self.gone:
            raise Refused("ResourceNotFoundException", f"Function not found: {name}")

    def GetAccountSettings(self):  # noqa: N802
        return {"AccountLimit": {"UnreservedConcurrentExecutions": self.free}}

    def ListVersionsByFunction(self, FunctionName):  # noqa: N802, N803
        numbers = ["$LATEST", *self.versions.get(FunctionName, ["1"])]
        return {"Versions": [{"Version": number} for number in numbers]}

    def GetAlias(self, FunctionName, Name):  # noqa: N802, N803
        return {"FunctionVersion": self.alias}

    def DeleteFunction(self, FunctionName, Qualifier):  # noqa: N802, N803
        self.versions[FunctionName].remove(Qualifier)


class Promotions:
    """What the mock lacks of replicas of secrets: that one becomes a secret of its own."""

    def StopReplicationToReplica(self, SecretId):  # noqa: N802, N803
        here = secretsmanager_backends[ACCOUNT][REGION].secrets
        replica = here[SecretId]
        secret = copy(replica.source)
        secret.arn, secret.region, secret.replicas = replica.arn, REGION, []
        dict.pop(here, replica.arn)
        here[replica.name] = secret
        return {"ARN": secret.arn}


class Topics:
    """SNS: who is told of alarms."""

    def __init__(self) -> None:
        self.subscribed: dict[str, str] = {}
        """By address: the subscription, or that it waits to be confirmed."""

    def ListSubscriptionsByTopic(self, TopicArn, **_):  # noqa: N802, N803
        told = [
            {"Endpoint": who, "SubscriptionArn": arn, "Protocol": "email", "TopicArn": TopicArn}
            for who, arn in self.subscribed.items()
        ]
        return {"Subscriptions": told}
