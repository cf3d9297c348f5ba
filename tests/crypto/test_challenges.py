"""What the server opens: encrypted, protected, signed by the user, one text, of bearable size."""

from __future__ import annotations

import base64
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pysequoia
import pytest

from chalicelib.crypto.decryption import MOST_PLAIN, Unreadable, read_content
from chalicelib.crypto.openpgp import MOST_CHALLENGE, BadMessage, NotArmored, ServerKey
from tests.crypto import forge
from tests.support.world.keys import KEYS, Key, challenge

TEXT = '{"version":"1.0.0","domain":"https://keyhaven.example","verify_token":"é"}'


def step(key: ServerKey, armored: object, signer: Key) -> str:
    """Where the challenge is refused."""
    with pytest.raises(BadMessage, match=r"^The message could not be opened\.$") as refused:
        key.open_challenge(armored, signer.public)
    return refused.value.step


def inner(text: str, signer: Key) -> bytes:
    return b"".join(forge.signed(text.encode(), signer.private))


# What opens


@pytest.mark.parametrize("name", ["ada", "carol", "edith", "frances"])
def test_a_challenge_of_any_kind_of_key_opens(server: Key, server_key: ServerKey, name: str):
    """By the primary key, or by a signing subkey (carol)."""
    user = KEYS[name]
    armored = challenge(TEXT, user.private, server.public)
    assert server_key.open_challenge(armored, user.public) == TEXT


@pytest.mark.parametrize("compress", [forge.deflated, forge.zlibbed, forge.bzipped])
def test_a_compressed_challenge_opens(server: Key, server_key: ServerKey, ada: Key, compress):
    armored = forge.message(server.public, compress(inner(TEXT, ada)))
    assert server_key.open_challenge(armored, ada.public) == TEXT


def test_a_challenge_signed_before_its_text_opens(server: Key, server_key: ServerKey, ada: Key):
    """The old order: the signature, then the literal."""
    _, text, signature = forge.signed(TEXT.encode(), ada.private)
    armored = forge.message(server.public, signature + text)
    assert server_key.open_challenge(armored, ada.public) == TEXT


def test_a_challenge_by_pgpy_opens(server: Key, server_key: ServerKey, ada: Key):
    """Its one-pass packet says that another follows; only the signature itself is believed."""
    armored = forge.message(server.public, forge.signed_by_pgpy(TEXT, ada.private, "SHA256"))
    assert server_key.open_challenge(armored, ada.public) == TEXT


def test_a_challenge_by_gnupg_opens(server: Key, server_key: ServerKey, gpg, user: Key):
    """Compressed, in a packet that does not say its length."""
    made = gpg.encrypt(
        TEXT.encode(), [server.fingerprint], sign=user.fingerprint, always_trust=True, armor=True
    )
    assert server_key.open_challenge(str(made), user.public) == TEXT


@pytest.mark.parametrize("release", [5, 6])
def test_a_challenge_by_openpgpjs_opens(
    server: Key, server_key: ServerKey, user: Key, openpgpjs, release: int
):
    """Signed as text, whose line ends do not count."""
    text = TEXT + "\nsecond line"
    (armored,) = openpgpjs(
        {
            "action": "challenge",
            "release": release,
            "text": text,
            "private": user.private,
            "recipient": server.public,
        }
    )
    assert server_key.open_challenge(armored, user.public).replace("\r\n", "\n") == text


def test_a_challenge_that_hides_its_recipient_opens(server: Key, server_key: ServerKey, ada: Key):
    session_key = bytes(range(32))
    packet = forge.hidden(forge.session_key_packet(server.public, session_key))
    armored = forge.armored(packet + forge.protected(session_key, inner(TEXT, ada)))
    assert server_key.open_challenge(armored, ada.public) == TEXT


def test_a_challenge_to_the_server_and_its_sender_opens(
    server: Key, server_key: ServerKey, ada: Key
):
    armored = pysequoia.encrypt(
        TEXT.encode(),
        recipients=[pysequoia.Cert.from_bytes(key.public.encode()) for key in (ada, server)],
        signer=pysequoia.Tsk.from_bytes(ada.private.encode()).signer(),
    )
    assert server_key.open_challenge(armored.decode(), ada.public) == TEXT


