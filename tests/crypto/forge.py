"""Messages no honest client writes, put together packet by packet, without our own code."""

from __future__ import annotations

import bz2
import hashlib
import os
import warnings
import zlib
from base64 import b64encode
from datetime import UTC, datetime

from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from pysequoia import Tsk, sign
from pysequoia.packet import PacketPile

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pgpy import PGPUID, PGPKey, PGPMessage
    from pgpy.constants import (
        EllipticCurveOID,
        HashAlgorithm,
        KeyFlags,
        PubKeyAlgorithm,
        SymmetricKeyAlgorithm,
    )
    from pgpy.packet.packets import PKESessionKeyV3


_NUMBERS = {1: 1, 22: 2}
"""How many a signature is, by its algorithm: RSA, EdDSA."""


def armored(data: bytes, kind: str = "PGP MESSAGE") -> str:
    """One armored block, without checksum."""
    text = b64encode(data).decode()
    lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n\n{lines}\n-----END {kind}-----\n"


def packet(tag: int, body: bytes) -> bytes:
    return bytes((0xC0 | tag, 0xFF)) + len(body).to_bytes(4) + body


def literal(text: bytes, form: bytes = b"b") -> bytes:
    return packet(11, form + b"\0" + bytes(4) + text)


def signed(text: bytes, private: str) -> list[bytes]:
    """One-pass signature, literal and signature, as Sequoia writes them."""
    message = sign(Tsk.from_bytes(private.encode()).signer(), text, armor=False)
    return [bytes(each) for each in PacketPile.from_bytes(message)]


def signature_of(text: bytes, private: str) -> bytes:
    """The body of a signature packet over the text, of version 4 (RFC 9580, 5.2.3)."""
    *_, last = PacketPile.from_bytes(
        sign(Tsk.from_bytes(private.encode()).signer(), text, armor=False)
    )
    return bytes(last.body)


def signed_part(signature: bytes) -> bytes:
    """What a signature says of itself under itself: version, type, algorithms, subpackets."""
    return signature[: 6 + int.from_bytes(signature[4:6])]


def with_unsigned(signature: bytes, subpackets: bytes) -> bytes:
    """The same signature with other unhashed subpackets."""
    head, _, rest = _parts(signature)
    return head + len(subpackets).to_bytes(2) + subpackets + rest


def numbers(signature: bytes) -> list[int]:
    """The numbers that are the signature, however they are written; nobody reads what follows."""
    _, _, rest = _parts(signature)
    found, rest = [], rest[2:]
    for _ in range(_NUMBERS[signature[2]]):
        end = 2 + (int.from_bytes(rest[:2]) + 7) // 8
        found.append(int.from_bytes(rest[2:end]))
        rest = rest[end:]
    return found


def _parts(signature: bytes) -> tuple[bytes, bytes, bytes]:
    """What is signed, the unhashed subpackets, and the rest: bits of the digest, the numbers."""
    head = signed_part(signature)
    end = len(head) + 2 + int.from_bytes(signature[len(head) : len(head) + 2])
    return head, signature[len(head) + 2 : end], signature[end:]


def signed_by_pgpy(text: str, private: str, hash_name: str) -> bytes:
    """A signed message with any hash, also those nobody should use."""
    message = PGPMessage.new(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        key = PGPKey.from_blob(private)[0]
        message |= key.sign(message, hash=HashAlgorithm[hash_name])
    return bytes(message)


def session_key_packet(public: str, session_key: bytes) -> bytes:
    """The session key for the first subkey of the public key."""
    key = PGPKey.from_blob(public)[0]
    subkey = next(iter(key.subkeys.values()))
    made = PKESessionKeyV3()
    made.encrypter = bytearray.fromhex(subkey.fingerprint.keyid)
    made.pkalg = subkey.key_algorithm
    made.encrypt_sk(subkey._key, SymmetricKeyAlgorithm.AES256, session_key)
    made.update_hlen()
    return bytes(made)


def hidden(session_packet: bytes) -> bytes:
    """The same session key packet, which does not say whom it is for."""
    start = session_packet.index(b"\x03", 1)
    return session_packet[: start + 1] + bytes(8) + session_packet[start + 9 :]


def protected(session_key: bytes, packets: bytes, *, code: bytes | None = None) -> bytes:
    """Encrypted data with its modification detection code, or with what is given for it."""
    prefix = os.urandom(16)
    plain = prefix + prefix[-2:] + packets + b"\xd3\x14"
    plain += hashlib.sha1(plain).digest()
    if code is not None:
        plain = plain[:-22] + code
    return packet(18, b"\x01" + _encrypt(session_key, plain))


def unprotected(session_key: bytes, packets: bytes) -> bytes:
    """Encrypted data as it was before 2001, resynchronised after the prefix."""
    prefix = os.urandom(16)
    head = _encrypt(session_key, prefix + prefix[-2:])
    return packet(9, head + _encrypt(session_key, packets, iv=head[2:18]))


def _encrypt(key: bytes, plain: bytes, iv: bytes = bytes(16)) -> bytes:
    return Cipher(AES(key), CFB(iv)).encryptor().update(plain)


def message(public: str, packets: bytes) -> str:
    """The packets, encrypted to the key: armored, and well formed."""
    key = os.urandom(32)
    return armored(session_key_packet(public, key) + protected(key, packets))


def deflated(packets: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return packet(8, b"\x01" + engine.compress(packets) + engine.flush())


def zlibbed(packets: bytes) -> bytes:
    return packet(8, b"\x02" + zlib.compress(packets))


def bzipped(packets: bytes) -> bytes:
    return packet(8, b"\x03" + bz2.compress(packets))


def bomb(algorithm: int, size: int) -> bytes:
    """A compressed packet that holds one literal of `size` zeros, made without holding them."""
    engine = {
        1: lambda: zlib.compressobj(9, wbits=-15),
        2: lambda: zlib.compressobj(9),
        3: bz2.BZ2Compressor,
    }[algorithm]()
    head = b"\xcb\xff" + (size + 6).to_bytes(4) + b"b\0" + bytes(4)
    parts = [engine.compress(head)]
    parts += [engine.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return packet(8, bytes((algorithm,)) + b"".join(parts) + engine.flush())


def key_with_revoked_subkey() -> str:
    made = datetime(2024, 1, 1, tzinfo=UTC)
    key = PGPKey.new(PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519, created=made)
    hashes = [HashAlgorithm.SHA256]
    key.add_uid(PGPUID.new("Judy"), usage={KeyFlags.Certify}, hashes=hashes, created=made)
    subkey = PGPKey.new(PubKeyAlgorithm.ECDH, EllipticCurveOID.Curve25519, created=made)
    key.add_subkey(subkey, usage={KeyFlags.EncryptCommunications}, created=made)
    subkey |= key.revoke(subkey, created=made)
    return str(key.pubkey)
