"""The founder: makes and changes a tenant's keys, invites who leads it, and for which operators.

Called by whoever runs the service, never by a request. The private keys so never leave the
account; what is returned is the fingerprint people compare, how the keys stand, or the address
of the setup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.users import INVALID, AdministratorBody, EmergencyBody
from chalicelib.crypto import private_keys
from chalicelib.crypto.server_keys import ServerKeys
from chalicelib.domain import clock, deadline
from chalicelib.domain.errors import Forbidden, Invalid, Refusal
from chalicelib.domain.operator.key_sets import Jwk, KeySet, Step
from chalicelib.domain.operator.key_steps import AT_ONCE
from chalicelib.domain.operator.operators import Operator, Proof, purpose
from chalicelib.domain.operator.server_key_sets import Step as ServerStep
from chalicelib.post import operators
from chalicelib.services.operator import break_glass, keys, rotation, server_key_rotation, tenants
from chalicelib.settings import settings
from chalicelib.storage.base import timestamp_text

LOOK = "look"
RESEAL = "reseal"
_A_CALL = 45.0
"""Seconds after which sealing anew waits for the next call: whoever calls waits a minute."""
ASK, GRANT, WITHDRAW = "ask", "grant", "withdraw"
_NO_PERSON = Forbidden(
    "Only users, and sessions of the role of deployers or of IAM Identity Center, may do this."
)


def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Make the keys; or invite the `administrator` in the event; or change the `signing_keys` or
    the `server_key`; or have another administrator by `break_glass`.

    All may be repeated. What cannot be done with the keys now, or not by whoever asks, is
    `refused`: that is an answer, and no failure which would ring an alarm.
    """
    with deadline.within(deadline.WORKER):
        return _answer(event, context)


def _answer(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    if "signing_keys" in event:
        return _rotate(event["signing_keys"])
    if "server_key" in event:
        return _server_key(event["server_key"])
    if "break_glass" in event:
        return _broken(event["break_glass"], str(context.invoked_function_arn))
    invited = event.get("administrator")
    if invited is None:
        return {"fingerprint": keys.create(_host())}
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


def _server_key(step: str) -> dict[str, Any]:
    place = private_keys.place_of(private_keys.OPENPGP)
    try:
        if step == RESEAL:
            with deadline.within(_A_CALL):
                return asdict(server_key_rotation.reseal(place))
        return _told_of(_changed_server_key(step, place))
    except Refusal as refusal:
        return {"refused": refusal.message}


def _changed_server_key(step: str, place: private_keys.Place) -> ServerKeys:
    if step == LOOK:
        return server_key_rotation.look(place)
    if step == AT_ONCE:
        return server_key_rotation.replace_at_once(place, _made)
    if step not in list(ServerStep):
        known = ", ".join([*ServerStep, AT_ONCE, RESEAL, LOOK])
        raise Invalid(f"There is no step '{step}'; there are {known}.")
    return server_key_rotation.take(ServerStep(step), place, _made)


def _told_of(keys: ServerKeys) -> dict[str, Any]:
    """The fingerprint of the key in use, and those of the others; what comes next, and when."""
    key_set, now = keys.key_set, clock.now()
    moment, begins = server_key_rotation.due(key_set), key_set.used_from
    return {
        "in_use": keys.in_use.fingerprint,
        "coming": keys.coming and keys.coming.fingerprint,
        "used_from": timestamp_text(begins) if begins and begins > now else None,
        "earlier": [key.fingerprint for key in keys.earlier],
        "answers": key_set.retired is None,
        "step": str(key_set.step),
        "from": moment and timestamp_text(moment),
    }


def _made() -> str:
    return keys.new_server_key(_host())


def _host() -> str:
    return urlsplit(settings.base_url).hostname or "keyhaven"


def _broken(asked: Mapping[str, Any], own: str) -> dict[str, Any]:
    """What stands asked for now, after what is done with it."""
    try:
        if asked["do"] == ASK:
            wanted = Draft(EmergencyBody, asked["administrator"]).read(INVALID)
            named = (wanted.username, wanted.first_name, wanted.last_name, wanted.reason)
            return {ASK: asdict(break_glass.ask(wanted, _operator(asked, own, *named)))}
        if asked["do"] == GRANT:
            by = _operator(asked, own, asked["id"])
            return {GRANT: asdict(break_glass.grant(asked["id"], by))}
        if asked["do"] == WITHDRAW:
            break_glass.withdraw(asked["id"])
        found = break_glass.look()
    except Refusal as refusal:
        return {"refused": refusal.message, "errors": refusal.errors}
    return {LOOK: None if found is None else asdict(found)}


def _operator(asked: Mapping[str, Any], own: str, *named: str) -> Operator:
    """Who does it, as AWS says; somebody of another account, or a machine, is nobody here."""
    _, _, _, region, account, _, function, *_ = own.split(":")
    by = operators.find(Proof(**asked["proof"]), purpose(function, asked["do"], *named))
    if by.account != account:
        raise Forbidden("You are not known in the account of this tenant.")
    if not by.is_admitted(region):
        raise _NO_PERSON
    return by
