"""The mailer as a function of its own, called by the outbox's stream with each row that is new.

Who looks after the tenant may call it too: with nothing in the event it sends what is left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chalicelib.domain import deadline
from chalicelib.post.ses import PATIENCE, NotSent, Ses
from chalicelib.services.operator import mails
from chalicelib.settings import settings
from chalicelib.tables.outbox import Mail
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

    Without records, send whatever waits, also what was refused: its cause may be mended by now.
    """

    def send(mail: Mail) -> None:
        _send(mail, ses)

    if "Records" not in event:
        return _send_what_is_left(send)
    records = [record["dynamodb"] for record in event["Records"]]
    failed = [each for each in records if not _delivered(each["Keys"]["id"]["S"], send)]
    return {"batchItemFailures": [{"itemIdentifier": each["SequenceNumber"]} for each in failed]}


def _send_what_is_left(send: mails.Send) -> dict[str, int]:
    for mail_id in mails.waiting():
        _delivered(mail_id, send)
    return {"waiting": len(mails.waiting())}


def _delivered(mail_id: str, send: mails.Send) -> bool:
    """Deliver a mail, unless it would come too late to be marked as sent."""
    return deadline.allows(LONGEST_MAIL) and mails.deliver(mail_id, send)


def _send(mail: Mail, ses: Ses) -> None:
    try:
        rendered = render(mail.template, mail.params.attribute_values)
    except LookupError:  # of a release that came later and was taken back
        raise NotSent("UnknownTemplate", may_pass_later=False) from None
    if not _OURS.fullmatch(rendered.link):
        raise NotSent("ForeignLink", may_pass_later=False)  # we lead nobody elsewhere
    ses.send(mail.recipient, rendered.subject, rendered.text)
