"""OpenPGP: read a user's public key, open what is sent to the server, seal what it answers.

The one module that knows the libraries (docs/adr/0002-openpgp-libraries.md): PGPy reads and
makes keys, Sequoia signs, verifies and encrypts. Both stand behind the packet gate of
`domain/armor.py`, and `decryption.py` opens messages.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from struct import error as StructError  # noqa: N812 - an exception like the others
from typing import Any, Literal, Never

import pysequoia
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from chalicelib.crypto.decryption import (
    Content,
    Curve25519Decryptor,
    Decryptor,
    RsaDecryptor,
    Undecipherable,
    Unreadable,
    decrypt,
    read_content,
)
from chalicelib.crypto.key_rules import KeyFacts, broken_rules
from chalicelib.domain import clock
from chalicelib.domain.armor import (
    MESSAGE,
    PRIVATE_KEY,
    PUBLIC_KEY,
    BadArmor,
    Block,
    EncryptedMessage,
    Packet,
    Tag,
    read_block,
    read_message,
    read_packets,
    write_block,
    write_packets,
)
from chalicelib.domain.errors import Invalid

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PGPy's own use of what its dependencies mean to drop
    import pgpy
    from pgpy.constants import (
        CompressionAlgorithm,
        EllipticCurveOID,
        HashAlgorithm,
        KeyFlags,
        PubKeyAlgorithm,
        SymmetricKeyAlgorithm,
    )

MOST_CHALLENGE = 16 * 1024
MOST_KEY = 128 * 1024
_MOST_AHEAD = timedelta(hours=12)

_KEY_TAGS = frozenset(
    {Tag.PUBLIC_KEY, Tag.PUBLIC_SUBKEY, Tag.USER_ID, Tag.USER_ATTRIBUTE, Tag.SIGNATURE}
)
_SECRET_TAGS = frozenset({Tag.SECRET_KEY, Tag.SECRET_SUBKEY})
_MEANINGLESS = frozenset({Tag.MARKER, Tag.PADDING})

_PGPY_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    StopIteration,
    StructError,
    TypeError,
    ValueError,
    pgpy.errors.PGPError,
)
"""What PGPy raises for malformed keys: it looks, and trips where the bytes end."""

_TYPES = {
    PubKeyAlgorithm.RSAEncryptOrSign: "RSA",
    PubKeyAlgorithm.RSAEncrypt: "RSA",
    PubKeyAlgorithm.RSASign: "RSA",
    PubKeyAlgorithm.ElGamal: "ElGamal",
    PubKeyAlgorithm.DSA: "DSA",
    PubKeyAlgorithm.ECDH: "ECDH",
    PubKeyAlgorithm.ECDSA: "ECDSA",
    PubKeyAlgorithm.EdDSA: "EdDSA",
}


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A user's public key: the text as it came, and what the server knows about it."""

    armored_key: str
    fingerprint: str
    key_id: str
    uid: str
    type: str
    bits: int
    key_created: datetime
    expires: datetime | None
    encryption_key_ids: tuple[str, ...]


def read_public_key(armored: object, *, own_fingerprint: str | None, now: datetime) -> PublicKey:
    """The public key a user brings; every rule it breaks is named."""
    key, facts = _parse(armored, now)
    if broken := broken_rules(facts, now):
        raise Invalid("The public key could not be validated.", {"armored_key": broken})
    if facts.fingerprint == own_fingerprint:
        raise Invalid(
            "The OpenPGP key data is not valid.",
            {
                "fingerprint": {
                    "isNotServerKeyFingerprintRule": "The key should not be the server's own."
                }
            },
        )
    if not facts.encryption_key_ids:
        message = "The OpenPGP key can not be used to encrypt."
        raise Invalid(message, {"gpgkey": {"armored_key": message}})
    return key


def parse_public_key(armored: object) -> PublicKey:
    """A public key whose form is checked, and whose strength is not: it is only compared."""
    key, _ = _parse(armored, clock.now())
    return key


