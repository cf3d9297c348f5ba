"""How much is tried: usually what a change needs, with PROVE=1 what a release needs."""

from __future__ import annotations

import os

PROVING = bool(os.environ.get("PROVE"))


def more(usual: int, proving: int) -> int:
    return proving if PROVING else usual
