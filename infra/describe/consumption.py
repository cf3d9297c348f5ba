"""What requests consume, as the tests recorded it (`tests/architecture/test_costs.py`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).with_name("consumption.json")


@dataclass(frozen=True, slots=True)
class Consumption:
    group: str
    """Whose function answers."""
    steps: int
    """Round trips to storage, one after the other."""
    reads: float
    """Request units of DynamoDB."""
    writes: float
    answer: int
    """Bytes, to the next hundred."""


def recorded() -> dict[str, Consumption]:
    """By request."""
    rows = json.loads(RECORDED.read_text(encoding="utf-8"))
    return {name: Consumption(**row) for name, row in rows.items()}
