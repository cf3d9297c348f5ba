"""How the service is, for administrators; `public` says to everybody that it is up."""

from __future__ import annotations

from chalicelib.domain.actor import Access
from chalicelib.domain.errors import Forbidden
from chalicelib.services.operator import healthcheck
from chalicelib.services.operator.healthcheck import Health
from chalicelib.views.operator import healthcheck as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


@endpoints.get(
    "/healthcheck.json",
    action="HealthcheckIndex.index",
    access=Access.ADMIN,
    unauthenticated=Forbidden("Access restricted to administrators."),
    view=views.health,
)
def index() -> Health:
    """Look at the service's configuration, storage and keys, and say what is in order."""
    return healthcheck.look()
