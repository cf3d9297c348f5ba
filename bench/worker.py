"""One process of a worker: imports it, is called once, and ends."""

from __future__ import annotations

import sys
from importlib import import_module

import_module(f"chalicelib.workers.{sys.argv[1]}").handler(None, None)
