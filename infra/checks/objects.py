"""Objects: answers are left by functions that list, and soon gone; logs by one, and stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chalicelib.objects.answers import ANSWERS
from chalicelib.objects.exports import EXPORTS
from infra.checks.reading import as_list, named, of_kind
from infra.checks.rights import functions
from infra.template.elements import Json

_OF_OBJECTS = "Object"
_LEAVING = frozenset({"PutObject", "GetObject"})
"""To write one, and to have an address for it: whoever has that reads with the signer's rights."""
_EVERYWHERE = "*"


def answers_are_left_by_who_lists(template: Json) -> Iterator[str]:
    for group, statements in functions(template):
        may = set(_actions_on(ANSWERS, statements))
        wanted = _LEAVING if group.leaves_answers else frozenset()
        for action in sorted(may - wanted):
            yield f"{group.name} may {action} large answers, which are none of its own."
        for action in sorted(wanted - may):
            yield f"{group.name} may not {action} large answers, which it has."


def exports_are_left_by_one(template: Json) -> Iterator[str]:
    """What auditors are given is written by whoever can do nothing else with it, nor others at
    all.
    """
    for group, statements in functions(template):
        may = set(_actions_on(EXPORTS, statements))
        wanted = frozenset({"PutObject"} if group.exports_logs else ())
        for action in sorted(may ^ wanted):
            yield f"{group.name}: {action} on logs for auditors is not as it should be."


def exports_stay(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "S3::Bucket"):
        for rule in each.get("LifecycleConfiguration", {}).get("Rules", []):
            ends, where = rule.get("ExpirationInDays"), rule.get("Prefix", "")
            if ends and f"{EXPORTS}/".startswith(where) and "LogExportDays" not in named(ends):
                yield f"{name}: the rule {rule.get('Id')} removes logs for auditors."


def answers_go_after_a_day(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "S3::Bucket"):
        rules = each.get("LifecycleConfiguration", {}).get("Rules", [])
        if not any(_ends_answers(rule) for rule in rules):
            yield f"{name} keeps large answers for longer than a day."


def objects_go_in_time(template: Json) -> Iterator[str]:
    """What was written over or left half written is paid for until a rule removes it."""
    for name, each in of_kind(template, "S3::Bucket"):
        for rule in each.get("LifecycleConfiguration", {}).get("Rules", []):
            if rule.get("Status") != "Enabled":
                yield f"{name}: the rule {rule.get('Id')} removes nothing."
            if not rule.get("NoncurrentVersionExpiration"):
                yield f"{name}: the rule {rule.get('Id')} keeps what was written over."


def pages_only_read(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "S3::Bucket"):
        for rule in each.get("CorsConfiguration", {}).get("CorsRules", []):
            if rule["AllowedMethods"] != ["GET"]:
                yield f"{name} lets pages do more than read."
            if any(_EVERYWHERE in str(origin) for origin in rule["AllowedOrigins"]):
                yield f"{name} answers to every page."


def _actions_on(folder: str, statements: list[Json]) -> Iterator[str]:
    for statement in statements:
        for action in as_list(statement["Action"]):
            is_of_objects = action.startswith("s3:") and _OF_OBJECTS in action
            if is_of_objects and any(
                _is_in(folder, each) for each in as_list(statement["Resource"])
            ):
                yield action.removeprefix("s3:")


def _is_in(wanted: str, resource: Any) -> bool:
    """Whether objects of a folder are among these, or nobody can tell."""
    text = resource.get("Fn::Sub") if isinstance(resource, dict) else resource
    folder = str(text).removeprefix("${Objects.Arn}/").partition("/")[0]
    return folder == wanted or not folder.replace("-", "").isalpha()


def _ends_answers(rule: Json) -> bool:
    ends = (rule.get("ExpirationInDays"), rule.get("NoncurrentVersionExpiration"))
    is_of_answers = rule.get("Prefix") == f"{ANSWERS}/" and rule.get("Status") == "Enabled"
    return is_of_answers and ends == (1, {"NoncurrentDays": 1})
