"""Which texts are stored messages: one armored block, session keys, then encrypted data."""

from __future__ import annotations

import os
import random

import pysequoia
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.armor import (
    HIDDEN_RECIPIENT,
    MESSAGE,
    PUBLIC_KEY,
    BadArmor,
    Packet,
    read_block,
    read_message,
    read_packets,
    write_block,
    write_packets,
)
from tests.crypto import forge
from tests.support.effort import quickest
from tests.support.world.keys import KEYS, message

ADA = KEYS["ada"].public
GOOD = message("a secret", ADA)
BODY = GOOD.splitlines()[2:-2]  # the data, without what frames it and the checksum

PKESK = forge.packet(1, b"\x03" + bytes.fromhex("0123456789ABCDEF") + b"\x12" + os.urandom(60))
SEIPD = forge.packet(18, b"\x01" + os.urandom(60))


def lines(*text: str) -> str:
    return "\n".join(text)


def block(*inner: str, begin: str = "BEGIN PGP MESSAGE", end: str = "END PGP MESSAGE") -> str:
    return lines(f"-----{begin}-----", *inner, f"-----{end}-----")


def refusal(text: str) -> str:
    with pytest.raises(BadArmor) as refused:
        read_message(text)
    return str(refused.value)


# Accepted


@pytest.mark.parametrize("name", sorted(KEYS))
def test_a_message_tells_whom_it_is_for(name: str):
    (recipient,) = read_message(message("x", KEYS[name].public)).recipients
    assert recipient in {
        packet.key_id.upper()
        for packet in pysequoia.packet.PacketPile.from_bytes(
            bytes(pysequoia.Cert.from_bytes(KEYS[name].public.encode()))
        )
        if packet.key_id
    }


def test_a_message_for_two_names_both():
    assert len(set(read_message(message("x", ADA, KEYS["betty"].public)).recipients)) == 2


def test_a_hidden_recipient_has_the_zero_key_id():
    packet = forge.hidden(forge.session_key_packet(ADA, bytes(32)))
    assert read_message(forge.armored(packet + SEIPD)).recipients == (HIDDEN_RECIPIENT,)


def test_session_keys_of_version_6_are_read():
    """What Sequoia writes to keys that ask for it, by fingerprint and with the newer data."""
    public = pysequoia.Tsk.generate("Ivan <ivan@example.com>").extract_certificate()
    read = read_message(pysequoia.encrypt(b"x", recipients=[public]).decode())
    ids = {packet.key_id for packet in pysequoia.packet.PacketPile.from_bytes(bytes(public))}
    assert read.recipients[0].lower() in ids
    assert not read.is_protected
    assert (read.data_tag, read.data_version) == (18, 2)


def test_session_keys_of_version_6_may_name_a_newer_key_or_none():
    long = forge.packet(1, b"\x06\x21\x06" + bytes.fromhex("AB" * 8 + "CD" * 24) + b"\x19rest")
    none = forge.packet(1, b"\x06\x00\x19rest")
    read = read_message(forge.armored(long + none + SEIPD))
    assert read.recipients == ("AB" * 8, HIDDEN_RECIPIENT)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.rstrip("\n"),
        f"\n\r\n{GOOD}\n\n",
        block("Version: 1", "Comment: a: b", "", *BODY),
        block("Charset:", "", *BODY),
        block("", *BODY, "=AAAA"),
        block("", *BODY, "="),
        block("", "", *BODY),
        block("", "".join(BODY)),
        write_block(read_block(GOOD, MESSAGE).data, MESSAGE),
    ],
    ids=[
        *("as Sequoia writes it", "CRLF", "no last line end", "blank lines around"),
        *("headers", "empty header", "wrong checksum", "empty checksum", "two blank lines"),
        *("one long line", "with its checksum"),
    ],
)
def test_np15_forms_of_armor_in_use_are_read(text: str):
    """NP15: line ends, headers, and a checksum that nobody trusts."""
    assert read_message(text).recipients == read_message(GOOD).recipients
    assert read_message(text).data == read_message(GOOD).data


def test_an_extra_blank_line_before_the_end_is_told():
    assert not read_message(GOOD).has_extra_blank_line
    assert read_message(block("", *BODY, "=AAAA", "")).has_extra_blank_line
    assert read_message(block("", *BODY, "")).has_extra_blank_line
    assert read_message(block("", *BODY, "=AAAA", "").replace("\n", "\r\n")).has_extra_blank_line


