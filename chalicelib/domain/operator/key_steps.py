"""The steps by which keys change, one after the other and round again."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

AT_ONCE = "replace"
"""Instead of the steps: another key at once, for one that somebody may know."""


class KeyStep(StrEnum):
    """After the last step comes the first again, when somebody wants it."""

    @property
    def following(self) -> Self:
        steps = list(type(self))
        return steps[(steps.index(self) + 1) % len(steps)]
