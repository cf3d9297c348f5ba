"""Every function there is: one for each endpoint group, one for each worker."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.endpoint_groups import GROUPS, WORKERS, EndpointGroup
from infra.template.elements import logical

ALIAS = "live"
ONE_CORE = 1769
"""Megabytes from which on a function has a whole processor core."""


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
    def delay(self) -> str:
        return logical(self.name, "delay")

    @property
    def held_back(self) -> str:
        return logical(self.name, "held", "back")

    @property
    def memory(self) -> int:
        return ONE_CORE if self.group.holds_private_keys else 1024


def of_group(group: EndpointGroup) -> Function:
    # The gateway waits for 29 seconds; so the function tells of a timeout before it does.
    return Function(group, "app.app", timeout=28, is_served=True)


def of_worker(worker: EndpointGroup) -> Function:
    [module] = worker.modules
    return Function(worker, f"chalicelib.workers.{module}.handler", timeout=240, is_served=False)


FUNCTIONS = (*map(of_group, GROUPS), *map(of_worker, WORKERS))
