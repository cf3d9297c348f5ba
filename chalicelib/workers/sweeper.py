"""The sweeper as a function of its own, called by a schedule."""

from __future__ import annotations

from typing import Any

from chalicelib.domain import deadline
from chalicelib.services.operator import sweeper


def handler(event: Any, context: Any) -> None:  # noqa: ARG001  the schedule has nothing to say
    """End what was left behind; what fails is logged, and tried again with the next call."""
    with deadline.within(deadline.WORKER):
        sweeper.sweep()
