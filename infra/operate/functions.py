"""The functions of a tenant called, silenced and woken; how many old versions of them are kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from infra.operate.account import Account
from infra.operate.steps import Failed
from infra.template.elements import Json
from infra.template.functions import ALIAS, FUNCTIONS, KEPT_VERSIONS


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


def silence(account: Account, tenant: str) -> str:
    """Let no function of the tenant run any more."""
    client = account.client("lambda")
    for each in FUNCTIONS:
        client.put_function_concurrency(
            FunctionName=name_of(tenant, each.name), ReservedConcurrentExecutions=0
        )
    return f"{len(FUNCTIONS)} functions answer no more."


def silence_listed(account: Account, names: Iterable[str]) -> str:
    """The same for functions a stack lists: among them are some it has deleted or never made."""
    silenced = sum(_is_silenced(account, name) for name in names)
    return f"{silenced} functions answer no more."


def _is_silenced(account: Account, name: str) -> bool:
    client = account.client("lambda")
    try:
        client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    except client.exceptions.ResourceNotFoundException:
        return False
    return True


def wake(account: Account, tenant: str, template: Json) -> str:
    """Let the functions run again, as many at once as the template says."""
    client = account.client("lambda")
    for each in FUNCTIONS:
        name = name_of(tenant, each.name)
        properties = template["Resources"][each.id]["Properties"]
        reserved = properties.get("ReservedConcurrentExecutions")
        if isinstance(reserved, int):
            client.put_function_concurrency(
                FunctionName=name, ReservedConcurrentExecutions=reserved
            )
        else:
            client.delete_function_concurrency(FunctionName=name)
    return f"{len(FUNCTIONS)} functions answer again."


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
