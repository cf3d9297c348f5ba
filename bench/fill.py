"""Writes the tenant into the journal that `python -m infra.local_server` will serve from."""

from __future__ import annotations

import os

from bench import tenant
from infra.local_server.engine import Engine
from infra.local_server.options import Options
from infra.local_server.service import prepare

options = Options.read(os.environ)
engine = Engine(options.data / "tables.db")
prepare(options, engine)
tenant.fill().write(options.data)
engine.close()
