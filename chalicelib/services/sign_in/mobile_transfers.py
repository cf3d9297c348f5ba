"""Mobile transfers of a key: who may say how far one is, and how long its token is good.

A change is written over the transfer as it was read. So what is over stays over, and of two
that come at once the second is decided from what the first has left.
"""

from __future__ import annotations

import hmac
from dataclasses import asdict, field, replace
from datetime import datetime, timedelta

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import Unset
from chalicelib.bodies.sign_in.mobile_transfers import (
    MobileProgressBody,
    MobileTransferBody,
    read_creation,
    read_progress,
)
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.errors import Forbidden, NotFound, Unauthenticated
from chalicelib.domain.ids import TransferId, find_uuid, new_id
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.sign_in.mobile_transfers import COMPLETE, START, MobileTransfer
from chalicelib.storage import reading
from chalicelib.storage.base import Key, timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.tokens import TRANSFER, TRANSFER_TOKEN, Token, token_hash
from chalicelib.tables.users.users import User

TOKEN_SECONDS = 5 * 60
KEPT = 24 * 3600
"""Seconds for which a transfer is shown, however it ends."""
RESTARTED = "This operation is not allowed. Restarting a transfer is not allowed."
OVER = "The operation is already over."
NOT_WHOLE = "The current page does not match the total number of pages."


@dataclass(frozen=True, slots=True)
class Begun:
    """A new transfer, with the token that is told this once."""

    transfer: MobileTransfer
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Shown:
    transfer: MobileTransfer
    user: User | None = None
    """Whose it is, where that was asked for."""


def create(actor: Actor, draft: Draft[MobileTransferBody]) -> Begun:
    """Begin a transfer of the actor's key."""
    body = read_creation(draft)
    token, now = new_id(), timestamp_text(clock.now())
    transfer = MobileTransfer(
        id=TransferId(new_id()),
        user_id=actor.id,
        token_id=new_id(),
        token_hash=token_hash(TRANSFER_TOKEN, token),
        hash=body.hash,
        total_pages=body.total_pages,
        created=now,
        modified=now,
    )
    with Transaction() as tx:
        tx.require(User.is_able(actor.id, clock.now()))
        tx.create(_row(transfer))
    audit.succeeded("mobile-transfer", actor, transfer.id, step=START)
    return Begun(transfer, token)


def view(actor: Actor, transfer_id: TransferId, *, with_user: bool) -> Shown:
    """Return a transfer of the actor's."""
    return _find_own(actor, transfer_id, with_user=with_user)[1]


def update(
    actor: Actor, transfer_id: TransferId, draft: Draft[MobileProgressBody], *, with_user: bool
) -> Shown:
    """Change how far a transfer of the actor's is."""
    row, shown = _find_own(actor, transfer_id, with_user=with_user)
    return _write(row, shown, _decided(shown.transfer, draft), actor.caller)


def update_by_token(
    transfer_id: TransferId, token: str, draft: Draft[MobileProgressBody], caller: Caller
) -> Shown:
    """Change how far a transfer is, for whoever has its token, as long as its user may sign in."""
    if find_uuid(token) is None:
        raise Unauthenticated
    row = _find(reading.read([_key(transfer_id)]), transfer_id)
    transfer = MobileTransfer.of(row.transfer)
    _require_token(transfer, token.lower())
    user = reading.read([User.by_id(transfer.user_id)]).find(User, transfer.user_id)
    if user is None or not user.may_sign_in(clock.now()):
        raise Unauthenticated
    return _write(row, Shown(transfer, user), _decided(transfer, draft), caller)


def _find_own(actor: Actor, transfer_id: TransferId, *, with_user: bool) -> tuple[Token, Shown]:
    owner = [User.by_id(actor.id)] if with_user else []
    rows = reading.read([_key(transfer_id), *owner])
    row = _find(rows, transfer_id)
    if row.user_id != actor.id:
        raise _missing()
    return row, Shown(
        MobileTransfer.of(row.transfer), rows.find(User, actor.id) if with_user else None
    )


def _find(rows: Rows, transfer_id: TransferId) -> Token:
    row = rows.find(Token, _key(transfer_id).hash_key)
    if row is None or not row.is_live(TRANSFER, clock.timestamp()):
        raise _missing()
    return row


def _missing() -> NotFound:
    return NotFound("Not Found")


def _require_token(transfer: MobileTransfer, token: str) -> None:
    """Refuse what is not the transfer's token, or is no longer: its time or the transfer ended."""
    begun = datetime.fromisoformat(transfer.created)
    is_late = clock.now() >= begun + timedelta(seconds=TOKEN_SECONDS)
    is_its_own = hmac.compare_digest(token_hash(TRANSFER_TOKEN, token), transfer.token_hash)
    if is_late or transfer.is_over or not is_its_own:
        raise Unauthenticated


def _decided(transfer: MobileTransfer, draft: Draft[MobileProgressBody]) -> MobileTransfer:
    """The transfer as it will be."""
    if draft.members.get("status", transfer.status) == START:
        raise Forbidden(RESTARTED)
    if transfer.is_over:
        raise Forbidden(OVER)
    body = read_progress(draft, transfer.total_pages)
    page, status = body.current_page, body.status
    changed = replace(
        transfer,
        current_page=transfer.current_page if isinstance(page, Unset) else page,
        status=transfer.status if isinstance(status, Unset) else status,
        modified=max(transfer.modified, timestamp_text(clock.now())),
    )
    if changed.status == COMPLETE and not changed.is_read_whole:
        raise Forbidden(NOT_WHOLE)
    return changed


def _write(row: Token, shown: Shown, changed: MobileTransfer, caller: Caller) -> Shown:
    """Store the transfer in place of the one that was read, as long as its user may sign in."""
    as_read = Token.transfer == row.transfer
    document = {**row.transfer, **asdict(changed)}
    with Transaction() as tx:
        tx.require(User.is_able(changed.user_id, clock.now()), otherwise=Unauthenticated())
        tx.update(row, Token.transfer.set(document), provided=as_read)
    if changed.is_over:
        audit.write(
            "mobile-transfer",
            actor=changed.user_id,
            object=changed.id,
            step=changed.status,
            result="success",
            request_id=caller.request_id,
        )
    return replace(shown, transfer=changed)


def _row(transfer: MobileTransfer) -> Token:
    key = _key(transfer.id)
    return Token(
        key.hash_key,
        kind=TRANSFER,
        user_id=transfer.user_id,
        expires=clock.timestamp() + KEPT,
        transfer=asdict(transfer),
    )


def _key(transfer_id: TransferId) -> Key:
    return Token.by_hash(token_hash(TRANSFER, transfer_id))
