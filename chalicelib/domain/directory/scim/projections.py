"""What of a resource a client wants to see (RFC 7644, 3.9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from chalicelib.domain.directory.scim import schemas
from chalicelib.domain.directory.scim.filters import canonical
from chalicelib.domain.directory.scim.words import GROUP, USER
from chalicelib.domain.light import dataclass

Json = dict[str, Any]
_PREFIXES = (USER, GROUP)


@dataclass(frozen=True, slots=True)
class Shown:
    """Which attributes a client wants to see; all that are usual, where it names none."""

    only: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()

    def of(self, resource: Mapping[str, Any]) -> Json:
        """A resource without what is not wanted of it."""
        made: Json = {}
        for name, value in resource.items():
            kept = self._kept(name.lower(), value)
            if kept is not None:
                made[name] = kept
        return made

    def includes(self, name: str) -> bool:
        """Whether any of an attribute is wanted, by its lower-case name."""
        if name in self.without:
            return False
        return not self.only or any(_is_below(each, name) for each in self.only)

    def _kept(self, path: str, value: Any) -> Any:
        if path in schemas.always_shown():
            return value
        if path in self.without or (path in schemas.shown_on_request() and not self._names(path)):
            return None
        if self.only and not any(
            _is_below(each, path) or _is_below(path, each) for each in self.only
        ):
            return None
        if isinstance(value, dict):
            return self._parts(path, value) or None
        if isinstance(value, list):
            parts = [self._parts(path, each) if isinstance(each, dict) else each for each in value]
            return [each for each in parts if each]
        return value

    def _parts(self, path: str, value: Mapping[str, Any]) -> Json:
        made = {name: self._kept(f"{path}.{name.lower()}", part) for name, part in value.items()}
        return {name: part for name, part in made.items() if part is not None}

    def _names(self, path: str) -> bool:
        return any(_is_below(path, each) for each in self.only)


def shown(only: Iterable[str], without: Iterable[str]) -> Shown:
    """What a client names, by whatever schema and in whatever letters."""
    named = frozenset(canonical(each, _PREFIXES) for each in only)
    return Shown(named, frozenset(canonical(each, _PREFIXES) for each in without))


def _is_below(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}.")
