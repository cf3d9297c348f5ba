"""OpenPGP: read a user's public key, open what is sent to the server, seal what it answers.

The door to the libraries behind (docs/adr/0002-openpgp-libraries.md). PGPy reads and makes
keys, Sequoia verifies, signs and encrypts, `decryption.py` opens messages; all of them behind
the packet gate of `domain/armor.py`.
"""

from __future__ import annotations

from dataclasses import field

import pysequoia

from chalicelib.crypto.decryption import (
    Content,
    Decryptor,
    Undecipherable,
    Unreadable,
    decrypt,
    filled,
    read_content,
)
from chalicelib.crypto.pgpy_keys import Algorithm, generate, read_decryptors
from chalicelib.crypto.public_keys import (
    MOST_KEY,
    PublicKey,
    fingerprint_of_public_key,
    parse_public_key,
    read_public_key,
)
from chalicelib.crypto.self_signatures import UnreadableCertificate, read_certificate
from chalicelib.domain import clock
from chalicelib.domain.armor import (
    MESSAGE,
    PRIVATE_KEY,
    PUBLIC_KEY,
    BadArmor,
    EncryptedMessage,
    Packet,
    Tag,
    read_block,
    read_message,
    read_packets,
    write_block,
    write_packets,
)
from chalicelib.domain.light import dataclass

__all__ = [
    "BadMessage",
    "NotArmored",
    "PublicKey",
    "ServerKey",
    "fingerprint_of_private_key",
    "fingerprint_of_public_key",
    "parse_public_key",
    "read_public_key",
]

MOST_CHALLENGE = 16 * 1024
MOST_SEALED = 64 * 1024
"""Characters of a message that rests sealed to the server, whoever has written it."""
_MOST_PACKETS = 300
"""Of a private key; Sequoia compares each with each."""


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
    def generate(user_id: str, algorithm: Algorithm) -> str:
        """A new private key, armored, without expiry: clients pin its fingerprint.

        It says that it reads integrity-protected data of the first version only, which all
        clients write; Sequoia's own keys invite the second, which not all can read.
        """
        return write_block(generate(user_id, algorithm), PRIVATE_KEY)

    @classmethod
    def load(cls, armored_private_key: str) -> ServerKey:
        """Read the key once; what login needs of it is kept ready.

        Raises ValueError where the text is no key that opens and signs.
        """
        try:
            return cls._read(read_block(armored_private_key, PRIVATE_KEY).data)
        except RuntimeError:
            raise ValueError("The server key is not one that opens and signs.") from None

    @classmethod
    def _read(cls, data: bytes) -> ServerKey:
        secret = pysequoia.Tsk.from_bytes(data)
        certificate = secret.extract_certificate()
        _require_first_version(certificate)
        return cls(
            fingerprint=certificate.fingerprint.upper(),
            armored_public_key=write_block(bytes(certificate), PUBLIC_KEY),
            _decryptors=read_decryptors(read_packets(data)),
            _certificate=certificate,
            _signer=secret.signer(),
        )

    def open_challenge(self, armored: object, signer_armored_key: str) -> str:
        """The clear text of a message to this key that exactly the signer has signed."""
        return self.open_signed(armored, signer_armored_key, most=MOST_CHALLENGE)

    def open_signed(self, armored: object, signer_armored_key: str, *, most: int) -> str:
        """The same of a message of at most so many characters."""
        content = self._open(_read_bounded(armored, most))
        _verify(content, signer_armored_key)
        return _clear_text(content)

    def open_nonce(self, armored: object) -> str:
        """The clear text of a message to this key, whoever wrote it."""
        try:
            message = _read_bounded(armored, MOST_CHALLENGE)
        except BadMessage as error:
            raise NotArmored(error.step) from None
        return _clear_text(self._open(message))

    def _open(self, message: EncryptedMessage) -> Content:
        try:
            return read_content(self._packets(message))
        except Unreadable:
            raise BadMessage("content") from None

    def _packets(self, message: EncryptedMessage) -> bytes:
        try:
            return decrypt(message, self._decryptors)
        except Undecipherable:
            raise BadMessage("decrypt") from None

    def seal(self, text: str, recipient_armored_key: str) -> str:
        """The text, encrypted to that key alone and signed by this one.

        Our own certificate is a recipient too, so that Sequoia keeps to the form every client
        reads even if the recipient's key invites a newer one; its session key is then left out.
        """
        recipient = _live_certificate(recipient_armored_key, "recipient")
        sealed = self._sealed(text, recipient, self._certificate)
        return write_block(write_packets(self._for_others(read_packets(sealed))), MESSAGE)

    def handed_over(self, armored: str, to: ServerKey) -> str:
        """A message to this key, encrypted to another one of the server's.

        What is inside stays as it is, with the signature of whoever made it, which nobody checks
        here. Raises `BadMessage` where it does not open.
        """
        packets = self._packets(_read_bounded(armored, MOST_SEALED))
        empty = pysequoia.encrypt(b"", recipients=[to._certificate]).decode()
        handed = write_block(filled(empty, to._decryptors, packets), MESSAGE)
        if to._packets(_read_bounded(handed, MOST_SEALED)) != packets:
            raise BadMessage("recipient")
        return handed

    def seal_to_itself(self, text: str) -> str:
        """The text, encrypted to this key and signed by it: how one tries out both halves."""
        return write_block(self._sealed(text, self._certificate), MESSAGE)

    @property
    def encryption_key_ids(self) -> frozenset[str]:
        """What messages for this key name as their recipient."""
        return frozenset(each.key_id for each in self._decryptors)

    @property
    def user_ids(self) -> tuple[str, ...]:
        """Whose key it says it is."""
        return tuple(str(each) for each in self._certificate.user_ids)

    def _sealed(self, text: str, *recipients: pysequoia.Cert) -> bytes:
        try:
            return pysequoia.encrypt(
                text.encode(), recipients=list(recipients), signer=self._signer, armor=False
            )
        except RuntimeError:
            raise BadMessage("recipient") from None

    def _for_others(self, packets: list[Packet]) -> list[Packet]:
        """The message without its session key for us."""
        own = {bytes.fromhex(each.key_id) for each in self._decryptors}
        return [
            each for each in packets if each.tag != Tag.SESSION_KEY or each.body[1:9] not in own
        ]


