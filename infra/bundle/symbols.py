"""Libraries without the names only debuggers read, which take a tenth of the layer."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"\x7fELF\x02\x01"
"""Of a library for 64 bits, least byte first."""
_HEADER = struct.Struct("<40xQ10xHHH")
"""Of the file: where section headers are, how long each, how many, and where their names are."""
_SECTION = struct.Struct("<IIQQQQ24x")
"""Name, kind, flags, address, place and size of a section."""
_WITHOUT_CONTENT = 8
"""The kind of a section that takes no room in the file."""
_LOADED = 2
"""The flag of what is loaded when the library is."""


def blank(library: Path) -> None:
    """Overwrite what is never loaded with zeros: nothing moves, and zeros take no room packed."""
    content = bytearray(library.read_bytes())
    if content.startswith(_MAGIC):
        for start, size in _unused(content):
            content[start : start + size] = bytes(size)
        library.write_bytes(content)


def _unused(content: bytearray) -> Iterator[tuple[int, int]]:
    """Place and size of symbols, their names and what else only debuggers read."""
    table, length, count, names = _HEADER.unpack_from(content)
    for number in range(count):
        _, kind, flags, _, start, size = _SECTION.unpack_from(content, table + number * length)
        if not flags & _LOADED and kind != _WITHOUT_CONTENT and number != names:
            yield start, size
