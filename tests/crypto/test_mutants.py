"""Damaged challenges and keys: refused, or the same as undamaged, and never anything else."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pytest

from chalicelib.crypto.openpgp import BadMessage, PublicKey, ServerKey, read_public_key
from chalicelib.domain.armor import PUBLIC_KEY, BadArmor, read_block, read_message, write_block
from chalicelib.domain.errors import Invalid
from tests.crypto import forge, mutants
from tests.support.proving import fewer, more
from tests.support.world.keys import KEYS, Key, challenge, message

TEXT = '{"version":"1.0.0"}'
BEARABLE = 0.25
"""Seconds for one mutant; measured: 0.06 at most."""


def survivors(texts: Iterable[str], read: Callable[[str], object]) -> list[object]:
    """What was read of those that were not refused, each in bearable time."""
    found: list[object] = []

    def seconds(text: str) -> float:
        start = time.process_time()
        with contextlib.suppress(BadMessage, BadArmor, Invalid):
            found.append(read(text))
        return time.process_time() - start

    for text in texts:
        # Of a busy machine any text may seem slow now and then; one that is, is so again.
        assert any(seconds(text) < BEARABLE for _ in range(3)), text
    return found


@pytest.fixture
def opened(server_key: ServerKey, user: Key) -> Callable[[str], object]:
    return lambda armored: server_key.open_challenge(armored, user.public)


def test_a_challenge_with_damaged_text(server: Key, user: Key, opened):
    original = challenge(TEXT, user.private, server.public)
    assert set(survivors(mutants.of_text(original, 500, seed=1), opened)) <= {TEXT}


def test_a_challenge_with_damaged_packets(server: Key, user: Key, opened):
    original = read_block(challenge(TEXT, user.private, server.public), "PGP MESSAGE").data
    damaged = map(forge.armored, mutants.of_bytes(original, 700, seed=2))
    assert set(survivors(damaged, opened)) <= {TEXT}


@pytest.mark.parametrize("wrap", [bytes, forge.deflated, forge.bzipped])
def test_a_challenge_with_damage_inside(server: Key, user: Key, opened, wrap):
    """Well encrypted, so that only what is decrypted is damaged."""
    session_key = bytes(range(32))
    head = forge.session_key_packet(server.public, session_key)
    original = wrap(b"".join(forge.signed(TEXT.encode(), user.private)))
    damaged = (
        forge.armored(head + forge.protected(session_key, packets))
        for packets in mutants.of_bytes(original, 500, seed=3)
    )
    assert set(survivors(damaged, opened)) <= {TEXT}


SIGNATURE_MUTANTS = more(fewer(15, 100), 10_000)
"""Of each pair of a user's key and a server's, and of each kind of damage."""


@pytest.fixture
def accepted(server: Key, user: Key, opened) -> Callable[[Iterable[bytes]], list[bytes]]:
    """Those bodies of a signature packet with which a challenge opens that is whole otherwise."""
    session_key = bytes(range(32))
    head = forge.session_key_packet(server.public, session_key)
    first, text, _ = forge.signed(TEXT.encode(), user.private)

    def is_accepted(body: bytes) -> bool:
        packets = first + text + forge.packet(2, body)
        armored = forge.armored(head + forge.protected(session_key, packets))
        found = survivors([armored], opened)
        assert set(found) <= {TEXT}
        return bool(found)

    return lambda bodies: [body for body in bodies if is_accepted(body)]


@pytest.mark.parametrize("damage", [mutants.of_bytes, mutants.of_bits])
def test_a_challenge_with_a_damaged_signature(user: Key, accepted, damage):
    """It opens only where the damage is in what no signature covers and nobody relies on.

    That are unhashed subpackets, bits of the digest, how a number is written, what follows it.
    """
    original = forge.signature_of(TEXT.encode(), user.private)

    for body in accepted(damage(original, SIGNATURE_MUTANTS, seed=8)):
        assert forge.signed_part(body) == forge.signed_part(original), body.hex()
        assert forge.numbers(body) == forge.numbers(original), body.hex()


def test_a_challenge_opens_whatever_its_signature_says_unsigned(user: Key, accepted):
    """So that the test above is not one of refusals alone."""
    original = forge.signature_of(TEXT.encode(), user.private)
    others = [forge.with_unsigned(original, part) for part in (b"", b"\x02\x64a", b"\x03\x65ab")]

    assert accepted(others) == others


@pytest.mark.parametrize("place", ["type", "hashed subpacket", "number"])
def test_a_challenge_is_refused_with_one_bit_of_what_is_signed_changed(user: Key, accepted, place):
    original = forge.signature_of(TEXT.encode(), user.private)
    at = {"type": 1, "hashed subpacket": len(forge.signed_part(original)) - 1, "number": -1}[place]
    changed = bytearray(original)
    changed[at] ^= 1

    assert accepted([bytes(changed)]) == []


@pytest.mark.parametrize("name", ["ada", "carol", "edith"])
def test_a_public_key_with_damage(name: str):
    """What is read of a damaged key is the same key: all that counts is signed."""
    key = KEYS[name]
    now = datetime.now(UTC)

    def known(armored: str) -> tuple[object, ...]:
        read: PublicKey = read_public_key(armored, own=(), now=now)
        return read.fingerprint, read.uid, read.type, read.bits, read.key_created, read.expires

    original = read_block(key.public, PUBLIC_KEY).data
    damaged = [write_block(data, PUBLIC_KEY) for data in mutants.of_bytes(original, 500, seed=4)]
    damaged += mutants.of_text(key.public, 300, seed=5)
    assert set(survivors(damaged, known)) == {known(key.public)}


def test_a_stored_message_with_damage():
    """It is not opened: here the gate alone answers."""
    original = message("a secret", KEYS["ada"].public)
    data = read_block(original, "PGP MESSAGE").data
    damaged = [forge.armored(each) for each in mutants.of_bytes(data, 2_000, seed=6)]
    damaged += mutants.of_text(original, 2_000, seed=7)
    for read in survivors(damaged, lambda armored: len(read_message(armored).recipients)):
        assert read == 1
