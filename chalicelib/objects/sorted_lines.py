"""Lines in order, however many there are: a few lie in memory, the others in files.

A piece that is full is sorted and laid down; in the end the pieces are merged. What is there twice
comes once. The files go with the object, and hold nothing that is not written out.
"""

from __future__ import annotations

import gzip
import heapq
from collections.abc import Iterable, Iterator
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO, Self

PIECE = 32_000_000
"""Bytes of lines that lie in memory."""
_QUICKLY = 1


class SortedLines:
    def __init__(self, piece: int = PIECE) -> None:
        self._piece = piece
        self._held: list[bytes] = []
        self._bytes = 0
        self._laid: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._laid:
            file.close()

    def add(self, lines: Iterable[bytes]) -> None:
        """Take lines, each with its end."""
        for line in lines:
            self._held.append(line)
            self._bytes += len(line)
            if self._bytes >= self._piece:
                self._lay_down()

    def __iter__(self) -> Iterator[bytes]:
        """The lines in the order of their bytes, each once."""
        pieces = [*map(_read, self._laid), iter(sorted(self._held))]
        return (line for line, _ in groupby(heapq.merge(*pieces)))

    def _lay_down(self) -> None:
        file = TemporaryFile()  # noqa: SIM115  it lives as long as this object
        self._laid.append(file)
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_QUICKLY) as packed:
            packed.writelines(sorted(self._held))
        self._held, self._bytes = [], 0


def _read(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    with gzip.GzipFile(fileobj=file, mode="rb") as packed:
        yield from packed
