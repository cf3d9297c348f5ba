"""The health of the server's key is found out with the key, as it lies there now."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from chalicelib.crypto import private_keys
from chalicelib.crypto.openpgp import ServerKey
from chalicelib.domain.armor import PRIVATE_KEY, Packet, Tag, read_block, read_packets
from chalicelib.services.operator import server_key
from chalicelib.services.operator.healthcheck import KeyHealth, key_health
from chalicelib.settings import settings
from tests.conftest import Time
from tests.crypto import forge
from tests.support.world.keys import KEYS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pgpy import PGPUID, PGPKey
    from pgpy.constants import (
        EllipticCurveOID,
        HashAlgorithm,
        KeyFlags,
        PubKeyAlgorithm,
        SymmetricKeyAlgorithm,
    )

WELL = KeyHealth(*[True] * 6)
UNREADABLE = KeyHealth()
NO_KEY = KeyHealth(is_readable=True)
CURVE = KEYS["server_curve"].private
ECDH_SECRET = 32
"""Bytes of the number that opens messages for a key of Curve25519."""


@pytest.fixture
def key_file() -> Iterator[Path]:
    """Where the server's key lies; what it held is put back."""
    assert settings.key_folder is not None
    path = settings.key_folder / private_keys.OPENPGP
    before = path.read_bytes()
    yield path
    path.write_bytes(before)


def locked() -> str:
    """A key that opens with a passphrase, which the server has none of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        key, _ = PGPKey.from_blob(CURVE)
        key.protect("passphrase", SymmetricKeyAlgorithm.AES256, HashAlgorithm.SHA256)
    return str(key)


def without_subkey() -> str:
    """A key that signs, and that nothing can be encrypted to."""
    packets = read_packets(read_block(CURVE, PRIVATE_KEY).data)
    return written(packets[: [each.tag for each in packets].index(Tag.SECRET_SUBKEY)])


def with_another_secret() -> str:
    """A key whose subkey is encrypted to with one number, and opened with another."""
    packets = read_packets(read_block(CURVE, PRIVATE_KEY).data)
    return written([changed(p) if p.tag == Tag.SECRET_SUBKEY else p for p in packets])


def changed(subkey: Packet) -> Packet:
    """With another secret number, and the checksum that goes with it."""
    start = len(subkey.body) - 2 - ECDH_SECRET
    secret = bytearray(subkey.body[start - 2 : -2])
    secret[ECDH_SECRET // 2] ^= 1
    checksum = (sum(secret) & 0xFFFF).to_bytes(2)
    return Packet(subkey.tag, subkey.body[: start - 2] + bytes(secret) + checksum)


def ending(after: timedelta) -> str:
    """A key that ends some time after now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        key = PGPKey.new(PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519)
        key.add_uid(
            PGPUID.new("Keyhaven <server@example.com>"),
            usage={KeyFlags.Certify, KeyFlags.Sign},
            hashes=[HashAlgorithm.SHA256],
            key_expiration=after,
        )
        subkey = PGPKey.new(PubKeyAlgorithm.ECDH, EllipticCurveOID.Curve25519)
        key.add_subkey(subkey, usage={KeyFlags.EncryptCommunications})
    return str(key)


def written(packets: list[Packet]) -> str:
    data = b"".join(forge.packet(each.tag, each.body) for each in packets)
    return forge.armored(data, PRIVATE_KEY)


@pytest.mark.parametrize("name", ["server_curve", "server_rsa"])
def test_a_key_that_works_passes_every_check(key_file: Path, name: str) -> None:
    key_file.write_text(KEYS[name].private)

    assert key_health() == WELL


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", NO_KEY),
        (b"no key", NO_KEY),
        (KEYS["server_curve"].public.encode(), NO_KEY),
        (CURVE[:-200].encode(), NO_KEY),
        (without_subkey().encode(), NO_KEY),
        (b"\xff\xfe", UNREADABLE),
    ],
    ids=["nothing", "no armor", "public", "cut off", "no subkey", "no text"],
)
def test_what_is_no_key_that_works_is_found_out(
    key_file: Path, content: bytes, found: KeyHealth
) -> None:
    key_file.write_bytes(content)

    assert key_health() == found


def test_a_key_that_asks_for_a_passphrase_is_no_key_that_works(key_file: Path) -> None:
    key_file.write_text(locked())

    assert key_health() == NO_KEY


def test_a_key_that_is_gone_is_not_readable_whatever_copy_is_kept(key_file: Path) -> None:
    server_key.in_use()
    key_file.unlink()

    assert key_health() == UNREADABLE


def test_a_key_that_names_no_address_works(key_file: Path) -> None:
    key_file.write_text(ServerKey.generate("Keyhaven", "curve25519"))

    assert key_health() == replace(WELL, has_address=False)


def test_a_key_whose_halves_do_not_belong_together_does_not_open(key_file: Path) -> None:
    key_file.write_text(with_another_secret())

    assert key_health() == replace(WELL, can_open=False, can_verify=False)


def test_a_key_that_has_ended_verifies_nothing(key_file: Path, time: Time) -> None:
    key_file.write_text(ending(timedelta(days=20_000)))
    assert key_health() == WELL

    time.pass_by(days=30_000)  # by our clock alone: the library has its own

    assert key_health() == replace(WELL, can_verify=False)
