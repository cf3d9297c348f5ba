"""The mails of the outbox: each is marked, sent, and then its row removed.

The mark counts what was handed over and not heard of again. So a mail that leaves while its
row cannot be removed is sent a few times at worst, and not for a whole day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from uuid import UUID, uuid5

from chalicelib.domain import audit, clock
from chalicelib.domain.errors import Stale
from chalicelib.post.ses import NotSent
from chalicelib.services.users import administrators
from chalicelib.storage import reading, writing
from chalicelib.storage.transaction import Transaction
from chalicelib.tables.outbox import ADMINISTRATORS, Mail

Send = Callable[[Mail], None]
"""Sends a mail to its one address, or raises `NotSent`."""
MOST_TRIES = 3
"""Of a mail nobody knows to have left or not."""


def deliver(mail_id: str, send: Send) -> bool:
    """Send a mail that waits; return whether it is done with, so that nobody tries again.

    One that has no row left was sent before. The row goes when the mail has left: who dies
    between the two sends it again, so a mail may be sent twice, and none is lost. The row of
    one that is refused stays until its day is over, for somebody to look into it.
    """
    row = reading.find(Mail.by_id(mail_id))
    if row is None:
        return True
    mail = Mail.from_raw(row)
    if mail.expires <= clock.timestamp():
        _remove(mail, "expired")
        return True
    if mail.recipient == ADMINISTRATORS:
        _address(mail)
        return True
    if mail.tries >= MOST_TRIES:
        _tell(mail, "unknown")
        return True
    return _begun(mail) and _handed_over(mail, send)


def waiting() -> list[str]:
    """Return which mails are still there: for who looks after the tenant, never in a request."""
    now = clock.timestamp()
    rows = reading.scan(Mail, "id", "expires")
    return [str(row["id"]["S"]) for row in rows if float(row["expires"]["N"]) > now]


def _begun(mail: Mail) -> bool:
    """Mark a mail, and return whether it is ours to send: two who read it do not both."""
    with suppress(Stale):
        with Transaction() as tx:
            tx.update(mail, Mail.tries.add(1), provided=mail.is_untried_since())
        return True
    return False


def _handed_over(mail: Mail, send: Send) -> bool:
    try:
        send(mail)
    except NotSent as failure:
        if not failure.may_have_left:
            _take_mark_back(mail)
        _tell(mail, "delayed" if failure.may_pass_later else "refused", failure.reason)
        return not failure.may_pass_later
    _remove(mail, "sent")
    return True


def _take_mark_back(mail: Mail) -> None:
    with Transaction() as tx:
        tx.update(mail, Mail.tries.add(-1), provided=Mail.present())


def _remove(mail: Mail, result: str) -> None:
    writing.delete_all([mail.key])
    _tell(mail, result)


def _address(mail: Mail) -> None:
    """Replace the mail to all administrators by one for each of them.

    What keeps one administrator from their mail then keeps no other from theirs, and nobody
    gets theirs again because of another. The new identifiers come from that of the replaced
    mail: a process that dies before the end, and begins anew, writes the same rows.
    """
    writing.put_all(_to_each(mail))
    writing.delete_all([mail.key])


def _to_each(mail: Mail) -> Iterator[Mail]:
    for address in administrators.addresses_of(mail.recipient):
        yield Mail(
            str(uuid5(UUID(mail.id), address)),
            recipient=address,
            template=mail.template,
            params=mail.params,
            created=mail.created,
            expires=mail.expires,
        )


def _tell(mail: Mail, result: str, why: str | None = None) -> None:
    audit.write(
        "mail",
        action="Mails.send",
        object=mail.id,
        template=mail.template,
        result=result,
        step=why,
    )
