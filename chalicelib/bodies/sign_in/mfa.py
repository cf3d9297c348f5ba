"""Bodies of second factors: which providers there are, and how a code has to look."""

from __future__ import annotations

from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import (
    Rule,
    absent_is_empty,
    boolean,
    if_object,
    in_list,
    meant,
    not_empty,
    required,
    utf8,
)
from chalicelib.domain.errors import FieldErrors, Invalid, InvalidAsAWhole
from chalicelib.domain.light import dataclass

TOTP = "totp"
YUBIKEY = "yubikey"
DUO = "duo"
URI = "otpProvisioningUri"
WRONG_CODE = "Something went wrong when validating the one-time password."
NO_DATA = "The multi-factor authentication settings data should not be empty."
NO_PROVIDERS = "The list of multi-factor authentication providers is missing."
INVALID = "Could not validate the multi-factor authentication settings."
POLICIES = ("opt-in", "mandatory")
LEAST_DIGITS = 6
_LONGEST_NAME = 64
_TRUE = (True, "1", "true")  # 1 equals True
_FALSE = (False, "", "0", "false", None)
_MEMBERS = {
    YUBIKEY: ("clientId", "secretKey"),
    DUO: ("clientId", "clientSecret", "apiHostName"),
}
"""What a provider needs that asks a service of others; we have none of these."""


@dataclass(frozen=True, slots=True, repr=False)
class MfaSettingsBody:
    """The providers, as a list of names or as names that are true or false."""

    providers: Annotated[object, meant(required)] = None
    yubikey: Annotated[object, if_object] = None
    duo: Annotated[object, if_object] = None

    def require_providers(self, draft: Draft[MfaSettingsBody]) -> tuple[str, ...]:
        """The providers that are turned on, each of which this server has."""
        if draft.is_empty:
            raise InvalidAsAWhole(NO_DATA)
        if self.providers is None:
            raise InvalidAsAWhole(NO_PROVIDERS)
        wanted = _names(self.providers)
        errors = {name: self._broken(name) for name in wanted if name != TOTP}
        if errors:
            raise Invalid(INVALID, errors)
        return wanted

    def _broken(self, name: str) -> FieldErrors:
        sent = {YUBIKEY: self.yubikey, DUO: self.duo}.get(name)
        members = sent if isinstance(sent, dict) else {}
        missing = [each for each in _MEMBERS.get(name, ()) if not members.get(each)]
        if missing:
            return {each: {"notEmpty": f"The {each} should not be empty."} for each in missing}
        return {"invalidProvider": "This server does not have the provider; it has totp."}


@dataclass(frozen=True, slots=True)
class PoliciesBody:
    policy: Annotated[str, not_empty, in_list(*POLICIES)]
    remember_me_for_a_month: Annotated[bool, not_empty, boolean]


@dataclass(frozen=True, slots=True, repr=False)
class CodeBody:
    """The code of an authenticator app, and whether the device may be remembered."""

    totp: Annotated[object, meant(required, utf8)] = None
    remember: Annotated[object, meant(boolean)] = None

    def require_code(self, draft: Draft[CodeBody]) -> str:
        """The code, or the first rule that it breaks."""
        code = _text(self.totp)
        rules: tuple[tuple[str, bool, str], ...] = (
            ("_required", draft.has(TOTP), "A one-time password is required."),
            ("_empty", self.totp not in ("", None), "The one-time password should not be empty."),
            ("numeric", code.isascii() and code.isdigit(), "The one-time password is not digits."),
            ("minLength", len(code) >= LEAST_DIGITS, "The one-time password is too short."),
        )
        for rule, holds, message in rules:
            if not holds:
                raise Invalid(WRONG_CODE, {TOTP: {rule: message}})
        return code

    @property
    def wants_to_be_remembered(self) -> bool:
        return bool(self.remember) and self.remember not in ("0", "false")


provisioning_uri = Rule(
    "isValidOtpProvisioningUri",
    "This is no such address.",
    utf8.holds,
    gives=str,
    schema=utf8.schema,
)
"""Here, that it is a text; what else it has to be is known to who reads it."""


@dataclass(frozen=True, slots=True, repr=False)
class SetupBody:
    """The address that has set up an app, and the code that the app shows."""

    otpProvisioningUri: Annotated[  # noqa: N815 - as sent
        str, absent_is_empty, not_empty, provisioning_uri
    ]
    totp: Annotated[object, required, not_empty, meant(required, utf8)]

    @property
    def code(self) -> str:
        return _text(self.totp)


def _text(code: object) -> str:
    """A code as digits: some clients send a number."""
    return str(code) if type(code) is int or isinstance(code, str) else ""


def _names(providers: object) -> tuple[str, ...]:
    """The names that are turned on, each once; refused where the list is neither form."""
    if isinstance(providers, dict):
        _require(all(value in (*_TRUE, *_FALSE) for value in map(_plain, providers.values())))
        names = [name for name, value in providers.items() if _plain(value) in _TRUE]
    else:
        _require(isinstance(providers, list))
        names = list(providers)  # type: ignore[call-overload]
    _require(all(isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME for name in names))
    _require(len(names) <= _LONGEST_NAME)
    return tuple(dict.fromkeys(names))


def _plain(value: Any) -> Any:
    """The value, or one that is neither true nor false where it is a list or an object."""
    return value if isinstance(value, str | int | bool | None) else "neither"


def _require(holds: bool) -> None:  # noqa: FBT001
    if not holds:
        raise Invalid(INVALID, {"providers": {"validProviders": "The providers should be a list."}})