def _parse(armored: object, now: datetime) -> tuple[PublicKey, KeyFacts]:
    block = _key_block(armored)
    facts = _read_facts(block)
    if facts.created > now + _MOST_AHEAD:
        _refuse_key("key_created", "The key was created in the future.")
    if facts.is_expired(now):
        _refuse_key("expires", "The key is expired.")
    return _public_key(str(armored), facts), facts


def _public_key(armored: str, facts: KeyFacts) -> PublicKey:
    return PublicKey(
        armored_key=armored,
        fingerprint=facts.fingerprint,
        key_id=facts.key_id,
        uid=facts.uid,
        type=facts.type,
        bits=facts.bits,
        key_created=facts.created,
        expires=facts.expires,
        encryption_key_ids=facts.encryption_key_ids,
    )


def _refuse_key(field_name: str, text: str) -> Never:
    raise Invalid(
        "The OpenPGP armored key could not be validated.",
        {"gpgkey": {field_name: {"custom": text}}},
    )


def _unparsable() -> Invalid:
    message = "A valid OpenPGP key must be provided."
    return Invalid(message, {"armored_key": {"isParsable": message}})


def _key_block(armored: object) -> Block:
    """The armored public key block, before any library has seen it."""
    if not isinstance(armored, str) or len(armored) > MOST_KEY:
        raise _unparsable()
    if f"-----BEGIN {PRIVATE_KEY}-----" in armored:
        _refuse_key("armored_key", "The key should be a public key.")
    try:
        block = read_block(armored, PUBLIC_KEY)
    except BadArmor:
        raise _unparsable() from None
    if not block.has_checksum:
        raise _unparsable()
    return block


def _key_packets(block: Block) -> list[Packet]:
    try:
        packets = [each for each in read_packets(block.data) if each.tag not in _MEANINGLESS]
    except BadArmor:
        raise _unparsable() from None
    if any(each.tag in _SECRET_TAGS for each in packets):
        _refuse_key("armored_key", "The key should be a public key.")
    if not packets or packets[0].tag != Tag.PUBLIC_KEY:
        raise _unparsable()
    if any(each.tag not in _KEY_TAGS for each in packets):
        raise _unparsable()
    return packets


def _read_facts(block: Block) -> KeyFacts:
    """The first key of the block: read by PGPy, judged by Sequoia."""
    packets = _key_packets(block)
    starts = [index for index, each in enumerate(packets) if each.tag == Tag.PUBLIC_KEY]
    first = packets[: (*starts, len(packets))[1]]
    key = _pgpy_key(write_packets(first))
    certificate = _certificate(write_packets(first))
    try:
        uids = [each.body.decode() for each in first if each.tag == Tag.USER_ID]
        return KeyFacts(
            fingerprint=str(key.fingerprint).replace(" ", ""),
            uid=uids[0] if uids else "",
            type=_TYPES.get(key.key_algorithm, key.key_algorithm.name),
            bits=_bits(key),
            created=key.created,
            expires=_expiration(certificate) or key.expires_at,
            is_revoked=certificate.is_revoked,
            is_uid_certified=bool(uids) and set(uids) <= _certified_user_ids(certificate),
            main_packets=len(starts),
            has_extra_blank_line=block.has_extra_blank_line,
            encryption_key_ids=_encryption_key_ids(certificate),
        )
    except _PGPY_ERRORS:
        raise _unparsable() from None


def _pgpy_key(data: bytes) -> Any:
    try:
        key, _ = pgpy.PGPKey.from_blob(bytearray(data))
    except _PGPY_ERRORS:
        raise _unparsable() from None
    return key


def _certificate(data: bytes) -> pysequoia.Cert:
    try:
        return pysequoia.Cert.from_bytes(data)
    except RuntimeError:
        raise _unparsable() from None


def _bits(key: Any) -> int:
    size = key.key_size
    return int(size.key_size if isinstance(size, EllipticCurveOID) else size)


def _expiration(certificate: pysequoia.Cert) -> datetime | None:
    """None also where no signature of the key is good enough to say."""
    try:
        return certificate.expiration
    except RuntimeError:
        return None


def _certified_user_ids(certificate: pysequoia.Cert) -> set[str]:
    try:
        return set(map(str, certificate.user_ids))
    except RuntimeError:
        return set()