def _require_first_version(certificate: pysequoia.Cert) -> None:
    probe = pysequoia.encrypt(b"", recipients=[certificate])
    if not read_message(probe.decode()).is_protected:
        raise ValueError("The server key invites encrypted data that not all clients can write.")


def fingerprint_of_private_key(armored: object) -> str | None:
    """Whose private key a text is, without a look at its secret; nothing where it is none."""
    if not isinstance(armored, str) or len(armored) > MOST_KEY:
        return None
    try:
        data = read_block(armored, PRIVATE_KEY).data
        if len(read_packets(data)) > _MOST_PACKETS:
            return None
        secret = pysequoia.Tsk.from_bytes(data)
    except (BadArmor, RuntimeError):
        return None
    return str(secret.extract_certificate().fingerprint.upper())


def _read_bounded(armored: object, most: int) -> EncryptedMessage:
    if not isinstance(armored, str) or len(armored) > most:
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
    signer = _live_certificate(signer_armored_key, "signer")
    packet = write_packets([Packet(Tag.SIGNATURE, content.signature)])
    try:
        signature = pysequoia.Sig.from_bytes(packet)
        found = pysequoia.verify(content.text, store=lambda _: [signer], signature=signature)
    except RuntimeError:
        raise BadMessage("signature") from None
    if [each.certificate for each in found.valid_sigs] != [signer.fingerprint]:
        raise BadMessage("signature")


def _live_certificate(armored: str, role: str) -> pysequoia.Cert:
    """A stored key, unless it has ended since: Sequoia alone would still encrypt to it."""
    try:
        certificate = read_certificate(read_packets(read_block(armored, PUBLIC_KEY).data))
        expires = certificate.expiration
    except (BadArmor, UnreadableCertificate, RuntimeError):
        raise BadMessage(role) from None
    if certificate.is_revoked or (expires is not None and expires <= clock.now()):
        raise BadMessage(role)
    return certificate


def _clear_text(content: Content) -> str:
    try:
        return content.text.decode()
    except UnicodeDecodeError:
        raise BadMessage("text") from None
