"""Mobile transfers: how a person brings their key to a phone."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mobile_transfers import MobileProgressBody, MobileTransferBody
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.ids import TransferId
from chalicelib.services.sign_in import mobile_transfers
from chalicelib.services.sign_in.mobile_transfers import Begun
from chalicelib.views.sign_in import mobile_transfers as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query

endpoints = Endpoints(__name__)

_OPTIONS = Options(contains=frozenset({views.USER, views.PROFILE}))
_INVALID_ID = {"transfer_id": "The transfer id is not valid."}


@endpoints.post(
    "/mobile/transfers.json",
    action="TransfersCreate.create",
    access=Access.USER,
    body=MobileTransferBody,
    view=views.begun,
)
def create(actor: Actor, body: Draft[MobileTransferBody]) -> Begun:
    """Begin a transfer; the answer has the token by which the phone tells how far it is."""
    return mobile_transfers.create(actor, body)


@endpoints.get(
    "/mobile/transfers/{transfer_id}.json",
    action="TransfersView.view",
    access=Access.USER,
    query=_OPTIONS,
    ids=_INVALID_ID,
)
def view(actor: Actor, transfer_id: TransferId, query: Query) -> views.MobileTransferJson:
    """Show the caller how far a transfer of theirs is."""
    found = mobile_transfers.view(actor, transfer_id, with_user=query.contains(views.USER))
    return views.shown(found, query.contained)


@endpoints.route(
    "/mobile/transfers/{transfer_id}.json",
    ("PUT", "POST"),
    action="TransfersUpdate.update",
    access=Access.USER,
    body=MobileProgressBody,
    query=_OPTIONS,
    ids=_INVALID_ID,
)
def update(
    actor: Actor, transfer_id: TransferId, body: Draft[MobileProgressBody], query: Query
) -> views.MobileTransferJson:
    """Say how far a transfer is, or end it."""
    with_user = query.contains(views.USER)
    changed = mobile_transfers.update(actor, transfer_id, body, with_user=with_user)
    return views.shown(changed, query.contained)


@endpoints.route(
    "/mobile/transfers/{transfer_id}/{auth_token}.json",
    ("PUT", "POST"),
    action="TransfersUpdate.updateNoSession",
    access=Access.ANYONE,
    csrf=False,
    body=MobileProgressBody,
    query=_OPTIONS,
    ids=_INVALID_ID,
)
def update_by_token(
    transfer_id: TransferId,
    auth_token: str,
    body: Draft[MobileProgressBody],
    query: Query,
    caller: Caller,
) -> views.MobileTransferJson:
    """The same for the phone, which is not signed in yet and has the transfer's token."""
    changed = mobile_transfers.update_by_token(transfer_id, auth_token, body, caller)
    return views.shown(changed, query.contained)
