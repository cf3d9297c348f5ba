"""A tenant from nothing to its first administrator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from infra.checks import forms
from infra.operate import builds, functions, leftovers, smoke
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.registry import ACTIVE, Entry, Registry
from infra.operate.stack import Stack
from infra.operate.steps import Failed, Step

FOUNDER = "founder"
_NOT_KNOWN_YET = "https://not-known-yet.invalid"
"""The address of a tenant without a domain, until the gateway has given it one."""


@dataclass(frozen=True, slots=True)
class Administrator:
    username: str
    first_name: str
    last_name: str


def steps(account: Account, build: Build, entry: Entry, administrator: Administrator) -> list[Step]:
    new = _Onboarding(account, build, entry, administrator)
    return [
        Step("reserve the name", new.reserve),
        Step("create the stack", new.create),
        Step("tell the functions their address", new.address),
        Step("make the keys, inside the account", new.keys),
        Step("see that it answers", new.smoke),
        Step("invite the first administrator", new.invite),
        Step("write down that it is active", new.activate),
    ]


class _Onboarding:
    def __init__(
        self, account: Account, build: Build, entry: Entry, administrator: Administrator
    ) -> None:
        self._account = account
        self._registry = Registry(account)
        self._build = build
        self._entry = entry
        self._administrator = administrator
        self._work = f"onboard {entry.tenant}"
        self._fingerprint = ""

    def reserve(self) -> str | None:
        """An active tenant is refused: its name is taken, also by itself."""
        before = self._registry.find(self._entry.tenant)
        self._registry.reserve(replace(self._entry, work=self._work))
        return None if before is None else "It was reserved; going on from there."

    def create(self) -> str:
        if self._stack.was_not_made():
            self._remove_remains()
        return self._change(self._parameters())

    def address(self) -> str:
        """The functions put it into links and tokens; without a domain the gateway gives it."""
        return self._change(self._parameters()) if self._is_unnamed() else "It has a name."

    def keys(self) -> str:
        made = functions.call(self._account, self._entry.tenant, FOUNDER, {})
        self._fingerprint = made["fingerprint"]
        return f"The fingerprint of the server's key: {self._fingerprint}"

    def smoke(self) -> str:
        return smoke.require_answers(self._account, self._base_url(), self._fingerprint)

    def invite(self) -> str:
        who = self._administrator
        event = {
            "username": who.username,
            "first_name": who.first_name,
            "last_name": who.last_name,
        }
        link = functions.call(self._account, self._entry.tenant, FOUNDER, {"administrator": event})
        return f"{who.username} sets up the account here, within ten days:\n    {link['link']}"

    def activate(self) -> None:
        self._registry.end(
            self._entry.tenant,
            self._work,
            state=ACTIVE,
            code=self._build.bundle.code_digest,
            forms=forms.manifest(),
            layer=self._build.bundle.layer_digest,
            parameters=self._own_parameters(),
        )

    @property
    def _stack(self) -> Stack:
        return builds.stack_of(self._account, self._entry.tenant)

    def _remove_remains(self) -> None:
        """Of a stack that could not be created, and that nobody has ever used."""
        print("    An earlier try has failed; what it left is removed.", flush=True)
        self._stack.delete()
        leftovers.remove(self._account, self._entry.tenant)

    def _change(self, parameters: Mapping[str, str]) -> str:
        platform = builds.platform_outputs(self._account)
        template = builds.template_of(self._entry, self._build, parameters)
        changes = self._stack.changes(template, parameters, bucket=platform["CodeBucket"])
        if changes is None:
            return "Nothing is to be changed."
        self._stack.apply(changes)
        return f"{len(changes.changes)} resources."

    def _parameters(self) -> dict[str, str]:
        entry = replace(self._entry, parameters=self._own_parameters())
        return builds.parameters_of(entry, builds.platform_outputs(self._account))

    def _own_parameters(self) -> dict[str, str]:
        return {**self._entry.parameters, "BaseUrl": self._base_url()}

    def _is_unnamed(self) -> bool:
        return "BaseUrl" not in self._entry.parameters

    def _base_url(self) -> str:
        if not self._is_unnamed():
            return self._entry.parameters["BaseUrl"]
        if self._stack.find() is None or self._stack.was_not_made():
            return _NOT_KNOWN_YET
        return self._stack.outputs()["ApiUrl"]


def require_fits(entry: Entry, platform_says: Mapping[str, str]) -> None:
    """Refuse before anything is done what would fail late."""
    if entry.parameters.get("DomainName") and not platform_says.get("CertificateArn"):
        raise Failed("The platform has no certificate; `deploy` it with --domain and --zone.")
    builds.parameters_of(entry, platform_says)
