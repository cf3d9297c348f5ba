"""What anyone may ask without being known: is the service up, and how is it spoken to."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.actor import Access
from chalicelib.services.operator import description
from chalicelib.views import pages
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.reply import Bare, Reply, page
from chalicelib.web.route import page_of

endpoints = Endpoints(__name__)


@endpoints.route(
    "/healthcheck/status.json",
    ("GET", "HEAD"),
    action="HealthcheckStatus.status",
    access=Access.PUBLIC,
    message="OK",
)
def status() -> str:
    """Say that the service is up."""
    return "OK"


def _readable() -> Reply:
    return page(pages.description())


@endpoints.get(
    "/openapi.json",
    action="OpenApi.view",
    access=Access.PUBLIC,
    shape=dict[str, Any],
    page=page_of(
        _readable, method="GET", path="/openapi", action="OpenApi.view", access=Access.PUBLIC
    ),
)
def openapi() -> Bare:
    """Describe the API in OpenAPI 3.1."""
    return Bare(description.openapi())
