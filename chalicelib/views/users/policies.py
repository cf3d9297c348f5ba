"""How policies look to clients, with those that nobody can change: kinds of keys, exports."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from chalicelib.domain.ids import named_id
from chalicelib.domain.users.locales import LOCALES
from chalicelib.services.users.policies.policies import Document
from chalicelib.views import fields
from chalicelib.views.shapes import Moment, Uuid


class PasswordGeneratorJson(TypedDict):
    length: int
    mask_upper: bool
    mask_lower: bool
    mask_digit: bool
    mask_parenthesis: bool
    mask_char1: bool
    mask_char2: bool
    mask_char3: bool
    mask_char4: bool
    mask_char5: bool
    mask_emoji: bool
    exclude_look_alike_chars: bool


class PassphraseGeneratorJson(TypedDict):
    words: int
    word_separator: str
    word_case: str


class _DocumentJson(TypedDict):
    source: Literal["default", "db"]
    id: NotRequired[Uuid]
    created: NotRequired[Moment]
    created_by: NotRequired[Uuid]
    modified: NotRequired[Moment]
    modified_by: NotRequired[Uuid]


class PasswordPoliciesJson(_DocumentJson):
    default_generator: str
    external_dictionary_check: bool
    password_generator_settings: PasswordGeneratorJson
    passphrase_generator_settings: PassphraseGeneratorJson


class PassphrasePoliciesJson(_DocumentJson):
    entropy_minimum: int
    external_dictionary_check: bool


class KeyPoliciesJson(TypedDict):
    preferred_key_type: str
    preferred_key_size: None
    preferred_key_curve: str
    source: Literal["default"]


class ExportPoliciesJson(TypedDict):
    allow_csv_format: bool
    source: Literal["default"]


class LocaleJson(TypedDict):
    id: Uuid
    property_id: Uuid
    property: Literal["locale"]
    value: str
    created: Moment
    created_by: Uuid
    modified: Moment
    modified_by: Uuid


KEY_POLICIES: KeyPoliciesJson = {
    "preferred_key_type": "curve",
    "preferred_key_size": None,
    "preferred_key_curve": "curve25519_legacy+ed25519_legacy",
    "source": "default",
}
EXPORT_POLICIES: ExportPoliciesJson = {"allow_csv_format": False, "source": "default"}


def passwords(document: Document) -> PasswordPoliciesJson:
    return _shown(document)  # type: ignore[return-value]


def passphrases(document: Document) -> PassphrasePoliciesJson:
    return _shown(document)  # type: ignore[return-value]


def _shown(document: Document) -> dict[str, Any]:
    if document.stored is None:
        return {**document.says, "source": "default"}
    return {**document.says, **document.stored, "source": "db"}


def locale(document: Document) -> LocaleJson:
    """The organisation's language, once it was chosen."""
    chosen = {"property_id": named_id("organization.settings.property.id.locale")}
    return {**document.says, **chosen, **document.stored, "property": "locale"}  # type: ignore[typeddict-item]


def choice_of_locale(document: Document) -> str:
    """The languages there are, the organisation's chosen, as HTML."""
    return fields.choice("value", "Language", [*LOCALES.items()], document.says["value"])
