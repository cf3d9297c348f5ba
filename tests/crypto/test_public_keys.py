"""Which public keys a user may bring, and what the server learns from them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pgpy
import pysequoia
import pytest
from pgpy.constants import EllipticCurveOID, HashAlgorithm, KeyFlags, PubKeyAlgorithm

from chalicelib.crypto.openpgp import PublicKey, parse_public_key, read_public_key
from chalicelib.domain.armor import PUBLIC_KEY, read_block, read_message, write_block
from chalicelib.domain.errors import Invalid
from tests.crypto import forge
from tests.support.effort import quickest
from tests.support.world.keys import KEYS, message

NOW = datetime.now(UTC)
LONG_AGO = datetime(2024, 1, 1, tzinfo=UTC)


def read(armored: object) -> PublicKey:
    return read_public_key(armored, own={KEYS["server_curve"].fingerprint}, now=NOW)


def refused(armored: object) -> tuple[str, Any]:
    with pytest.raises(Invalid) as refusal:
        read(armored)
    return refusal.value.message, refusal.value.errors


def broken(armored: object) -> set[str]:
    """The names of the rules of the third row that the key breaks."""
    text, errors = refused(armored)
    assert text == "The public key could not be validated."
    return set(errors["armored_key"])


def by_gnupg(algorithm: str, expiry: str = "never", *, at: datetime = LONG_AGO) -> str:
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not on this machine")
    with tempfile.TemporaryDirectory(prefix="kh") as home:
        run = ["gpg", "--homedir", home, "--batch", "--pinentry-mode", "loopback", "--armor"]
        run += ["--passphrase", "", f"--faked-system-time={at:%Y%m%dT%H%M%S}!"]
        usage = ["Judy <judy@example.com>", algorithm, "sign,cert", expiry]
        subprocess.run([*run, "--quick-generate-key", *usage], check=True, capture_output=True)
        made = subprocess.run([*run, "--export"], check=True, capture_output=True, text=True)
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)
        return made.stdout


def by_pgpy(uid: str = "Judy <judy@example.com>", **choices: Any) -> pgpy.PGPKey:
    key = pgpy.PGPKey.new(PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519, created=LONG_AGO)
    usage = {KeyFlags.Certify, KeyFlags.Sign}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        key.add_uid(pgpy.PGPUID.new(uid), usage=usage, created=LONG_AGO, **choices)
        subkey = pgpy.PGPKey.new(
            PubKeyAlgorithm.ECDH, EllipticCurveOID.Curve25519, created=LONG_AGO
        )
        usage = {KeyFlags.EncryptCommunications}
        key.add_subkey(subkey, usage=usage, created=LONG_AGO, **choices)
    return key


def rearmored(*data: bytes) -> str:
    return write_block(b"".join(data), PUBLIC_KEY)


def raw(name: str) -> bytes:
    return read_block(KEYS[name].public, PUBLIC_KEY).data


# What is read


@pytest.mark.parametrize(
    ("name", "kind", "bits"),
    [
        *(("ada", "EdDSA", 256), ("carol", "EdDSA", 256)),
        *(("edith", "RSA", 3072), ("frances", "EdDSA", 256)),
    ],
)
def test_a_key_is_recorded_as_it_is(name: str, kind: str, bits: int):
    key = KEYS[name]
    (recipient,) = read_message(message("x", key.public)).recipients
    assert read(key.public) == PublicKey(
        armored_key=key.public,
        fingerprint=key.fingerprint,
        key_id=key.fingerprint[-16:],
        uid=f"{name.title()} <{name}@example.com>",
        type=kind,
        bits=bits,
        key_created=LONG_AGO,
        expires=None,
        encryption_key_ids=(recipient,),
    )


def test_line_ends_and_headers_are_stored_as_they_came():
    armored = KEYS["ada"].public.replace("\n\n", "\nComment: mine\n\n", 1).replace("\n", "\r\n")
    assert read(armored).armored_key == armored


@pytest.mark.parametrize("release", [5, 6])
@pytest.mark.parametrize("kind", ["ecc", "rsa"])
def test_a_key_by_openpgpjs_is_read(openpgpjs, release: int, kind: str):
    (both,) = openpgpjs({"action": "generate", "release": release, "type": kind})
    public = both[both.index("-----BEGIN PGP PUBLIC") :].replace("\r\n", "\n")
    soon = datetime.now(UTC) + timedelta(minutes=10)
    key = read_public_key(public, own=(), now=soon)
    assert key.uid == "Grace <grace@example.com>"
    assert (key.type, key.bits) == (("EdDSA", 256) if kind == "ecc" else ("RSA", 3072))


def test_an_ecdsa_key_and_rsa_4096_are_fine():
    suite = pysequoia.CipherSuite.P256
    p256 = str(pysequoia.Tsk.generate("Judy", cipher_suite=suite).extract_certificate())
    key = read_public_key(p256, own=(), now=datetime.now(UTC))
    assert (key.type, key.bits) == ("ECDSA", 256)


def test_every_encryption_subkey_is_named():
    key = by_pgpy()
    subkey = pgpy.PGPKey.new(PubKeyAlgorithm.ECDH, EllipticCurveOID.Curve25519, created=LONG_AGO)
    key.add_subkey(subkey, usage={KeyFlags.EncryptStorage, KeyFlags.EncryptCommunications})
    ids = {sub.fingerprint.keyid for sub in key.subkeys.values()}
    assert set(read(str(key.pubkey)).encryption_key_ids) == ids


# What is refused, row by row


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1, [], "", "nonsense", "x" * 200_000),
        message("x", KEYS["ada"].public),
        KEYS["ada"].public.replace("PUBLIC KEY BLOCK", "MESSAGE"),
        "\n".join(KEYS["ada"].public.splitlines()[:-2] + KEYS["ada"].public.splitlines()[-1:]),
        KEYS["ada"].public + KEYS["betty"].public,
        KEYS["ada"].public + "\0",
        "x" + KEYS["ada"].public,
        rearmored(forge.literal(b"x")),
        rearmored(raw("ada"), forge.literal(b"x")),
        rearmored(raw("ada")[:60]),
        rearmored(raw("ada")[60:]),
        rearmored(forge.packet(6, b"")),
        rearmored(forge.packet(6, b"\x04" + bytes(4) + b"\x63" + bytes(40))),
        str(pysequoia.Tsk.generate("v6", profile=pysequoia.Profile.RFC9580).extract_certificate()),
    ],
    ids=range(19),
)
def test_row_1_what_is_no_public_key(value: object):
    text = "A valid OpenPGP key must be provided."
    assert refused(value) == (text, {"armored_key": {"isParsable": text}})
    with pytest.raises(Invalid, match=text):
        parse_public_key(value)


def test_in34_row_2_a_private_key_is_refused_in_any_wrapping():
    """IN34"""
    private = KEYS["ada"].private
    text = "The OpenPGP armored key could not be validated."
    for armored in (private, private.replace("PRIVATE", "PUBLIC")):
        message_text, errors = refused(armored)
        assert message_text == text
        assert errors == {"gpgkey": {"armored_key": {"custom": "The key should be a public key."}}}


def test_row_2_a_key_from_the_future_is_refused():
    future = by_gnupg("ed25519", at=NOW + timedelta(days=2))
    text, errors = refused(future)
    assert text == "The OpenPGP armored key could not be validated."
    assert list(errors["gpgkey"]) == ["key_created"]


def test_in34_row_2_an_expired_key_is_refused():
    """IN34"""
    text, errors = refused(by_gnupg("ed25519", "2024-02-01"))
    assert text == "The OpenPGP armored key could not be validated."
    assert list(errors["gpgkey"]) == ["expires"]


def test_row_3_a_key_that_will_expire_is_refused():
    assert broken(by_gnupg("ed25519", "2099-01-01")) == {"hasNoExpiryDateRule"}


@pytest.mark.parametrize("algorithm", ["rsa1024", "rsa2048"])
def test_in34_row_3_a_short_rsa_key_is_refused(algorithm: str):
    """IN34"""
    assert "isValidKeySizeStrictRule" in broken(by_gnupg(algorithm))


def test_in34_row_3_a_dsa_key_is_refused():
    """IN34: with the ElGamal subkey such keys have, it is as old."""
    assert "isValidAlgorithmStrictRule" in broken(by_gnupg("dsa2048"))


@pytest.mark.parametrize("curve", ["brainpoolP256r1", "brainpoolP512r1", "secp256k1"])
def test_row_3_a_key_of_a_curve_that_nothing_here_reckons_with_is_refused_for_it(curve: str):
    assert "isValidAlgorithmStrictRule" in broken(by_gnupg(curve))


@pytest.mark.parametrize("curve", ["ed25519", "nistp256", "nistp384", "nistp521"])
def test_row_3_a_key_of_another_curve_breaks_no_rule(curve: str):
    """It only signs, which is the step after the rules."""
    assert refused(by_gnupg(curve))[0] == "The OpenPGP key can not be used to encrypt."


def test_in34_row_3_a_revoked_key_is_refused():
    """IN34"""
    secret = pysequoia.Tsk.from_bytes(KEYS["ada"].private.encode())
    public = secret.extract_certificate()
    revocation = bytes(public.revoke(certifier=secret.certifier()))
    assert broken(rearmored(bytes(public), revocation)) == {"isNotRevokedRule"}


def test_in34_row_3_two_keys_in_one_block_are_refused():
    """IN34"""
    assert broken(rearmored(raw("ada"), raw("betty"))) == {"hasMultipleMainPacketsRule"}


def test_row_3_an_empty_line_before_the_end_is_refused():
    armored = KEYS["ada"].public.replace("\n-----END", "\n\n-----END")
    assert broken(armored) == {"hasNoExtraBreakLineRule"}


def test_row_3_a_key_made_an_hour_from_now_is_refused():
    assert "isNotCreatedInTheFutureRule" in broken(by_gnupg("ed25519", at=NOW + timedelta(hours=1)))


@pytest.mark.parametrize("hash_name", ["MD5", "SHA1"])
def test_row_3_a_user_id_signed_by_a_broken_hash_does_not_count(hash_name: str):
    key = by_pgpy(hash=HashAlgorithm[hash_name])
    assert broken(str(key.pubkey)) == {"isUserIdCertifiedRule"}


def test_in34_row_3_a_user_id_the_key_did_not_sign_is_refused():
    """IN34: somebody else's name, in front, behind, and with a signature of somebody else."""
    packets = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(raw("ada"))]
    name = forge.packet(13, b"Root <root@example.com>")
    betty = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(raw("betty"))]
    for foreign in (name, name + betty[2], b"".join(betty[1:3])):
        assert broken(rearmored(packets[0], foreign, *packets[1:])) == {"isUserIdCertifiedRule"}
        assert broken(rearmored(*packets[:3], foreign, *packets[3:])) == {"isUserIdCertifiedRule"}


