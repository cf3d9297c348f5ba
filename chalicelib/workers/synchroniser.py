"""The synchroniser as a function of its own, called by a schedule: runs over the directory."""

from __future__ import annotations

from typing import Any

from chalicelib.domain import deadline
from chalicelib.services.directory import synchronisation


def handler(event: Any, context: Any) -> None:  # noqa: ARG001  the schedule has nothing to say
    """Keep users and groups as the directory has them; the next call goes on with what is left."""
    with deadline.within(deadline.WORKER):
        synchronisation.scheduled()
