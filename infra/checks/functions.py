"""Functions: they run what was tested, with settings the code knows and no secret in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chalicelib import settings
from chalicelib.domain.operator.metrics import Metric
from chalicelib.endpoint_groups import GROUPS, WORKERS, EndpointGroup
from infra.bundle.runtime import RUNTIME
from infra.checks.reading import named, of_kind, texts
from infra.checks.rights import allowed_by, statements_of
from infra.template.elements import Json
from infra.template.functions import PROBER

_READ = re.compile(r'env\.get\("([A-Z_]+)"')
_KNOWN = frozenset(_READ.findall(Path(settings.__file__).read_text(encoding="utf-8")))
"""The variables `chalicelib/settings.py` reads."""
_BY_NAME = {group.name: group for group in (*GROUPS, *WORKERS)}
_PLAIN = re.compile(r"[a-z_]{1,40}")
_SNAPSHOTS_BY_CHOICE = {
    "Fn::If": ["HasSnapStart", {"ApplyOn": "PublishedVersions"}, {"Ref": "AWS::NoValue"}]
}
_FILES = 512
"""Megabytes: what Lambda gives each function, and the most beside a snapshot."""
_SHIFT = "CodeDeployLambdaAliasUpdate"
_GRADUAL = {"CodeDeployDefault.LambdaCanary10Percent5Minutes"}
_LEAD_BACK = {"Errors", str(Metric.ACCIDENTS), "Duration"}
_CHECKSUM = re.compile(r"[A-Za-z0-9+/]{43}=")
_SECRET = re.compile(r"PRIVATE KEY|-----BEGIN|\{\{resolve:|[A-Za-z0-9+/=_]{60,}")


def functions_run_what_was_tested(template: Json) -> Iterator[str]:
    found = []
    for name, each in of_kind(template, "Lambda::Function"):
        found.append(each["FunctionName"]["Fn::Sub"].rpartition("}-")[2])
        if each["Runtime"] != RUNTIME:
            yield f"{name} runs on {each['Runtime']}; the tests run on {RUNTIME}."
        module = each["Handler"].rpartition(".")[0]
        if find_spec(module) is None:
            yield f"{name} calls {each['Handler']}, which is not in the bundle."
        if not named(each.get("LoggingConfig")):
            yield f"{name} has no log of its own."
    wanted = [group.name for group in (*GROUPS, *WORKERS)]
    if sorted(found) != sorted(wanted):
        yield f"There are functions for {sorted(found)}; the groups are {sorted(wanted)}."


def settings_are_those_the_code_reads(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "Lambda::Function"):
        for variable in sorted(each["Environment"]["Variables"].keys() - _KNOWN):
            yield f"{name} is told {variable}, which nothing reads."


def settings_are_told(template: Json) -> Iterator[str]:
    """What a function is not told it takes from a default, which is that of one machine."""
    for name, each in of_kind(template, "Lambda::Function"):
        group = _BY_NAME.get(each["FunctionName"]["Fn::Sub"].rpartition("}-")[2])
        wanted = set() if group is None else _wanted(group)
        for variable in sorted(wanted - each["Environment"]["Variables"].keys()):
            yield f"{name} is not told {variable}."


def _wanted(group: EndpointGroup) -> set[str]:
    return {
        *("BASE_URL", "DIALECT", "SUPPORT_ADDRESS", "MAIL_SENDER", "TABLE_PREFIX"),
        *(("ENDPOINT_GROUP",) if group in GROUPS else ()),
        *(("READING_DAYS",) if group.keeps_readings else ()),
        *(("LOG_EXPORT", "EXPORT_BUCKET") if group.exports_logs else ()),
        *(("WATCHED",) if group.asks_versions else ()),
        *(("AVATAR_BUCKET",) if group.avatars else ()),
        *(("ANSWER_BUCKET",) if group.leaves_answers else ()),
        *(f"{key.upper()}_SECRET" for key in group.private_keys),
    }


def no_secret_is_told(template: Json) -> Iterator[str]:
    """Whoever may see a stack or a function may see what stands in it."""
    for name, each in of_kind(template, "Lambda::Function"):
        for variable, value in each["Environment"]["Variables"].items():
            if not _is_no_secret(value):
                yield f"{name} is told {variable} in clear."
    for name, secret in of_kind(template, "SecretsManager::Secret"):
        if "SecretString" in secret or "GenerateSecretString" in secret:
            yield f"{name} has its value in the template."
    for name, resource in template["Resources"].items():
        if any(_SECRET.search(text) for text in texts(resource)):
            yield f"{name} holds what looks like a secret."


def releases_go_back(template: Json) -> Iterator[str]:
    """When releases are gradual at all, they are of each function, and an alarm ends them."""
    groups = dict(of_kind(template, "CodeDeploy::DeploymentGroup"))
    for name, each in groups.items():
        rings = each.get("AlarmConfiguration", {})
        if not rings.get("Enabled") or not named(rings.get("Alarms")):
            yield f"{name}: no alarm ends a release."
        if not each.get("AutoRollbackConfiguration", {}).get("Enabled"):
            yield f"{name}: a release that fails stays."
    for name, _ in of_kind(template, "Lambda::Alias"):
        policy = template["Resources"][name].get("UpdatePolicy", {})
        is_worker = name.removesuffix("Alias").lower() in {each.name for each in WORKERS}
        if groups and not is_worker and not named(policy) & groups.keys():
            yield f"{name} is released at once."


def snapshots_are_allowed(template: Json) -> Iterator[str]:
    """Lambda refuses them beside instances that always wait, and beside many files.

    A snapshot that is not of the published versions, or not a choice, nobody has asked for.
    """
    aliases = [each for _, each in of_kind(template, "Lambda::Alias")]
    waiting = {
        one
        for each in aliases
        if "ProvisionedConcurrencyConfig" in each
        for one in named(each["FunctionName"])
    }
    for name, each in of_kind(template, "Lambda::Function"):
        if "SnapStart" not in each:
            continue
        if each["SnapStart"] != _SNAPSHOTS_BY_CHOICE:
            yield f"{name} begins from a snapshot, whether anybody asked for it or not."
        if name in waiting:
            yield f"{name} always waits, so it cannot begin from a snapshot."
        if each.get("EphemeralStorage", {}).get("Size", _FILES) > _FILES:
            yield f"{name} has more files than a function with snapshots may."


def aliases_lead_to_versions(template: Json) -> Iterator[str]:
    """What is released is a version: the newest code is what nobody has tried."""
    versions = {
        name: named(each["FunctionName"]) for name, each in of_kind(template, "Lambda::Version")
    }
    for name, each in of_kind(template, "Lambda::Alias"):
        [function] = named(each["FunctionName"])
        version = each.get("FunctionVersion")
        leads = [versions.get(one, set()) for one in named(version)]
        if leads != [{function}]:
            yield f"{name} leads to {version}, and to no version of {function}."


def versions_are_of_what_was_built(template: Json) -> Iterator[str]:
    """Lambda compares the archive that it has taken from the bucket."""
    for name, each in of_kind(template, "Lambda::Version"):
        if _CHECKSUM.fullmatch(str(each.get("CodeSha256"))) is None:
            yield f"{name} is of whatever lies in the bucket."


def releases_are_gradual(template: Json) -> Iterator[str]:
    """A tenth of the requests first, and what rings of the function leads them back.

    What is asked first, CodeDeploy calls in its own role.
    """
    alarms = dict(of_kind(template, "CloudWatch::Alarm"))
    for name, _ in of_kind(template, "Lambda::Alias"):
        shift = template["Resources"][name].get("UpdatePolicy", {}).get(_SHIFT)
        if shift is not None and named(shift.get("BeforeAllowTrafficHook")) != {PROBER}:
            yield f"{name} is released without being asked first."
    for name, each in of_kind(template, "CodeDeploy::DeploymentGroup"):
        if not _may_be_called(template, PROBER, each["ServiceRoleArn"]):
            yield f"{name} cannot call {PROBER}, so nothing is ever released."
        if each.get("DeploymentConfigName") not in _GRADUAL:
            yield f"{name}: all requests go to a release at once."
        rings = named(each.get("AlarmConfiguration", {}).get("Alarms"))
        heard = {alarms[alarm].get("MetricName") for alarm in rings & alarms.keys()}
        for metric in sorted(_LEAD_BACK - heard):
            yield f"{name}: {metric} lead no release back."


def _may_be_called(template: Json, function: str, role: Any) -> bool:
    return any(
        ("lambda:InvokeFunction", function) in allowed_by(statements_of(properties))
        for name, properties in of_kind(template, "IAM::Role")
        if name in named(role)
    )


def _is_no_secret(value: Any) -> bool:
    return bool(named(value)) or (isinstance(value, str) and _PLAIN.fullmatch(value) is not None)
