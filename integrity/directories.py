"""What must be true of the links between a company's directory and who or what is here.

A link to somebody who was deleted is no fault: the next run tells of it and ends it. So it is with
a relation whose membership was ended by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.tables.directory.directory_links import ASKED, EXEMPT, LINKED, Model
from integrity.stored import Row, Stored, Violation


def _of_kind(stored: Stored, kind: str) -> list[Row]:
    return [row for row in stored.rows("directory_links") if row["kind"] == kind]


def nobody_is_linked_twice(stored: Stored) -> Iterator[Violation]:
    """An entry is linked once, by its key. So is a user or a group, by the row the other way."""
    links = [*_of_kind(stored, Model.USERS), *_of_kind(stored, Model.GROUPS)]
    there = {(row["subject"], row["id"]) for row in links}
    back = {(row["id"], row["subject"]) for row in _of_kind(stored, LINKED)}
    for subject, entry in sorted(there - back):
        yield Violation("I10", subject, f"the entry {entry} is linked to what does not know of it")
    for subject, entry in sorted(back - there):
        yield Violation("I10", subject, f"it is linked to the entry {entry}, which does not say so")


def links_lead_somewhere(stored: Stored) -> Iterator[Violation]:
    for kind, known in ((Model.USERS, stored.users), (Model.GROUPS, stored.groups)):
        for row in _of_kind(stored, kind):
            if row["subject"] not in known:
                yield Violation("I9", row["id"], "an entry is linked to what was never there")
    of_model = {Model.USERS: stored.users, Model.GROUPS: stored.groups}
    for row in _of_kind(stored, EXEMPT):
        if row["id"] not in of_model.get(row["model"], {row["id"]}):
            yield Violation("I9", row["id"], "runs leave alone what was never there")
    for row in _of_kind(stored, ASKED):
        if row["id"] not in stored.groups or not row["wanted"]:
            yield Violation("I9", row["id"], "somebody was asked to add nobody, or to no group")


def relations_are_of_their_memberships(stored: Stored) -> Iterator[Violation]:
    memberships = {row["id"]: row for row in stored.rows("memberships")}
    for row in _of_kind(stored, Model.MEMBERSHIPS):
        if row["subject"] not in stored.groups or row["member"] not in stored.users:
            yield Violation("I9", row["id"], "a run noted a membership of what was never there")
        membership = memberships.get(row["id"])
        said = (row["subject"], row["member"])
        if membership and (membership["group_id"], membership["user_id"]) != said:
            yield Violation("I3", row["id"], "a run noted another membership than there is")
