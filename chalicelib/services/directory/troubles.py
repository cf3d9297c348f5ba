"""How often administrators are told by mail of what keeps scheduled runs from their work.

A schedule meets the same trouble again and again. So it is noted when it was told, and a mail is
written in the transaction of that note, provided that none was for a day.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from enum import StrEnum

from chalicelib.domain import clock
from chalicelib.domain.errors import Stale
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.directory import directory_settings
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.directory.directory_links import DirectoryLink
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import Setting

TOLD_AGAIN = timedelta(days=1)


class Trouble(StrEnum):
    """The causes that are told apart."""

    UNREADABLE = "unreadable"
    """The directory gives no answer that is whole."""
    REFUSED = "refused"
    """The guard wants words for what would go."""


def tell(trouble: Trouble) -> None:
    """Tell the administrators of a trouble, unless they were told of one of its kind today.

    Nobody is told of a directory that is not synchronised with any more. What exactly it is stands
    in no mail, as directories and settings have a part in these texts: the dry run tells it.
    """
    audit.write("directory-run", action="DirectorySync.scheduled", result=trouble.value)
    now = clock.now()
    key = DirectoryLink.told(trouble.value)
    is_due = DirectoryLink.absent() | (DirectoryLink.created <= now - TOLD_AGAIN)
    with suppress(Stale), Transaction() as tx:
        tx.require(Check(directory_settings.KEY, Setting.present()))
        tx.update(key, DirectoryLink.created.set(now), provided=is_due)
        notices.tell(
            tx,
            Event.DIRECTORY_NOT_SYNCHRONISED,
            to=notices.administrators(),
            actor=None,
            trouble=trouble.value,
        )
