"""How second factors look to whoever sets one up, and to whoever has to give one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from chalicelib.bodies.sign_in.mfa import DUO, TOTP, YUBIKEY
from chalicelib.services.sign_in.factor_setup import Choices, Offer, SetUp
from chalicelib.settings import settings
from chalicelib.views.shapes import Moment
from chalicelib.views.sign_in import qr_codes
from chalicelib.views.times import text


class MissingJson(TypedDict):
    mfa_providers: list[str]
    providers: dict[str, str]


class OfferedJson(TypedDict):
    """What an app is set up with, or since when one is."""

    otpQrCodeSvg: NotRequired[str]
    otpProvisioningUri: NotRequired[str]
    verified: NotRequired[Moment | None]


class VerifiedJson(TypedDict):
    verified: Moment | None


class ProvidersJson(TypedDict):
    totp: bool
    duo: bool
    yubikey: bool


class ChoicesJson(TypedDict):
    MfaOrganizationSettings: ProvidersJson
    MfaAccountSettings: ProvidersJson


def missing(providers: Sequence[str]) -> MissingJson:
    """Where each of the providers is used."""
    addresses = {each: f"{settings.base_url}/mfa/verify/{each}.json" for each in providers}
    return {"mfa_providers": list(providers), "providers": addresses}


def offered(offer: Offer) -> OfferedJson:
    if offer.uri is None:
        return {"verified": text(offer.verified)}
    return {"otpQrCodeSvg": qr_codes.svg(offer.uri), "otpProvisioningUri": offer.uri}


def verified(done: SetUp) -> VerifiedJson:
    return {"verified": text(done.verified)}


def choices(found: Choices) -> ChoicesJson:
    return {
        "MfaOrganizationSettings": _providers(found.organisation),
        "MfaAccountSettings": _providers(found.account),
    }


def _providers(on: Mapping[str, bool]) -> ProvidersJson:
    return {"totp": on[TOTP], "duo": on.get(DUO, False), "yubikey": on.get(YUBIKEY, False)}
