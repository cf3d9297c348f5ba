"""Resource types: what a resource may hold."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.resource_types import Restoration
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import ResourceTypeId
from chalicelib.services.items.resources import resource_types
from chalicelib.services.items.resources.resource_types import Kind
from chalicelib.views.items import resource_types as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import flag
from chalicelib.web.query import Options, Query
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_NO_ID = {"resource_type_id": "The resource type identifier should be a UUID."}


@endpoints.get(
    "/resource-types.json",
    action="ResourceTypesIndex.index",
    access=Access.USER,
    view=views.kinds,
    query=Options(contains=frozenset({"resources_count"}), filters={"is-deleted": flag}),
)
def index(actor: Actor, query: Query) -> Sequence[Kind]:
    """List the types a resource may have."""
    return resource_types.everything(
        is_deleted=bool(query.filter("is-deleted")),
        with_count=actor.is_admin and query.contains("resources_count"),
    )


@endpoints.get(
    "/resource-types/{resource_type_id}.json",
    action="ResourceTypesView.view",
    access=Access.USER,
    view=views.single,
    ids={"resource_type_id": "The resource identifier should be a valid UUID."},
)
def view(resource_type_id: ResourceTypeId) -> Kind:
    """Show a type, with its definition as text."""
    return resource_types.view(resource_type_id)


@endpoints.delete(
    "/resource-types/{resource_type_id}.json",
    action="ResourceTypesDelete.delete",
    access=Access.ADMIN,
    view=nothing,
    ids=_NO_ID,
)
def delete(actor: Actor, resource_type_id: ResourceTypeId) -> None:
    """Switch a type off that no resource has."""
    resource_types.delete(actor, resource_type_id)


@endpoints.put(
    "/resource-types/{resource_type_id}.json",
    action="ResourceTypesUpdate.update",
    access=Access.ADMIN,
    body=Restoration,
    view=nothing,
    ids=_NO_ID,
)
def restore(actor: Actor, resource_type_id: ResourceTypeId, body: Draft[Restoration]) -> None:
    """Switch a type on again."""
    resource_types.restore(actor, resource_type_id, body)
