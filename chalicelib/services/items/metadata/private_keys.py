"""Copies of the private halves of shared metadata keys: who may be given one, and who lacks some.

A user's row notes which keys they have. A copy is written with that note, while the key is as it
was read and the user is one; so each has at most one copy of a key, and none of a deleted one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import read_entry, refused_at
from chalicelib.bodies.items.metadata import (
    INVALID_COPY,
    MOST_COPIES,
    OneCopy,
    RenewedCopy,
    SentCopy,
    require_something,
)
from chalicelib.bodies.openpgp import LONGEST_SEALED
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.armor import BadArmor, read_message
from chalicelib.domain.errors import FieldErrors, Invalid, NotFound, Refusal, TooLarge
from chalicelib.domain.ids import MetadataKeyId, MetadataPrivateKeyId, new_id
from chalicelib.domain.light import dataclass
from chalicelib.services.items.metadata import key_set, recipients
from chalicelib.services.items.metadata.item_metadata import is_for
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey, MetadataPrivateKeyRow
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import published_key
from chalicelib.tables.operator.published_key import PublicServerKey
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User, UserRow

MISSING = "The metadata private key does not exist."
NO_KEY = "The metadata key does not exist or has been deleted."
_NOT_CREATED = "The metadata private keys could not be created."
_NO_LIST = "The request should be a list of metadata private keys."
_HAS_ONE = "The metadata private key exists already for this user."
_ALREADY_RENEWED = "The metadata private key was last modified by the user already."

_TWICE = {"_isUnique": "The user has a copy of this key already."}
_NO_USER = {"isUserActiveIfPresent": "The user should exist and be active."}
_NO_MESSAGE = {
    "isValidOpenPGPMessage": "The message should be a valid ASCII-armored OpenPGP message."
}
_FOR_ANOTHER = {
    "isValidEncryptedMetadataPrivateKey": "The message should be for the key of its user alone."
}
_TOO_LONG = {"maxLength": f"The server opens messages of at most {LONGEST_SEALED} characters."}
_UNKNOWN_KEY = {"_existsIn": "The metadata key should exist and not be deleted."}

Errors = dict[str, FieldErrors]


class Copy(NamedTuple):
    """A private key encrypted for a user, or for the server where none is named."""

    metadata_key_id: str
    user_id: str | None
    data: str

    @property
    def key(self) -> Key:
        return MetadataPrivateKey.of(self.user_id, self.metadata_key_id)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of those who get copies."""

    users: Mapping[str, User]
    gpgkeys: Mapping[str, Gpgkey]
    """By user."""
    server: PublicServerKey | None
    existing: Collection[Key]
    """Copies that are there already."""


def read_known(copies: Iterable[Copy]) -> Known:
    """Read who the copies are for, their OpenPGP keys, and what they have already."""
    copies = list(copies)
    ids = {copy.user_id for copy in copies if copy.user_id is not None}
    wanted = [copy.key for copy in copies]
    rows = reading.read([*map(User.by_id, sorted(ids)), *wanted, published_key.KEY])
    found = ((user_id, rows.find(User, user_id)) for user_id in ids)
    users = {user_id: user for user_id, user in found if user and user.active and not user.deleted}
    existing = {key for key in wanted if MetadataPrivateKey.among(rows, key)}
    return Known(
        users, recipients.keys_of(users.values()), published_key.public_key(rows), existing
    )


def errors(copies: Sequence[Copy], known: Known) -> dict[str, FieldErrors]:
    """What is wrong with copies, by their position."""
    seen: set[Key] = set()
    found: dict[str, FieldErrors] = {}
    for at, copy in enumerate(copies):
        if broken := _errors(copy, known, is_second=copy.key in seen):
            found[str(at)] = broken
        seen.add(copy.key)
    return found


def write(
    tx: Change, actor: Actor | None, copies: Sequence[Copy], known: Known
) -> list[MetadataPrivateKey]:
    """Write copies, and note in the row of each user which keys they get."""
    rows = [new(copy, actor) for copy in copies]
    for row in rows:
        tx.then_put(row)
    for user_id, user in known.users.items():
        given = {copy.metadata_key_id for copy in copies if copy.user_id == user_id}
        tx.then_update(user, User.metadata_keys.add(given))
    return rows


