"""What anyone may ask without being known: is the service up, and how is it spoken to."""

from __future__ import annotations

from chalicelib.domain.actor import Access
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


@endpoints.route(
    "/healthcheck/status.json",
    ("GET", "HEAD"),
    action="HealthcheckStatus.status",
    access=Access.PUBLIC,
    message="OK",
)
def status() -> str:
    return "OK"
