"""Bodies by which a user sets something for themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from chalicelib.bodies.rules import meant, not_empty, required
from chalicelib.domain.errors import Invalid
from chalicelib.domain.locales import find_locale


@dataclass(frozen=True, slots=True)
class LocaleBody:
    """The language of one's choice, refused by one message whatever is wrong with it."""

    value: Annotated[object, meant(required, not_empty)] = None

    def require_locale(self) -> str:
        locale = find_locale(self.value)
        if locale is None:
            raise Invalid("This is not a valid locale.")
        return locale
