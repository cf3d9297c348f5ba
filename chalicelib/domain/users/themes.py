"""How clients may look."""

from __future__ import annotations

THEMES = ("default", "midgar", "solarized_dark", "solarized_light")
DEFAULT = THEMES[0]


def find_theme(text: object) -> str | None:
    return text if isinstance(text, str) and text in THEMES else None
