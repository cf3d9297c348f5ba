"""Every endpoint that is served: what templates, descriptions and tests are made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from chalicelib.endpoint_groups import GROUPS, EndpointGroup
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import Route


@dataclass(frozen=True, slots=True)
class Served:
    group: EndpointGroup
    route: Route

    @property
    def name(self) -> str:
        return f"{self.route.method} {self.route.path}"


def every_endpoint() -> tuple[Served, ...]:
    return tuple(Served(group, route) for group, served in _modules() for route in served.routes)


def every_page() -> tuple[Served, ...]:
    """The pages at paths of their own; others lie beside an endpoint."""
    return tuple(Served(group, page) for group, served in _modules() for page in served.pages)


def every_scim_route() -> tuple[Served, ...]:
    """What directories ask for, in a form of its own."""
    return tuple(Served(group, route) for group, served in _modules() for route in served.scim)


def everything() -> tuple[Served, ...]:
    """All that the gateway leads to a function."""
    return (*every_endpoint(), *every_page(), *every_scim_route())


def _modules() -> Iterator[tuple[EndpointGroup, Endpoints]]:
    for group in GROUPS:
        for module in group.modules:
            yield group, import_module(f"chalicelib.routes.{module}").endpoints
