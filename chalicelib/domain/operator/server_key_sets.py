"""The tenant's OpenPGP keys as their secret holds them: the one in use, and those around it."""

from __future__ import annotations

import json
from dataclasses import field
from datetime import datetime
from typing import Self

from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.key_steps import AT_ONCE, KeyStep


class Step(KeyStep):
    """How the key changes."""

    NEXT = "next"
    USE = "use"
    RETIRE = "retire"
    REMOVE = "remove"


SEALED_ANEW_BEFORE = frozenset({Step.RETIRE, Step.REMOVE})
"""What is done only once what rests sealed to earlier keys is sealed anew."""
SEALED_ANEW_AFTER = frozenset({Step.RETIRE, AT_ONCE})
"""After what it is sealed anew, since something may have been sealed to these keys meanwhile."""


@dataclass(frozen=True, slots=True)
class ServerKeySet:
    """Armored private keys, the newest last: one of them is in use, and each opens what it can.

    A function may know a set for a quarter of an hour. So a set says beforehand from when its
    newest key is in use, and at any moment all functions use the same one.
    """

    keys: tuple[str, ...] = field(repr=False)
    made: datetime | None = None
    """When the newest key was."""
    used_from: datetime | None = None
    """From when the newest key is in use; until then the one before it is."""
    retired: datetime | None = None
    """Since when the earlier keys answer nobody: they only open what rests sealed to them."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what the secret holds; a single key stands for itself, as it always did."""
        if not text.startswith("{"):
            return cls((text,))
        value = json.loads(text)
        if not value.get("keys"):
            raise ValueError("There is no key in the set.")
        moments = (value.get(name) for name in ("made", "used_from", "retired"))
        return cls(tuple(value["keys"]), *(at and datetime.fromisoformat(at) for at in moments))

    def text(self) -> str:
        if len(self.keys) == 1:
            return self.keys[0]
        moments = {"made": self.made, "used_from": self.used_from, "retired": self.retired}
        said = {name: moment.isoformat() for name, moment in moments.items() if moment}
        return json.dumps({"keys": self.keys, **said})

    def place_in_use(self, now: datetime) -> int:
        """Which of the keys is in use at this moment."""
        is_newest = self.used_from is not None and self.used_from <= now
        return len(self.keys) - (1 if is_newest or len(self.keys) == 1 else 2)

    @property
    def step(self) -> Step:
        """What is to be done next."""
        if len(self.keys) == 1:
            return Step.NEXT
        if self.used_from is None:
            return Step.USE
        return Step.RETIRE if self.retired is None else Step.REMOVE
