"""Lines that are sorted outside of memory."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from chalicelib.objects.sorted_lines import SortedLines


def numbered(count: int) -> list[bytes]:
    lines = [b"%08d %s\n" % (n, b"x" * 100) for n in range(count)]
    random.Random(1).shuffle(lines)
    return lines


@pytest.mark.parametrize("piece", [1, 500, 10_000, 1_000_000])
def test_lines_come_in_order_and_once_whatever_a_piece_holds(piece: int) -> None:
    lines = numbered(300)
    with SortedLines(piece) as found:
        found.add(lines)
        found.add(lines[:100])
        assert list(found) == sorted(lines)
        assert list(found) == sorted(lines)


def test_no_lines_are_none() -> None:
    with SortedLines() as found:
        assert list(found) == []


def test_memory_is_that_of_a_few_pieces() -> None:
    """Twenty times a piece pass by."""
    piece = 500_000
    tracemalloc.start()
    with SortedLines(piece) as found:
        found.add(b"%08d %s\n" % (n % 7919, b"x" * 100) for n in range(100_000))
        assert sum(1 for _ in found) == 7919
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 6 * piece
