"""The keys that sign access tokens, changed step by step without refusing anybody on the way.

`next` publishes another key beside the one that signs; a day later, when whoever keeps the set
has read it again, `sign` makes it the one that signs; when the last token of the old key has
ended, `retire` takes that out. `replace` does it all at once, for a key somebody may know.

The row decides, and is written while it is as it was read or not at all. The private halves
lie elsewhere, and nothing spans the two. That every key of the row has its private half there,
at whichever moment a process dies, comes from an order:

- a key is announced in the row, then stored, then published;
- a key leaves the row first and the store afterwards; what the row does not name is removed by
  the next that writes the store, and never published again;
- a writer of the store reads the store first and the row after it. What was announced since
  they read the store was also stored since, and then their own write is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib.crypto import tokens
from chalicelib.crypto.private_keys import Held, Place
from chalicelib.domain import clock, warm
from chalicelib.domain.errors import Conflict, Refusal, Unavailable
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.key_sets import Jwk, KeySet, Step
from chalicelib.domain.operator.key_steps import KeyStep
from chalicelib.services.operator import signing_keys
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.settings import SIGNING_KEYS, Setting, as_read

SPREADS = timedelta(hours=24)
"""How long a key is published before it signs: others may keep the set for a day."""
REACHES = timedelta(seconds=warm.SECONDS + 60)
"""In this time every function has read the row anew, however long the reading takes."""
FADES = timedelta(seconds=tokens.LIFETIME + tokens.LEEWAY)
"""In this time the last token of a key that signs no more has ended."""

Make = Callable[[], str]


class CutShort(Exception):  # noqa: N818  it says what is so
    """A step has begun and not come to its end; it is to be given again."""


@dataclass(frozen=True, slots=True, repr=False)
class _State:
    """The store and the row, read in this order; and how a key is made."""

    place: Place
    make: Make
    held: Held
    private: dict[str, str]
    row: Setting
    key_set: KeySet


def look(place: Place) -> KeySet:
    """How the keys stand; refused where nobody can sign in, its secret lost or overwritten."""
    state = _read(place)
    if not _is_held(state, state.key_set.signing(clock.now())):
        raise Conflict(
            "The private half of the key that signs is not there, so nobody can sign in. "
            "Replace the keys at once."
        )
    return state.key_set


def take(step: Step, place: Place, make: Make = tokens.generate) -> KeySet:
    """Take a step whose time has come; one that was taken already is not taken twice."""
    state = _read(place, make)
    if state.key_set.step is step.following:
        _remove_strays(place)
        return state.key_set
    require_turn(step, state.key_set.step, due(state.key_set))
    return _STEPS[step](state)


def replace_at_once(place: Place, make: Make = tokens.generate) -> KeySet:
    """Sign with a new key and believe no other, from when each function reads the row again."""
    state = _with_new_key(_read(place, make))
    now = clock.now()
    key_set = KeySet((_coming(state),), published=now, signs_from=now)
    _write(state.row, key_set)
    _remove_strays_now(place)
    return key_set


def replace_lost(place: Place) -> None:
    """Where the private half of the key that signs is not there, nobody could sign in."""
    state = _read(place)
    if not _is_held(state, state.key_set.signing(clock.now())):
        replace_at_once(place)


def due(key_set: KeySet) -> datetime | None:
    """From when its next step may be taken; nothing is said where that is at any time."""
    if key_set.step is Step.SIGN and key_set.published is not None:
        return key_set.published + SPREADS
    if key_set.step is Step.RETIRE and key_set.signs_from is not None:
        return key_set.signs_from + FADES
    return None


def _publish_next(state: _State) -> KeySet:
    if state.key_set.coming not in state.private:
        state = _with_new_key(state)
    keys = (*state.key_set.keys, _coming(state))
    key_set = KeySet(keys, published=clock.now())
    _write(state.row, key_set)
    return key_set


def _sign(state: _State) -> KeySet:
    """From when all functions know of it, so that all change at the same moment."""
    if not _is_held(state, state.key_set.newer):
        raise Conflict("The private half of the next key is not there; replace the keys at once.")
    key_set = replace(state.key_set, signs_from=clock.now() + REACHES)
    _write(state.row, key_set)
    return key_set


def _retire(state: _State) -> KeySet:
    key_set = replace(state.key_set, keys=(state.key_set.newer,))
    _write(state.row, key_set)
    _remove_strays_now(state.place)
    return key_set


_STEPS = {Step.NEXT: _publish_next, Step.SIGN: _sign, Step.RETIRE: _retire}


def require_turn(step: KeyStep, turn: KeyStep, moment: datetime | None) -> None:
    """That it is this step's turn, and its time, if that is not any."""
    since = "possible now" if moment is None else f"possible from {timestamp_text(moment)}"
    if step is not turn:
        raise Conflict(f"First comes the step '{turn}', {since}.")
    if moment is not None and clock.now() < moment:
        raise Conflict(f"It is too early for '{step}', {since}.")


def _with_new_key(state: _State) -> _State:
    """Announce a new key, and store it beside those that are published."""
    pem = state.make()
    [name] = tokens.by_name(pem)
    row = _write(state.row, replace(state.key_set, coming=name))
    announced = replace(state, row=row, key_set=KeySet.read(row.value))
    private = {**_wanted(announced), name: pem}
    state.place.follow(state.held, "".join(private.values()))
    return replace(announced, private=private)


def _remove_strays_now(place: Place) -> None:
    """The same when the row is written: what is refused then is no refusal of the step."""
    try:
        _remove_strays(place)
    except Refusal as refusal:
        raise CutShort(
            f"The published keys are changed; of the private ones not all are: {refusal.message}"
        ) from refusal


def _remove_strays(place: Place) -> None:
    """Remove private keys that the row does not name."""
    state = _read(place)
    wanted = _wanted(state)
    if wanted != state.private:
        place.follow(state.held, "".join(wanted.values()))


def _wanted(state: _State) -> dict[str, str]:
    named = {*map(tokens.thumbprint, state.key_set.keys), state.key_set.coming}
    return {name: pem for name, pem in state.private.items() if name in named}


def _coming(state: _State) -> Jwk:
    assert state.key_set.coming is not None  # noqa: S101
    return tokens.public_jwk(tokens.load(state.private[state.key_set.coming]))


def _is_held(state: _State, jwk: Jwk) -> bool:
    return tokens.thumbprint(jwk) in state.private


def _read(place: Place, make: Make = tokens.generate) -> _State:
    held = place.read()
    row = signing_keys.find()
    if row is None:
        raise Unavailable("The key pair for JWT Authentication is not complete.")
    return _State(place, make, held, tokens.by_name(held.text), row, KeySet.read(row.value))


def _write(before: Setting, key_set: KeySet) -> Setting:
    """Write the row where it is still as it was read; the functions read it when they do."""
    value = key_set.instead_of(before.value)
    with Transaction() as tx:
        tx.update(before.key, *Setting.says(value), provided=as_read(before))
    signing_keys.forget()
    return Setting(SIGNING_KEYS, value=value)
