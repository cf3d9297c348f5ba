"""Versions of resources: what their ETag says, and what clients ask by one (RFC 7644, 3.14)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from chalicelib.domain.directory.scim.words import Outdated
from chalicelib.domain.light import dataclass

_ANY = "*"


def version_of(*said: Any) -> str:
    """The version of a resource that says this: the same as long as nothing of it changes."""
    digest = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return f'W/"{digest[:32]}"'


@dataclass(frozen=True, slots=True)
class Versions:
    """Of which version a resource is to be for a change, and which one a client has already."""

    match: str | None = None
    none_match: str | None = None

    def require(self, version: str) -> None:
        """Refuse a change of a resource that is of none of the versions that are named."""
        if self.match is not None and not _names(self.match, version):
            raise Outdated

    def has(self, version: str) -> bool:
        """Whether the client says that it has this one."""
        return self.none_match is not None and _names(self.none_match, version)


def _names(listed: str, version: str) -> bool:
    """Whether a header names a version; weak and strong ones are not told apart."""
    named = {each.strip().removeprefix("W/") for each in listed.split(",")}
    return _ANY in named or version.removeprefix("W/") in named