def test_row_3_a_key_without_user_id_is_refused():
    public = str(pysequoia.Tsk.generate().extract_certificate())
    key = read_block(public, PUBLIC_KEY).data
    now = datetime.now(UTC)
    with pytest.raises(Invalid) as refusal:
        read_public_key(rearmored(key), own=(), now=now)
    assert refusal.value.errors is not None
    assert set(refusal.value.errors["armored_key"]) == {"isUserIdCertifiedRule"}


def test_in34_row_4_the_key_of_the_server_is_refused():
    """IN34"""
    text, errors = refused(KEYS["server_curve"].public)
    assert text == "The OpenPGP key data is not valid."
    assert list(errors["fingerprint"]) == ["isNotServerKeyFingerprintRule"]


def test_in34_row_5_a_key_that_cannot_encrypt_is_refused():
    """IN34"""
    text = "The OpenPGP key can not be used to encrypt."
    assert refused(by_gnupg("ed25519")) == (text, {"gpgkey": {"armored_key": text}})


def test_row_5_a_revoked_encryption_subkey_does_not_count():
    assert refused(forge.key_with_revoked_subkey())[0] == (
        "The OpenPGP key can not be used to encrypt."
    )


def test_row_5_an_encryption_subkey_the_key_did_not_bind_does_not_count():
    packets = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(raw("ada"))]
    betty = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(raw("betty"))]
    stolen = rearmored(*packets[:3], *betty[3:])
    assert refused(stolen)[0] == "The OpenPGP key can not be used to encrypt."


