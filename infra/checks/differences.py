"""What differs between two templates, without an account: for who reviews a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.template.elements import Json


def differences(old: Json, new: Json) -> list[str]:
    """A line for each resource that comes, goes or changes, with what changes of it."""
    before, after = old["Resources"], new["Resources"]
    added = [f"Add     {name} ({_kind(after[name])})" for name in sorted(after.keys() - before)]
    removed = [f"Remove  {name} ({_kind(before[name])})" for name in sorted(before.keys() - after)]
    changed = [
        f"Modify  {name} ({_kind(after[name])}): {', '.join(places)}"
        for name in sorted(after.keys() & before.keys())
        if (places := list(_places(before[name], after[name])))
    ]
    return [*removed, *added, *changed]


def _kind(resource: Json) -> str:
    return str(resource["Type"]).removeprefix("AWS::")


def _places(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Where two values differ, to the depth at which both are objects."""
    if old == new:
        return
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield where
        return
    for name in sorted({*old, *new}):
        yield from _places(old.get(name), new.get(name), f"{where}.{name}".lstrip("."))
