"""The most similar of some words, and whether it is similar enough to be suggested."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_ALIKE = 0.6


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The most similar of the known words, if any is similar; capitals count for nothing."""
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[found[0]] if found else None


def meant(word: str, known: Iterable[str]) -> str:
    """` Do you mean …?`, or else what there is."""
    names = sorted(known)
    found = nearest(word, names)
    return f"Do you mean {found}?" if found else f"There are {', '.join(names)}."
