"""One question to IAM: may a role do this action on this resource, with what conditions see."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.iam import ACCOUNT, REGION

HERE = f"{REGION}:{ACCOUNT}"
Context = tuple[tuple[str, str | tuple[str, ...]], ...]
"""Values by the names of condition keys."""


@dataclass(frozen=True, slots=True)
class Authorization:
    action: str
    on: str = "*"
    context: Context = ()

    def __str__(self) -> str:
        return f"{self.action} on {self.on} with {dict(self.context)}"


def passing(role: str, service: str) -> Authorization:
    to = ("iam:PassedToService", f"{service}.amazonaws.com")
    return Authorization("iam:PassRole", role, (to,))


def using_key(service: str, use: str) -> Authorization:
    """Of a tenant, by a service for whoever calls it."""
    by = ("kms:ViaService", f"{service}.{REGION}.amazonaws.com")
    return Authorization(f"kms:{use}", key("tenant"), (by,))


def key(name: str) -> str:
    return f"arn:aws:kms:{HERE}:key/{name}"
