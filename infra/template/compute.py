"""The functions of a tenant: what each runs, as whom, and how a release reaches it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infra.bundle.bundle import Bundle
from infra.bundle.runtime import ARCHITECTURE, RUNTIME
from infra.template.api import log_group
from infra.template.elements import (
    NO_VALUE,
    Json,
    Resources,
    arn,
    attribute,
    digest,
    either,
    kept,
    ref,
    resource,
    sub,
)
from infra.template.functions import ALIAS, FUNCTIONS, PROBER, Function
from infra.template.given import Given
from infra.template.network import network, placed
from infra.template.probes import probes, watched
from infra.template.roles import role
from infra.template.stores import SECRET_OF
from infra.template.streams import follower
from infra.template.tables import prefix
from infra.template.tiers import Tier

WAITING = "ProvisionedConcurrencyConfig"
"""The property of an alias of which instances always wait."""
ALWAYS_ONE = {"ProvisionedConcurrentExecutions": 1}


@dataclass(frozen=True, slots=True)
class Release:
    """What the functions of a stack are made of."""

    tier: Tier
    bundle: Bundle
    epoch: int
    parameters: Given
    """Of the tenant."""


def functions(release: Release) -> Resources:
    """All functions; last who is told the versions of the others."""
    versions: dict[str, str] = {}
    made: Resources = {}
    for each in sorted(FUNCTIONS, key=lambda one: one.group.asks_versions):
        told = _told(each, release.tier, versions)
        properties = _function(each, release, told)
        versions[each.name] = f"{each.version}{_digest_of_version(properties, release)}"
        made |= _resources(each, release, properties, versions[each.name])
    return made


def _digest_of_version(properties: Json, release: Release) -> str:
    """Another for another version, and the same where Lambda has none to publish.

    Of a function that has not changed it publishes none, and CloudFormation fails: so parameters
    count where the function has them, as what they come to.
    """
    of_versions = {name: each for name, each in properties.items() if name not in _OF_NO_VERSION}
    return digest(release.parameters.settled(of_versions), release.bundle.layer_digest)


_OF_NO_VERSION = frozenset({"ReservedConcurrentExecutions", "Tags"})
"""What is the function's, and of none of its versions."""


def _told(which: Function, tier: Tier, versions: Mapping[str, str]) -> Json:
    """What the prober asks: now and then what runs, and before a release the new versions."""
    if not which.group.asks_versions:
        return {}
    return {"WATCHED": watched(), **({"PROBES": probes(versions)} if tier.is_gradual else {})}


def _resources(which: Function, release: Release, properties: Json, version: str) -> Resources:
    tier, epoch = release.tier, release.epoch
    placing = network(which)
    return {
        which.id: resource("Lambda::Function", properties, **_after(placing)),
        which.logs: kept("Logs::LogGroup", log_group(which.name)),
        version: kept("Lambda::Version", _version(which, release.bundle)),
        which.alias: _alias(which, version, tier),
        **role(which, epoch, tier),
        **placing,
        **(_schedule(which) if which.group.is_scheduled else {}),
        **follower(which, epoch),
    }


def _version(which: Function, bundle: Bundle) -> Json:
    """Lambda publishes none of other code than was built, whatever lies in the bucket."""
    return {"FunctionName": ref(which.id), "CodeSha256": bundle.code_checksum}


def _function(which: Function, release: Release, told: Json) -> Json:
    tier, bundle, epoch = release.tier, release.bundle, release.epoch
    is_sign_in = which.is_served and which.group.holds_private_keys
    return {
        "FunctionName": sub(f"keyhaven-${{TenantId}}-{which.name}"),
        "Runtime": RUNTIME,
        "Architectures": [ARCHITECTURE],
        "Handler": which.handler,
        "Code": {"S3Bucket": ref("CodeBucket"), "S3Key": bundle.code_key},
        "Layers": [ref("LayerArn")],
        "Role": arn(which.role),
        "MemorySize": which.memory,
        "Timeout": which.timeout,
        **({"EphemeralStorage": {"Size": which.disk}} if which.disk else {}),
        "ReservedConcurrentExecutions": (tier.reserved if is_sign_in else None) or NO_VALUE,
        **(_SNAPSHOTS if may_begin_from_snapshot(which, tier) else {}),
        "Environment": {"Variables": {**environment(which, epoch), **told}},
        "KmsKeyArn": arn("TenantKey"),
        "LoggingConfig": {"LogGroup": ref(which.logs), "LogFormat": "JSON"},
        "TracingConfig": {"Mode": "Active"},
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
        **placed(which),
    }


