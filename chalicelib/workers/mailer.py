"""By which way each mail leaves: SES, or a server of the organisation's own; its link leads to us.

The mailer is a function of its own, called by the outbox's stream with each row that is new.
Whoever looks after the tenant may call it too: with nothing in the event it sends what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.operator.notices import Event
from chalicelib.post.relay import Relay
from chalicelib.post.sending import Carrier, NotSent
from chalicelib.post.ses import PATIENCE, Ses
from chalicelib.services.operator import mail_relay, mails
from chalicelib.services.operator.notices import Letter
from chalicelib.settings import settings
from chalicelib.tables.settings import Setting, value_of
from chalicelib.views.mails import render

_OURS = re.compile(re.escape(settings.base_url) + "/[!-~]*")
LONGEST_MAIL = 2 * PATIENCE.longest
"""Seconds: sent, with its row read and marked before, and removed after."""
_ses = Ses(settings.mail_sender)


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    with deadline.within(deadline.WORKER):
        return answer(event, _ses)


def answer(event: Mapping[str, Any], ses: Ses) -> dict[str, Any]:
    """Send the mails of an event's records, and name those that are to be tried again.

    What was refused before is passed over. Without records, send whatever waits, also what was
    refused: its cause may be mended by now.
    """
    with closing(_Post(ses)) as post:

        def send(letter: Letter) -> None:
            _send(letter, post)

        if "Records" not in event:
            return _send_what_is_left(send)
        records = [record["dynamodb"] for record in event["Records"]]
        named = [each["Keys"]["id"]["S"] for each in records]
        again = _left_over(mails.bundled_unless_refused(named), send)
    failed = [each for each in records if each["Keys"]["id"]["S"] in again]
    return {"batchItemFailures": [{"itemIdentifier": each["SequenceNumber"]} for each in failed]}


class _Post:
    """By whom mails leave: a server of the organisation's own where one is named, else SES.

    The connection to a server is kept for the mails of one call.
    """

    def __init__(self, ses: Carrier) -> None:
        self._ses = ses
        self._relay: Relay | None = None
        self._named: Mapping[str, Any] = {}

    def carriers(self, letter: Letter) -> Iterator[Carrier]:
        """Who is asked to carry a mail, one after the other as long as it is not taken.

        That another server was named is told by SES first: the new one may be of somebody who
        would not let that mail through.
        """
        if letter.relay is None or letter.template == Event.SMTP_SETTINGS_SAVED:
            yield self._ses
        if letter.relay is not None:
            yield self._connected(letter.relay)

    def close(self) -> None:
        if self._relay is not None:
            self._relay.close()

    def _connected(self, row: Setting) -> Relay:
        if self._relay is None or value_of(row) != self._named:
            try:
                named = mail_relay.named_by(row)
            except Unavailable:  # its password does not open now; nothing has left
                raise NotSent("NoPassword", may_pass_later=True) from None
            self.close()
            self._relay, self._named = Relay(named), value_of(row)
        return self._relay


def _send_what_is_left(send: mails.Send) -> dict[str, int]:
    _left_over(mails.bundled(mails.waiting()), send)
    return {"waiting": len(mails.waiting())}


def _left_over(bundles: Sequence[Sequence[str]], send: mails.Send) -> set[str]:
    """Deliver mails, several of a kind by one; return those that are to be tried again."""
    return {mail_id for each in bundles if not _delivered(each, send) for mail_id in each}


def _delivered(mail_ids: Sequence[str], send: mails.Send) -> bool:
    """Deliver a mail or a digest, unless it would come too late to be marked as sent."""
    if not deadline.allows(LONGEST_MAIL):
        return False
    if len(mail_ids) > 1:
        return mails.deliver_digest(mail_ids, send)
    return mails.deliver(mail_ids[0], send)


def _send(letter: Letter, post: _Post) -> None:
    try:
        rendered = render(letter.template, letter.params, letter.locale)
    except LookupError:  # of a release that came later and was taken back
        raise NotSent("UnknownTemplate", may_pass_later=False) from None
    if not _OURS.fullmatch(rendered.link):
        raise NotSent("ForeignLink", may_pass_later=False)  # we lead nobody elsewhere
    failure: NotSent | None = None
    for carrier in post.carriers(letter):
        try:
            carrier.send(letter.address, rendered.subject, rendered.text, rendered.html)
        except NotSent as error:
            if error.may_have_left:
                raise
            failure = error
        else:
            return
    if failure is not None:
        raise failure
