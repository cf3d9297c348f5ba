"""The ignore list: users, groups and entries of the directory that runs leave alone."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, NotFound, Refusal, Stale, Unavailable
from chalicelib.domain.ids import find_uuid
from chalicelib.services.directory import directory_settings
from chalicelib.services.directory.synchronisation import SWITCHED_OFF
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Grant
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.directory.directory_links import EXEMPT, DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import User

_MODELS = {
    "users": Model.USERS,
    "groups": Model.GROUPS,
    "directoryentries": Model.ENTRIES,
}
_TABLES: Mapping[Model, type[User | Group]] = {Model.USERS: User, Model.GROUPS: Group}
_MALFORMED = "The identifier should be a valid UUID."
_EXEMPT_ALREADY = Invalid("The record is already on the ignore list.")
_NO_SUBJECT = "There is no such user or group."
_NOT_EXEMPT = "The record is not on the ignore list."
_NO_EXEMPTION = NotFound("There is no such record on the ignore list.")


def view(model: str, subject: str) -> DirectoryLink:
    """Return what the ignore list says of a record."""
    _require_model(model)
    found = _find(find_uuid(subject))
    if found is None:
        raise NotFound(_NOT_EXEMPT)
    return found


def add(
    actor: Actor, model: str, subject: str, already: Refusal = _EXEMPT_ALREADY
) -> DirectoryLink:
    """Let runs leave a user, a group or an entry alone. It is added once.

    Who is deleted at this moment, by a run or by hand, is not added.
    """
    kind = _require_model(model)
    subject_id = find_uuid(subject)
    if subject_id is None:
        raise Invalid(_MALFORMED)
    grant = _require_subject(kind, subject_id)
    if _find(subject_id) is not None:
        raise already
    row = DirectoryLink.exemption(kind, subject_id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.hold(grant)
        tx.create(row, otherwise=already)
    return row


def remove(actor: Actor, model: str, subject: str, missing: Refusal = _NO_EXEMPTION) -> None:
    """Take a user, a group or an entry off the list."""
    _require_model(model)
    subject_id = find_uuid(subject)
    if subject_id is None:
        raise Invalid(_MALFORMED)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        key = DirectoryLink.by_id(EXEMPT, subject_id)
        tx.delete(key, provided=DirectoryLink.present(), otherwise=missing)


def toggle(actor: Actor, model: str, subject: str) -> DirectoryLink | None:
    """Add what is not on the list, and take off what is; return what stands there then.

    Of two at once the second does the opposite.
    """
    _require_model(model)
    if _find(find_uuid(subject)) is None:
        return add(actor, model, subject, already=Stale())
    remove(actor, model, subject, missing=Stale())
    return None


def _require_model(model: str) -> Model:
    """Refuse while nothing is synchronised, and then what is no model."""
    if directory_settings.find() is None:
        raise Unavailable(SWITCHED_OFF)
    found = _MODELS.get(model[:1].lower() + model[1:].lower())
    if found is None:
        raise Invalid("The model is unknown.")
    return found


def _require_subject(model: Model, subject_id: str) -> Grant:
    """Refuse what is no user or group. Entries of the directory are nobody's to check."""
    table = _TABLES.get(model)
    if table is None:
        return Grant(())
    row = reading.read([table.by_id(subject_id)]).find(table, subject_id)
    if row is None or row.deleted:
        raise NotFound(_NO_SUBJECT)
    # A large deletion says in the row of a user that they are gone, and of their groups by lines.
    return Grant((Check(row.key, table.deleted == False, unlocked=table is Group),))


def _find(subject_id: str | None) -> DirectoryLink | None:
    if subject_id is None:
        return None
    rows = reading.read([DirectoryLink.by_id(EXEMPT, subject_id)])
    return rows.find(DirectoryLink, EXEMPT, subject_id)
