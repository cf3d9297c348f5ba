"""What rests sealed to an earlier key of the server is sealed to the one in use.

Second factors, passwords of the organisation's own servers, the server's copies of metadata keys.
Each row is written where it still holds what was read: what somebody changes meanwhile, they have
sealed themselves. Where a process dies, the next one does the rest: what is done names the new key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from chalicelib.crypto.openpgp import MOST_SEALED, BadMessage, ServerKey
from chalicelib.crypto.server_keys import ServerKeys, addressed, recipients_of
from chalicelib.domain.errors import Stale, Unavailable
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.storage import reading
from chalicelib.storage.base import in_chunks
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.claims import USERNAME, Claim
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from chalicelib.tables.settings import DIRECTORY_SYNC, MAIL_RELAY, Setting, as_read, value_of
from chalicelib.tables.users.users import User

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Found:
    """What one call has come across."""

    resealed: int
    unopened: int
    """Sealed to an earlier key and not opened by it: so it was before, and so it stays."""
    is_all: bool
    """Whether all there is was looked at."""


@dataclass(frozen=True, slots=True)
class _Row:
    """What a row has sealed, by names; and how it is written."""

    name: str
    seals: Mapping[str, str]
    store: Callable[[Mapping[str, str]], None]
    is_signed_by_us: bool = True


def reseal(keys: ServerKeys) -> Found:
    """Seal to the key in use, as far as there is time; raises `Unavailable` where there is none.

    What was written while it was read is looked at again, until nothing is left.
    """
    resealed, unopened, is_again = 0, 0, True
    try:
        while is_again:
            is_again, unopened = False, 0
            for row in _rows():
                after, refused = _resealed(keys, row)
                unopened += refused
                if after != row.seals:
                    is_again = True
                    resealed += _is_stored(row, after)
    except Unavailable:
        if not resealed:
            raise
        return Found(resealed, unopened, is_all=False)
    return Found(resealed, unopened, is_all=True)


def _is_stored(row: _Row, after: Mapping[str, str]) -> bool:
    with suppress(Stale):
        row.store(after)
        return True
    return False


def is_left(keys: ServerKeys) -> bool:
    """Whether an earlier key opens something that the one in use does not."""
    return any(_resealed(keys, row)[0] != row.seals for row in _rows())


def _rows() -> Iterator[_Row]:
    for claims in in_chunks(Claim.of_kind(USERNAME), _PAGE):
        ids = [claim.subject for claim in claims]
        rows = reading.read(map(User.by_id, ids))
        users = (rows.find(User, user_id) for user_id in ids)
        yield from (_of_user(user) for user in users if user is not None and user.totp)
    for copy in map(MetadataPrivateKey.of_row, MetadataPrivateKey.held_by(None)):
        yield _of_copy(copy)
    settings = reading.read(map(Setting.named, (DIRECTORY_SYNC, MAIL_RELAY)))
    if (row := settings.find(Setting, DIRECTORY_SYNC)) is not None:
        yield _of_directory(row)
    if (row := settings.find(Setting, MAIL_RELAY)) is not None and value_of(row)["password"]:
        yield _of_relay(row)


def _of_user(user: User) -> _Row:
    def store(seals: Mapping[str, str]) -> None:
        with Transaction() as tx:
            after = User.totp.set(seals["totp"])
            tx.update(User.by_id(user.id), after, provided=user.as_read("totp"))

    return _Row(user.id, {"totp": str(user.totp)}, store)


def _of_copy(copy: MetadataPrivateKey) -> _Row:
    """Users have made and signed these, which is what they are believed for."""

    def store(seals: Mapping[str, str]) -> None:
        data = MetadataPrivateKey.data
        with Transaction() as tx:
            as_it_was = copy.is_as_read() & (data == copy.data)
            tx.update(copy.key, data.set(seals["data"]), provided=as_it_was)

    return _Row(copy.id, {"data": copy.data}, store, is_signed_by_us=not copy.modified_by)


def _of_directory(row: Setting) -> _Row:
    def store(seals: Mapping[str, str]) -> None:
        _write_setting(row, passwords=seals)

    return _Row(DIRECTORY_SYNC, value_of(row)["passwords"], store)


def _of_relay(row: Setting) -> _Row:
    def store(seals: Mapping[str, str]) -> None:
        _write_setting(row, **seals)

    return _Row(MAIL_RELAY, {"password": value_of(row)["password"]}, store)


def _write_setting(row: Setting, **sealed: object) -> None:
    """Who changed it last, and when, stays as it is."""
    with Transaction() as tx:
        after = Setting.value.set(value_of(row) | sealed)
        tx.update(row.key, after, provided=as_read(row))


def _resealed(keys: ServerKeys, row: _Row) -> tuple[dict[str, str], int]:
    """What a row's seals become, and how many do not open."""
    after, unopened = dict(row.seals), 0
    for name, sealed in row.seals.items():
        earlier = addressed(keys.earlier, recipients_of(sealed, MOST_SEALED))
        if earlier is None:
            continue
        try:
            after[name] = _handed_over(sealed, earlier, keys.in_use, is_ours=row.is_signed_by_us)
        except BadMessage as error:
            audit.write("reseal", object=row.name, step=error.step, result="refused")
            unopened += 1
    return after, unopened


def _handed_over(sealed: str, earlier: ServerKey, to: ServerKey, *, is_ours: bool) -> str:
    """What we have signed is signed by the new key; what somebody else has, keeps their signature.

    It is not written unless the new key opens it.
    """
    if not is_ours:
        return earlier.handed_over(sealed, to)
    text = earlier.open_signed(sealed, earlier.armored_public_key, most=MOST_SEALED)
    anew = to.seal_to_itself(text)
    if to.open_signed(anew, to.armored_public_key, most=MOST_SEALED) != text:
        raise BadMessage("recipient")
    return anew
