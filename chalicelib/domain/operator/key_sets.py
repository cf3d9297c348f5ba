"""The public keys of access tokens, as they are stored: which are believed, and which one signs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.key_steps import KeyStep

Jwk = dict[str, str]


class Step(KeyStep):
    """How the keys that sign change."""

    NEXT = "next"
    SIGN = "sign"
    RETIRE = "retire"


@dataclass(frozen=True, slots=True)
class KeySet:
    """One key, or two while they change, the older one first.

    A function may know a set for a quarter of an hour. So a set says beforehand from when
    its newer key signs, and at any moment all functions sign with the same one.
    """

    keys: tuple[Jwk, ...]
    published: datetime | None = None
    """When the newer key was; not known of a set from before keys had names."""
    signs_from: datetime | None = None
    """From when the newer key signs; until then the older one does."""
    coming: str | None = None
    """The key that is being stored, and will be published when it is."""

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Self:
        return cls(
            tuple(value["keys"]),
            published=_moment(value.get("published")),
            signs_from=_moment(value.get("signs_from")),
            coming=value.get("coming"),
        )

    def value(self) -> dict[str, Any]:
        """The document that `read` reads."""
        further = {
            "published": self.published and self.published.isoformat(),
            "signs_from": self.signs_from and self.signs_from.isoformat(),
            "coming": self.coming,
        }
        return {"keys": list(self.keys)} | {name: what for name, what in further.items() if what}

    def instead_of(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """The document once more, with whatever else the stored one says."""
        known = {"keys", "published", "signs_from", "coming"}
        return {name: stored[name] for name in stored.keys() - known} | self.value()

    def signing(self, now: datetime) -> Jwk:
        """The key that signs at this moment."""
        is_newer = self.signs_from is not None and self.signs_from <= now
        return self.newer if is_newer else self.keys[0]

    @property
    def newer(self) -> Jwk:
        return self.keys[-1]

    @property
    def step(self) -> Step:
        """What is to be done next."""
        if len(self.keys) == 1:
            return Step.NEXT
        return Step.SIGN if self.signs_from is None else Step.RETIRE


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
