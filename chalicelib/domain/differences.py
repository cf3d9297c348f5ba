"""What a change has made different, as logs tell it: fields of a document, each by its name.

Of what anybody may read who keeps a log, it is told what a field said before and says now; of
anything else, names of people and of servers as well, only that it was changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]
Difference = tuple[Any, ...]
"""The name of a field; and where it is told, what it said before and says now."""


def between(before: Document, after: Document) -> list[Difference]:
    """Each field that differs, with both of what it says. Those of a part have its name before."""
    one, other = dict(_flat(before)), dict(_flat(after))
    names = dict.fromkeys((*one, *other))
    pairs = ((name, one.get(name), other.get(name)) for name in names)
    return [pair for pair in pairs if pair[1] != pair[2]]


def names(before: Document, after: Document) -> list[Difference]:
    """Each field that differs, and not what it says."""
    every = dict.fromkeys((*before, *after))
    return [(name,) for name in every if before.get(name) != after.get(name)]


def _flat(document: Document, inside: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{inside}{name}.")
        else:
            yield f"{inside}{name}", value
