"""The functions of a tenant called, silenced and woken; how many old versions of them are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.stack import Stack
from infra.operate.steps import Failed
from infra.template.compute import ALWAYS_ONE
from infra.template.elements import Json
from infra.template.functions import ALIAS, FUNCTIONS, KEPT_VERSIONS
from infra.template.tiers import TIERS

_WAITING_REFUSED = (
    "  No instance of these waits yet; they answer all the same. Lambda refuses it while a release "
    "moves requests: give this again when it has ended."
)


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
    removes it there.
    """
    events, client = account.client("events"), account.client("lambda")
    _, of_schedules = _each(_schedules(stack), lambda rule: events.disable_rule(Name=rule))
    silenced, of_functions = _each(
        stack.functions().values(), lambda name: _let_none_run(client, name)
    )
    return _told(f"{silenced} functions answer no more.", [*of_functions, *of_schedules])


def _let_none_run(client: Any, name: str) -> None:
    """Lambda refuses it while instances wait: no more may wait than may run."""
    none = {"FunctionName": name, "ReservedConcurrentExecutions": 0}
    try:
        client.put_function_concurrency(**none)
    except client.exceptions.InvalidParameterValueException:
        with suppress(client.exceptions.ResourceNotFoundException):
            client.delete_provisioned_concurrency_config(FunctionName=name, Qualifier=ALIAS)
        client.put_function_concurrency(**none)


def wake(account: Account, entry: Entry, stack: Stack, template: Json) -> str:
    """Let the functions run again that a stack has, schedules call them, and those wait that do.

    How many run at once says the template. Which wait says the tier: a stack that was restored
    has it again with its next release alone.
    """
    events, client, here = account.client("events"), account.client("lambda"), stack.functions()
    bounds = {name: _bound(template, logical) for logical, name in here.items()}
    woken, of_functions = _each(bounds, lambda name: _let_run(client, name, bounds[name]))
    _, of_schedules = _each(_schedules(stack), lambda rule: events.enable_rule(Name=rule))
    warm = [each.id for each in FUNCTIONS if each.name in TIERS[entry.tier].warm]
    _, of_waiting = _each(
        [here[each] for each in warm if each in here], lambda name: _let_wait(client, name)
    )
    further = [_WAITING_REFUSED] if of_waiting else []
    refused = [*of_functions, *of_schedules, *of_waiting, *further]
    return _told(f"{woken} functions answer again.", refused)


def _bound(template: Json, logical: str) -> int | None:
    """How many may run at once; a template may lack what its stack could not delete."""
    properties = template["Resources"].get(logical, {}).get("Properties", {})
    reserved = properties.get("ReservedConcurrentExecutions")
    return reserved if isinstance(reserved, int) else None


def _let_run(client: Any, name: str, bound: int | None) -> None:
    if bound is None:
        client.delete_function_concurrency(FunctionName=name)
    else:
        client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=bound)


def _let_wait(client: Any, name: str) -> None:
    client.put_provisioned_concurrency_config(FunctionName=name, Qualifier=ALIAS, **ALWAYS_ONE)


def _each(names: Iterable[str], do: Callable[[str], object]) -> tuple[int, list[str]]:
    """Do something with each: with how many it was done, and what AWS refuses.

    Among what a stack lists is some that it has deleted or never made: that is passed over.
    """
    done, refused = 0, []
    for name in names:
        try:
            do(name)
        except ClientError as problem:
            if problem.response["Error"]["Code"] != "ResourceNotFoundException":
                refused.append(f"  {name}: {problem}")
        else:
            done += 1
    return done, refused


def _told(done: str, refused: Sequence[str]) -> str:
    """What was done; raises `Failed` where AWS has refused something beside it."""
    if refused:
        raise Failed("\n".join([f"{done} AWS refuses this:", *refused]))
    return done


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
