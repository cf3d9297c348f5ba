"""Whether the role that a command is given in may do what the command does.

Each call of a command is recorded, and held against the policies of the platform's template
before it is answered. Calls of the tests themselves, and of what stands in for AWS, are not:
their clients carry a mark (`clients.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3
import botocore.handlers
import botocore.session
from botocore.exceptions import ClientError

from chalicelib.aws import loader
from infra.template.cell.deployers import DEPLOYER
from infra.template.cell.tenants_role import ROLE
from tests.infra_cloud.given.authorization import Authorization
from tests.infra_cloud.given.clients import is_of_a_test
from tests.infra_cloud.given.fakes import CloudFormation
from tests.infra_cloud.given.needed import needed
from tests.support.iam import ACCOUNT, OF_THE_CELL, REGION, Rights

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
    refuses: set[str] = field(default_factory=set)
    """Actions that a command hears it may not do, as from AWS; with others the test fails."""
    calls: list[tuple[str, Authorization]] = field(default_factory=list)
    """What was asked for which role."""
    _rights: dict[tuple[str, int], Rights] = field(default_factory=dict)
    """What has been read of a template's policies, by role and template."""

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
        if self.role is None or is_of_a_test(context["client_config"]):
            return
        for each in needed(model, params, self.stacks):
            self.calls.append((self.role, each))
            if not may(self._rights_of(self.role), each):
                self._refuse(each, model.name)

    def _rights_of(self, role: str) -> Rights:
        key = (role, id(self.template))
        return self._rights.setdefault(key, rights(self.template, role))

    def _refuse(self, each: Authorization, operation: str) -> None:
        said = f"{self.role} may not {each}"
        if each.action not in self.refuses:
            raise AssertionError(said)
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": said}}, operation)


def may(whose: Rights, each: Authorization) -> bool:
    return whose.allow(each.action, each.on, dict(each.context))


def rights(template: dict[str, Any], role: str) -> Rights:
    return Rights(template, role, {**OF_THE_CELL, **_NAMED})


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Let a watch hear the calls of clients that are made from now on, until this ends.

    boto3's own session is made anew, since one of before hears nothing. A client may be kept
    longer than the watch, which is deaf then.
    """
    handler = ("provide-client-params", watch.hear)
    botocore.handlers.BUILTIN_HANDLERS.append(handler)
    session = botocore.session.get_session()
    session.register_component("data_loader", loader())
    boto3.DEFAULT_SESSION = boto3.Session(botocore_session=session)
    try:
        yield
    finally:
        botocore.handlers.BUILTIN_HANDLERS.remove(handler)
        watch.role = None
