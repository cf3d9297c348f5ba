"""What is stored before a test begins: the public halves of the tenant's keys, and no pictures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

from chalicelib.objects.avatars import AVATARS, NOTES
from chalicelib.services.operator import keys, server_key, signing_keys
from chalicelib.settings import settings
from tests.support.storage import Contents, Storage, changed_since
from tests.support.world import make
from tests.support.world.make import Somebody

T = TypeVar("T")


class Beginning:
    """Is made anew where a test left other private keys behind."""

    def __init__(self, storage: Storage, folder: Path) -> None:
        self._storage, self._folder = storage, folder
        self._contents: Contents = {}
        self._private: dict[str, bytes] = {}
        self._made: dict[Callable[[Storage], Any], tuple[Any, Contents]] = {}
        self._added: dict[str, tuple[Any, Contents]] = {}
        self._once: dict[str, Any] = {}

    def again(self) -> None:
        if self._private != self._held():
            self._storage.empty()
            keys.create_local(self._folder)
            server_key.forget()
            self._contents, self._private = self._storage.contents(), self._held()
            self._made.clear()
            self._added.clear()
            self._once.clear()
        self._storage.put_back(self._contents)
        signing_keys.forget()
        remove_pictures()

    def followed_by(self, make: Callable[[Storage], Any]) -> Any:
        """What a function makes in empty tables: it is called once, and its rows are put back."""
        if make not in self._made:
            self._made[make] = make(self._storage), self._storage.contents()
        made, contents = self._made[make]
        self._storage.put_back(contents)
        return deepcopy(made, {id(self._storage): self._storage})

    def once(self, name: str, made_by: Callable[[], T]) -> T:
        """What a function makes: it is called once, and all are given the same."""
        if name not in self._once:
            self._once[name] = made_by()
        made: T = self._once[name]
        return made

    def joined_by(self, name: str, *, admin: bool = False) -> Somebody:
        """A user beside what is stored."""
        known_as = f"{name}, an administrator" if admin else name
        return self.with_added(known_as, lambda: make.user(name, admin=admin))

    def with_added(self, name: str, made_by: Callable[[], T]) -> T:
        """What a function makes beside what is stored: it is called once, and its rows are added.

        It is called in empty tables. Rows that are there are replaced by its own.
        """
        if name not in self._added:
            stored = self._storage.contents()
            self._storage.put_back(self._contents)
            made = made_by()
            self._added[name] = made, changed_since(self._contents, self._storage.contents())
            self._storage.put_back(stored)
        made, rows = self._added[name]
        self._storage.add(rows)
        return deepcopy(made)

    def _held(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self._folder.iterdir() if file.is_file()}


def remove_pictures() -> None:
    """Remove all pictures, and all notes of their changes, whatever is in them."""
    assert settings.avatar_folder is not None
    for folder in (AVATARS, NOTES):
        shutil.rmtree(settings.avatar_folder / folder, ignore_errors=True)
