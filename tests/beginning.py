"""What is stored before a test begins: the public halves of the tenant's keys, made once."""

from __future__ import annotations

from pathlib import Path

from chalicelib.services import keys, signing_keys
from tests.storage import Contents, Storage


class Beginning:
    """Is made anew where a test left other private keys behind."""

    def __init__(self, storage: Storage, folder: Path) -> None:
        self._storage, self._folder = storage, folder
        self._contents: Contents = {}
        self._private: dict[str, bytes] = {}

    def again(self) -> None:
        if self._private != self._held():
            self._storage.empty()
            keys.create_local(self._folder)
            self._contents, self._private = self._storage.contents(), self._held()
        self._storage.put_back(self._contents)
        signing_keys.forget()

    def _held(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self._folder.iterdir() if file.is_file()}
