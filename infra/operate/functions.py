"""The functions of a tenant called, silenced and woken; how many old versions of them are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.stack import Stack
from infra.operate.steps import Failed
from infra.template.compute import ALWAYS_ONE
from infra.template.elements import Json
from infra.template.functions import ALIAS, FUNCTIONS, KEPT_VERSIONS
from infra.template.tiers import TIERS


def name_of(tenant: str, function: str) -> str:
    return f"keyhaven-{tenant}-{function}"


def call(account: Account, tenant: str, function: str, event: Mapping[str, Any]) -> Any:
    """Call a function and return what it returns; its own words where it fails."""
    answer = account.client("lambda").invoke(
        FunctionName=f"{name_of(tenant, function)}:{ALIAS}", Payload=json.dumps(event).encode()
    )
    returned = json.load(answer["Payload"])
    if "FunctionError" in answer:
        raise Failed(f"{function} failed: {returned.get('errorMessage', answer['FunctionError'])}")
    return returned


def silence(account: Account, stack: Stack) -> str:
    """Let no function of a tenant's stack run any more, and no schedule call one.

    What is called while it may not run goes to the queue of failures, and rings until somebody
    removes it there. Among what a stack lists is some that it has deleted or never made.
    """
    events = account.client("events")
    for rule in _schedules(stack):
        with suppress(events.exceptions.ResourceNotFoundException):
            events.disable_rule(Name=rule)
    silenced = sum(_is_silenced(account, name) for name in stack.functions().values())
    return f"{silenced} functions answer no more."


def _is_silenced(account: Account, name: str) -> bool:
    """Let a function run no more, nor wait: Lambda lets no more instances wait than may run."""
    client = account.client("lambda")
    with suppress(client.exceptions.ResourceNotFoundException):
        client.delete_provisioned_concurrency_config(FunctionName=name, Qualifier=ALIAS)
    try:
        client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    except client.exceptions.ResourceNotFoundException:
        return False
    return True


def wake(account: Account, entry: Entry, stack: Stack, template: Json) -> str:
    """Let the functions run again that a stack has, and those wait that do.

    How many run at once says the template. Which wait says the tier: a stack that was restored
    has it again with its next release alone.
    """
    client, here = account.client("lambda"), stack.functions()
    waiting = {each.id for each in FUNCTIONS if each.name in TIERS[entry.tier].warm}
    for logical, name in here.items():
        properties = template["Resources"][logical]["Properties"]
        reserved = properties.get("ReservedConcurrentExecutions")
        if isinstance(reserved, int):
            client.put_function_concurrency(
                FunctionName=name, ReservedConcurrentExecutions=reserved
            )
        else:
            client.delete_function_concurrency(FunctionName=name)
        if logical in waiting:
            client.put_provisioned_concurrency_config(
                FunctionName=name, Qualifier=ALIAS, **ALWAYS_ONE
            )
    for rule in _schedules(stack):
        account.client("events").enable_rule(Name=rule)
    return f"{len(here)} functions answer again."


def _schedules(stack: Stack) -> Iterator[str]:
    """Their names, which CloudFormation may say with all that stands before them."""
    for rule in stack.resources("Events::Rule").values():
        yield rule.rpartition("/")[2]


def prune(account: Account, tenant: str) -> str:
    """Remove versions that are older than the last three and that no alias leads to."""
    client, removed = account.client("lambda"), 0
    for each in FUNCTIONS:
        name = name_of(tenant, each.name)
        listed = account.pages("lambda", "list_versions_by_function", "Versions", FunctionName=name)
        numbers = sorted(
            int(version["Version"]) for version in listed if version["Version"] != "$LATEST"
        )
        used = _used(client, name)
        for number in numbers[:-KEPT_VERSIONS]:
            if str(number) not in used:
                client.delete_function(FunctionName=name, Qualifier=str(number))
                removed += 1
    return f"{removed} old versions removed."


def _used(client: Any, name: str) -> set[str]:
    alias = client.get_alias(FunctionName=name, Name=ALIAS)
    further = alias.get("RoutingConfig", {}).get("AdditionalVersionWeights", {})
    return {alias["FunctionVersion"], *further}