_SNAPSHOTS = {"SnapStart": either("HasSnapStart", {"ApplyOn": "PublishedVersions"})}


def may_begin_from_snapshot(which: Function, tier: Tier) -> bool:
    """Lambda takes none of what always waits, and none of more than 512 MB of files (ADR 52).

    Nobody waits for a worker, so none needs it.
    """
    return which.is_served and which.name not in tier.warm and which.disk is None


def _after(rights: Resources) -> Json:
    """A function is put into subnets once its role may be."""
    return {"DependsOn": sorted(rights)} if rights else {}


def environment(which: Function, epoch: int) -> Json:
    """What `chalicelib/settings.py` reads: names and addresses, never a secret."""
    group = which.group
    return {
        "BASE_URL": ref("BaseUrl"),
        "DIALECT": ref("Dialect"),
        "SUPPORT_ADDRESS": ref("SupportAddress"),
        "MAIL_SENDER": ref("MailSender"),
        "TABLE_PREFIX": sub(prefix(epoch)),
        **({"ENDPOINT_GROUP": group.name, "TRACES": ref("Traces")} if which.is_served else {}),
        **({"READING_DAYS": ref("ReadingDays")} if group.keeps_readings else {}),
        **(
            {"LOG_EXPORT": ref("LogExport"), "EXPORT_BUCKET": ref("Objects")}
            if group.exports_logs
            else {}
        ),
        **({"AVATAR_BUCKET": ref("Objects")} if group.avatars else {}),
        **({"ANSWER_BUCKET": ref("Objects")} if group.leaves_answers else {}),
        **{f"{key.upper()}_SECRET": ref(SECRET_OF[key]) for key in sorted(group.private_keys)},
    }


def _alias(which: Function, version: str, tier: Tier) -> Json:
    properties: Json = {
        "Name": ALIAS,
        "FunctionName": ref(which.id),
        "FunctionVersion": attribute(version, "Version"),
    }
    if which.name in tier.warm:
        properties[WAITING] = ALWAYS_ONE
    if not (tier.is_gradual and which.is_served):
        return resource("Lambda::Alias", properties)
    shift = {
        "ApplicationName": ref("Releases"),
        "DeploymentGroupName": ref(release_of(which)),
        "BeforeAllowTrafficHook": ref(PROBER),
    }
    return resource(
        "Lambda::Alias", properties, UpdatePolicy={"CodeDeployLambdaAliasUpdate": shift}
    )


def release_of(which: Function) -> str:
    return f"{which.id}Release"


def _schedule(which: Function) -> Resources:
    """Call a worker every few minutes; the next call is the second try."""
    rule: Json = {
        "Description": sub(f"Keyhaven, tenant ${{TenantId}}: {which.name}"),
        "ScheduleExpression": f"rate({which.group.every} minutes)",
        "State": "ENABLED",
        "Targets": [{"Id": which.name, "Arn": ref(which.alias)}],
    }
    permission: Json = {
        "FunctionName": ref(which.alias),
        "Action": "lambda:InvokeFunction",
        "Principal": "events.amazonaws.com",
        "SourceArn": arn(f"{which.id}Schedule"),
    }
    failures: Json = {
        "FunctionName": ref(which.id),
        "Qualifier": ALIAS,
        "MaximumRetryAttempts": 0,
        "MaximumEventAgeInSeconds": 300,
        "DestinationConfig": {"OnFailure": {"Destination": arn("DeadLetters")}},
    }
    return {
        f"{which.id}Schedule": resource("Events::Rule", rule),
        f"{which.id}Permission": resource("Lambda::Permission", permission),
        f"{which.id}Failures": resource(
            "Lambda::EventInvokeConfig", failures, DependsOn=[which.alias]
        ),
    }
