"""Whether the role that a command is given in may do what the command does.

Each call of a command is recorded, and held against the policies of the platform's template
before it is answered. Calls of the tests themselves, and of what stands in for AWS, are not:
their clients lack the patience of a command's (`Account`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import botocore.handlers
from botocore.exceptions import ClientError

from infra.template.cell.deployers import DEPLOYER
from infra.template.cell.tenants_role import ROLE
from tests.infra_cloud.asked import Asked, asked
from tests.infra_cloud.fakes import CloudFormation
from tests.support.iam import ACCOUNT, OF_THE_CELL, REGION, Rights

PATIENCE = 9
"""How often a client of a command's tries at most."""
_NAMED = {
    name: f"arn:aws:any:{REGION}:{ACCOUNT}:keyhaven-{name}"
    for name in (ROLE, "RestoreRole", "AlarmTopic")
}
"""What is handed over or asked about, as the stand-in for CloudFormation calls it."""


@dataclass
class Watch:
    template: dict[str, Any]
    """The platform's, whose policies say what is allowed."""
    stacks: CloudFormation
    role: str | None = DEPLOYER
    """In which commands are given; none is an administrator, who may do everything."""
    refuses: bool = False
    """Whether a command hears of what it may not do as from AWS; else the test fails."""
    calls: list[tuple[str, Asked]] = field(default_factory=list)
    """What was asked for which role."""

    @contextmanager
    def acting(self, role: str | None) -> Iterator[None]:
        before, self.role = self.role, role
        try:
            yield
        finally:
            self.role = before

    @property
    def called(self) -> set[tuple[str, str]]:
        """By which role which action was called."""
        return {(role, each.action) for role, each in self.calls}

    def hear(self, params: Any, model: Any, context: Any, **_: Any) -> None:
        """Record a call of a command's, and refuse it where its role may not make it."""
        tries = context["client_config"].retries.get("total_max_attempts")
        if self.role is None or tries != PATIENCE:
            return
        for each in asked(model, params, self.stacks):
            self.calls.append((self.role, each))
            if not may(self.template, self.role, each):
                self._refuse(f"{self.role} may not {each}", model.name)

    def _refuse(self, said: str, operation: str) -> None:
        if self.refuses:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": said}}, operation)
        raise AssertionError(said)


def may(template: dict[str, Any], role: str, each: Asked) -> bool:
    rights = Rights(template, role, {**OF_THE_CELL, **_NAMED})
    return rights.allow(each.action, each.on, each.known)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Let a watch hear the calls of clients that are made from now on."""
    handler = ("provide-client-params", watch.hear)
    botocore.handlers.BUILTIN_HANDLERS.append(handler)
    try:
        yield
    finally:
        botocore.handlers.BUILTIN_HANDLERS.remove(handler)
