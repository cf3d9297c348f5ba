"""Forms of rows: whether a release may follow another, for what each reads and writes.

Both are at work while one follows the other, and the one before may come back. So what the new
one writes the old one has to read, and what the old one has written the new one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from chalicelib.tables import catalogue

Manifest = Mapping[str, str]
"""By table, where it has several forms or not the first: the lowest form that is read, the one
that is written, and the highest that is read."""

FILE = "forms.json"
"""What a build says of itself, beside its templates."""


_THREE = re.compile("[0-9]+ [0-9]+ [0-9]+")


class _Known(NamedTuple):
    lowest: int = 1
    written: int = 1
    highest: int = 1


def manifest() -> dict[str, str]:
    """The forms that the code as it is here knows."""
    forms = {table.bare_name(): table.forms for table in catalogue.tables()}
    known = {name: _Known(each.lowest, each.written, each.highest) for name, each in forms.items()}
    return {name: " ".join(map(str, each)) for name, each in known.items() if each != _Known()}


def is_manifest(read: Any) -> TypeGuard[Manifest]:
    """Whether what was read is what a build says of itself."""
    return isinstance(read, dict) and all(
        isinstance(each, str) and _THREE.fullmatch(each) for each in read.values()
    )


def refusals(before: Manifest, after: Manifest) -> list[str]:
    """Why a release may not follow the one before; nothing where it may."""
    said = []
    for table in sorted({*before, *after}):
        old, new = _known(before, table), _known(after, table)
        if new.written > old.highest:
            said.append(
                f"{table}: it writes form {new.written}; the release before it reads none above "
                f"{old.highest}. Release first what reads the form and does not write it yet."
            )
        if new.highest < old.written:
            said.append(
                f"{table}: it reads no form above {new.highest}; the release before it writes "
                f"{old.written}. Release first what still reads {old.written} and writes "
                f"{new.highest}, and let its upgrade end."
            )
        if new.lowest > old.written:
            said.append(
                f"{table}: it reads no form below {new.lowest}; the release before it writes "
                f"{old.written}. Release first what writes {new.lowest}, and let its upgrade end."
            )
    return said


def forgotten(before: Manifest, after: Manifest, table: str) -> tuple[bool, bool]:
    """Whether a release no longer reads the lowest, and the highest, form of the one before."""
    old, new = _known(before, table), _known(after, table)
    return new.lowest > old.lowest, new.highest < old.highest


def _known(manifest: Manifest, table: str) -> _Known:
    return _Known(*map(int, manifest[table].split())) if table in manifest else _Known()
