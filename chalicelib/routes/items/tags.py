"""Tags: words that users find resources by, their own and those that everybody shares."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.tags import TagEdit, TagsBody, V5TagEdit
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import ResourceId, TagId
from chalicelib.services.items.tags import tagging, tags
from chalicelib.tables.items.tags import Tag
from chalicelib.views.items import tags as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_NO_ID = {"tag_or_resource_id": "The tag id is not valid."}


@endpoints.get("/tags.json", action="TagsIndex.index", access=Access.USER, view=views.tags)
def index(actor: Actor) -> list[Tag]:
    """List the tags of the resources that the caller may see."""
    return tags.index(actor)


@endpoints.post(
    "/tags/{tag_or_resource_id}.json",
    action="ResourcesTagsAdd.addPost",
    access=Access.USER,
    body=TagsBody,
    needs_object=True,
    view=views.tags,
    ids={"tag_or_resource_id": "The resource identifier should be a valid UUID."},
)
def tag(actor: Actor, tag_or_resource_id: str, body: Draft[TagsBody]) -> list[Tag]:
    """Set the tags that a resource has for the caller."""
    return tagging.tag(actor, ResourceId(tag_or_resource_id), body)


@endpoints.put(
    "/tags/{tag_or_resource_id}.json",
    action="TagsUpdate.update",
    access=Access.USER,
    body=TagEdit | V5TagEdit,
    view=views.tag,
    message="The tag has been updated successfully.",
    ids=_NO_ID,
)
def update(actor: Actor, tag_or_resource_id: str, body: Draft[Any]) -> Tag:
    """Rename a tag of the caller's, or encrypt its name."""
    return tags.update(actor, TagId(tag_or_resource_id), body)


@endpoints.delete(
    "/tags/{tag_or_resource_id}.json",
    action="TagsDelete.delete",
    access=Access.USER,
    view=nothing,
    message="The tag has been deleted successfully.",
    ids=_NO_ID,
)
def delete(actor: Actor, tag_or_resource_id: str) -> None:
    """Delete a tag of the caller's, at all resources."""
    tags.delete(actor, TagId(tag_or_resource_id))