# Who signed


def test_au05_a_challenge_signed_by_another_user_is_refused(
    server: Key, server_key: ServerKey, ada: Key
):
    """AU05, AU06"""
    armored = challenge(TEXT, KEYS["betty"].private, server.public)
    assert step(server_key, armored, ada) == "signature"


def test_au06_the_issuer_a_signature_names_is_not_believed(
    server: Key, server_key: ServerKey, ada: Key
):
    """AU06: betty's signature says it is ada's."""
    betty = KEYS["betty"]
    forged = inner(TEXT, betty)
    for start, end in ((24, 40), (0, 40)):
        forged = forged.replace(
            bytes.fromhex(betty.fingerprint[start:end]), bytes.fromhex(ada.fingerprint[start:end])
        )
    assert step(server_key, forge.message(server.public, forged), ada) == "signature"


def test_au07_an_unsigned_challenge_is_refused(server: Key, server_key: ServerKey, ada: Key):
    """AU07"""
    armored = forge.message(server.public, forge.literal(TEXT.encode()))
    assert step(server_key, armored, ada) == "unsigned"


def test_a_signature_over_another_text_is_refused(server: Key, server_key: ServerKey, ada: Key):
    once, _, signature = forge.signed(b"another text", ada.private)
    armored = forge.message(server.public, once + forge.literal(TEXT.encode()) + signature)
    assert step(server_key, armored, ada) == "signature"


def test_au08_a_signed_message_that_is_not_encrypted_is_refused(server_key: ServerKey, ada: Key):
    """AU08"""
    signer = pysequoia.Tsk.from_bytes(ada.private.encode()).signer()
    plain = pysequoia.sign(signer, TEXT.encode()).decode()
    clear = pysequoia.sign(signer, TEXT.encode(), mode=pysequoia.SignatureMode.CLEAR).decode()
    assert step(server_key, plain, ada) == "armor"
    assert step(server_key, clear, ada) == "armor"


@pytest.mark.parametrize("hash_name", ["MD5", "SHA1"])
def test_au12_a_signature_by_a_broken_hash_is_refused(
    server: Key, server_key: ServerKey, ada: Key, hash_name: str
):
    """AU12"""
    armored = forge.message(server.public, forge.signed_by_pgpy(TEXT, ada.private, hash_name))
    assert step(server_key, armored, ada) == "signature"


def test_a_revoked_key_signs_no_challenge(server: Key, server_key: ServerKey):
    secret = pysequoia.Tsk.generate("Heidi <heidi@example.com>")
    public = secret.extract_certificate()
    revoked = bytes(public) + bytes(public.revoke(certifier=secret.certifier()))
    armored = challenge(TEXT, str(secret), server.public)
    with pytest.raises(BadMessage) as refused:
        server_key.open_challenge(armored, str(pysequoia.Cert.from_bytes(revoked)))
    assert refused.value.step == "signer"


def test_an_expired_key_signs_no_challenge(server: Key, server_key: ServerKey, later):
    secret = pysequoia.Tsk.generate("Heidi <heidi@example.com>", validity_seconds=3600)
    public, armored = secret.extract_certificate(), challenge(TEXT, str(secret), server.public)
    assert server_key.open_challenge(armored, str(public)) == TEXT
    later(hours=2)
    with pytest.raises(BadMessage) as refused:
        server_key.open_challenge(armored, str(public))
    assert refused.value.step == "signer"


# What is inside


def test_au09_a_second_literal_packet_is_refused(server: Key, server_key: ServerKey, ada: Key):
    """AU09"""
    for packets in (
        inner(TEXT, ada) + forge.literal(b"more"),
        forge.literal(b"more") + inner(TEXT, ada),
        inner(TEXT, ada) + inner(TEXT, ada),
    ):
        assert step(server_key, forge.message(server.public, packets), ada) == "content"


