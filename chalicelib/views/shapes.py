"""What the shapes of answers are made of.

A view says what it returns as a `TypedDict`: mypy compares it with the view, and the
description of the API is made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any

from chalicelib.domain.light import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """What JSON Schema says of a value, beyond its type."""

    schema: Mapping[str, Any] = field(hash=False)


Uuid = Annotated[str, Shape({"format": "uuid"})]
Moment = Annotated[str, Shape({"format": "date-time"})]
