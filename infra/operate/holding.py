"""A tenant that is held: none of its functions runs until it is woken. An emergency stop.

Nothing is lost by it and nothing changes: people are told that the service is busy. That it is
held stands in the registry as a command that is not finished, so no other command begins on it,
and releases go past it. Which functions it has, its stack knows: another build may have others.
"""

from __future__ import annotations

from infra.operate import builds, functions, smoke
from infra.operate.account import Account
from infra.operate.registry import ACTIVE, HELD, Entry, Registry
from infra.operate.steps import Failed, Step


def hold(account: Account, entry: Entry, *, instead: bool = False) -> list[Step]:
    registry, stack = Registry(account), builds.stack_of(account, entry.tenant)

    def begin() -> None:
        registry.begin(entry.tenant, HELD, ACTIVE, instead=instead)

    return [
        Step("write down that it is held", begin),
        Step("silence its functions", lambda: functions.silence(account, stack)),
    ]


def wake(account: Account, entry: Entry) -> list[Step]:
    registry, tenant = Registry(account), entry.tenant
    stack = builds.stack_of(account, tenant)

    def require_held() -> None:
        if registry.fetch(tenant).work != HELD:
            raise Failed(f"The tenant {tenant} is not held; `status {tenant}` says what it is at.")

    def let_run() -> str:
        return functions.wake(account, entry, stack, stack.template())

    return [
        Step("see that it is held", require_held),
        Step("let its functions run", let_run),
        Step("see that it answers", lambda: smoke.require_well(account, entry)),
        Step("write down that it runs", lambda: registry.end(tenant, HELD)),
    ]
