"""OpenPGP armor and packets, read without opening anything: the gate before any OpenPGP library.

The work grows with the length of the text and nothing else. No reason for a refusal repeats
what was read.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from chalicelib.domain.light import dataclass

MESSAGE = "PGP MESSAGE"
PUBLIC_KEY = "PGP PUBLIC KEY BLOCK"
PRIVATE_KEY = "PGP PRIVATE KEY BLOCK"

HIDDEN_RECIPIENT = "0" * 16

_MOST_PACKETS = 1_000
_MOST_CHUNKS = 10_000
_SMALLEST_FIRST_CHUNK = 512  # RFC 9580, 4.2.1.4
_HEADER_LINES = re.compile(r"(?:[!-9;-~]+:[ -~]*\n)*")
_CHECKSUM = re.compile(r"(?:[A-Za-z0-9+/]{4})?")


class BadArmor(ValueError):  # noqa: N818 - named for what it finds
    """The text is not what the armor should hold; the reason is in words, without content."""


class Tag(IntEnum):
    """The packets this service has a word for."""

    SESSION_KEY = 1
    SIGNATURE = 2
    PASSWORD_SESSION_KEY = 3
    ONE_PASS_SIGNATURE = 4
    SECRET_KEY = 5
    PUBLIC_KEY = 6
    SECRET_SUBKEY = 7
    COMPRESSED = 8
    UNPROTECTED_DATA = 9
    MARKER = 10
    LITERAL = 11
    USER_ID = 13
    PUBLIC_SUBKEY = 14
    USER_ATTRIBUTE = 17
    PROTECTED_DATA = 18
    AEAD_DATA = 20
    PADDING = 21


_OF_ANY_LENGTH = frozenset({8, 9, 11, 18, 20})
_MEANINGLESS = frozenset({Tag.MARKER, Tag.PADDING})
_SMALLEST_DATA: dict[tuple[int, int | None], int] = {
    (Tag.UNPROTECTED_DATA, None): 18,
    (Tag.PROTECTED_DATA, 1): 1 + 18 + 22,
    (Tag.PROTECTED_DATA, 2): 4 + 32 + 16,
    (Tag.AEAD_DATA, 1): 4 + 15 + 16,
}
"""What each form of encrypted data holds at least, by packet and version."""


class Packet(NamedTuple):
    tag: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Block:
    """What one armored block holds, and how it was written."""

    data: bytes = field(repr=False)
    has_checksum: bool
    has_extra_blank_line: bool


@dataclass(frozen=True, slots=True)
class SessionPacket:
    """A session key, encrypted to one recipient."""

    key_id: str
    version: int
    content: bytes = field(repr=False)
    """What follows the recipient: the algorithm, then the encrypted session key."""


@dataclass(frozen=True, slots=True)
class EncryptedMessage:
    recipients: tuple[str, ...]
    """Key ids, 16 upper-case hex digits; `HIDDEN_RECIPIENT` where the sender does not say."""
    has_extra_blank_line: bool
    data_tag: int
    data_version: int | None
    """None for the packet that has no versions, the unprotected one."""
    session_packets: tuple[SessionPacket, ...] = field(repr=False)
    data: bytes = field(repr=False)

    @property
    def is_protected(self) -> bool:
        """Whether a change of the encrypted data would show, in the form every client reads."""
        return self.data_tag == Tag.PROTECTED_DATA and self.data_version == 1


def read_message(armored: str) -> EncryptedMessage:
    """The one message in the text: session keys, then encrypted data, and nothing else."""
    block = read_block(armored, MESSAGE)
    packets = [each for each in read_packets(block.data) if each.tag not in _MEANINGLESS]
    *session_packets, data = packets or [Packet(0, b"")]
    sessions = tuple(map(_session_packet, session_packets))
    if not sessions:
        raise BadArmor("The message is not encrypted to any key.")
    return EncryptedMessage(
        recipients=tuple(each.key_id for each in sessions),
        has_extra_blank_line=block.has_extra_blank_line,
        data_tag=data.tag,
        data_version=_data_version(data),
        session_packets=sessions,
        data=data.body,
    )


def _data_version(packet: Packet) -> int | None:
    unversioned = packet.tag == Tag.UNPROTECTED_DATA
    version = None if unversioned else next(iter(packet.body), None)
    smallest = _SMALLEST_DATA.get((packet.tag, version))
    if smallest is None or len(packet.body) < smallest:
        raise BadArmor("The last packet is not encrypted data.")
    return version


def _session_packet(packet: Packet) -> SessionPacket:
    version, body = next(iter(packet.body), None), packet.body
    if packet.tag == Tag.SESSION_KEY and version == 3 and len(body) > 10:  # noqa: PLR2004
        return SessionPacket(body[1:9].hex().upper(), 3, body[9:])
    if packet.tag == Tag.SESSION_KEY and version == 6 and len(body) > 2:  # noqa: PLR2004
        return _session_packet_by_fingerprint(body)
    raise BadArmor("A packet before the encrypted data is not a public-key session key.")


def _session_packet_by_fingerprint(body: bytes) -> SessionPacket:
    """Version 6 names the whole fingerprint, after its length and its own version."""
    end = 2 + body[1]
    if len(body) <= end or body[1] not in (0, 21, 33):
        raise BadArmor("The recipient of a session key is not readable.")
    fingerprint = body[3:end]
    key_id = fingerprint[-8:] if body[1] == 21 else fingerprint[:8]  # noqa: PLR2004
    return SessionPacket(key_id.hex().upper() or HIDDEN_RECIPIENT, 6, body[end:])


def read_block(armored: str, kind: str) -> Block:
    """The bytes of the one armored block that is the whole text, blank lines around it aside."""
    if not armored.isascii():
        raise BadArmor("The text is not ASCII.")
    begin, end = f"-----BEGIN {kind}-----\n", f"\n-----END {kind}-----"
    text = armored.replace("\r\n", "\n").strip()
    if not (text.startswith(begin) and text.endswith(end) and len(text) > len(begin + end)):
        raise BadArmor(f"The text is not one {kind} block.")
    return _read_inner(text[_end_of_headers(text, len(begin)) : -len(end)])


def _end_of_headers(text: str, start: int) -> int:
    """Where the data begins: after the header lines and the empty line that ends them."""
    headers = _HEADER_LINES.match(text, start)
    end = headers.end() if headers else start
    if text[end : end + 1] != "\n":
        raise BadArmor("The armor headers do not end with an empty line.")
    return end + 1


def _read_inner(inner: str) -> Block:
    lines = inner.rstrip("\n")
    encoded, mark, checksum = lines.rpartition("\n=")
    if not mark:
        encoded = lines
    elif not _CHECKSUM.fullmatch(checksum):
        raise BadArmor("The checksum line is not readable.")
    return Block(_decode(encoded), has_checksum=bool(mark), has_extra_blank_line=lines != inner)


def _decode(encoded: str) -> bytes:
    try:
        data = a2b_base64(encoded.replace("\n", ""), strict_mode=True)
    except NotBase64:
        raise BadArmor("The armored data is not base64.") from None
    if not data:
        raise BadArmor("The armor is empty.")
    return data


def read_packets(data: bytes) -> list[Packet]:
    """The packets that follow one another in `data`, to its last byte."""
    packets: list[Packet] = []
    position = 0
    while position < len(data):
        packet, position = _read_packet(data, position)
        packets.append(packet)
        if len(packets) > _MOST_PACKETS:
            raise BadArmor("There are too many packets.")
    return packets


def _read_packet(data: bytes, position: int) -> tuple[Packet, int]:
    first = data[position]
    if not first & 0x80:
        raise BadArmor("A packet does not begin where one should.")
    if first & 0x40:
        return _read_new_packet(data, position + 1, first & 0x3F)
    return _read_old_packet(data, position + 1, first >> 2 & 0x0F, first & 3)


def _read_old_packet(data: bytes, position: int, tag: int, kind: int) -> tuple[Packet, int]:
    if kind == 3:  # noqa: PLR2004 - to the end of the data, as GnuPG writes compressed packets
        _require_any_length(tag)
        return Packet(tag, data[position:]), len(data)
    start = position + (1 << kind)
    length = int.from_bytes(_slice(data, position, start))
    return Packet(tag, _slice(data, start, start + length)), start + length


def _read_new_packet(data: bytes, position: int, tag: int) -> tuple[Packet, int]:
    start, length, is_partial = _read_length(data, position)
    if is_partial:
        _require_any_length(tag)
        return _read_chunks(data, start, length, tag)
    return Packet(tag, _slice(data, start, start + length)), start + length


def _read_chunks(data: bytes, start: int, length: int, tag: int) -> tuple[Packet, int]:
    """A body sent in parts, each with its length, of which the last is an ordinary one."""
    if length < _SMALLEST_FIRST_CHUNK:
        raise BadArmor("The first part of a packet is too short.")
    chunks = [_slice(data, start, start + length)]
    is_partial = True
    while is_partial and len(chunks) < _MOST_CHUNKS:
        start, length, is_partial = _read_length(data, start + length)
        chunks.append(_slice(data, start, start + length))
    if is_partial:
        raise BadArmor("A packet has too many parts.")
    return Packet(tag, b"".join(chunks)), start + length


def _read_length(data: bytes, position: int) -> tuple[int, int, bool]:
    """Where the body starts, how long it is, and whether another part follows it."""
    first = _slice(data, position, position + 1)[0]
    if first < 192:  # noqa: PLR2004 - the numbers of RFC 9580, 4.2.1
        return position + 1, first, False
    if first < 224:  # noqa: PLR2004
        second = _slice(data, position + 1, position + 2)[0]
        return position + 2, (first - 192 << 8) + second + 192, False
    if first < 255:  # noqa: PLR2004
        return position + 1, 1 << (first & 0x1F), True
    return position + 5, int.from_bytes(_slice(data, position + 1, position + 5)), False


def _slice(data: bytes, start: int, end: int) -> bytes:
    if end > len(data):
        raise BadArmor("A packet is cut short.")
    return data[start:end]


def _require_any_length(tag: int) -> None:
    if tag not in _OF_ANY_LENGTH:
        raise BadArmor("A packet that must say its length does not.")


def write_packets(packets: Iterable[Packet]) -> bytes:
    """The packets, each with one length of five bytes."""
    return b"".join(
        bytes((0xC0 | tag, 0xFF)) + len(body).to_bytes(4) + body for tag, body in packets
    )


def write_block(data: bytes, kind: str) -> str:
    """Armor without headers and with its checksum, which some deployed readers insist on."""
    checksum = b64encode(_crc24(data).to_bytes(3)).decode()
    lines = _lines(b64encode(data).decode())
    return f"-----BEGIN {kind}-----\n\n{lines}\n={checksum}\n-----END {kind}-----\n"


def _lines(text: str) -> str:
    starts = range(0, len(text) + 64, 64)
    return "\n".join(text[start:end] for start, end in pairwise(starts))


def _crc24(data: bytes) -> int:
    register = 0xB704CE
    for byte in data:
        register = (register << 8 & 0xFFFFFF) ^ _CRC24[register >> 16 ^ byte]
    return register


def _crc24_table() -> Sequence[int]:
    table = []
    for byte in range(256):
        register = byte << 16
        for _ in range(8):
            register = register << 1 ^ (0x1864CFB if register & 0x800000 else 0)
        table.append(register)
    return tuple(table)


_CRC24 = _crc24_table()
