"""The few points where the specification and deployed clients differ, as two values.

`DIALECT` picks one. Nothing else in the code asks which it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.settings import settings


@dataclass(frozen=True, slots=True)
class Dialect:
    unauthenticated_status: int
    """Mobile apps refresh their token on 401 only; the specification says 403."""
    longest_name: int
    """Characters of a v4 name and username; the served definitions say the same number."""


DIALECTS = {
    "specification": Dialect(unauthenticated_status=403, longest_name=64),
    "clients": Dialect(unauthenticated_status=401, longest_name=255),
}

dialect = DIALECTS[settings.dialect]