@pytest.mark.parametrize("tag", [9, 18, 20])
def test_each_kind_of_encrypted_data_is_stored_and_only_one_is_protected(tag: int):
    read = read_message(forge.armored(PKESK + forge.packet(tag, b"\x01" + os.urandom(60))))
    assert read.recipients == ("0123456789ABCDEF",)
    assert read.is_protected == (tag == 18)


def test_markers_and_padding_mean_nothing():
    """RFC 9580, 5.8 and 5.14"""
    marker, padding = forge.packet(10, b"PGP"), forge.packet(21, b"anything")
    read = read_message(forge.armored(marker + PKESK + padding + SEIPD + padding))
    assert read.recipients == ("0123456789ABCDEF",)


def test_data_in_parts_is_joined():
    parts = b"\xd2\xe9\x01" + bytes(511) + b"\xe1ab" + b"\x03cde"
    assert read_packets(parts) == [Packet(18, b"\x01" + bytes(511) + b"abcde")]


def test_old_packets_are_read():
    """One, two and four bytes of length, and data that lasts to the end."""
    read = read_packets(b"\x84\x01a\x85\x00\x01b\x86\x00\x00\x00\x01c\xa3rest")
    assert read == [Packet(1, b"a"), Packet(1, b"b"), Packet(1, b"c"), Packet(8, b"rest")]


def test_np17_a_long_note_is_read_whole():
    """NP17: 50,000 characters of four bytes each."""
    armored = message("\U0001f600" * 50_000, ADA)
    assert len(armored) > 270_000
    assert len(read_message(armored).data) > 200_000


# Refused


@pytest.mark.parametrize("text", [" " + GOOD, "\n \t\n" + GOOD, GOOD + "  \n", GOOD.strip() + " "])
def test_blanks_around_the_block_do_not_matter(text: str):
    """NP14, NP15"""
    assert read_message(text) == read_message(GOOD)


@pytest.mark.parametrize(
    "kind", ["PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK", "PGP SIGNATURE", "PGP SIGNED MESSAGE"]
)
def test_np13_another_kind_of_block_is_refused(kind: str):
    """NP13"""
    assert "not one PGP MESSAGE block" in refusal(GOOD.replace("PGP MESSAGE", kind))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "!#*",
        "".join(BODY),
        GOOD + GOOD,
        KEYS["ada"].public + GOOD,
        "Hello\n" + GOOD,
        GOOD + "Bye\n",
        GOOD.replace("-----END PGP MESSAGE-----", ""),
        GOOD.replace("-----END", "----END"),
        GOOD.replace("BEGIN", "begin"),
        GOOD.replace("\n\n", "\n", 1),
        GOOD.replace("\n\n", "\n \n", 1),
        GOOD.replace("\n\n", "\nno header\n\n", 1),
        GOOD.replace("\n", "\r"),
        block("", *BODY[:-1], BODY[-1][:-1] + "*"),
        block("", BODY[0][:10] + " " + BODY[0][10:], *BODY[1:]),
        block("", "\t" + BODY[0], *BODY[1:]),
        block("", *BODY, "=AAA"),
        block("", *BODY, "=A AA"),
        block("", *BODY, "=AAAA", "AAAA"),
        block("", BODY[0][:-1], *BODY[1:]),
        block("", *BODY) + "\0",
        block("Comment: \0", "", *BODY),
        block("Comment: é", "", *BODY),
        GOOD.replace("A", "\uff21", 1),
        block("", ""),
        block(""),
        block(),
        "-----BEGIN PGP MESSAGE-----\n-----END PGP MESSAGE-----",
        "-----BEGIN PGP MESSAGE-----\n\n-----END PGP MESSAGE-----",
    ],
    ids=range(31),
)
def test_np14_anything_but_one_clean_block_is_refused(text: str):
    """NP14"""
    refusal(text)


def test_a_refusal_never_repeats_the_message():
    for text in (GOOD + "x", GOOD.replace("\n\n", "\nhunter2\n\n"), block("", "hunter2")):
        assert "hunter2" not in refusal(text)
        assert BODY[0] not in refusal(text)


