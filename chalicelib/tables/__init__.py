"""Tables and their rows. A process loads those it uses; others are loaded once a change names them.

Whoever meets a row of a large change may have to carry it out, whatever tables it writes.
"""

from __future__ import annotations

from importlib import import_module

from chalicelib.storage.base import set_loader

set_loader(lambda: import_module("chalicelib.tables.catalogue").tables())