def _encryption_key_ids(certificate: pysequoia.Cert) -> tuple[str, ...]:
    """The keys a sender would encrypt to: asked by encrypting nothing to the certificate."""
    try:
        probe = pysequoia.encrypt(b"", recipients=[certificate])
    except RuntimeError:
        return ()
    return read_message(probe.decode()).recipients


class BadMessage(ValueError):  # noqa: N818 - named for what the message is
    """The message does not open. `step` tells a log where it ended; the sender never hears it."""

    def __init__(self, step: str) -> None:
        super().__init__("The message could not be opened.")
        self.step = step


class NotArmored(BadMessage):
    """The text is no OpenPGP message at all, whoever it may be for."""


@dataclass(frozen=True, slots=True)
class ServerKey:
    """The tenant's key pair: it opens what clients send and signs what they get."""

    fingerprint: str
    armored_public_key: str = field(repr=False)
    _decryptors: tuple[Decryptor, ...] = field(repr=False)
    _certificate: pysequoia.Cert = field(repr=False)
    _signer: pysequoia.PySigner = field(repr=False)

    @staticmethod
    def generate(user_id: str, algorithm: Literal["curve25519", "rsa3072"]) -> str:
        """A new private key, armored, without expiry: clients pin its fingerprint.

        It says that it reads integrity-protected data of the first version only, which all
        clients write; Sequoia's own keys invite the second, which not all can read.
        """
        primary, subkey = _KEY_PAIRS[algorithm]
        key = pgpy.PGPKey.new(*primary)
        key.add_uid(
            pgpy.PGPUID.new(user_id),
            usage={KeyFlags.Certify, KeyFlags.Sign},
            hashes=[HashAlgorithm.SHA512, HashAlgorithm.SHA256],
            ciphers=[SymmetricKeyAlgorithm.AES256, SymmetricKeyAlgorithm.AES128],
            compression=[CompressionAlgorithm.Uncompressed],
        )
        usage = {KeyFlags.EncryptCommunications, KeyFlags.EncryptStorage}
        key.add_subkey(pgpy.PGPKey.new(*subkey), usage=usage)
        return write_block(bytes(key), PRIVATE_KEY)

    @classmethod
    def load(cls, armored_private_key: str) -> ServerKey:
        """Read the key once; what login needs of it is kept ready."""
        data = read_block(armored_private_key, PRIVATE_KEY).data
        key, _ = pgpy.PGPKey.from_blob(bytearray(data))
        secret = pysequoia.Tsk.from_bytes(data)
        certificate = secret.extract_certificate()
        _require_first_version(certificate)
        return cls(
            fingerprint=certificate.fingerprint.upper(),
            armored_public_key=write_block(bytes(certificate), PUBLIC_KEY),
            _decryptors=_decryptors(key),
            _certificate=certificate,
            _signer=secret.signer(),
        )

    def open_challenge(self, armored: object, signer_armored_key: str) -> str:
        """The clear text of a message to this key that exactly the signer has signed."""
        content = self._open(_read_challenge(armored))
        _verify(content, signer_armored_key)
        return _clear_text(content)

    def open_nonce(self, armored: object) -> str:
        """The clear text of a message to this key, whoever wrote it."""
        try:
            message = _read_challenge(armored)
        except BadMessage as error:
            raise NotArmored(error.step) from None
        return _clear_text(self._open(message))

    def _open(self, message: EncryptedMessage) -> Content:
        try:
            packets = decrypt(message, self._decryptors)
        except Undecipherable:
            raise BadMessage("decrypt") from None
        try:
            return read_content(packets)
        except Unreadable:
            raise BadMessage("content") from None

    def seal(self, text: str, recipient_armored_key: str) -> str:
        """The text, encrypted to that key alone and signed by this one.

        Our own certificate is a recipient too, so that Sequoia keeps to the form every client
        reads even if the recipient's key invites a newer one; its session key is then left out.
        """
        recipient = _stored_certificate(recipient_armored_key)
        sealed = pysequoia.encrypt(
            text.encode(),
            recipients=[recipient, self._certificate],
            signer=self._signer,
            armor=False,
        )
        return write_block(self._without_own_session_key(sealed), MESSAGE)

    def _without_own_session_key(self, sealed: bytes) -> bytes:
        own = {bytes.fromhex(each.key_id) for each in self._decryptors}
        packets = read_packets(sealed)
        return write_packets(
            each for each in packets if each.tag != Tag.SESSION_KEY or each.body[1:9] not in own
        )


