"""What is kept of what a directory provisions: a value, which the rows of groups tell too."""

from __future__ import annotations

from chalicelib.domain.ids import UserId
from chalicelib.domain.light import dataclass


@dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """What a group is to the directory that provisions it by SCIM."""

    external_id: str | None = None
    keeper: UserId | None = None
    """Who manages it because the directory acts in their name, and is not seen by it."""
    waiting: frozenset[UserId] = frozenset()
    """Users whom the directory has added, and who will be members once they have set up."""