def test_au10_unprotected_data_is_refused(server: Key, server_key: ServerKey, ada: Key):
    """AU10: the packet of the time before integrity codes."""
    session_key = bytes(range(32))
    armored = forge.armored(
        forge.session_key_packet(server.public, session_key)
        + forge.unprotected(session_key, inner(TEXT, ada))
    )
    assert step(server_key, armored, ada) == "decrypt"


@pytest.mark.parametrize(
    "code", [b"", b"\xd3\x14", b"\xd3\x14" + bytes(20), b"\xd3\x14" + bytes(19), bytes(22)]
)
def test_au11_a_missing_or_wrong_integrity_code_is_refused(
    server: Key, server_key: ServerKey, ada: Key, code: bytes
):
    """AU11"""
    session_key = bytes(range(32))
    armored = forge.armored(
        forge.session_key_packet(server.public, session_key)
        + forge.protected(session_key, inner(TEXT, ada), code=code)
    )
    assert step(server_key, armored, ada) == "decrypt"


def test_au11_one_flipped_bit_anywhere_is_refused(server: Key, server_key: ServerKey, ada: Key):
    """AU11"""
    session_key = bytes(range(32))
    head = forge.session_key_packet(server.public, session_key)
    data = forge.protected(session_key, inner(TEXT, ada))
    for place in range(7, len(data), 5):
        flipped = data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :]
        assert step(server_key, forge.armored(head + flipped), ada) == "decrypt"


def _number(session_packet: bytes) -> bytes:
    return session_packet[-384:]


def test_au11_every_failed_opening_takes_the_same_work(
    server: Key, server_key: ServerKey, ada: Key
):
    """AU11: a wrong key, a wrong session key and a changed text look alike, also to a clock."""
    session_key = bytes(range(32))
    data = forge.protected(session_key, inner(TEXT, ada))
    to_server = forge.session_key_packet(server.public, session_key)
    other = KEYS["edith" if server.name == "server_rsa" else "betty"].public
    # The least of eight, so that it is a number below the modulus of either RSA key.
    to_other = min((forge.session_key_packet(other, session_key) for _ in range(8)), key=_number)
    kinds = {
        "changed": forge.armored(to_server + data[:-1] + bytes((data[-1] ^ 1,))),
        "other session key": forge.armored(
            forge.session_key_packet(server.public, bytes(32)) + data
        ),
        "other key": forge.armored(to_other + data),
    }
    spent: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(60):
        for kind, armored in kinds.items():
            start = time.process_time()
            assert step(server_key, armored, ada) == "decrypt"
            spent[kind].append(time.process_time() - start)
    medians = {kind: statistics.median(times) for kind, times in spent.items()}
    assert max(medians.values()) < 1.5 * min(medians.values()) + 0.0001


def test_a_text_that_is_not_utf8_is_refused(server: Key, server_key: ServerKey, ada: Key):
    """AU15"""
    packets = b"".join(forge.signed(b"\xff\xfe{}", ada.private))
    assert step(server_key, forge.message(server.public, packets), ada) == "text"


# How large


def test_a_challenge_above_16_kb_is_not_looked_at(server: Key, server_key: ServerKey, ada: Key):
    armored = challenge("x" * MOST_CHALLENGE, ada.private, server.public)
    assert step(server_key, armored, ada) == "armor"


@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], {}, b"bytes", "", "x" * 1_000_000])
def test_au17_anything_but_a_message_is_refused(server_key: ServerKey, ada: Key, value: object):
    """AU17"""
    assert step(server_key, value, ada) == "armor"


_MEASURE = """
import resource, sys, time
from chalicelib.crypto.openpgp import BadMessage, ServerKey
from tests.support.world.keys import KEYS
key = ServerKey.load(KEYS["server_curve"].private)
messages = sys.stdin.read().split("|")
for armored in messages:
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    try:
        key.open_challenge(armored, KEYS["ada"].public)
    except BadMessage as refused:
        spent = time.perf_counter() - start
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(refused.step, spent, grown)
"""


