"""How much is tried: what a change needs, what a submission needs, or what a release needs.

`make test` tries the fewest samples, as does `.ci/run`. PROVE=some tries what is usual, and
`make prove` says PROVE=all. Which refusals and cases are tested is the same in all of them.
SHARE=4 runs about every fourth test, for a second engine after all of them ran on the first.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable

_LEVEL = os.environ.get("PROVE", "few")
if _LEVEL not in ("few", "some", "all"):
    raise ValueError(f"PROVE is few, some or all, not {_LEVEL}.")
PROVING = _LEVEL == "all"
SAMPLING = _LEVEL == "few"
_SHARE = os.environ.get("SHARE", "1")
if not re.fullmatch(r"[1-9]\d{0,2}", _SHARE, re.ASCII):
    raise ValueError(f"SHARE is 1 for all tests, 4 for every fourth one, not “{_SHARE}”.")
SHARE = int(_SHARE)


def more(usual: int, proving: int) -> int:
    return proving if PROVING else usual


def tried(names: Iterable[str]) -> list[str]:
    """The names of requests to be tried; in a sample every sixth one."""
    return sorted(names)[:: fewer(6, 1)]


def fewer(sampled: int, usual: int) -> int:
    """How many are tried, or which one of so many; with `more` around it, three amounts."""
    return sampled if SAMPLING else usual


def in_share(test: str) -> bool:
    """Whether the test of this name runs; the same ones do each time and in each process."""
    return zlib.crc32(test.encode()) % SHARE == 0