def new(copy: Copy, author: Actor | None) -> MetadataPrivateKey:
    now, by = clock.now(), None if author is None else author.id
    row = MetadataPrivateKey(*copy.key[1:], id=new_id(), data=copy.data)
    row.created = row.modified = now
    row.created_by = row.modified_by = by
    return row


def share(actor: Actor, draft: Draft[Any]) -> None:
    """Give users copies of keys that they lack: all that are sent, or none.

    The keys are read first: their versions say that nobody was given a copy since.
    """
    copies = _read_list(draft)
    keys, known = keys_of(copies), read_known(copies)
    broken = errors(copies, known)
    for at, copy in enumerate(copies):
        if copy.metadata_key_id not in keys:
            broken[str(at)] = {**broken.get(str(at), {}), "metadata_key_id": _UNKNOWN_KEY}
    if broken:
        first = min(broken, key=int)
        raise refused_at(_NOT_CREATED, int(first), broken[first])
    _give(actor, keys, copies, known)


def share_one(actor: Actor, key_id: MetadataKeyId, draft: Draft[OneCopy]) -> MetadataPrivateKeyRow:
    """Give one user, or the server, a copy of a key."""
    require_something(draft)
    if draft.errors():
        raise Invalid(INVALID_COPY)
    body = draft.read(INVALID_COPY)
    copy = Copy(key_id, body.user_id, body.data)
    keys, known = keys_of([copy]), read_known([copy])
    if not keys:
        raise NotFound(NO_KEY)
    if copy.key in known.existing:
        raise Invalid(_HAS_ONE)
    if broken := _all_errors(copy, known):
        raise Invalid(_NOT_CREATED, broken)
    [row] = _give(actor, keys, [copy], known)
    return row.row


def view(key_id: MetadataKeyId, holder: str) -> MetadataPrivateKeyRow:
    """Return the copy of a key that a user, or the server, has."""
    key = MetadataPrivateKey.of(holder, key_id)
    row = MetadataPrivateKey.among(reading.read([key]), key)
    if row is None:
        raise NotFound(MISSING)
    return row


def renew(
    actor: Actor, copy_id: MetadataPrivateKeyId, draft: Draft[RenewedCopy]
) -> MetadataPrivateKeyRow:
    """Let a user encrypt and sign anew what somebody else made for them."""
    require_something(draft)
    if not isinstance(draft.members.get("data"), str):
        raise Invalid(INVALID_COPY)
    row = _own_copy(actor, copy_id)
    stored, renewed = MetadataPrivateKey.of_row(row), MetadataPrivateKey.of_row(row)
    if stored.modified_by == actor.id:
        raise Invalid(_ALREADY_RENEWED)
    body = draft.read(INVALID_COPY)
    rows = _require_own(actor, body.data)
    renewed.data, renewed.modified, renewed.modified_by = body.data, clock.now(), actor.id
    with Transaction() as tx:
        tx.require(User.may_be_given(actor.id, rows.lock(User.by_id(actor.id))))
        tx.update(
            renewed,
            MetadataPrivateKey.data.set(renewed.data),
            MetadataPrivateKey.modified.set(renewed.modified),
            MetadataPrivateKey.modified_by.set(actor.id),
            provided=stored.is_as_read(),
        )
        tx.create(_log(actor, copy_id, "updated"))
    return renewed.row


class Lacking:
    """The keys that users lack copies of, noted while the users are read, if that is wanted.

    Expired keys are among them, which old items are read by; deleted ones are not.
    """

    def __init__(self, is_wanted: bool) -> None:  # noqa: FBT001 - whether it does anything
        rows = MetadataKey.every_row() if is_wanted else ()
        self._live = [row["id"]["S"] for row in rows if "deleted" not in row]
        self.keys: dict[str, list[str]] = {}

    def note(self, user: UserRow) -> None:
        """Who has yet to set up lacks none."""
        has = user["metadata_keys"]["SS"] if "metadata_keys" in user else ()
        live = self._live if user["active"]["BOOL"] else ()
        self.keys[user["id"]["S"]] = [key_id for key_id in live if key_id not in has]