@pytest.mark.parametrize(
    "packets",
    {
        "random": random.Random(1).randbytes(300),
        "zeros": bytes(40),
        "cut data": PKESK + SEIPD[:-1],
        "cut session key": PKESK[:-1],
        "no data": PKESK,
        "no session key": SEIPD,
        "data first": SEIPD + PKESK,
        "two data": PKESK + SEIPD + SEIPD,
        "something behind": PKESK + SEIPD + PKESK,
        "literal": forge.literal(b"x"),
        "literal encrypted to nobody": PKESK + forge.literal(b"x"),
        "compressed": forge.zlibbed(forge.literal(b"x")),
        "signed": b"".join(forge.signed(b"x", KEYS["ada"].private)),
        "password only": forge.packet(3, b"\x04\x09\x00\x08") + SEIPD,
        "password too": PKESK + forge.packet(3, b"\x04\x09\x00\x08") + SEIPD,
        "session key of version 2": forge.packet(1, b"\x02" + bytes(70)) + SEIPD,
        "empty session key": forge.packet(1, b"") + SEIPD,
        "short session key": forge.packet(1, b"\x03" + bytes(9)) + SEIPD,
        "short session key of version 6": forge.packet(1, b"\x06\x15\x04" + bytes(19)) + SEIPD,
        "odd session key of version 6": forge.packet(1, b"\x06\x05\x04" + bytes(30)) + SEIPD,
        "empty data": PKESK + forge.packet(18, b""),
        "short data": PKESK + forge.packet(18, b"\x01" + bytes(30)),
        "data of version 3": PKESK + forge.packet(18, b"\x03" + bytes(60)),
        "short old data": PKESK + forge.packet(9, bytes(10)),
        "markers only": forge.packet(10, b"PGP"),
        "unknown packet": PKESK + SEIPD + forge.packet(60, b""),
        "trailing byte": PKESK + SEIPD + b"\0",
        "length missing": PKESK + b"\xd2",
        "length cut": PKESK + b"\xd2\xff\0\0",
        "session key in parts": b"\xc1\xe9" + bytes(512) + b"\0" + SEIPD,
        "session key without length": b"\x87" + bytes(70),
        "short first part": PKESK + b"\xd2\xe8" + bytes(256) + b"\0",
        "last part missing": PKESK + b"\xd2\xe9\x01" + bytes(511),
        "endless parts": PKESK + b"\xd2\xe9\x01" + bytes(511) + b"\xe0x" * 20_000 + b"\0",
        "endless packets": forge.packet(10, b"") * 2_000 + PKESK + SEIPD,
    }.items(),
    ids=lambda item: item[0],
)
def test_np16_only_session_keys_and_encrypted_data_are_a_message(packets: tuple[str, bytes]):
    """NP16"""
    refusal(forge.armored(packets[1]))


# Properties


@given(st.binary(min_size=1, max_size=400))
def test_what_is_written_is_read_again(data: bytes):
    read = read_block(write_block(data, PUBLIC_KEY), PUBLIC_KEY)
    assert (read.data, read.has_checksum, read.has_extra_blank_line) == (data, True, False)


@given(st.lists(st.tuples(st.integers(1, 63), st.binary(max_size=300)), max_size=5))
def test_packets_that_are_written_are_read_again(packets: list[tuple[int, bytes]]):
    assert read_packets(write_packets(Packet(*each) for each in packets)) == packets


@given(st.text(max_size=200) | st.binary(max_size=200).map(forge.armored))
def test_any_text_is_read_or_refused(text: str):
    try:
        read_message(text)
    except BadArmor:
        pass
    else:
        pytest.fail("random text is a message")


def test_the_checksum_is_the_one_pgpy_computes():
    armored = write_block(read_block(ADA, PUBLIC_KEY).data, PUBLIC_KEY)
    assert armored.strip() == ADA.strip()


# Speed


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PGP SIGNED MESSAGE-----\n" * 30_000,
        "-----BEGIN PGP MESSAGE-----\n" * 40_000 + "\n-----END PGP MESSAGE-----",
        block("A: b\n" * 200_000 + "x"),
        block("A:" * 500_000),
        block("", "=\n" * 500_000),
        block("", "A" * 1_000_000, "=" * 1_000_000),
        "\n" * 1_000_000,
        "-----BEGIN PGP MESSAGE-----\n\n" + "\n" * 1_000_000 + "-----END PGP MESSAGE-----",
    ],
    ids=range(8),
)
def test_au19_a_megabyte_of_anything_is_refused_at_once(text: str):
    """AU19: no pattern that goes back, nothing done for each character."""
    assert quickest(lambda: refusal(text)) < 0.3


def test_a_usual_secret_costs_microseconds():
    armored = message("x" * 1_000, ADA)
    assert quickest(lambda: read_message(armored)) < 200e-6  # measured: 15 µs
