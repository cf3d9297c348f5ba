"""All tables of a tenant, also those this process has had no use for yet."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

import chalicelib.storage.changes.parts
import chalicelib.tables
from chalicelib.storage.base import Table, every_table


@cache
def tables() -> tuple[type[Table], ...]:
    """Every table of the service. Their modules are loaded, which no sign-in should wait for."""
    for module in pkgutil.walk_packages(chalicelib.tables.__path__, "chalicelib.tables."):
        import_module(module.name)
    return tuple(each for each in every_table() if each.__module__.startswith("chalicelib."))
