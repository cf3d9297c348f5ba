"""What people find in their letter boxes: the outbox is emptied as the mailer empties it."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.operator import mails
from chalicelib.services.operator.notices import Letter
from chalicelib.views.mails import render
from tests.support.faults.rights import rights_of_group
from tests.support.leaks import watch
from tests.support.storage import Storage
from tests.support.world import people

[MAILER] = (worker for worker in WORKERS if worker.name == "mailer")


@dataclass(frozen=True)
class Posted:
    address: str
    template: str
    subject: str
    text: str
    html: str

    @property
    def who(self) -> str:
        """The first part of the address: `ada`."""
        return self.address.partition("@")[0]


def posted(store: Storage) -> list[Posted]:
    """Send all that waits, and return it, ordered by address."""
    sent: list[Posted] = []

    def send(letter: Letter) -> None:
        mail = render(letter.template, letter.params, letter.locale)
        watch.posted([letter.address], f"{mail.subject}\n{mail.text}\n{mail.html}")
        sent.append(Posted(letter.address, letter.template, mail.subject, mail.text, mail.html))

    with rights_of_group(MAILER):
        while waiting := people.mails(store):
            for row in waiting:
                mails.deliver(row.id, send)
    return sorted(sent, key=lambda each: (each.address, each.template))


def told(store: Storage) -> list[tuple[str, str]]:
    """Who is told what: the first part of each address, and the template."""
    return [(each.who, each.template) for each in posted(store)]
