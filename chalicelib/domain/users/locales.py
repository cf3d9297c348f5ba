"""The languages clients may choose."""

from __future__ import annotations

LOCALES = {
    "de-DE": "Deutsch",
    "en-UK": "English",
    "es-ES": "Español",
    "fr-FR": "Français",
    "it-IT": "Italiano",
    "ja-JP": "日本語",
    "ko-KR": "한국어",
    "lt-LT": "Lietuvių",
    "nl-NL": "Nederlands",
    "pl-PL": "Polski",
    "pt-BR": "Português (Brasil)",
    "ro-RO": "Română",
    "ru-RU": "Русский",
    "sv-SE": "Svenska",
    "sl-SI": "Slovenščina",
    "uk-UA": "Українська",
    "cs-CZ": "Čeština",
}
"""Labels by locale, each in its own language."""

DEFAULT = "en-UK"


def find_locale(text: object) -> str | None:
    """`text` as a locale we know, also where it is written `fr_FR`; `None` for others."""
    if not isinstance(text, str):
        return None
    locale = text.replace("_", "-", 1)
    return locale if locale in LOCALES else None
