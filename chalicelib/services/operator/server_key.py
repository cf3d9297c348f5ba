"""The tenant's OpenPGP key: what clients encrypt sign-ins to, and what signs our answers.

While it changes there are two or more (ADR 50). One is in use; the others open what is encrypted
to them, and answer who has not heard of the new one as who they are known to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from chalicelib.crypto import private_keys
from chalicelib.crypto.openpgp import MOST_CHALLENGE, MOST_SEALED, ServerKey
from chalicelib.crypto.public_keys import find_facts
from chalicelib.crypto.server_keys import ServerKeys, addressed, recipients_of
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.domain.operator.server_key_sets import Step
from chalicelib.domain.warm import Warm
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.operator import notices, published_key
from chalicelib.tables.operator.published_key import PublicServerKey
from chalicelib.tables.settings import SERVER_KEY, Setting, as_read, value_of

_TOLD = {
    Step.USE: Event.SERVER_KEY_ANNOUNCED,
    Step.RETIRE: Event.SERVER_KEY_CHANGED,
    Step.REMOVE: Event.SERVER_KEY_RETIRED,
}
"""What administrators hear when this step is the next."""


def _load() -> ServerKeys:
    return ServerKeys.load(private_keys.read(private_keys.OPENPGP))


server_keys: Warm[ServerKeys] = Warm(_load)


def in_use() -> ServerKey:
    """The key that clients are shown; what is sealed now is sealed with it."""
    return server_keys.get().in_use


def fingerprints() -> set[str]:
    """Of all keys that are the server's own."""
    return {key.fingerprint for key in server_keys.get().keys}


def for_client(armored: object) -> ServerKey:
    """The key that a client has encrypted to, which is to answer; else the one in use."""
    return _addressed(recipients_of(armored, MOST_CHALLENGE), lambda keys: keys.answering)


def for_sealed(armored: object) -> ServerKey:
    """The key that something rests sealed to; else the one in use, which will not open it."""
    return _addressed(recipients_of(armored, MOST_SEALED), lambda keys: keys.keys)


def opened(sealed: object) -> str:
    """The text of what the server has sealed to itself; raises `BadMessage`."""
    key = for_sealed(sealed)
    return key.open_challenge(sealed, key.armored_public_key)


def published() -> Setting | None:
    """The row that says how the keys stand; it is read before the secret, see `publish`."""
    return reading.read([published_key.KEY]).find(Setting, SERVER_KEY)


def publish(row: Setting | None, keys: ServerKeys) -> None:
    """Let functions without the private key know what messages for the server are encrypted to.

    The secret decides; the row is written after it, and tells administrators of each step once.
    It was read before the secret was. So nobody who is late publishes keys over newer ones: these
    were stored and published since, and the row is not as it was read.
    """
    forget()
    before, value = value_of(row), _public(keys)
    if before == value:
        return
    with Transaction() as tx:
        tx.update(published_key.KEY, *Setting.says(value), provided=as_read(row))
        if (event := _event(before, value, keys.key_set.step)) is not None:
            _tell(tx, event, keys)
    audit.write("server-key", step=value.get("step", ""), object=value["fingerprint"])


def publish_stored() -> None:
    """Publish what the secret holds."""
    row = published()
    publish(row, _load())


def forget() -> None:
    """Read the keys anew when they are wanted next."""
    server_keys.forget()


def _addressed(
    recipients: frozenset[str], which: Callable[[ServerKeys], tuple[ServerKey, ...]]
) -> ServerKey:
    """Where a message is for none of the keys known here, there may be another one since."""
    known = server_keys.get()
    if recipients and addressed(known.keys, recipients) is None:
        with suppress(Unavailable):  # what is known is good for its quarter of an hour
            known = server_keys.renew()
    return addressed(which(known), recipients) or known.in_use


def _public(keys: ServerKeys) -> dict[str, Any]:
    """What is published: of a single key no more than there was before keys changed."""
    key_set, ids = keys.key_set, frozenset[str]().union(*map(_ids, keys.answering))
    public = PublicServerKey(keys.in_use.fingerprint, ids).value()
    if key_set.step is Step.NEXT:
        return public
    all_keys = [key.fingerprint for key in keys.keys]
    moments = {"made": key_set.made, "used_from": key_set.used_from, "retired": key_set.retired}
    since = {name: timestamp_text(moment) for name, moment in moments.items() if moment}
    return {**public, "fingerprints": all_keys, "step": str(key_set.step), **since}


def _ids(key: ServerKey) -> tuple[str, ...]:
    facts = find_facts(key.armored_public_key)
    if facts is None:
        raise ValueError("The server's own key cannot be read.")
    return facts.encryption_key_ids


def _stage(value: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The next step, and the newest key."""
    return value.get("step"), next(reversed(value.get("fingerprints", ())), None)


def _event(before: Mapping[str, Any], value: Mapping[str, Any], step: Step) -> Event | None:
    """What administrators are told: of each step once, and of a single key that is another one.

    That is there where the key was lost or overwritten, and nothing of it could be kept.
    """
    if step in _TOLD:
        return _TOLD[step] if _stage(before) != _stage(value) else None
    is_another = before.get("fingerprint", value["fingerprint"]) != value["fingerprint"]
    return Event.SERVER_KEY_RETIRED if is_another else None


def _tell(tx: Transaction, event: Event, keys: ServerKeys) -> None:
    newest = keys.keys[-1].fingerprint
    notices.tell(tx, event, to=notices.administrators(), actor=None, fingerprint=newest)
