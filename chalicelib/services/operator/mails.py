"""How often a mail of the outbox is tried, what becomes of it then, and which make one digest.

The mark counts what was handed over and not heard of again. So a mail that leaves while its
row cannot be removed is sent a few times at worst, and not for a whole day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from chalicelib.domain import clock
from chalicelib.domain.errors import Stale
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.metrics import Metric
from chalicelib.post.sending import NotSent
from chalicelib.services.operator import notices
from chalicelib.services.operator.notices import Letter
from chalicelib.storage import reading, writing
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.operator.outbox import Mail

Send = Callable[[Letter], None]
"""Sends a mail to its one address, or raises `NotSent`."""
MOST_TRIES = 3
"""Of a mail nobody knows to have left or not."""
MOST_IN_DIGEST = 50
LONGEST_FOR_ONE = timedelta(minutes=6)
"""How long others wait for one recipient whom a server puts off, which most do for five minutes."""
_COUNTED = {
    "sent": {Metric.MAILS_SENT: 1, Metric.MAILS_REFUSED: 0},
    "refused": {Metric.MAILS_SENT: 0, Metric.MAILS_REFUSED: 1},
}
"""What an alarm compares: that one is refused may be its address, that all are is the sender."""


def deliver(mail_id: str, send: Send) -> bool:
    """Send a mail that waits; return whether it is done with, so that nobody tries again.

    One that has no row left was sent before. The row is removed when the mail has left: where a
    process dies in between, the mail is sent again. So one may be sent twice, and none is lost. The
    row of one that is refused says so, and stays until its day is over, for somebody to look into.
    """
    row = reading.find(Mail.by_id(mail_id))
    if row is None:
        return True
    mail = Mail.from_raw(row)
    if mail.expires <= clock.timestamp():
        _remove(mail, "expired")
        return True
    if mail.is_notice:
        notices.spread(mail)
        return True
    if mail.tries >= MOST_TRIES:
        _tell(mail, "unknown")
        return True
    letter = notices.letter(mail)
    if letter is None:
        _remove(mail, "unwanted")
        return True
    return _begun(mail) and _handed_over([mail], letter, send)


def bundled(mail_ids: Iterable[str]) -> list[list[str]]:
    """What waits together, in its order: what one digest tells, and each other mail alone."""
    return _bundled(_read(mail_ids))


def bundled_unless_refused(mail_ids: Iterable[str]) -> list[list[str]]:
    """The same without what was refused for good.

    The stream names it again as long as an earlier mail of its batch has to wait.
    """
    found = _read(mail_ids).items()
    return _bundled({mail_id: mail for mail_id, mail in found if mail is None or not mail.refused})


def deliver_digest(mail_ids: Sequence[str], send: Send) -> bool:
    """Send one mail for several that tell one reader of changes of one kind by one actor.

    All are marked before and removed after, as one would be; return whether they are done with.
    Where any of them is not like the others by now, each is sent alone.
    """
    mails = [mail for mail in _read(mail_ids).values() if mail is not None]
    letters = [notices.letter(mail) for mail in mails if _may_leave(mail)]
    wanted = [letter for letter in letters if letter is not None]
    if len(wanted) < max(len(mail_ids), 2):
        done = [deliver(mail_id, send) for mail_id in mail_ids]
        return all(done)
    return _begun(*mails) and _handed_over(mails, notices.digest(wanted), send)


def waiting() -> list[str]:
    """Return which mails are still there. A scan: for operators, never in a request."""
    now = clock.timestamp()
    rows = reading.scan(Mail, "id", "expires")
    return [str(row["id"]["S"]) for row in rows if float(row["expires"]["N"]) > now]


def _read(mail_ids: Iterable[str]) -> dict[str, Mail | None]:
    """Mails in their order; nothing for one that has no row left."""
    ids = dict.fromkeys(mail_ids)
    rows = reading.read(map(Mail.by_id, ids))
    return {mail_id: rows.find(Mail, mail_id) for mail_id in ids}


def _bundled(found: Mapping[str, Mail | None]) -> list[list[str]]:
    bundles: dict[object, list[str]] = {}
    for mail_id, mail in found.items():
        family = None if mail is None else notices.family_of(mail)
        bundle = bundles.setdefault(family or mail_id, [])
        bundle.append(mail_id)
        if len(bundle) == MOST_IN_DIGEST:
            bundles[object()] = bundles.pop(family or mail_id)
    return list(bundles.values())


def _may_leave(mail: Mail) -> bool:
    return mail.expires > clock.timestamp() and mail.tries < MOST_TRIES


def _begun(*mails: Mail) -> bool:
    """Mark mails, and return whether they are ours to send: two who read them do not both."""
    with suppress(Stale):
        with Transaction() as tx:
            for mail in mails:
                tx.update(mail, Mail.tries.add(1), provided=mail.is_untried_since())
        return True
    return False


def _handed_over(mails: Sequence[Mail], letter: Letter, send: Send) -> bool:
    try:
        send(letter)
    except NotSent as failure:
        waits = failure.may_pass_later and not _has_held_up(mails[0], failure)
        if not waits:
            _note_refusal(mails)
        elif not failure.may_have_left:
            _take_marks_back(mails, failure)
        for mail in mails:
            _tell(mail, "delayed" if waits else "refused", failure.reason)
        return not waits
    writing.delete_all(mail.key for mail in mails)
    for mail in mails:
        _tell(mail, "sent")
    return True


def _has_held_up(mail: Mail, failure: NotSent) -> bool:
    """Whether others have waited long enough for a mail whose recipient alone is the reason."""
    if not failure.is_of_recipient or mail.put_off is None:
        return False
    return clock.now() - mail.put_off > LONGEST_FOR_ONE


def _note_refusal(mails: Sequence[Mail]) -> None:
    """Take marks back, and note that nothing but a call by hand sends these mails again."""
    refused = Mail.refused.set(clock.now())
    with Transaction() as tx:
        for mail in mails:
            tx.update(mail, Mail.tries.add(-1), refused, provided=Mail.present())


def _take_marks_back(mails: Sequence[Mail], failure: NotSent) -> None:
    with Transaction() as tx:
        for mail in mails:
            is_first = failure.is_of_recipient and mail.put_off is None
            since = [Mail.put_off.set(clock.now())] if is_first else []
            tx.update(mail, Mail.tries.add(-1), *since, provided=Mail.present())


def _remove(mail: Mail, result: str) -> None:
    writing.delete_all([mail.key])
    _tell(mail, result)


def _tell(mail: Mail, result: str, why: str | None = None) -> None:
    audit.write(
        "mail",
        _COUNTED.get(result, audit.NOTHING_COUNTED),
        action="Mails.send",
        object=mail.id,
        template=mail.template,
        result=result,
        step=why,
    )