def test_recovery_checks_the_form_alone():
    """Rows 1 and 2: whether the key is the user's is decided by its fingerprint."""
    for name in ("ada", "server_curve"):
        assert parse_public_key(KEYS[name].public).fingerprint == KEYS[name].fingerprint
    assert parse_public_key(by_gnupg("rsa1024")).bits == 1024


# What would keep a library busy


def at_once(read_key: Callable[[str], Any], armored: str) -> Any:
    """What is answered, in an instant; without bounds each of these keys takes a second or more."""
    assert quickest(lambda: read_key(armored), times=3) < 0.5
    return read_key(armored)


def dsa_signed_by_none() -> str:
    primary = forge.dsa_body(16_000)
    halves = (forge.random_number(7_990), forge.random_number(7_990))
    name = forge.name_signed_by_none(primary, forge.DSA, *halves)
    return rearmored(forge.packet(6, primary), name)


def back_signed(subkey: bytes, *sizes: int) -> str:
    return rearmored(forge.back_signed(KEYS["ada"].private, subkey, *sizes))


def test_a_dsa_key_of_any_length_is_refused_at_once():
    """Nobody verifies what it says of itself."""
    assert "isValidAlgorithmStrictRule" in at_once(broken, dsa_signed_by_none())


def test_a_dsa_key_of_any_length_is_compared_at_once():
    """Recovery, which asks no rules."""
    key = at_once(parse_public_key, dsa_signed_by_none())
    assert (key.type, key.expires, key.encryption_key_ids) == ("DSA", None, ())


