"""Every template there is, by the name of its file."""

from __future__ import annotations

from pathlib import Path

from infra.bundle.bundle import Bundle, CannotBuild
from infra.checks import findings
from infra.template.elements import text
from infra.template.platform import platform
from infra.template.tenant import tenant
from infra.template.tiers import TIERS


def write(folder: Path, bundle: Bundle) -> list[Path]:
    """Write all templates into a folder; raises `CannotBuild` rather than write a wrong one."""
    templates = {
        f"tenant-{name}.json": tenant(tier, bundle) for name, tier in sorted(TIERS.items())
    }
    for name, template in templates.items():
        if faults := findings(template):
            raise CannotBuild("\n".join([f"{name} is not as it must be:", *faults]))
    templates["platform.json"] = platform(bundle)
    for name, template in templates.items():
        (folder / name).write_text(text(template), encoding="utf-8")
    return [folder / name for name in templates]
