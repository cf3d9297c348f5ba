"""Small damage to bytes and text, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator


def of_bytes(original: bytes, count: int, seed: int) -> Iterator[bytes]:
    """`count` damaged copies: a bit, a byte, a cut, a repetition, an insertion, an exchange."""
    chance = random.Random(seed)
    kinds = (_flip, _set, _cut, _repeat, _insert, _truncate, _exchange)
    for index in range(count):
        yield kinds[index % len(kinds)](original, chance)


def of_bits(original: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Copies with one other bit: every one of them, or `count`, evenly spread."""
    bits = 8 * len(original)
    start = random.Random(seed).randrange(bits)
    for index in range(min(count, bits)):
        place = (start + index * bits // min(count, bits)) % bits
        yield _flipped(original, place)


def of_text(original: str, count: int, seed: int) -> Iterator[str]:
    for mutant in of_bytes(original.encode(), count, seed):
        yield mutant.decode("latin-1")


def _flip(data: bytes, chance: random.Random) -> bytes:
    return _flipped(data, chance.randrange(8 * len(data)))


def _flipped(data: bytes, bit: int) -> bytes:
    place, shift = divmod(bit, 8)
    return data[:place] + bytes((data[place] ^ 1 << shift,)) + data[place + 1 :]


def _set(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(min(len(data), 64) if chance.random() < 0.5 else len(data))
    return data[:place] + bytes((chance.choice((0, 1, 0x7F, 0xFF, 0xC0)),)) + data[place + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    start, end = _range(data, chance)
    return data[:start] + data[end:]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    start, end = _range(data, chance)
    return data[:end] + data[start:]


def _insert(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + chance.randbytes(chance.randrange(1, 9)) + data[place:]


def _truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _exchange(data: bytes, chance: random.Random) -> bytes:
    start, end = _range(data, chance)
    return data[:start] + data[end : 2 * end - start] + data[start:end] + data[2 * end - start :]


def _range(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data))
    return start, min(len(data), start + chance.randrange(1, 40))
