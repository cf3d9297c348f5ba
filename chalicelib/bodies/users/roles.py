"""Which names a role may have: not those of built-in ones, however they are written."""

from __future__ import annotations

from typing import Annotated, Any

from chalicelib.bodies.rules import Rule, absent_is_empty, max_length, not_empty, utf8
from chalicelib.domain.folding import folded
from chalicelib.domain.light import dataclass
from chalicelib.domain.users.roles import BUILT_IN

INVALID = "The role could not be saved."
_LONGEST = 50


def comparable(name: str) -> str:
    """A name as others are compared with it: nobody tells `Admin ` from `admin` by sight."""
    return folded(name).strip()


_RESERVED = {comparable(role.name) for role in BUILT_IN}


def _is_compared(name: Any) -> bool:
    """Whether it is a name that no other rule refuses; a very long one would take long to fold."""
    return isinstance(name, str) and len(name) <= _LONGEST


def _is_free(name: Any) -> bool:
    return not _is_compared(name) or comparable(name) not in _RESERVED


def _is_seen(name: Any) -> bool:
    return not _is_compared(name) or comparable(name) != ""


seen = Rule("_empty", "The {field} should not be empty.", _is_seen)
reserved_role = Rule("reservedRole", "The {field} is the one of a built-in role.", _is_free)


@dataclass(frozen=True, slots=True)
class RoleBody:
    name: Annotated[
        str, absent_is_empty, not_empty, utf8, max_length(_LONGEST), seen, reserved_role
    ]