def test_au18_a_bomb_is_refused_in_little_time_and_memory():
    """AU18: 1 GiB in 1.4 KB of bzip2, 1 GiB in twice deflated zeros, and 10 MB of each other."""
    public = KEYS["server_curve"].public
    bzip2 = base64.b64decode(_ONE_GIBIBYTE)
    bombs = [forge.packet(8, b"\x03" + bzip2), forge.deflated(forge.packet(8, b"\x03" + bzip2))]
    bombs += [forge.bomb(1, 10 << 20), forge.bomb(2, 10 << 20)]
    messages = [forge.message(public, each) for each in bombs]
    assert max(map(len, messages)) <= MOST_CHALLENGE
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _MEASURE],
        input="|".join(messages),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    answers = [line.split() for line in done.stdout.splitlines()]
    assert [answer[0] for answer in answers] == ["content"] * 4
    assert max(float(answer[1]) for answer in answers) < 2
    assert sum(int(answer[2]) for answer in answers) <= 32 * 1024


@pytest.mark.parametrize("algorithm", [1, 2])
def test_au18_the_inflation_stops_whatever_the_armor_let_through(algorithm: int):
    """AU18: 100 MB of zip and zlib, without the cap on the armored text."""
    bomb = forge.bomb(algorithm, 100 << 20)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    with pytest.raises(Unreadable):
        read_content(bomb)
    assert time.perf_counter() - start < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before <= 32 * 1024


def test_a_text_compressed_twice_is_refused(server: Key, server_key: ServerKey, ada: Key):
    packets = forge.deflated(forge.deflated(inner(TEXT, ada)))
    assert step(server_key, forge.message(server.public, packets), ada) == "content"


@pytest.mark.parametrize(
    "body", [b"", b"\0", b"\x04x", b"\x01", b"\x02junk", b"\x03junk", b"\x01\xff\xff"]
)
def test_a_broken_compressed_packet_is_unreadable(body: bytes):
    with pytest.raises(Unreadable):
        read_content(forge.packet(8, body))


def test_a_compressed_packet_with_more_behind_its_end_is_unreadable():
    packed = forge.zlibbed(forge.literal(b"x"))
    with pytest.raises(Unreadable):
        read_content(forge.packet(8, packed[6:] + b"more"))


def test_the_largest_text_is_readable_and_one_byte_more_is_not():
    assert len(read_content(forge.literal(bytes(MOST_PLAIN))).text) == MOST_PLAIN
    with pytest.raises(Unreadable):
        read_content(forge.literal(bytes(MOST_PLAIN + 1)))


@pytest.mark.parametrize("literal", [b"", b"b", b"b\0abc", b"x\0abcdtext", b"b\xffabcdtext"])
def test_a_broken_literal_is_unreadable(literal: bytes):
    with pytest.raises(Unreadable):
        read_content(forge.packet(11, literal))


def test_au19_repeated_begin_lines_are_refused_at_once(server_key: ServerKey, ada: Key):
    """AU19"""
    start = time.perf_counter()
    assert step(server_key, "-----BEGIN PGP SIGNED MESSAGE-----\n" * 5_500, ada) == "armor"
    repeated = "-----BEGIN PGP SIGNED MESSAGE-----\n" * 450  # below the cap
    assert step(server_key, repeated, ada) == "armor"
    assert time.perf_counter() - start < 0.3


# The legacy nonce


def test_a_nonce_opens_unsigned_and_signed(server: Key, server_key: ServerKey, ada: Key):
    unsigned = forge.message(server.public, forge.literal(b"gpgauthv1.3.0|36|x"))
    assert server_key.open_nonce(unsigned) == "gpgauthv1.3.0|36|x"
    assert server_key.open_nonce(challenge(TEXT, ada.private, server.public)) == TEXT


@pytest.mark.parametrize("value", [None, 7, "", "nonsense", "x" * 20_000])
def test_what_is_no_message_is_told_from_one_that_does_not_open(
    server_key: ServerKey, ada: Key, value: object
):
    with pytest.raises(NotArmored):
        server_key.open_nonce(value)
    for_ada = forge.message(ada.public, forge.literal(b"nonce"))
    with pytest.raises(BadMessage) as refused:
        server_key.open_nonce(for_ada)
    assert not isinstance(refused.value, NotArmored)


# The server's key


