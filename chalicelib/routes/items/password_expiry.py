"""Resources that are marked as expired, or to expire on a day: many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.password_expiry import ExpiryDateBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.items.resources import expiry_marks
from chalicelib.tables.items.resources import ResourceRow
from chalicelib.views.items import resources as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


def _shown(rows: Sequence[ResourceRow] | None) -> list[views.PlainResourceJson] | None:
    return None if rows is None else [views.plain(row) for row in rows]


@endpoints.post(
    "/password-expiry/resources.json",
    action="PasswordExpiryPoliciesResourcesExpiryUpdate.post",
    access=Access.USER,
    body=list[ExpiryDateBody] | None,
    view=_shown,
)
def mark(actor: Actor, body: Draft[Any]) -> Sequence[ResourceRow] | None:
    """Say when resources expire: all of them, or none where one may not be changed."""
    return expiry_marks.mark(actor, body)
