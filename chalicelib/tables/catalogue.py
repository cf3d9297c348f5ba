"""All tables of a tenant, also those this process has had no use for yet."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import chalicelib.storage.parts
import chalicelib.tables
from chalicelib.storage.base import Table, every_table


def tables() -> list[type[Table]]:
    """Every table of the service. Their modules are loaded, which no sign-in should wait for."""
    for module in pkgutil.iter_modules(chalicelib.tables.__path__):
        import_module(f"chalicelib.tables.{module.name}")
    return [each for each in every_table() if each.__module__.startswith("chalicelib.")]