_KEY_PAIRS: dict[str, tuple[tuple[Any, Any], tuple[Any, Any]]] = {
    "curve25519": (
        (PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519),
        (PubKeyAlgorithm.ECDH, EllipticCurveOID.Curve25519),
    ),
    "rsa3072": (
        (PubKeyAlgorithm.RSAEncryptOrSign, 3072),
        (PubKeyAlgorithm.RSAEncryptOrSign, 3072),
    ),
}

_CURVE25519 = bytes.fromhex("0a2b060104019755010501")


def _decryptors(key: Any) -> tuple[Decryptor, ...]:
    return tuple(_decryptor(each) for each in key.subkeys.values() or (key,) if _opens(each))


def _opens(key: Any) -> bool:
    return key.key_algorithm in (PubKeyAlgorithm.RSAEncryptOrSign, PubKeyAlgorithm.ECDH)


def _decryptor(key: Any) -> Decryptor:
    material = key._key.keymaterial  # noqa: SLF001 - PGPy has no public way to the key itself
    key_id, private = str(key.fingerprint.keyid), material.__privkey__()
    if isinstance(private, RSAPrivateKey):
        return RsaDecryptor(key_id, private)
    if not isinstance(private, X25519PrivateKey):
        raise ValueError("The server key is neither RSA nor Curve25519.")  # noqa: TRY004 - no type
    kdf = material.kdf
    bound = bytes((PubKeyAlgorithm.ECDH, 3, 1, kdf.halg, kdf.encalg))
    fingerprint = bytes.fromhex(str(key.fingerprint).replace(" ", ""))
    return Curve25519Decryptor(
        key_id=key_id,
        private=private,
        hash_name=kdf.halg.name,
        wrapping_key_size=kdf.encalg.key_size // 8,
        parameters=_CURVE25519 + bound + b"Anonymous Sender    " + fingerprint,
    )


def _require_first_version(certificate: pysequoia.Cert) -> None:
    probe = pysequoia.encrypt(b"", recipients=[certificate])
    if not read_message(probe.decode()).is_protected:
        raise ValueError("The server key invites encrypted data that not all clients can write.")


def _read_challenge(armored: object) -> EncryptedMessage:
    if not isinstance(armored, str) or len(armored) > MOST_CHALLENGE:
        raise BadMessage("armor")
    try:
        return read_message(armored)
    except BadArmor:
        raise BadMessage("armor") from None


def _verify(content: Content, signer_armored_key: str) -> None:
    """The signature covers the text and is the signer's, whose key is neither expired nor revoked.

    It is verified over the text itself, so nothing else in the message is signed by mistake.
    """
    if content.signature is None:
        raise BadMessage("unsigned")
    try:
        signer = _live_certificate(signer_armored_key)
        signature = pysequoia.Sig.from_bytes(
            write_packets([Packet(Tag.SIGNATURE, content.signature)])
        )
        found = pysequoia.verify(content.text, store=lambda _: [signer], signature=signature)
    except RuntimeError:
        raise BadMessage("signature") from None
    if [each.certificate for each in found.valid_sigs] != [signer.fingerprint]:
        raise BadMessage("signature")


def _live_certificate(armored: str) -> pysequoia.Cert:
    certificate = _stored_certificate(armored)
    expires = certificate.expiration
    if certificate.is_revoked or (expires is not None and expires <= clock.now()):
        raise BadMessage("signer")
    return certificate


def _stored_certificate(armored: str) -> pysequoia.Cert:
    return pysequoia.Cert.from_bytes(armored.encode())


def _clear_text(content: Content) -> str:
    try:
        return content.text.decode()
    except UnicodeDecodeError:
        raise BadMessage("text") from None
