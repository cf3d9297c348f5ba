"""How the organisation's settings of second factors look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from chalicelib.services.users.policies.mfa_settings import Policies
from chalicelib.tables.settings import value_of
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.times import text


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