def test_a_subkey_of_an_algorithm_without_bounds_is_left_out():
    """With it the key is what it is without."""
    armored = back_signed(forge.dsa_body(8_000), *[3_990] * 6)
    assert at_once(read, armored).encryption_key_ids == read(KEYS["ada"].public).encryption_key_ids


def test_a_subkey_with_a_very_long_number_is_left_out():
    """Sealing to the key would fail for it."""
    subkey = forge.key_body(forge.RSA, forge.random_number(8_192), 65_537)
    bound = forge.bound_subkey(KEYS["ada"].private, subkey, flags=b"\x0c")
    own = read(KEYS["ada"].public).encryption_key_ids
    assert read(rearmored(raw("ada"), bound)).encryption_key_ids == own


def test_signatures_inside_signatures_count():
    """Each of them is verified, of a subkey as of a key."""
    subkey = forge.key_body(forge.RSA, forge.random_number(4_096), 65_537)
    text = "A valid OpenPGP key must be provided."
    assert refused(back_signed(subkey, *[20] * 198))[0] == text
    assert read(back_signed(subkey, *[20] * 197)).fingerprint == KEYS["ada"].fingerprint


def test_a_key_with_very_many_signatures_is_refused():
    """Of a bearable number, others' certifications among them, it is read."""
    packets = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(raw("ada"))]
    key = read(rearmored(*packets[:3], *packets[2:3] * 198, *packets[3:]))
    assert key.fingerprint == KEYS["ada"].fingerprint
    text = "A valid OpenPGP key must be provided."
    assert refused(rearmored(*packets[:3], *packets[2:3] * 199, *packets[3:]))[0] == text


def test_it_is_told_that_there_are_too_many_signatures_or_user_ids():
    """Others' signatures can be left out where the key is exported."""
    packets = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(raw("ada"))]
    signatures = rearmored(*packets[:3], *packets[2:3] * 199, *packets[3:])
    names = rearmored(*packets[:3], *(forge.packet(13, b"%d" % each) for each in range(50)))
    for armored, text in (
        (signatures, "The key has more than 200 signatures; export it without those of others."),
        (names, "The key has more than 50 user ids and subkeys."),
    ):
        assert refused(armored)[1] == {"armored_key": {"isParsable": text}}


def test_a_key_to_be_compared_may_have_any_number_of_signatures():
    """Its owner has it from before there was a bound, or others have signed it since."""
    packets = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(raw("ada"))]
    key = parse_public_key(rearmored(*packets[:3], *packets[2:3] * 199, *packets[3:]))
    assert key.encryption_key_ids == read(KEYS["ada"].public).encryption_key_ids


def test_a_signature_at_the_wrong_user_id_is_not_tried_at_each():
    """Some thousand could be, of which each takes milliseconds."""
    key = forge.misplaced(forge.p521_body(), names=8, signatures=150)
    assert "isUserIdCertifiedRule" in at_once(broken, rearmored(key))
    assert at_once(parse_public_key, rearmored(key)).encryption_key_ids == ()


def test_of_a_key_to_be_compared_with_very_many_signatures_few_are_verified():
    key = forge.misplaced(forge.p521_body(), names=8, signatures=400)
    assert at_once(parse_public_key, rearmored(key)).encryption_key_ids == ()