def _errors(copy: Copy, known: Known, *, is_second: bool = False) -> Errors:
    """What is wrong with one copy."""
    broken: Errors = {}
    if is_second or copy.key in known.existing:
        broken["user_id"] = _TWICE
    if copy.user_id is not None and copy.user_id not in known.users:
        broken["user_id"] = {**broken.get("user_id", {}), **_NO_USER}
    try:
        read_message(copy.data)
    except BadArmor:
        return broken | {"data": {**_NO_MESSAGE, **_FOR_ANOTHER}}
    recipient = known.server if copy.user_id is None else known.gpgkeys.get(copy.user_id)
    if recipient is None or not is_for(copy.data, recipient):
        broken["data"] = _FOR_ANOTHER
    if copy.user_id is None and len(copy.data) > LONGEST_SEALED:
        broken["data"] = {**broken.get("data", {}), **_TOO_LONG}
    return broken


def _all_errors(copy: Copy, known: Known) -> Errors:
    """The same of one whose form is looked at only now; of no data nothing else is said."""
    form = Draft(RenewedCopy, {"data": copy.data}).errors().get("data", {})
    broken = {} if "_empty" in form else _errors(copy, known)
    said = {**broken.get("data", {}), **form}
    return {**broken, "data": said} if said else broken


def _give(
    actor: Actor, keys: Mapping[str, MetadataKey], copies: Sequence[Copy], known: Known
) -> list[MetadataPrivateKey]:
    """Write copies, and raise the versions of their keys: of two who give the same, one does."""
    first, *others = keys.values()
    with Change(first, first.copy()) as tx:
        tx.makes(copies[0].key.hash_key)
        tx.require(User.is_administrator(actor.id, clock.now()))
        for key in others:
            tx.then_update(key, MetadataKey.version.add(1))
        if any(copy.user_id is None for copy in copies):
            key_set.raise_for_server(tx)
        for place, key_id in enumerate(keys):
            tx.create(_log(actor, key_id, "created", is_first=place == 0))
        return write(tx, actor, copies, known)


def _read_list(draft: Draft[Any]) -> list[Copy]:
    """The copies that were sent; refuse the first that is none."""
    require_something(draft)
    sent = draft.payload
    if not isinstance(sent, list) or not all(isinstance(each, dict) for each in sent):
        raise Invalid(_NO_LIST)
    if len(sent) > MOST_COPIES:
        raise TooLarge(f"A request may have at most {MOST_COPIES} of these entries.")
    copies = []
    for at, each in enumerate(sent):
        body = read_entry(SentCopy, each, partial(refused_at, INVALID_COPY, at))
        if isinstance(body, Refusal):
            raise body
        copies.append(Copy(body.metadata_key_id, body.user_id, body.data))
    return copies


def keys_of(copies: Iterable[Copy]) -> dict[str, MetadataKey]:
    """The keys of copies, as far as they exist and are not deleted."""
    ids = dict.fromkeys(copy.metadata_key_id for copy in copies)
    rows = reading.read(map(MetadataKey.by_id, ids))
    found = ((id_, MetadataKey.find(rows, id_)) for id_ in ids)
    return {key_id: key for key_id, key in found if key is not None and not key.is_deleted}


def _own_copy(actor: Actor, copy_id: MetadataPrivateKeyId) -> MetadataPrivateKeyRow:
    for row in MetadataPrivateKey.held_by(actor.id):
        if row["id"]["S"] == copy_id:
            return row
    raise NotFound(MISSING)


def _require_own(actor: Actor, data: str) -> Rows:
    """Refuse what is not encrypted for the actor; return their row and their key."""
    own_key = [] if actor.gpgkey_id is None else [Gpgkey.by_id(actor.gpgkey_id)]
    rows = reading.read([User.by_id(actor.id), *own_key])
    gpgkey = rows.find(Gpgkey, own_key[0].hash_key) if own_key else None
    if gpgkey is None or not is_for(data, gpgkey):
        raise Invalid(INVALID_COPY, {"data": _FOR_ANOTHER})
    return rows


def _log(actor: Actor, subject: str, verb: str, *, is_first: bool = True) -> ActionLog:
    action = f"MetadataPrivateKeys.{verb}"
    return ActionLog.of(subject, action, actor.id, actor.caller, is_first=is_first)
