"""The description of the API, as `python -m infra.describe.openapi` has written it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import orjson

FILE = Path(__file__).parents[2] / "openapi.json"


@cache
def openapi() -> orjson.Fragment:
    """The document as JSON that is written already."""
    return orjson.Fragment(FILE.read_bytes())
