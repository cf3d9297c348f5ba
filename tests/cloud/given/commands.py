"""Who runs the service: gives the commands of `keyhaven infra`, with the account's rights."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from infra.command_line.entry import infra
from infra.local_cloud.account import LocalAccount
from infra.local_cloud.process import LocalCloud
from infra.template.functions import FUNCTIONS
from tests.cloud.given.stacks import standing
from tests.cloud.given.tenants import CloudTenant
from tests.support.commands import with_build
from tests.support.wire.served import set_up
from tests.support.world.keys import KEYS

Seen = TypeVar("Seen")
ADA = ("--admin", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace")


@dataclass
class Operator:
    cloud: LocalCloud
    folder: Path
    """Where the build lies, as `build/`."""

    def __post_init__(self) -> None:
        self._ahead = timedelta()
        self.account = LocalAccount(self.cloud, self._now)

    def give(self, *words: str) -> str:
        """Give a command; returns what it shows, or ends as the command does."""
        shown = StringIO()
        with chdir(self.folder), redirect_stdout(shown):
            infra(with_build(words), lambda _: self.account)
        return shown.getvalue()

    def wait(self, **span: float) -> None:
        """Look again after a while: only the operator's clock goes ahead, the cloud's does not."""
        self._ahead += timedelta(**span)

    @contextmanager
    def watching(self, operation: str, see: Callable[[], Seen]) -> Iterator[list[Seen]]:
        """What is seen each time before CloudFormation is asked for something."""
        seen: list[Seen] = []

        def look(**_: object) -> None:
            seen.append(see())

        events = self.account.client("cloudformation").meta.events
        event = f"before-parameter-build.cloudformation.{operation}"
        events.register(event, look)
        yield seen
        events.unregister(event, look)

    def onboard(self, name: str) -> CloudTenant:
        """A new tenant, whose first administrator has followed the link that was shown."""
        return self.set_up(name, self.give("onboard", name, *ADA))

    def set_up(self, name: str, shown: str) -> CloudTenant:
        key = KEYS["ada"]
        url, user_id = set_up(link_in(shown), key)
        stack = standing(self.cloud, f"keyhaven-{name}")
        return CloudTenant(url, user_id, key, self.cloud.output, stack, self.cloud)

    def reserved(self, name: str) -> set[Any]:
        """How many at once a tenant's functions may run, where that is bounded."""
        client = self.account.client("lambda")
        functions = [f"keyhaven-{name}-{each.name}" for each in FUNCTIONS]
        told = [client.get_function_concurrency(FunctionName=each) for each in functions]
        return {each.get("ReservedConcurrentExecutions") for each in told}

    def _now(self) -> float:
        return time.time() + self._ahead.total_seconds()


def link_in(shown: str) -> str:
    [link] = re.findall(r"http://\S+/setup/start/\S+", shown)
    return link


def steps_in(shown: str) -> list[str]:
    """The steps a command has carried out, in their order."""
    return re.findall(r"^\d+/\d+ (.*)$", shown, re.MULTILINE)
