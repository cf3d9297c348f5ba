"""Every template there is, by the name of its file."""

from __future__ import annotations

from pathlib import Path

from infra.bundle.bundle import Bundle, CannotBuild
from infra.checks import findings, findings_of_a_cell
from infra.template.cell.platform import platform
from infra.template.elements import text
from infra.template.tenant import tenant
from infra.template.tiers import TIERS

PLATFORM = "platform.json"


def write(folder: Path, bundle: Bundle) -> list[Path]:
    """Write all templates into a folder; raises `CannotBuild` rather than write a wrong one."""
    templates = {
        f"tenant-{name}.json": tenant(tier, bundle) for name, tier in sorted(TIERS.items())
    }
    wrong = {name: findings(template) for name, template in templates.items()}
    templates[PLATFORM] = platform(bundle)
    wrong[PLATFORM] = findings_of_a_cell(templates[PLATFORM])
    for name, faults in wrong.items():
        if faults:
            raise CannotBuild("\n".join([f"{name} is not as it must be:", *faults]))
    for name, template in templates.items():
        (folder / name).write_text(text(template), encoding="utf-8")
    return [folder / name for name in templates]
