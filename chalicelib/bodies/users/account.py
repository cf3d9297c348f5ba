"""Bodies by which a user sets something for themselves."""

from __future__ import annotations

from typing import Annotated

from chalicelib.bodies.rules import meant, not_empty, required
from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass
from chalicelib.domain.users.locales import find_locale
from chalicelib.domain.users.themes import find_theme


@dataclass(frozen=True, slots=True)
class LocaleBody:
    """The language of one's choice, refused by one message whatever is wrong with it."""

    value: Annotated[object, meant(required, not_empty)] = None

    def require_locale(self) -> str:
        locale = find_locale(self.value)
        if locale is None:
            raise Invalid("This is not a valid locale.")
        return locale


@dataclass(frozen=True, slots=True)
class ThemeBody:
    """The look of one's choice."""

    value: Annotated[object, meant(required, not_empty)] = None

    def require_theme(self) -> str:
        if self.value in (None, ""):
            raise Invalid("A value for the theme should be provided.")
        theme = find_theme(self.value)
        if theme is None:
            raise Invalid("This is not a valid theme.")
        return theme
