"""Opens what is encrypted to the server, in bounded memory and alike for every failure.

Sequoia decrypts too, but inflates before it lets anybody look. Here a message is opened no
further than `MOST_PLAIN` bytes, and a session key that does not fit is replaced by a random
one, so that the sender cannot tell a wrong key from wrong padding or from changed data.
"""

from __future__ import annotations

import bz2
import hashlib
import hmac
import secrets
import zlib
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Protocol

from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap

from chalicelib.domain.armor import (
    HIDDEN_RECIPIENT,
    MESSAGE,
    BadArmor,
    EncryptedMessage,
    Packet,
    SessionPacket,
    Tag,
    read_block,
    read_message,
    read_packets,
    write_packets,
)
from chalicelib.domain.light import dataclass

MOST_PLAIN = 64 * 1024
"""Bytes of clear text, with what wraps it: a challenge needs less than one thousand."""

_MOST_ATTEMPTS = 3
_BLOCK = 16
_CODE = b"\xd3\x14"
_CODE_SIZE = len(_CODE) + 20
_AES_KEY_SIZES = {7: 16, 8: 24, 9: 32}
_RSA = frozenset({1, 2})
_ECDH = 18
_LITERAL_FORMATS = frozenset(b"btu")
_MEANINGLESS = frozenset({Tag.MARKER, Tag.PADDING})


class Undecipherable(ValueError):  # noqa: N818 - named for what the message is
    """The message does not open with these keys, or was changed on its way."""


class Unreadable(ValueError):  # noqa: N818
    """What is inside is not one text, signed at most once, of bearable size."""


class Decryptor(Protocol):
    """A private key that opens session keys."""

    @property
    def key_id(self) -> str: ...

    def session_key(self, content: bytes) -> bytes:
        """Algorithm, key and checksum, or ValueError."""


@dataclass(frozen=True, slots=True)
class RsaDecryptor:
    key_id: str
    private: RSAPrivateKey = field(repr=False)

    def session_key(self, content: bytes) -> bytes:
        if content[0] not in _RSA:
            raise Undecipherable
        number, _ = _read_number(content[1:])
        size = (self.private.key_size + 7) // 8
        return self.private.decrypt(number.rjust(size, b"\0"), PKCS1v15())


@dataclass(frozen=True, slots=True)
class Curve25519Decryptor:
    """RFC 9580, 11.5, with the legacy point format that every v4 reader writes."""

    key_id: str
    private: X25519PrivateKey = field(repr=False)
    hash_name: str
    wrapping_key_size: int
    parameters: bytes
    """What the wrapping key is bound to: curve, algorithms and fingerprint."""

    def session_key(self, content: bytes) -> bytes:
        if content[0] != _ECDH:
            raise Undecipherable
        point, wrapped = _read_number(content[1:])
        if point[:1] != b"\x40" or not wrapped or wrapped[0] != len(wrapped) - 1:
            raise Undecipherable
        padded = aes_key_unwrap(self._wrapping_key(point[1:]), wrapped[1:])
        return _without_padding(padded)

    def _wrapping_key(self, point: bytes) -> bytes:
        shared = self.private.exchange(X25519PublicKey.from_public_bytes(point))
        counted = (1).to_bytes(4) + shared + self.parameters
        return hashlib.new(self.hash_name, counted).digest()[: self.wrapping_key_size]


def _read_number(content: bytes) -> tuple[bytes, bytes]:
    """A number in OpenPGP's form, two bytes of bit length before it; and what follows."""
    end = 2 + (int.from_bytes(content[:2]) + 7) // 8
    return content[2:end], content[end:]


def _without_padding(padded: bytes) -> bytes:
    size = padded[-1]
    if not 0 < size < len(padded) or padded[-size:] != bytes((size,)) * size:
        raise Undecipherable
    return padded[:-size]


def decrypt(message: EncryptedMessage, decryptors: Sequence[Decryptor]) -> bytes:
    """The packets inside. Only data whose integrity is protected is looked at."""
    if not message.is_protected:
        raise Undecipherable
    for packet, decryptor in _attempts(message.session_packets, decryptors):
        plain = _decrypt_data(_session_key(packet, decryptor), message.data)
        if plain is not None:
            return plain
    raise Undecipherable


def _attempts(
    packets: Sequence[SessionPacket], decryptors: Sequence[Decryptor]
) -> list[tuple[SessionPacket, Decryptor]]:
    """What may fit; where nothing does, one that will not, since the refusal shall take as long."""
    fitting = [
        (packet, decryptor)
        for packet in packets
        for decryptor in decryptors
        if packet.key_id in (decryptor.key_id, HIDDEN_RECIPIENT)
    ]
    return fitting[:_MOST_ATTEMPTS] or [(packets[0], decryptors[0])]


