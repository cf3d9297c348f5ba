"""The endpoints of a routes module: each a function that Chalice calls, by the route it declares.

The route function gets what it names as its parameters and nothing else: `actor` (who
is signed in), `caller`, `body` (a `Draft`, checked when the service asks), `query`,
`cookies` and what stands in the path; of SCIM also `provisioner`, `sent` (the body),
`parameters` (the query string) and `versions`; a part of the path whose name ends in `_id` is
checked before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from chalice.app import Blueprint, Response

from chalicelib.web import dispatch
from chalicelib.web.request import Request
from chalicelib.web.route import Route, page_of
from chalicelib.web.scim import provisioning

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Endpoints:
    """The endpoints of one routes module, as a Chalice blueprint."""

    def __init__(self, import_name: str) -> None:
        self.blueprint = Blueprint(import_name)
        self.routes: list[Route] = []
        self.pages: list[Route] = []
        """What people's browsers see at paths of its own."""
        self.scim: list[Route] = []
        """What directories ask for, in the form of SCIM."""

    def get(self, path: str, **declared: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("GET",), **declared)

    def post(self, path: str, **declared: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("POST",), **declared)

    def put(self, path: str, **declared: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("PUT",), **declared)

    def delete(self, path: str, **declared: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("DELETE",), **declared)

    def route(
        self, path: str, methods: tuple[str, ...], **declared: Any
    ) -> Callable[[Handler], Handler]:
        """Declare an endpoint; `declared` are the fields of `Route`, `access` among them."""

        def decorate(handler: Handler) -> Handler:
            for method in methods:
                self._register(Route(method=method, path=path, handler=handler, **declared))
            return handler

        return decorate

    def page(
        self, path: str, methods: tuple[str, ...] = ("GET", "HEAD"), **declared: Any
    ) -> Callable[[Handler], Handler]:
        """Declare a page, or what its form is sent to.

        `{proxy+}` at the end of its path stands for whatever follows.
        """

        def decorate(handler: Handler) -> Handler:
            for method in methods:
                shown = page_of(handler, method=method, path=path, **declared)
                self.pages.append(shown)
                self._serve(shown)
            return handler

        return decorate

    def provision(
        self, path: str | None, *methods: str, **declared: Any
    ) -> Callable[[Handler], Handler]:
        """Declare what a directory asks for by its own token, below the base of its settings."""

        def decorate(handler: Handler) -> Handler:
            for method in methods:
                route = provisioning(handler, method=method, path=path, **declared)
                self.scim.append(route)
                self._serve(route)
            return handler

        return decorate

    def _register(self, route: Route) -> None:
        self.routes.append(route)
        self._serve(route)

    def _serve(self, route: Route) -> None:
        for path in route.gateway_paths():
            # No content types: Chalice would answer 415 in a form of its own.
            register = self.blueprint.route(path, methods=[route.method], content_types=[])
            register(self._view_function(route))

    def _view_function(self, route: Route) -> Callable[..., Response]:
        def endpoint(**parameters: str) -> Response:
            request = Request(self.blueprint.current_request.to_original_event())
            answer = dispatch.answer(route, request, parameters)
            return Response(answer.body, answer.headers, answer.status)

        endpoint.__module__ = route.handler.__module__
        return endpoint
