"""Session keys that a client keeps, encrypted to its user, so as to read metadata faster.

An entry is its user's alone. It is written with all its parts, or not at all.
"""

from __future__ import annotations

from datetime import timedelta

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import session_keys as bodies
from chalicelib.bodies.items.session_keys import SessionKeyBody, SessionKeyEditBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Conflict, Invalid, NotFound, Stale
from chalicelib.domain.ids import SessionKeyId, new_id
from chalicelib.services.items.metadata import item_metadata
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.session_keys import COUNT, MOST_ENTRIES, SessionKey, SessionKeyRow
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User

MISSING = "The session key does not exist."
UNCHANGED = "The session key data is the same as before."
CHANGED = "The session key was changed by someone else meanwhile."
_FOR_ANOTHER = {
    "isValidEncryptedMetadataSessionKey": "The message should be encrypted for your key alone."
}
_TOO_MANY = f"You have {MOST_ENTRIES} of these entries already; please delete one first."
_SECOND = timedelta(seconds=1)


def of(actor: Actor) -> list[SessionKeyRow]:
    """Return all entries of the actor's."""
    return SessionKey.entries_of(actor.id)


def view(actor: Actor, session_key_id: SessionKeyId) -> SessionKeyRow:
    """Return an entry of the actor's."""
    return _load(actor, session_key_id).whole()


def create(actor: Actor, draft: Draft[SessionKeyBody]) -> SessionKeyRow:
    """Store an entry for the actor, who is not being deleted meanwhile."""
    data = bodies.read_new(draft).data
    _require_for_actor(actor, data, reading.read(_own_key(actor)))
    now = clock.now()
    entry = SessionKey(actor.id, new_id(), created=now, modified=now)
    parts = entry.lay_out(data)
    full = Invalid(_TOO_MANY)
    try:
        with Transaction() as tx:
            tx.makes(entry.id)
            tx.require(User.may_be_given(actor.id, actor.lock))
            one_more, room = SessionKey.entries.add(1), SessionKey.has_room()
            tx.update(SessionKey.count_of(actor.id), one_more, provided=room, otherwise=full)
            tx.create(entry)
            for part in parts:
                tx.create(part)
    except Invalid as refusal:
        if refusal is full:
            _count_again(actor)
        raise
    return {**entry.row, "data": {"S": data}}


def _count_again(actor: Actor) -> None:
    """Begin the request again where fewer entries are there than counted.

    An earlier release, during a rollback, removes entries and does not count.
    """
    key, there = SessionKey.count_of(actor.id), len(SessionKey.entries_of(actor.id))
    counted = reading.read([key]).find(SessionKey, actor.id, COUNT)
    if counted is not None and there < counted.entries:
        with Transaction() as tx:
            is_as_read = SessionKey.entries == counted.entries
            tx.update(key, SessionKey.entries.set(there), provided=is_as_read)
        raise Stale


def update(
    actor: Actor, session_key_id: SessionKeyId, draft: Draft[SessionKeyEditBody]
) -> SessionKeyRow:
    """Replace what an entry of the actor's holds, as it was when they read it.

    Each update makes `modified` later by a second at least. So of two that are sent with the same
    moment the second is refused, also within that second.
    """
    body = bodies.read_update(draft)
    rows = reading.read([SessionKey.of(actor.id, session_key_id), *_own_key(actor)])
    entry = _require(SessionKey.find_among(rows, actor.id, session_key_id))
    _require_change(entry, body)
    _require_for_actor(actor, body.data, rows)
    as_read, former = entry.as_read(), entry.part_keys()
    parts = entry.lay_out(body.data)
    modified = SessionKey.modified.set(max(clock.now(), entry.modified + _SECOND))
    with Transaction() as tx:
        tx.require(User.may_be_given(actor.id, actor.lock))
        tx.update(entry, *entry.content(), modified, provided=as_read)
        for part in parts:
            tx.create(part)
        for key in former:
            tx.delete(key)
    return {**entry.row, "data": {"S": body.data}}


def delete(actor: Actor, session_key_id: SessionKeyId) -> None:
    """Remove an entry of the actor's, with its parts; whoever is being deleted keeps no count."""
    entry = _load(actor, session_key_id)
    with Transaction() as tx:
        tx.require(User.may_be_given(actor.id, actor.lock))
        tx.update(SessionKey.count_of(actor.id), SessionKey.entries.add(-1), provided=None)
        tx.delete(entry, provided=entry.as_read())
        for key in entry.part_keys():
            tx.delete(key)


def _load(actor: Actor, session_key_id: SessionKeyId) -> SessionKey:
    rows = reading.read([SessionKey.of(actor.id, session_key_id)])
    return _require(SessionKey.find_among(rows, actor.id, session_key_id))


def _require(entry: SessionKey | None) -> SessionKey:
    if entry is None:
        raise NotFound(MISSING)
    return entry


def _require_change(entry: SessionKey, body: SessionKeyEditBody) -> None:
    """Refuse what is stored already, and what was decided from an earlier version."""
    if entry.whole()["data"]["S"] == body.data:
        raise Invalid(UNCHANGED)
    if abs(body.modified - entry.modified) >= _SECOND:
        raise Conflict(CHANGED)


def _own_key(actor: Actor) -> list[Key]:
    return [] if actor.gpgkey_id is None else [Gpgkey.by_id(actor.gpgkey_id)]


def _require_for_actor(actor: Actor, data: str, rows: Rows) -> None:
    """Refuse a message that is not for the actor's key alone, which is among the rows."""
    gpgkey = rows.find(Gpgkey, actor.gpgkey_id) if actor.gpgkey_id else None
    if gpgkey is None or not item_metadata.is_for(data, gpgkey):
        raise Invalid(bodies.NOT_SAVED, {"data": _FOR_ANOTHER})
