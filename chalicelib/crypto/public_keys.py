"""The public key a user brings: how large it may be, and which packets and signatures it needs.

The gate of `domain/armor.py` comes first; then PGPy reads the key, and Sequoia its signatures.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Never

from chalicelib.crypto.key_rules import KeyFacts, broken_rules
from chalicelib.crypto.pgpy_keys import PrimaryKey, UnreadableKey, read_primary_key
from chalicelib.crypto.self_signatures import (
    SelfSigned,
    TooMuch,
    UnreadableCertificate,
    read_self_signed,
    require_few,
)
from chalicelib.domain import clock
from chalicelib.domain.armor import (
    PRIVATE_KEY,
    PUBLIC_KEY,
    BadArmor,
    Block,
    Packet,
    Tag,
    read_block,
    read_packets,
)
from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass

MOST_KEY = 128 * 1024
_MOST_AHEAD = timedelta(hours=12)
_NO_KEY = "A valid OpenPGP key must be provided."

_KEY_TAGS = frozenset(
    {Tag.PUBLIC_KEY, Tag.PUBLIC_SUBKEY, Tag.USER_ID, Tag.USER_ATTRIBUTE, Tag.SIGNATURE}
)
_SECRET_TAGS = frozenset({Tag.SECRET_KEY, Tag.SECRET_SUBKEY})
_MEANINGLESS = frozenset({Tag.MARKER, Tag.PADDING})


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


def read_public_key(armored: object, *, own: Collection[str], now: datetime) -> PublicKey:
    """The public key a user brings, which is none of our `own`; every rule it breaks is named."""
    key, facts = _parse(armored, now)
    if broken := broken_rules(facts, now):
        raise Invalid("The public key could not be validated.", {"armored_key": broken})
    if facts.fingerprint in own:
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
    """A public key whose form is checked, and whose strength is not: it is only compared.

    It may have any number of signatures. What is too much of them is not verified.
    """
    key, _ = _parse(armored, clock.now(), is_compared=True)
    return key


def fingerprint_of_public_key(armored: object) -> str:
    """Which key it is, by its first packet: nothing that it says of itself is verified."""
    try:
        return read_primary_key(_key_packets(_key_block(armored))[0]).fingerprint
    except UnreadableKey:
        raise _unparsable() from None


def find_facts(armored: object) -> KeyFacts | None:
    """What is known of the first key in a block; nothing where the text holds none."""
    try:
        return _read_facts(_key_block(armored))
    except Invalid:
        return None


def _parse(
    armored: object, now: datetime, *, is_compared: bool = False
) -> tuple[PublicKey, KeyFacts]:
    facts = _read_facts(_key_block(armored), is_compared=is_compared)
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


def _unparsable(reason: str = _NO_KEY) -> Invalid:
    return Invalid(_NO_KEY, {"armored_key": {"isParsable": reason}})


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


def _read_facts(block: Block, *, is_compared: bool = False) -> KeyFacts:
    """The first key of the block, and whether it is the only one."""
    packets = _key_packets(block)
    starts = [index for index, each in enumerate(packets) if each.tag == Tag.PUBLIC_KEY]
    first = packets[: (*starts, len(packets))[1]]
    uids = _user_ids(first)
    key, said = _read_key(first, is_compared=is_compared)
    return KeyFacts(
        fingerprint=key.fingerprint,
        uid=uids[0] if uids else "",
        type=key.type,
        bits=key.bits,
        has_known_curve=key.has_known_curve,
        created=key.created,
        expires=said.expires,
        is_revoked=said.is_revoked,
        is_uid_certified=bool(uids) and said.user_ids.issuperset(uids),
        main_packets=len(starts),
        has_extra_blank_line=block.has_extra_blank_line,
        encryption_key_ids=said.encryption_key_ids,
    )


def _read_key(packets: list[Packet], *, is_compared: bool) -> tuple[PrimaryKey, SelfSigned]:
    try:
        key = read_primary_key(packets[0])
        if not is_compared:
            require_few(packets)
        return key, read_self_signed(packets)
    except TooMuch as error:
        raise _unparsable(str(error)) from None
    except (UnreadableKey, UnreadableCertificate):
        raise _unparsable() from None


def _user_ids(packets: list[Packet]) -> list[str]:
    try:
        return [each.body.decode() for each in packets if each.tag == Tag.USER_ID]
    except UnicodeDecodeError:
        raise _unparsable() from None
