"""Room for frames: tests lie so deep that Python would ask the system for memory at each call.

CPython keeps frames in chunks of 16 KB (`DATA_STACK_CHUNK_SIZE`, Python/pystate.c), and gives a
chunk back as soon as its first frame ends. Wherever the calls of a loop begin a chunk, each costs
two system calls: below pytest, that was a third of the time of all tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_WORDS = 70_000
"""Of a frame that needs a chunk of 1 MiB, the next power of two, and leaves half of it free."""


def with_room(call: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Call it in a chunk that has room for the frames of all it calls."""
    return call(*arguments, **named)


with_room.__code__ = with_room.__code__.replace(co_stacksize=_WORDS)
