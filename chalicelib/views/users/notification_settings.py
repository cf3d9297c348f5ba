"""How the settings of mails look to clients."""

from __future__ import annotations

from chalicelib.domain.operator.notices import SWITCHES
from chalicelib.tables.settings import Setting, value_of


def settings(row: Setting | None) -> dict[str, bool]:
    """All switches, and where their values come from."""
    return {**SWITCHES, **value_of(row), "sources_database": row is not None, "sources_file": False}
