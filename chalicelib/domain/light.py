"""`dataclass`, as of the standard library, made in a fraction of the time.

`dataclasses` writes and compiles up to seven functions for each class, at each start of a process:
a third of what a function of ours took to start (ADR 51). Here one is compiled, `__init__`, when
the first instance is made, because a request needs few of these classes; what compares, hashes and
shows is shared by all classes. `frozen` holds where types are checked: mypy refuses what would
change an instance, and nothing does while the service runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        declared: type | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        repr: bool = True,  # noqa: A002 - its name in the standard library
        kw_only: bool = False,
    ) -> Any:
        """Make a data class of what is declared, with what it does not define itself."""

        def make(declared: type) -> type:
            own = vars(declared)
            if not declared.__doc__:  # or its signature would be worked out
                declared.__doc__ = declared.__name__
            made = dataclasses.dataclass(
                declared, init=False, eq=False, repr=False, slots=slots, kw_only=kw_only
            )
            for name, value in _shared(made, frozen=frozen, shown=repr).items():
                if name not in own:
                    setattr(made, name, value)
            return made

        return make if declared is None else make(declared)


def _shared(made: type[Any], *, frozen: bool, shown: bool) -> dict[str, Any]:
    fields = dataclasses.fields(made)
    hashed = (each for each in fields if (each.compare if each.hash is None else each.hash))
    return {
        "__init__": _until_first(made),
        "_compared": _reading(each.name for each in fields if each.compare),
        "_hashed": _reading(each.name for each in hashed),
        "__eq__": _equal,
        "__hash__": _hash if frozen else None,
        **({"__repr__": _show} if shown else {}),
    }


def _until_first(made: Any) -> Any:
    """The `__init__` that a class has until its first instance is made."""

    def __init__(self: Any, /, *given: Any, **named: Any) -> None:  # noqa: N807
        made.__init__ = _written(made)
        made.__init__(self, *given, **named)

    return __init__


def _written(made: type[Any]) -> Any:
    """The `__init__` that the standard library writes for what has the same fields."""
    same = ("__doc__", "__module__", "__qualname__")
    heir = type(made.__name__, (made,), {name: getattr(made, name) for name in same})
    return vars(dataclasses.dataclass(heir, eq=False, repr=False, match_args=False))["__init__"]


def _reading(names: Iterable[str]) -> staticmethod[[Any], Any]:
    """What reads these members of an instance at once."""
    named = tuple(names)
    return staticmethod(attrgetter(*named) if named else _nothing)


def _nothing(_: object) -> tuple[()]:
    return ()


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._hashed(self))


def _show(self: Any) -> str:
    told = (
        f"{each.name}={getattr(self, each.name)!r}"
        for each in dataclasses.fields(self)
        if each.repr
    )
    return f"{self.__class__.__qualname__}({', '.join(told)})"


__all__ = ["dataclass"]
