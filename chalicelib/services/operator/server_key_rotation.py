"""The tenant's OpenPGP key, changed step by step without keeping anybody from signing in.

`next` makes another key and tells administrators its fingerprint; a day later `use` has clients
shown it; when they have had a week to learn of it, `retire` has the earlier key answer no more;
`remove` takes that away when no backup holds what only it opens. `replace` has another key used at
once, for one that somebody may know.

The secret decides (`domain/operator/server_key_sets.py`): each step is one value of it, written
after the one that was read or not at all. What is published, and the mails, follow it; whoever dies
between gives the step again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib.crypto.private_keys import Held, Place
from chalicelib.crypto.server_keys import ServerKeys
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.server_key_sets import SEALED_ANEW_BEFORE, ServerKeySet, Step
from chalicelib.services.operator import resealing, server_key
from chalicelib.services.operator.resealing import Found
from chalicelib.services.operator.rotation import REACHES, require_turn
from chalicelib.tables.settings import Setting

ANNOUNCED = timedelta(hours=24)
"""How long people know of a key before clients are shown it."""
ANSWERS = timedelta(days=7)
"""How long the key before it answers: clients that know a server by its key have people ask."""
SEALED_ANEW = timedelta(hours=1)
"""What is sealed to the earlier keys is found within this time of their end, or was restored."""
RESTORABLE = timedelta(days=36)
"""Rows come back from backups for 35 days; what was sealed anew late has one more."""

Make = Callable[[], str]


@dataclass(frozen=True, slots=True)
class _State:
    """What is published and what the secret holds, read in this order."""

    row: Setting | None
    held: Held
    keys: ServerKeys


def look(place: Place) -> ServerKeys:
    """How the keys stand."""
    return ServerKeys.load(place.read().text)


def take(step: Step, place: Place, make: Make) -> ServerKeys:
    """Take a step whose time has come; one that was taken already is not taken twice."""
    state = _read(place)
    if state.keys.key_set.step is not step.following:
        require_turn(step, state.keys.key_set.step, due(state.keys.key_set))
        if step in SEALED_ANEW_BEFORE and resealing.is_left(state.keys):
            raise Conflict("Something is sealed to the earlier key; have it sealed anew first.")
        return _stored(place, state.row, state.held, _after(step, state.keys.key_set, make))
    server_key.publish(state.row, state.keys)
    return state.keys


def replace_at_once(place: Place, make: Make) -> ServerKeys:
    """Use a new key and let no other answer, from when each function reads the secret again.

    Of a secret that was overwritten with something else, nothing is kept.
    """
    row, held = server_key.published(), place.read()
    try:
        known = ServerKeys.load(held.text).key_set
        opens = known.keys[:-1] if known.step is Step.USE else known.keys
    except ValueError:
        opens = ()
    now = clock.now()
    return _stored(place, row, held, ServerKeySet((*opens, make()), now, now, now))


def reseal(place: Place) -> Found:
    """Seal to the key in use what rests sealed to earlier ones.

    What is found long after these were retired was brought back by a restore, and might be once
    more: they are kept for as long again.
    """
    state = _read(place)
    keys, retired = state.keys, state.keys.key_set.retired
    if retired is not None and clock.now() - retired > SEALED_ANEW and resealing.is_left(keys):
        again = replace(keys.key_set, retired=clock.now())
        keys = _stored(place, state.row, state.held, again)
    return resealing.reseal(keys)


def due(key_set: ServerKeySet) -> datetime | None:
    """From when its next step may be taken; nothing is said where that is at any time."""
    since = {
        Step.USE: (key_set.made, ANNOUNCED),
        Step.RETIRE: (key_set.used_from, ANSWERS),
        Step.REMOVE: (key_set.retired, RESTORABLE),
    }
    moment, wait = since.get(key_set.step, (None, timedelta(0)))
    return None if moment is None else moment + wait


def _after(step: Step, key_set: ServerKeySet, make: Make) -> ServerKeySet:
    now = clock.now()
    if step is Step.NEXT:
        return ServerKeySet((*key_set.keys, make()), made=now)
    if step is Step.USE:
        return replace(key_set, used_from=now + REACHES)
    if step is Step.RETIRE:
        return replace(key_set, retired=now)
    return ServerKeySet(key_set.keys[-1:])


def _read(place: Place) -> _State:
    row, held = server_key.published(), place.read()
    return _State(row, held, ServerKeys.load(held.text))


def _stored(place: Place, row: Setting | None, held: Held, key_set: ServerKeySet) -> ServerKeys:
    """The keys of a set, where they can be read; the set is stored, and then published."""
    text = key_set.text()
    keys = ServerKeys.load(text)
    place.follow(held, text)
    server_key.publish(row, keys)
    return keys
