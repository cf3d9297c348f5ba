"""Notes of earlier runs about what is gone: removed at the end of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.directory.directory import Directory
from chalicelib.services.directory.known import Known
from chalicelib.services.directory.standing import SettingsChanged
from chalicelib.storage.base import Check, in_chunks
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.users.users import User


def remove(
    actor: Actor,
    known: Known,
    still: Check,
    directory: Directory,
    listed: Iterable[DirectoryLink],
) -> None:
    """Remove exemptions of what is not there, and what was noted of whoever is not linked any more.

    `listed` are the exemptions there were when the directory was asked: it says nothing of those
    that came later.
    """
    rows = [*_exemptions(known, directory, listed), *_relations(known), *_asked(known)]
    for chunk in in_chunks(rows, MAX_ROWS - 2):
        with Transaction() as tx:
            tx.require(User.is_administrator(actor.id, clock.now()))
            tx.require(still, otherwise=SettingsChanged())
            for row in chunk:
                tx.delete(row)


def _exemptions(
    known: Known, directory: Directory, listed: Iterable[DirectoryLink]
) -> Iterator[DirectoryLink]:
    present: set[str] = {entry.id for entry in (*directory.people, *directory.teams)}
    present |= {*known.people, *known.teams}
    there: dict[Model, Collection[str]] = {
        Model.USERS: known.users.keys(),
        Model.GROUPS: known.groups.keys(),
        Model.ENTRIES: present,
    }
    for row in listed:
        if row.id not in there[Model(row.model)]:
            yield row


def _asked(known: Known) -> Iterator[DirectoryLink]:
    yield from (row for group_id, row in known.asked.items() if group_id not in known.linked)


def _relations(known: Known) -> Iterator[DirectoryLink]:
    for group_id, relations in known.relations.items():
        for row in relations.values():
            is_linked = group_id in known.linked and row.member in known.linked
            if not is_linked and row.id not in known.newer:
                yield row
