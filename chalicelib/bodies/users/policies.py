"""Bodies of the organisation's policies: how passwords are made, how strong passphrases are."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from chalicelib.bodies.rules import (
    Rule,
    as_number,
    boolean,
    in_list,
    max_length,
    not_empty,
    not_null,
    required,
    utf8_extended,
    with_members,
)
from chalicelib.domain.light import dataclass
from chalicelib.domain.users.locales import find_locale

Switch = Annotated[bool, required, not_empty, boolean]


def _number(value: Any) -> int | None:
    """What a whole number or a text of digits stands for."""
    number = as_number(value)
    return number if type(number) is int else None


def between(least: int, most: int) -> Rule:
    return Rule(
        "range",
        f"The {{field}} should be between {least} and {most}.",
        lambda value: (number := _number(value)) is not None and least <= number <= most,
        gives=int,
        canonical=_number,
        schema={"type": ["integer", "string"]},
    )


@dataclass(frozen=True, slots=True)
class PasswordGeneratorBody:
    """Which characters a made password has, and how many."""

    length: Annotated[int, required, not_empty, between(8, 128)]
    mask_upper: Switch
    mask_lower: Switch
    mask_digit: Switch
    mask_parenthesis: Switch
    mask_char1: Switch
    mask_char2: Switch
    mask_char3: Switch
    mask_char4: Switch
    mask_char5: Switch
    mask_emoji: Switch
    exclude_look_alike_chars: Switch


@dataclass(frozen=True, slots=True)
class PassphraseGeneratorBody:
    """Of how many words a made passphrase is, and what is between them."""

    words: Annotated[int, required, not_empty, between(4, 40)]
    word_separator: Annotated[str, required, not_null, utf8_extended, max_length(10)]
    word_case: Annotated[str, required, not_empty, in_list("lowercase", "uppercase", "camelcase")]


_MASKS = tuple(each.name for each in fields(PasswordGeneratorBody) if each.name.startswith("mask_"))


def _selects(value: Any) -> bool:
    """Whether a mask is on; what is none says so itself, unless all are surely off."""
    off = (False, 0, "0", None)
    is_told_elsewhere = not value or not isinstance(value, dict)
    return is_told_elsewhere or any(value.get(name) not in off for name in _MASKS)


_some_mask = Rule("noMaskSelected", "At least one set of characters should be selected.", _selects)


@dataclass(frozen=True, slots=True)
class PasswordPoliciesBody:
    """What clients make passwords of, and whether they look for stolen ones."""

    default_generator: Annotated[str, required, not_empty, in_list("password", "passphrase")]
    external_dictionary_check: Switch
    password_generator_settings: Annotated[
        PasswordGeneratorBody, required, not_empty, with_members, _some_mask
    ]
    passphrase_generator_settings: Annotated[
        PassphraseGeneratorBody, required, not_empty, with_members
    ]


@dataclass(frozen=True, slots=True)
class PassphrasePoliciesBody:
    """How strong users' passphrases are, in bits, and whether clients look for stolen ones."""

    entropy_minimum: Annotated[int, required, not_empty, between(50, 224)]
    external_dictionary_check: Switch


_known_locale = Rule(
    "inList",
    "This is not a valid locale.",
    lambda value: find_locale(value) is not None,
    gives=str,
    canonical=find_locale,
    schema={"type": "string"},
)


@dataclass(frozen=True, slots=True)
class OrganisationLocale:
    """The language of whoever has chosen none."""

    value: Annotated[str, required, not_empty, _known_locale]