@pytest.mark.parametrize("algorithm", ["curve25519", "rsa3072"])
def test_a_generated_key_opens_and_never_expires(algorithm, ada: Key):
    private = ServerKey.generate("Keyhaven <server@example.com>", algorithm)
    key = ServerKey.load(private)
    public = pysequoia.Cert.from_bytes(key.armored_public_key.encode())
    assert key.open_challenge(challenge(TEXT, ada.private, str(public)), ada.public) == TEXT
    assert public.expiration is None
    assert [str(uid) for uid in public.user_ids] == ["Keyhaven <server@example.com>"]
    assert key.fingerprint == public.fingerprint.upper()
    assert len(key.fingerprint) == 40


def test_a_key_tells_nothing_secret_about_itself(server: Key, server_key: ServerKey):
    assert repr(server_key) == f"ServerKey(fingerprint='{server.fingerprint}')"
    assert "PRIVATE" not in server_key.armored_public_key


def test_a_key_that_invites_what_not_all_clients_write_is_not_loaded():
    """Sequoia's keys ask for encrypted data of the second version."""
    with pytest.raises(ValueError, match="invites"):
        ServerKey.load(str(pysequoia.Tsk.generate("Keyhaven <server@example.com>")))


def test_a_key_of_another_curve_is_not_loaded():
    suite = pysequoia.CipherSuite.P256
    with pytest.raises(ValueError, match="server key"):
        ServerKey.load(str(pysequoia.Tsk.generate("Keyhaven", cipher_suite=suite)))


_ONE_GIBIBYTE = """
QlpoOTFBWSZTWbRMzdsFfjjFBMEAQAAQAAAIAAigAFCGAE1UNDnZFQEtkVASzVQqAl7ucIqAl75igrJMprIcE8W+Ar8cgAGA
AAAQQABhAJqMhUBLUhUBLmKCskymshwTxb4CvxyAAYAAABBAAGEAmoyFQEtSFQEuYoKyTKayHBPFvgK/HIABgAAAEEAAYQCa
jIVAS1IVAS5igrJMprIcE8W+Ar8cgAGAAAAQQABhAJqMhUBLUhUBLmKCskymshwTxb4CvxyAAYAAABBAAGEAmoyFQEtSFQEu
YoKyTKayHBPFvgK/HIABgAAAEEAAYQCajIVAS1IVAS5igrJMprIcE8W+Ar8cgAGAAAAQQABhAJqMhUBLUhUBLmKCskymshwT
xb4CvxyAAYAAABBAAGEAmoyFQEtSFQEuYoKyTKayHBPFvgK/HIABgAAAEEAAYQCajIVAS1IVAS5igrJMprIcE8W+Ar8cgAGA
AAAQQABhAJqMhUBLUhUBLmKCskymshwTxb4CvxyAAYAAABBAAGEAmoyFQEtSFQEuYoKyTKayHBPFvgK/HIABgAAAEEAAYQCa
jIVAS1IVAS5igrJMprIcE8W+Ar8cgAGAAAAQQABhAJqMhUBLUhUBLmKCskymshwTxb4CvxyAAYAAABBAAGEAmoyFQEtSFQEu
YoKyTKayHBPFvgK/HIABgAAAEEAAYQCajIVAS1IVAS5igrJMprIcE8W+Ar8cgAGAAAAQQABhAJqMhUBLUhUBLmKCskymshwT
xb4CvxyAAYAAABBAAGEAmoyFQEtSFQEuYoKyTKayHBPFvgK/HIABgAAAEEAAYQCajIVAS1IVAS5igrJMprIcE8W+Ar8cgAGA
AAAQQABhAJqMhUBLUhUBLmKCskymshwTxb4CvxyAAYAAABBAAGEAmoyFQEtSFQEuYoKyTKayHBPFvgK/HIABgAAAEEAAYQCa
jIVAS1IVAS5igrJMprIcE8W+Ar8cgAGAAAAQQABhAJqMhUBLUhUBLmKCskymsri8lEoBFKeIAYAAQAAAEEAAYZgKU01RIkNg
SRIeLuSKcKEgwe+m8g==
"""
"""A literal packet of 2 ** 30 zeros, compressed by bzip2; `forge.bomb(3, 2 ** 30)` makes it."""
