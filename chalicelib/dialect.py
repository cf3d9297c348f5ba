"""The few points where the specification and deployed clients differ, as two values.

`DIALECT` picks one. Nothing else in the code asks which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.domain.light import dataclass
from chalicelib.settings import settings


@dataclass(frozen=True, slots=True)
class Dialect:
    unauthenticated_status: int
    """Mobile apps refresh their token on 401 only; the specification says 403."""
    longest_name: int
    """Characters of a v4 name and username; the served definitions say the same number."""
    wraps_simulated_users: bool
    """Whether a simulated share names users by `{"User": {"id": ...}}`, or by identifier only."""
    user_count: Callable[[int], int | str]
    """How the share search gives the number of a group's members."""
    created_key: Callable[[Any], Any]
    """How a new metadata key is answered: in a list of one, or by itself."""
    given_copies: Callable[[], list[str] | dict[str, str]]
    """What is answered where users were given copies of metadata private keys: nothing of them."""


DIALECTS = {
    "specification": Dialect(
        unauthenticated_status=403,
        longest_name=64,
        wraps_simulated_users=False,
        user_count=str,
        created_key=lambda key: [key],
        given_copies=dict,
    ),
    "clients": Dialect(
        unauthenticated_status=401,
        longest_name=255,
        wraps_simulated_users=True,
        user_count=int,
        created_key=lambda key: key,
        given_copies=list,
    ),
}

dialect = DIALECTS[settings.dialect]
