"""Rows that were read are not changed: a hook that lets every test fail where one is.

Serving on one machine hands the service the stored rows themselves (`Engine.hand_over`).
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Never

from chalicelib.storage.connection import Json, Send


def hand_out(_operation: str, _parameters: Json, send: Send) -> Json:
    """Answer with rows that refuse to be changed."""
    answer = send()
    rows = {
        name: _frozen(answer[name]) for name in ("Item", "Items", "Responses") if name in answer
    }
    return {**answer, **rows}


class _ReadOnly(dict[str, Any]):
    """A dictionary with what changes one taken away; a copy of it is a plain one."""

    def _refuse(self, *_: Any, **__: Any) -> Never:
        raise TypeError("A row that was read is not changed; change a copy.")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {name: deepcopy(value, memo) for name, value in self.items()}


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return _ReadOnly({name: _frozen(inner) for name, inner in value.items()})
    return [_frozen(inner) for inner in value] if isinstance(value, list) else value
