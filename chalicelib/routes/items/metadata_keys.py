"""Shared metadata keys, and the copies of their private halves."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import OneCopy, RenewedCopy, SentCopy
from chalicelib.dialect import dialect
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import MetadataKeyId, MetadataPrivateKeyId
from chalicelib.services.items.metadata import metadata_keys, private_keys
from chalicelib.services.items.metadata.metadata_keys import WantedKeys
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKeyRow
from chalicelib.tables.users import people
from chalicelib.views.items import metadata as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import either
from chalicelib.web.query import Options, Query
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

INVALID_KEY_ID = {"metadata_key_id": "The metadata key id is not valid."}
INVALID_COPY_ID = {"metadata_private_key_id": "The metadata private key id is not valid."}


@endpoints.get(
    "/metadata/keys.json",
    action="MetadataKeysIndex.index",
    access=Access.USER,
    query=Options(
        contains=frozenset({"metadata_private_keys", "creator", "creator.profile"}),
        filters={"deleted": either, "expired": either},
    ),
)
def index(actor: Actor, query: Query) -> list[views.KeyJson]:
    """List the shared metadata keys, with the caller's own copies of their private halves."""
    wanted = WantedKeys(query.filter("deleted"), query.filter("expired"))
    with_copies = query.contains("metadata_private_keys")
    found = metadata_keys.search(actor, wanted)
    shown = [views.listed(seen, with_copies=with_copies) for seen in found]
    if query.contains("creator") or query.contains("creator.profile"):
        views.add_creators(shown, people.by_id(each["created_by"] for each in shown))
    return shown


Nothing = dict[str, str] | list[str]


def _nothing_more() -> Nothing:
    """Copies that were handed out are not handed out again."""
    return dialect.given_copies()


@endpoints.post(
    "/metadata/keys/privates.json",
    action="MetadataMissingPrivateKeysShare.share",
    access=Access.ADMIN,
    body=list[SentCopy],
    again=_nothing_more,
)
def share(actor: Actor, body: Draft[Any]) -> Nothing:
    """Give users copies of keys that they lack."""
    private_keys.share(actor, body)
    return dialect.given_copies()


@endpoints.route(
    "/metadata/keys/private.json",
    ("POST", "PUT"),
    action="MetadataMissingPrivateKeysShare.share",
    access=Access.ADMIN,
    body=list[SentCopy],
    again=_nothing_more,
)
def share_by_old_path(actor: Actor, body: Draft[Any]) -> Nothing:
    """The same by the path that older clients know."""
    return share(actor, body)


@endpoints.delete(
    "/metadata/keys/{metadata_key_id}.json",
    action="MetadataKeyDelete.delete",
    access=Access.ADMIN,
    ids=INVALID_KEY_ID,
    view=nothing,
)
def delete(actor: Actor, metadata_key_id: MetadataKeyId) -> None:
    """Delete an expired metadata key that nothing uses any more."""
    metadata_keys.delete(actor, metadata_key_id)


def _given(metadata_key_id: MetadataKeyId, made: str) -> MetadataPrivateKeyRow:
    return private_keys.view(metadata_key_id, made)


@endpoints.post(
    "/metadata/keys/{metadata_key_id}/private.json",
    action="MetadataPrivateKeysCreate.create",
    access=Access.ADMIN,
    body=OneCopy,
    again=_given,
    ids=INVALID_KEY_ID,
    view=views.private_key,
)
def share_one(
    actor: Actor, metadata_key_id: MetadataKeyId, body: Draft[OneCopy]
) -> MetadataPrivateKeyRow:
    """Give one user, or the server, a copy of a key."""
    return private_keys.share_one(actor, metadata_key_id, body)


@endpoints.route(
    "/metadata/keys/private/{metadata_private_key_id}.json",
    ("PUT", "POST"),
    action="MetadataPrivateKeysUpdate.update",
    access=Access.USER,
    body=RenewedCopy,
    ids=INVALID_COPY_ID,
    view=views.private_key,
)
def renew(
    actor: Actor, metadata_private_key_id: MetadataPrivateKeyId, body: Draft[RenewedCopy]
) -> MetadataPrivateKeyRow:
    """Let a user encrypt and sign their copy anew."""
    return private_keys.renew(actor, metadata_private_key_id, body)
