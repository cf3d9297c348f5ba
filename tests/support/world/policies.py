"""What requests about policies are made of."""

from __future__ import annotations

from typing import Any

MASKS = (
    *("mask_upper", "mask_lower", "mask_digit", "mask_parenthesis"),
    *("mask_char1", "mask_char2", "mask_char3", "mask_char4", "mask_char5"),
)


def password_policies() -> dict[str, Any]:
    """Complete, and other than those of a new organisation."""
    return {
        "default_generator": "passphrase",
        "external_dictionary_check": False,
        "password_generator_settings": {
            "length": 30,
            **dict.fromkeys(MASKS, True),
            "mask_emoji": True,
            "exclude_look_alike_chars": False,
        },
        "passphrase_generator_settings": {
            "words": 12,
            "word_separator": "",
            "word_case": "camelcase",
        },
    }
