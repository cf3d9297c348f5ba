"""A tenant from nothing to its first administrator: the steps, and what is refused before them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.users import INVALID, AdministratorBody
from chalicelib.domain.errors import FieldErrors, Invalid
from infra.checks import forms
from infra.operate import (
    builds,
    functions,
    leftovers,
    mail_identities,
    releasing,
    settings,
    smoke,
)
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.registry import ACTIVE, Entry, Registry
from infra.operate.stack import Stack
from infra.operate.steps import Failed, Step
from infra.template.cell.platform import CODE
from infra.template.parameters import tenant_parameters
from infra.template.tiers import TIERS, Tier

FOUNDER = "founder"
LONGEST_BUCKET = 63
"""Characters, for S3."""
DIGITS_OF_ACCOUNTS = 12
"""Of the number of each, which begins with zeros where it is small."""
SHARED_INSTANCES = 100
"""Of all instances of an account, which Lambda lets nobody reserve."""
_NOT_KNOWN_YET = "https://not-known-yet.invalid"
"""The address of a tenant without a domain, until the gateway has given it one."""


@dataclass(frozen=True, slots=True)
class Administrator:
    username: str
    first_name: str
    last_name: str


def steps(
    account: Account,
    build: Build,
    entry: Entry,
    administrator: Administrator,
    *,
    instead: bool = False,
) -> list[Step]:
    new = Onboarding(account, build, entry, instead=instead)
    return [
        Step("reserve the name", new.reserve),
        Step("create the stack", new.create),
        Step("tell the functions their address", new.address),
        Step("make the keys, inside the account", new.keys),
        Step("see that it answers", new.smoke),
        Step("invite the first administrator", lambda: new.invite(administrator)),
        Step("write down that it is active", new.activate),
    ]


class Onboarding:
    verb = "onboard"
    """What the registry calls it while it is not finished."""

    def __init__(
        self, account: Account, build: Build, entry: Entry, *, instead: bool = False
    ) -> None:
        self._account = account
        self._registry = Registry(account)
        self._build = build
        self._entry = entry
        self._instead = instead
        self._work = f"{self.verb} {entry.tenant}"
        self._fingerprint = ""

    def reserve(self) -> str | None:
        """An active tenant is refused: its name is taken, also by itself."""
        before = self._registry.find(self._entry.tenant)
        self._registry.reserve(replace(self._entry, work=self._work), instead=self._instead)
        return None if before is None else "It was reserved; going on from there."

    def create(self) -> str:
        if self._stack.was_not_made():
            self._remove_remains()
        return self._change(self._parameters())

    def address(self) -> str:
        """The functions put it into links and tokens; without a domain the gateway gives it."""
        if self._is_unnamed():
            return self._change(self._parameters())
        return builds.record(self._entry, self._stack.outputs()) or "It has a name."

    def keys(self) -> str:
        made = functions.call(self._account, self._entry.tenant, FOUNDER, {})
        self._fingerprint = made["fingerprint"]
        return f"The fingerprint of the server's key: {self._fingerprint}"

    def smoke(self) -> str:
        return smoke.require_well(self._account, self._addressed(), self._fingerprint)

    def invite(self, who: Administrator) -> str:
        event = {"administrator": asdict(who)}
        link = functions.call(self._account, self._entry.tenant, FOUNDER, event)
        return f"{who.username} sets up the account here, within ten days:\n    {link['link']}"

    def activate(self) -> str:
        self._registry.end(
            self._entry.tenant,
            self._work,
            state=ACTIVE,
            forms=forms.manifest(),
            parameters=self._own_parameters(),
            **releasing.noted(self._entry, self._build),
        )
        return "\n    ".join(mail_identities.lines(self._account, self._entry))

    @property
    def _stack(self) -> Stack:
        return builds.stack_of(self._account, self._entry.tenant)

    def _remove_remains(self) -> None:
        """Of a stack that could not be created, and that nobody has ever used: it has no keys."""
        leftovers.require_no_secret(self._account, self._entry.tenant)
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
        return builds.parameters_of(self._addressed(), builds.platform_outputs(self._account))

    def _addressed(self) -> Entry:
        return replace(self._entry, parameters=self._own_parameters())

    def _own_parameters(self) -> dict[str, str]:
        return {**self._entry.parameters, "BaseUrl": self._base_url()}

    def _is_unnamed(self) -> bool:
        return "BaseUrl" not in self._entry.parameters

    def _base_url(self) -> str:
        if not self._is_unnamed():
            return self._entry.parameters["BaseUrl"]
        if self._stack.find() is None or self._stack.was_not_made():
            return _NOT_KNOWN_YET
        return self._stack.outputs().get("ApiUrl", _NOT_KNOWN_YET)


def require_valid(tier: str, parameters: Mapping[str, str]) -> None:
    """Refuse what cannot be in any account."""
    settings.require_valid(tenant_parameters(TIERS[tier]), parameters, f"of the tier {tier}")
    settings.require_agreeing(parameters)
    if parameters.get("MailIdentity") and parameters.get("MailSender"):
        raise Failed(
            "SES has to verify MailIdentity before mails leave: onboard without --mail-sender, "
            "and set MailSender once `status` says that it is verified."
        )


def require_somebody(administrator: Administrator) -> None:
    """Refuse what the founder would refuse too, but last."""
    try:
        Draft(AdministratorBody, asdict(administrator)).read(INVALID)
    except Invalid as problem:
        raise Failed("\n".join(_rules(problem.errors or {}))) from None


def _rules(errors: FieldErrors) -> Iterator[str]:
    """Those that are broken, in words."""
    for each in errors.values():
        yield from _rules(each) if isinstance(each, Mapping) else [str(each)]


def require_a_tenants(tenant: str) -> None:
    """Refuse a name that is the cell's: what a failed creation leaves would be taken for its."""
    if tenant == CODE:
        raise Failed(
            f"No tenant is called {tenant}: the bucket with the cell's code is. Take another."
        )


def require_short(tenant: str, region: str) -> None:
    """Refuse a name with which that of the bucket would be too long, whatever the account."""
    bucket = leftovers.bucket_name(tenant, "0" * DIGITS_OF_ACCOUNTS, region)
    if len(bucket) > LONGEST_BUCKET:
        most = len(tenant) - len(bucket) + LONGEST_BUCKET
        raise Failed(f"In {region} a tenant's name has at most {most} characters.")


def require_fits(account: Account, entry: Entry, platform_says: Mapping[str, str]) -> None:
    """Refuse before anything is done what would fail late."""
    _require_room(account, TIERS[entry.tier])
    if name := entry.parameters.get("DomainName"):
        settings.require_covered(name, platform_says)
    mail_identities.require_free(account, entry, entry.parameters.get("MailIdentity", ""))


def _require_room(account: Account, tier: Tier) -> None:
    """Whether the account lets as many functions run at once as people and releases need.

    New accounts often have ten: everybody is refused then as soon as a handful ask together, and
    a release, which tries all its functions at once, is taken back.
    """
    told = account.client("lambda").get_account_settings()["AccountLimit"]
    free = int(told["UnreservedConcurrentExecutions"])
    kept = tier.reserved or 0
    wanted = kept + len(tier.warm) + SHARED_INSTANCES
    if free < wanted:
        raise Failed(
            f"The tier {tier.name} needs {wanted} functions that may run at once: {kept} "
            f"that it keeps for signing in, and {SHARED_INSTANCES} for all others. The account has "
            f"{free} left in this region; ask AWS for more (quota «concurrent executions» of "
            f"Lambda)."
        )
