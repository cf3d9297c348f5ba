"""Comments: what those who may see a resource say at it."""

from __future__ import annotations

import orjson

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.comments import CommentBody, CommentEditBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import CommentId, ResourceId
from chalicelib.services.items.resources import comments
from chalicelib.tables.items.comments import CommentRow
from chalicelib.tables.users import people
from chalicelib.views.items import comments as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_NO_ID = {"comment_id": "The comment id is not valid."}


@endpoints.get(
    "/comments/resource/{resource_id}.json",
    action="CommentsView.view",
    access=Access.USER,
    query=Options(contains=frozenset({"creator", "modifier"})),
    shape=list[views.ThreadJson],
    ids={"resource_id": "Invalid id"},
)
def index(actor: Actor, resource_id: ResourceId, query: Query) -> orjson.Fragment:
    """List the comments of a resource, each with the replies to it."""
    found = comments.of(actor, resource_id)
    authors = {row["user_id"]["S"] for row in found} if query.contained else ()
    return views.threads(found, people.by_id(authors), query.contained)


def _created(actor: Actor, made: str) -> CommentRow:
    return comments.view(actor, CommentId(made))


@endpoints.post(
    "/comments/resource/{resource_id}.json",
    action="CommentsAdd.addPost",
    access=Access.USER,
    body=CommentBody,
    again=_created,
    view=views.comment,
    message="The comment was successfully added.",
)
def create(actor: Actor, resource_id: ResourceId, body: Draft[CommentBody]) -> CommentRow:
    """Comment on a resource, or reply to a comment."""
    return comments.create(actor, resource_id, body)


@endpoints.put(
    "/comments/{comment_id}.json",
    action="CommentsUpdate.update",
    access=Access.USER,
    body=CommentEditBody,
    view=views.comment,
    message="The comment was successfully updated.",
    ids=_NO_ID,
)
def update(actor: Actor, comment_id: CommentId, body: Draft[CommentEditBody]) -> CommentRow:
    """Change what a comment of the caller says."""
    return comments.update(actor, comment_id, body)


@endpoints.delete(
    "/comments/{comment_id}.json",
    action="CommentsDelete.delete",
    access=Access.USER,
    view=nothing,
    message="The comment was deleted.",
    ids=_NO_ID,
)
def delete(actor: Actor, comment_id: CommentId) -> None:
    """Remove a comment of the caller."""
    comments.delete(actor, comment_id)
