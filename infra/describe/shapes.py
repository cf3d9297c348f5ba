"""The reviewed shapes of the templates, written anew: `python -m infra.describe.shapes`."""

from __future__ import annotations

from infra.bundle.bundle import Bundle
from infra.checks.shapes import FOLDER, written
from infra.template.cell.platform import platform
from infra.template.tenant import tenant
from infra.template.tiers import TIERS

_ANY = Bundle("0" * 16, "0" * 16)
"""A shape leaves open what is built."""


def shapes() -> dict[str, str]:
    """The files of the shapes, by name."""
    tenants = {name: tenant(tier, _ANY) for name, tier in sorted(TIERS.items())}
    return {
        "tenant.txt": written(tenants),
        "platform.txt": written({"platform": platform(_ANY)}),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in shapes().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
