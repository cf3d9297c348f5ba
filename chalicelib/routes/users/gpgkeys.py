"""Public keys of users: what clients encrypt to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chalicelib.domain.actor import Access
from chalicelib.domain.ids import GpgkeyId
from chalicelib.services.users.people import gpgkeys
from chalicelib.tables.users.gpgkeys import Gpgkey, GpgkeyRow
from chalicelib.views.users import gpgkeys as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import flag, ids, timestamp
from chalicelib.web.query import Options, Query, paginate
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)

SORTS: dict[str, Callable[[GpgkeyRow], str]] = {"Gpgkeys.key_id": lambda row: row["key_id"]["S"]}
_synced = replace(
    timestamp,
    known_as="modified-after",
    about=(
        "The servertime of a list of keys that the client has: keeps what has changed since, or "
        "may be missing there. Also known as modified_after."
    ),
)
LIST = Options(
    filters={
        "modified-after": timestamp,
        "synced-at": _synced,
        "is-deleted": flag,
        "has-users": ids("user id"),
    },
    sortable=("Gpgkeys.key_id",),
    is_paginated=True,
)


@endpoints.get(
    "/gpgkeys.json",
    action="GpgkeysIndex.index",
    access=Access.USER,
    query=LIST,
    view=views.gpgkeys,
)
def index(query: Query) -> Reply:
    """List the public keys of users."""
    found = gpgkeys.search(
        is_deleted=bool(query.filter("is-deleted")),
        modified_after=query.filter("modified-after"),
        synced_at=query.filter("synced-at"),
        users=query.filter("has-users"),
    )
    for field, descends in reversed(query.order):
        found.sort(key=SORTS[field], reverse=descends)
    page, pagination = paginate(found, query)
    return Reply(page, pagination=pagination)


@endpoints.get(
    "/gpgkeys/{gpgkey_id}.json",
    action="GpgkeysView.view",
    access=Access.USER,
    view=views.gpgkey,
    ids={"gpgkey_id": "The OpenPGP key identifier should be a valid UUID."},
)
def view(gpgkey_id: GpgkeyId) -> Gpgkey:
    """Show a public key."""
    return gpgkeys.view(gpgkey_id)
