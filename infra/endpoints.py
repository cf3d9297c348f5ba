"""Every endpoint that is served: what templates, descriptions and tests are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from chalicelib.endpoint_groups import GROUPS, EndpointGroup
from chalicelib.web.route import Route


@dataclass(frozen=True, slots=True)
class Served:
    group: EndpointGroup
    route: Route

    @property
    def name(self) -> str:
        return f"{self.route.method} {self.route.path}"


def every_endpoint(groups: Sequence[EndpointGroup] = GROUPS) -> tuple[Served, ...]:
    return tuple(
        Served(group, route)
        for group in groups
        for module in group.modules
        for route in import_module(f"chalicelib.routes.{module}").endpoints.routes
    )
