"""The founder as a function of its own: makes and changes a tenant's keys, invites who leads it.

Called by who runs the service, never by a request. The private keys so never leave the
account; what is returned is the fingerprint people compare, how the keys stand, or the address
of the setup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users import INVALID, AdministratorBody
from chalicelib.crypto import private_keys
from chalicelib.domain import clock, deadline
from chalicelib.domain.errors import Invalid, Refusal
from chalicelib.domain.key_sets import Jwk, KeySet, Step
from chalicelib.services.operator import keys, rotation, tenants
from chalicelib.settings import settings
from chalicelib.storage.base import timestamp_text

LOOK = "look"
AT_ONCE = "replace"


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """Make the keys; or invite the `administrator` in the event; or change the `signing_keys`.

    All may be repeated. What cannot be done with the signing keys now is `refused`: that is
    an answer, and no failure which would ring an alarm.
    """
    with deadline.within(deadline.WORKER):
        return _answer(event)


def _answer(event: Mapping[str, Any]) -> dict[str, Any]:
    if "signing_keys" in event:
        return _rotate(event["signing_keys"])
    invited = event.get("administrator")
    if invited is None:
        host = urlsplit(settings.base_url).hostname or "keyhaven"
        return {"fingerprint": keys.create(host)}
    if tenants.is_founded():
        return {"link": tenants.link_again()}
    return {"link": tenants.found(Draft(AdministratorBody, invited).read(INVALID))}


def _rotate(step: str) -> dict[str, Any]:
    try:
        return _told(_changed(step))
    except Refusal as refusal:
        return {"refused": refusal.message}


def _changed(step: str) -> KeySet:
    place = private_keys.place_of(private_keys.SIGNING)
    if step == LOOK:
        return rotation.look(place)
    if step == AT_ONCE:
        return rotation.replace_at_once(place)
    if step not in list(Step):
        raise Invalid(f"There is no step '{step}'; there are {', '.join([*Step, AT_ONCE, LOOK])}.")
    return rotation.take(Step(step), place)


def _told(key_set: KeySet) -> dict[str, Any]:
    """Which key signs, which other one is believed and may sign soon; what comes next, and when."""
    now = clock.now()
    signing, will_sign, due = key_set.signing(now), key_set.signs_from, rotation.due(key_set)
    return {
        "signs": _name(signing),
        "other": next((_name(jwk) for jwk in key_set.keys if jwk != signing), None),
        "signs_from": timestamp_text(will_sign) if will_sign and will_sign > now else None,
        "step": str(key_set.step),
        "from": due and timestamp_text(due),
    }


def _name(jwk: Jwk) -> str:
    return jwk.get("kid", "The first key")  # which has no name
