"""What differs between two templates, without an account: for whoever reviews a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infra.template.elements import Json

PARTS: Mapping[str, str] = {
    "Resources": "",
    "Parameters": "parameter",
    "Conditions": "condition",
    "Outputs": "output",
}
"""What a template has names for, and what each is called; a resource, by its kind."""


def differences(old: Json, new: Json) -> list[str]:
    """A line for each part that comes, goes or changes, with what changes of it."""
    return [line for part in PARTS for line in _of(part, old.get(part, {}), new.get(part, {}))]


def _of(part: str, before: Json, after: Json) -> list[str]:
    def told(name: str) -> str:
        return f"{name} ({PARTS[part] or _kind({**before, **after}[name])})"

    added = [f"Add     {told(name)}" for name in sorted(after.keys() - before)]
    removed = [f"Remove  {told(name)}" for name in sorted(before.keys() - after)]
    changed = [
        f"Modify  {told(name)}: {', '.join(places)}"
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
        yield where or "all of it"
        return
    for name in sorted({*old, *new}):
        yield from _places(old.get(name), new.get(name), f"{where}.{name}".lstrip("."))
