"""Modules that libraries import and nothing here uses: run once somebody asks for a member.

Together they are a tenth of each start of a function (ADR 51). To be told of before the library
is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Self


class _PutOff(ModuleType):
    """A module that runs when a member of it is asked for that is no module below it."""

    def __getattr__(self, member: str) -> Any:
        spec = self.__spec__
        if member.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(member)
        below = f"{self.__name__}.{member}"
        if PathFinder.find_spec(below, spec.submodule_search_locations or []):
            return import_module(below)
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(self)
        return getattr(self, member)


class _Late:
    """Makes a module and has it run later, by its own loader."""

    def __init__(self, spec: ModuleSpec, members: Mapping[str, Any]) -> None:
        self._spec = spec
        self._loader = spec.loader
        self._members = members

    def create_module(self, _: ModuleSpec) -> None:
        """A module as any other."""

    def exec_module(self, module: ModuleType) -> None:
        self._spec.loader = module.__loader__ = self._loader
        vars(module).update(self._members)
        module.__class__ = _PutOff


class _Finder:
    def __init__(self) -> None:
        self.put_off: dict[str, Mapping[str, Any]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        members = self.put_off.get(fullname)
        if members is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Late(spec, members)  # type: ignore[assignment]  # its base costs 4 ms
        return spec


class _Undocumented(str):
    """What botocore documents the methods of clients with: nobody asks a function for help."""

    __slots__ = ()

    def __new__(cls, **_: Any) -> Self:
        return super().__new__(cls)


_finder = _Finder()
sys.meta_path.insert(0, _finder)


def put_off(name: str, **members: Any) -> None:
    """Have a module run late, unless it has; `members` stand in for its own until then."""
    _finder.put_off[name] = members


def put_off_what_storage_never_uses() -> None:
    """How urllib3 looks which HTTP/2 is installed, and what botocore writes documentation with."""
    put_off("urllib3.http2")
    put_off("botocore.docs")
    names = ("ClientMethodDocstring", "PaginatorDocstring", "WaiterDocstring")
    put_off("botocore.docs.docstring", **dict.fromkeys(names, _Undocumented))