def _session_key(packet: SessionPacket, decryptor: Decryptor) -> bytes:
    try:
        session = decryptor.session_key(packet.content)
    except (ValueError, InvalidUnwrap):
        session = b""
    key, checksum = session[1:-2], session[-2:]
    is_whole = sum(key) & 0xFFFF == int.from_bytes(checksum)
    if is_whole and session and _AES_KEY_SIZES.get(session[0]) == len(key):
        return key
    return secrets.token_bytes(32)


def _decrypt_data(key: bytes, data: bytes) -> bytes | None:
    """RFC 9580, 5.13.1: the packets, if the code at their end agrees.

    The repeated bytes of the prefix are not compared: that answer would help a guesser.
    """
    plain = Cipher(AES(key), CFB(bytes(_BLOCK))).decryptor().update(data[1:])
    expected = hashlib.sha1(plain[:-20], usedforsecurity=False).digest()
    is_intact = hmac.compare_digest(plain[-_CODE_SIZE:], _CODE + expected)
    return plain[_BLOCK + 2 : -_CODE_SIZE] if is_intact else None


def filled(frame: str, decryptors: Sequence[Decryptor], packets: bytes) -> bytes:
    """A message to us with other packets inside, under the session key that it has.

    The mirror of `_decrypt_data`; whose message it is has a fresh session key for each.
    """
    session, decryptor = _attempts(read_message(frame).session_packets, decryptors)[0]
    prefix = secrets.token_bytes(_BLOCK)
    plain = prefix + prefix[-2:] + packets + _CODE
    code = hashlib.sha1(plain, usedforsecurity=False).digest()
    engine = Cipher(AES(_session_key(session, decryptor)), CFB(bytes(_BLOCK))).encryptor()
    data = Packet(Tag.PROTECTED_DATA, b"\x01" + engine.update(plain + code))
    sessions = read_packets(read_block(frame, MESSAGE).data)[:-1]
    return write_packets([*sessions, data])


@dataclass(frozen=True, slots=True)
class Content:
    """The one text of a message, and the signature packet that came with it."""

    text: bytes = field(repr=False)
    signature: bytes | None


def read_content(packets: bytes) -> Content:
    """The text of decrypted packets: one literal, alone or in one signature, inflated once."""
    try:
        return _content(_inflated(_meaningful(packets)))
    except BadArmor:
        raise Unreadable from None


def _meaningful(packets: bytes) -> list[Packet]:
    return [each for each in read_packets(packets) if each.tag not in _MEANINGLESS]


def _inflated(packets: list[Packet]) -> list[Packet]:
    if [each.tag for each in packets] == [Tag.COMPRESSED]:
        return _meaningful(_inflate(packets[0].body))
    return packets


_INFLATORS: dict[int, Callable[[], Any]] = {
    1: lambda: zlib.decompressobj(-zlib.MAX_WBITS),
    2: zlib.decompressobj,
    3: bz2.BZ2Decompressor,
}


def _inflate(body: bytes) -> bytes:
    """What the compressed packet holds, unless it is more than a message may be."""
    start = _INFLATORS.get(body[0]) if body else None
    if start is None:
        raise Unreadable
    engine = start()
    try:
        plain: bytes = engine.decompress(body[1:], MOST_PLAIN)
    except (zlib.error, OSError):
        raise Unreadable from None
    if not engine.eof or engine.unused_data:
        raise Unreadable
    return plain


def _content(packets: list[Packet]) -> Content:
    match packets:
        case [(Tag.LITERAL, literal)]:
            return Content(_text(literal), None)
        case [(Tag.ONE_PASS_SIGNATURE, _), (Tag.LITERAL, literal), (Tag.SIGNATURE, signature)]:
            return Content(_text(literal), signature)
        case [(Tag.SIGNATURE, signature), (Tag.LITERAL, literal)]:
            return Content(_text(literal), signature)
    raise Unreadable


def _text(literal: bytes) -> bytes:
    """The literal packet's data, after its format, file name and date."""
    start = 2 + int.from_bytes(literal[1:2]) + 4
    if len(literal) < start or literal[0] not in _LITERAL_FORMATS:
        raise Unreadable
    if len(literal) - start > MOST_PLAIN:
        raise Unreadable
    return literal[start:]
