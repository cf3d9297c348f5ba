"""A build that lies in a folder, and the templates of tenants made for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from infra.bundle.bundle import Bundle, built
from infra.checks import findings
from infra.checks.replacements import refusals
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.stack import Stack
from infra.operate.steps import Failed
from infra.template.cell.platform import platform
from infra.template.elements import Json, digest, text
from infra.template.parameters import tenant_parameters
from infra.template.tenant import tenant
from infra.template.tiers import TIERS

PLATFORM = "keyhaven"
"""The stack of the cell. Those of tenants have a hyphen after this, so none can be called so."""
_FROM_PLATFORM = ("CodeBucket", "LayerArn", "AlarmTopic", "PermissionsBoundary", "FirewallArn")


@dataclass(frozen=True, slots=True)
class Build:
    folder: Path
    bundle: Bundle

    def template_digest(self, tier: str) -> str:
        """Of the template of a tier, as it is before a tenant's own values are put in."""
        return _template_digest(tier, self.bundle)

    @property
    def archives(self) -> dict[str, Path]:
        """Where the archives go in the platform's bucket, and where they lie here."""
        return {
            self.bundle.code_key: self.folder / "code.zip",
            self.bundle.layer_key: self.folder / "layer.zip",
        }


@cache
def _template_digest(tier: str, bundle: Bundle) -> str:
    return digest(tenant(TIERS[tier], bundle))


def read(folder: Path) -> Build:
    """The build in a folder; refused where it is not what this code builds."""
    makes = f"`keyhaven infra build --folder {folder}` makes it"
    try:
        build = Build(folder, built(folder))
        written = (folder / "platform.json").read_text(encoding="utf-8")
        others = {name: (folder / f"tenant-{name}.json").read_text("utf-8") for name in TIERS}
    except (FileNotFoundError, NotADirectoryError) as missing:
        raise Failed(f"{missing.filename} is missing; {makes}.") from None
    made = {name: text(tenant(tier, build.bundle)) for name, tier in TIERS.items()}
    if written != text(platform(build.bundle)) or others != made:
        raise Failed(
            f"{folder}/ is not what this code builds: it was built from other code, which alone "
            f"deploys it, or not to its end. {makes} anew, from this code."
        )
    return build


def stack_of(account: Account, tenant_id: str) -> Stack:
    return Stack(account, f"{PLATFORM}-{tenant_id}", PLATFORM)


def platform_outputs(account: Account) -> dict[str, str]:
    stack = Stack(account, PLATFORM)
    if stack.find() is None:
        raise Failed("This cell has no platform yet; `keyhaven infra deploy` makes it.")
    return stack.outputs()


def record(entry: Entry, stack_says: Mapping[str, str]) -> str:
    """What leads a tenant's name to its API, and who makes it; nothing where it has no name."""
    name, target = entry.parameters.get("DomainName"), stack_says.get("DomainTarget")
    if not name or not target:
        return ""
    if entry.parameters.get("HostedZone"):
        return f"The stack has made the record that leads {name} to {target}."
    zone = stack_says["DomainTargetZone"]
    return f"Make a record A of {name}, an alias to {target} (of the zone {zone})."


def parameters_of(entry: Entry, platform_says: Mapping[str, str]) -> dict[str, str]:
    """All parameters of a tenant's stack: its own, and what the platform gives."""
    given = {name: platform_says[name] for name in _FROM_PLATFORM if name in platform_says}
    if entry.parameters.get("DomainName"):
        given["CertificateArn"] = platform_says.get("CertificateArn", "")
    together = {"TenantId": entry.tenant, **given, **entry.parameters}
    unknown = together.keys() - tenant_parameters(TIERS[entry.tier]).keys()
    if unknown:
        raise Failed(f"No parameter of the tier {entry.tier}: {', '.join(sorted(unknown))}.")
    return together


def require_kept(stack: Stack, template: Json) -> None:
    """Raise `Failed` where a template would replace, or leave, what a stack stores in."""
    if found := refusals(stack.template(), template):
        raise Failed("\n".join(["Nothing is changed, since data would be left behind:", *found]))


def template_of(entry: Entry, build: Build, parameters: Mapping[str, str]) -> Json:
    """What the tenant's stack is to be; never one that is not as it must be."""
    template = tenant(TIERS[entry.tier], build.bundle, entry.epoch, parameters)
    if faults := findings(template):
        raise Failed("\n".join(["The template is not as it must be:", *faults]))
    return template
