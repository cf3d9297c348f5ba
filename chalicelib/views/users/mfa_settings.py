"""How the organisation's settings of second factors look to clients, and on their page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from chalicelib.bodies.sign_in.mfa import TOTP
from chalicelib.services.users.policies.mfa_settings import Policies
from chalicelib.tables.settings import value_of
from chalicelib.views import fields
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.times import text

_LABEL = "Let people set up an authenticator app (time-based one-time passwords)"


class MfaSettingsJson(TypedDict):
    providers: list[str]


class MfaPoliciesJson(TypedDict):
    id: NotRequired[Uuid]
    policy: str
    remember_me_for_a_month: bool
    created: NotRequired[Moment]
    created_by: NotRequired[Uuid]
    modified: NotRequired[Moment | None]
    modified_by: NotRequired[Uuid | None]


def settings(providers: Sequence[str]) -> MfaSettingsJson:
    return {"providers": list(providers)}


def switch(providers: Sequence[str]) -> str:
    """A box that lets people set up an app, ticked where they may, as HTML."""
    name = f"providers[{TOTP}]"
    return fields.box(name, _LABEL, {name: TOTP in providers})


def policies(found: Policies) -> MfaPoliciesJson:
    shown: MfaPoliciesJson = {
        "policy": found.policy,
        "remember_me_for_a_month": found.remembers,
    }
    if found.row is None:
        return shown
    value = value_of(found.row)
    return {
        "id": value["id"],
        **shown,
        "created": value["created"],
        "created_by": value["created_by"],
        "modified": text(found.row.modified),
        "modified_by": found.row.modified_by,
    }
