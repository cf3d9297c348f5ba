"""Every function there is: its memory, its time limit, and how often it is called."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.endpoint_groups import GROUPS, WORKERS, EndpointGroup
from infra.template.elements import logical

ALIAS = "live"
ONE_CORE = 1769
"""Megabytes from which on a function has a whole processor core."""
A_DAY_OF_LOGS = 3_072
"""Megabytes of files for as many events of a day as there is time to sort (ADR 48)."""


@dataclass(frozen=True, slots=True)
class Function:
    group: EndpointGroup
    handler: str
    timeout: int
    """Seconds."""
    is_served: bool
    """Whether the API calls it."""

    @property
    def name(self) -> str:
        return self.group.name

    @property
    def id(self) -> str:
        return logical(self.name, "function")

    @property
    def alias(self) -> str:
        return logical(self.name, "alias")

    @property
    def version(self) -> str:
        """The beginning of the logical name of its versions."""
        return logical(self.name, "version")

    @property
    def role(self) -> str:
        return logical(self.name, "role")

    @property
    def logs(self) -> str:
        return logical(self.name, "logs")

    @property
    def errors(self) -> str:
        return logical(self.name, "errors")

    @property
    def accidents(self) -> str:
        return logical(self.name, "accidents")

    @property
    def slow(self) -> str:
        return logical(self.name, "slow")

    @property
    def silent(self) -> str:
        return logical(self.name, "silent")

    @property
    def refused(self) -> str:
        return logical(self.name, "refused")

    @property
    def delay(self) -> str:
        return logical(self.name, "delay")

    @property
    def network(self) -> str:
        return logical(self.name, "network")

    @property
    def held_back(self) -> str:
        return logical(self.name, "held", "back")

    @property
    def every(self) -> int:
        """Seconds between two calls on its schedule."""
        return self.group.every * 60

    @property
    def memory(self) -> int:
        return ONE_CORE if self.group.private_keys else 1024

    @property
    def disk(self) -> int | None:
        """Megabytes of files that lie there for a while, where all functions have fewer."""
        return A_DAY_OF_LOGS if self.group.exports_logs else None


def of_group(group: EndpointGroup) -> Function:
    # The gateway waits for 29 seconds; so the function tells of a timeout before it does.
    return Function(group, "app.app", timeout=28, is_served=True)


def of_worker(worker: EndpointGroup) -> Function:
    [module] = worker.modules
    handler = f"chalicelib.workers.{module}.handler"
    return Function(worker, handler, timeout=worker.seconds, is_served=False)


KEPT_VERSIONS = 3
"""To go back to; older versions only take room."""
PROBER = "ProberFunction"
"""Who asks the new versions before a release."""
FUNCTIONS = (*map(of_group, GROUPS), *map(of_worker, WORKERS))
