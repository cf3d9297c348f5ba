"""Requests whose process dies on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.faults.hooks import Killed, Killing


def dying(death: Killing, ask: Callable[[], object]) -> None:
    """Send a request whose process dies at this moment."""
    with pytest.raises(Killed), death:
        ask()


def after_commit(ask: Callable[[], object]) -> None:
    """Send a request whose process dies when its change is committed and not yet applied."""
    dying(_AtCommit(before=False), ask)


def before_commit(ask: Callable[[], object]) -> None:
    """Send a request whose process dies when all is staged and locked, and not yet committed."""
    dying(_AtCommit(before=True), ask)


class _AtCommit(Killing):
    """Kills the process at the commit of a large change."""

    def __init__(self, *, before: bool) -> None:
        super().__init__(at=-1)
        self.before = before

    def __call__(self, operation: str, parameters: Any, send: Any) -> Any:
        is_commit = any(map(commits, parameters.get("TransactItems", ())))
        if self.dead or (is_commit and self.before):
            self._die()
        answer = send()
        if is_commit:
            self._die()
        return answer


def commits(line: Any) -> bool:
    """Whether this line of a transaction commits a large change."""
    names = line.get("Update", {}).get("ExpressionAttributeNames", {})
    return "committed" in names.values()
