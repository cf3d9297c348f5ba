"""Comments: what those who may see a resource say at it; each is its author's alone."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.comments import INVALID, CommentBody, CommentEditBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, Invalid, NotFound
from chalicelib.domain.ids import CommentId, ResourceId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.operator.notices import Event
from chalicelib.services.items.resources import resources
from chalicelib.services.items.resources.resources import Loaded
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.items.comments import Comment, CommentRow
from chalicelib.tables.operator import notices

MISSING = "The comment does not exist."
_NO_PARENT = {"has_valid_parent_id": "The parent comment does not exist."}


def of(actor: Actor, resource_id: ResourceId) -> list[CommentRow]:
    """Return all comments of a resource the actor may see."""
    resources.load(actor, resource_id, missing="Could not find comments for the requested model.")
    return Comment.all_of(resource_id)


def create(actor: Actor, resource_id: ResourceId, draft: Draft[CommentBody]) -> CommentRow:
    """Store a comment of the actor's, or a reply to one, at a resource they may see.

    A comment is never stored without its locator, nor a reply to what is not there: both
    rows are written together, while the parent stands and the resource is as it was read.
    """
    body = draft.read(INVALID)
    loaded = resources.load(actor, resource_id)
    grant = loaded.require(actor, PermissionType.READ, resources.MISSING)
    comment = _new_comment(actor, resource_id, body)
    with Transaction() as tx:
        tx.makes(comment.id)
        tx.hold(grant)
        if body.parent_id is not None:
            parent = Comment.stands(resource_id, body.parent_id)
            tx.require(parent, otherwise=Invalid(INVALID, {"parent_id": _NO_PARENT}))
        tx.create(comment)
        tx.create(comment.locator())
        notices.tell_of(tx, Event.COMMENT_ADDED, loaded.resource, actor=actor.id, but=[actor.id])
    return comment.row


def view(actor: Actor, comment_id: CommentId) -> CommentRow:
    """Return a comment at a resource the actor may see."""
    _, comment = _load(actor, comment_id)
    return comment.row


def update(actor: Actor, comment_id: CommentId, draft: Draft[CommentEditBody]) -> CommentRow:
    """Change the text of a comment of the actor's, while they may see the resource.

    An actor who may see the comment and did not write it is told that they may not change it;
    one who may not see it, the author included, that it does not exist.
    """
    body = draft.read(INVALID)
    loaded, comment = _load(actor, comment_id)
    if comment.user_id != actor.id:
        raise Forbidden("You are not allowed to edit this comment.")
    comment.content = body.content
    with Transaction() as tx:
        tx.hold(loaded.require(actor, PermissionType.READ, MISSING))
        tx.update(
            comment,
            Comment.content.set(comment.content),
            Comment.modified.set(clock.now()),
            provided=Comment.user_id == actor.id,
            otherwise=NotFound(MISSING),
        )
    return comment.row


def delete(actor: Actor, comment_id: CommentId) -> None:
    """Remove a comment of the actor's, also one at a resource they may no longer see.

    It goes with its locator. Replies stay.
    """
    resource_id = _resource_of(comment_id)
    with Transaction() as tx:
        tx.delete(
            Comment.of(resource_id, comment_id),
            provided=Comment.user_id == actor.id,
            otherwise=NotFound(MISSING),
        )
        tx.delete(Comment.locator_of(comment_id))


def _new_comment(actor: Actor, resource_id: ResourceId, body: CommentBody) -> Comment:
    now = clock.now()
    return Comment(
        resource_id,
        new_id(),
        parent_id=body.parent_id,
        content=body.content,
        user_id=actor.id,
        created=now,
        modified=now,
    )


def _resource_of(comment_id: CommentId) -> ResourceId:
    resource_id = Comment.find_resource(comment_id)
    if resource_id is None:
        raise NotFound(MISSING)
    return resource_id


def _load(actor: Actor, comment_id: CommentId) -> tuple[Loaded, Comment]:
    """Read a comment the actor may see, with its resource."""
    resource_id = _resource_of(comment_id)
    key = Comment.of(resource_id, comment_id)
    loaded = resources.load(actor, resource_id, key, missing=MISSING)
    comment = loaded.rows.find(Comment, resource_id, comment_id)
    if comment is None:
        raise NotFound(MISSING)
    return loaded, comment
