"""Reports: there are none, which administrators are told of each name they ask for."""

from __future__ import annotations

from chalicelib.domain.actor import Access
from chalicelib.domain.errors import Invalid
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)

_DENIED = "Only administrators can view reports."


@endpoints.get(
    "/reports/{slug}.json", action="ReportsView.view", access=Access.ADMIN, denied=_DENIED
)
def view(slug: str) -> None:
    """Refuse: there is no such report."""
    raise Invalid(f"The report {slug} does not exist.")


@endpoints.get(
    "/reports/{slug}/{argument}.json",
    action="ReportsView.view",
    access=Access.ADMIN,
    denied=_DENIED,
)
def view_of(slug: str, argument: str) -> None:  # noqa: ARG001
    """Refuse: there is no such report of anything."""
    raise Invalid(f"The report {slug} does not exist.")
