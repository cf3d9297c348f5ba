"""Messages no honest client writes, put together packet by packet, without our own code."""

from __future__ import annotations

import bz2
import hashlib
import os
import secrets
import warnings
import zlib
from base64 import b64encode
from datetime import UTC, datetime
from itertools import count

from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.asymmetric.ec import SECP521R1, generate_private_key
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
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


_NUMBERS = {1: 1, 17: 2, 19: 2, 22: 2}
"""How many a signature is, by its algorithm: RSA, DSA, ECDSA, EdDSA."""


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


# Keys that would keep a library busy which verifies all they say of themselves

_MADE = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp()).to_bytes(4)
DSA, RSA, _ECDSA, _EDDSA = 17, 1, 19, 22
_CERTIFICATION, _BINDING, _BACK = 0x13, 0x18, 0x19
_MADE_AT, _FLAGS, _EMBEDDED, _ISSUER = 2, 27, 32, 33


def key_body(algorithm: int, *numbers_of_it: int) -> bytes:
    """A public key packet's body, of version 4."""
    return b"\x04" + _MADE + bytes((algorithm,)) + b"".join(map(_number, numbers_of_it))


def dsa_body(bits: int) -> bytes:
    """A key of DSA that is none, with numbers as long as one likes."""
    lengths = (bits, bits // 2, bits - 1, bits - 1)
    return key_body(DSA, *(random_number(length) for length in lengths))


def random_number(bits: int) -> int:
    """An odd number of so many bits."""
    return secrets.randbits(bits) | 1 << bits - 1 | 1


def name_signed_by_none(primary: bytes, algorithm: int, *signature: int) -> bytes:
    """A user id with a signature that only its numbers show to be none."""
    name = b"Judy <judy@example.com>"
    covered = b"\xb4" + len(name).to_bytes(4) + name
    signed, _ = _unsigned(_CERTIFICATION, algorithm, primary, covered)
    return packet(13, name) + packet(2, signed + b"".join(map(_number, signature)))


def p521_body() -> bytes:
    """A key of the curve that takes longest to verify by."""
    point = (
        generate_private_key(SECP521R1())
        .public_key()
        .public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    )
    curve = bytes.fromhex("2b81040023")
    return key_body(_ECDSA)[:6] + bytes((len(curve),)) + curve + _number(int.from_bytes(point))


def misplaced(primary: bytes, names: int, signatures: int) -> bytes:
    """A key of P-521 with signatures at the wrong user id, which look right at each other one."""
    head, _ = _unsigned(_CERTIFICATION, _ECDSA, primary, b"")
    head = signed_part(head)
    found, bits = _names_alike(primary, head, names)
    made = (head + bytes(2) + bits + _number(random_number(520)) * 2 for _ in range(signatures))
    return b"".join(
        (
            packet(6, primary) + packet(13, b"another"),
            *(packet(2, each) for each in made),
            *(packet(13, each) for each in found),
        )
    )


def _names_alike(primary: bytes, head: bytes, most: int) -> tuple[list[bytes], bytes]:
    """User ids for which the digest of a signature begins alike, found by trying."""
    start = hashlib.sha256(_covered(primary))
    end = head + b"\x04\xff" + len(head).to_bytes(4)
    names: dict[bytes, list[bytes]] = {}
    for number in count():
        name, digest = b"%x" % number, start.copy()
        digest.update(b"\xb4" + len(name).to_bytes(4) + name + end)
        bits = digest.digest()[:2]
        names.setdefault(bits, []).append(name)
        if len(names[bits]) == most:
            return names[bits], bits
    raise AssertionError


def back_signed(private: str, subkey: bytes, *sizes: int) -> bytes:
    """A sound key with a subkey, and with signatures of it that only their numbers belie."""
    public = bytes(PGPKey.from_blob(private)[0].pubkey)
    primary = next(iter(PacketPile.from_bytes(public))).body
    signed, _ = _unsigned(_BACK, subkey[5], primary, _covered(subkey))
    backs = [
        signed + b"".join(_number(random_number(size)) for _ in range(_NUMBERS[subkey[5]]))
        for size in sizes
    ]
    return public + bound_subkey(private, subkey, *backs)


def bound_subkey(private: str, subkey: bytes, *backs: bytes, flags: bytes = b"\x02") -> bytes:
    """A subkey, for signing if nothing else is said, that an EdDSA key has made its own."""
    key = PGPKey.from_blob(private)[0]
    primary = next(iter(PacketPile.from_bytes(bytes(key.pubkey)))).body
    embedded = b"".join(_subpacket(_EMBEDDED, each) for each in backs)
    signed, digest = _unsigned(
        _BINDING, _EDDSA, primary, _covered(subkey), unhashed=embedded, flags=flags
    )
    made = key._key.keymaterial.__privkey__().sign(digest)
    halves = (made[:32], made[32:])
    written = b"".join(_number(int.from_bytes(half)) for half in halves)
    return packet(14, subkey) + packet(2, signed + written)


def _unsigned(
    kind: int,
    algorithm: int,
    primary: bytes,
    covered: bytes,
    *,
    unhashed: bytes = b"",
    flags: bytes = b"\x03",
) -> tuple[bytes, bytes]:
    """A signature's body up to its numbers, and the digest that these sign."""
    by = b"\x04" + hashlib.sha1(_covered(primary)).digest()
    subpackets = b"".join(
        (_subpacket(_MADE_AT, _MADE), _subpacket(_ISSUER, by), _subpacket(_FLAGS, flags))
    )
    head = bytes((4, kind, algorithm, 8)) + len(subpackets).to_bytes(2) + subpackets
    trailer = b"\x04\xff" + len(head).to_bytes(4)
    digest = hashlib.sha256(_covered(primary) + covered + head + trailer).digest()
    return head + len(unhashed).to_bytes(2) + unhashed + digest[:2], digest


def _covered(key: bytes) -> bytes:
    return b"\x99" + len(key).to_bytes(2) + key


def _subpacket(kind: int, body: bytes) -> bytes:
    return b"\xff" + (len(body) + 1).to_bytes(4) + bytes((kind,)) + body


def _number(value: int) -> bytes:
    return value.bit_length().to_bytes(2) + value.to_bytes((value.bit_length() + 7) // 8)
