"""The body by which an administrator switches a resource type on again."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass


@dataclass(frozen=True, slots=True)
class Restoration:
    """Exactly `{"deleted": null}`: nothing else of a type can be changed."""

    deleted: None


def require_restoration(draft: Draft[Restoration]) -> None:
    if draft.is_empty:
        raise Invalid("The request data can not be empty.")
    if not draft.has("deleted") or draft.members["deleted"] is not None:
        raise Invalid("The deleted field must be set to null.")
    if any(value is not None for value in draft.members.values()):
        raise Invalid("It is not allowed to update these resource type properties.")
