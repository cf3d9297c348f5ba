"""The prober as a function of its own: asks the tenant before people have to find out.

A schedule calls it to ask the tenant's address: where nobody is at work, nobody would tell. An
address that only the tenant's networks reach it asks past the gateway. CodeDeploy calls it before a
release, to ask the new versions; what it says decides. Whoever runs the service may call it with
`{"ask": "versions"}`.
"""

from __future__ import annotations

from typing import Any

from chalicelib.domain import deadline
from chalicelib.post.probes import ask_address, ask_inside, ask_version, tell_release
from chalicelib.services.operator import probing
from chalicelib.settings import settings

RELEASE = "DeploymentId"


def handler(event: dict[str, Any], context: Any) -> dict[str, list[str]] | None:  # noqa: ARG001
    with deadline.within(deadline.WORKER):
        if RELEASE in event:
            tell_release(event, is_well=not _faults())
            return None
        if event.get("ask") == "versions":
            return {"faults": _faults()}
        probing.require_answers(ask_inside if settings.watched else ask_address)
        return None


def _faults() -> list[str]:
    return probing.faults(settings.probes, ask_version)
