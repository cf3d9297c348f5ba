"""What others have sealed to the server is handed over to its next key, as they have signed it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pysequoia
import pytest

from chalicelib.crypto.openpgp import MOST_SEALED, BadMessage, ServerKey
from chalicelib.crypto.server_keys import ServerKeys, addressed, recipients_of
from chalicelib.domain.armor import MESSAGE, read_block, read_message
from chalicelib.domain.operator.server_key_sets import ServerKeySet
from tests.crypto import forge
from tests.support.world.keys import KEYS, Key, challenge, message, message_text, open_sealed

TEXT = json.dumps({"object_type": "PASSBOLT_METADATA_PRIVATE_KEY", "armored_key": "é漢😀\n" * 400})
NEW = {"server_curve": KEYS["server_rsa"], "server_rsa": KEYS["server_curve"]}


@pytest.fixture
def new(server: Key) -> Key:
    """The key after this one, of the other kind."""
    return NEW[server.name]


@pytest.fixture
def to(new: Key, server_keys: dict[str, ServerKey]) -> ServerKey:
    return server_keys[new.name]


def made_by_gnupg(gpg, server: Key, ada: Key) -> str:
    made = gpg.encrypt(TEXT.encode(), [server.fingerprint], sign=ada.fingerprint, always_trust=True)
    return str(made)


def made_by_pgpy(server: Key, ada: Key) -> str:
    return forge.message(server.public, forge.signed_by_pgpy(TEXT, ada.private, "SHA256"))


def flipped(armored: str) -> str:
    """With one bit changed in the middle of what is encrypted."""
    data = bytearray(read_block(armored, MESSAGE).data)
    data[len(data) // 2] ^= 1
    return forge.armored(bytes(data))


def test_sequoia_opens_what_sequoia_made(
    server: Key, server_key: ServerKey, new: Key, to: ServerKey, ada: Key
):
    handed = server_key.handed_over(challenge(TEXT, ada.private, server.public), to)

    assert open_sealed(handed, new.private, ada.public) == TEXT
    assert read_message(handed).recipients == tuple(to.encryption_key_ids)


def test_gnupg_opens_what_gnupg_made(
    server: Key, server_key: ServerKey, new: Key, to: ServerKey, ada: Key, gpg
):
    """Compressed, in a packet that does not say its length."""
    handed = server_key.handed_over(made_by_gnupg(gpg, server, ada), to)

    opened = gpg.decrypt(handed, always_trust=True)
    assert opened.ok, opened.status
    assert (opened.data.decode(), opened.pubkey_fingerprint) == (TEXT, ada.fingerprint)
    assert to.open_signed(handed, ada.public, most=MOST_SEALED) == TEXT


def test_what_pgpy_made_keeps_its_signature(
    server: Key, server_key: ServerKey, to: ServerKey, ada: Key
):
    handed = server_key.handed_over(made_by_pgpy(server, ada), to)
    assert to.open_signed(handed, ada.public, most=MOST_SEALED) == TEXT


@pytest.mark.parametrize("release", [5, 6])
def test_openpgpjs_opens_what_openpgpjs_made(
    server: Key, server_key: ServerKey, new: Key, to: ServerKey, ada: Key, openpgpjs, release: int
):
    asked = {"release": release, "text": TEXT, "private": ada.private, "recipient": server.public}
    (armored,) = openpgpjs({"action": "challenge", **asked})

    handed = server_key.handed_over(armored, to)

    request = {"action": "open", "release": release, "private": new.private, "armored": handed}
    [opened] = openpgpjs({**request, "signer": ada.public})
    assert opened.replace("\r\n", "\n") == TEXT


def test_a_message_that_nobody_signed_stays_unsigned(
    server: Key, server_key: ServerKey, new: Key, to: ServerKey
):
    handed = server_key.handed_over(message(TEXT, server.public), to)

    assert message_text(handed, new.private) == TEXT
    with pytest.raises(BadMessage) as refused:
        to.open_signed(handed, KEYS["ada"].public, most=MOST_SEALED)
    assert refused.value.step == "unsigned"


def test_the_earlier_key_opens_it_no_more_and_no_two_are_alike(
    server: Key, server_key: ServerKey, to: ServerKey, ada: Key
):
    armored = challenge(TEXT, ada.private, server.public)
    first, second = (server_key.handed_over(armored, to) for _ in range(2))

    assert first != second
    assert read_message(first).data != read_message(second).data
    with pytest.raises(RuntimeError):
        open_sealed(first, server.private, ada.public)


@pytest.mark.parametrize("broken", ["for another", "changed", "no message", "too long"])
def test_what_does_not_open_is_not_handed_over(
    server: Key, server_key: ServerKey, new: Key, to: ServerKey, ada: Key, broken: str
):
    armored = challenge(TEXT, ada.private, server.public)
    made: dict[str, Callable[[], str]] = {
        "for another": lambda: challenge(TEXT, ada.private, new.public),
        "changed": lambda: flipped(armored),
        "no message": lambda: "nothing",
        "too long": lambda: armored + "\n" * MOST_SEALED,
    }
    with pytest.raises(BadMessage):
        server_key.handed_over(made[broken](), to)


def test_nothing_is_handed_over_to_a_key_that_does_not_open_it(
    server: Key, server_key: ServerKey, ada: Key
):
    """A key whose halves do not belong together would lose it."""
    other = ServerKey.load(ServerKey.generate("Keyhaven <other@example.com>", "curve25519"))
    target = ServerKey.load(ServerKey.generate("Keyhaven <new@example.com>", "curve25519"))
    wrong = ServerKey(
        target.fingerprint,
        target.armored_public_key,
        other._decryptors,
        target._certificate,
        target._signer,
    )
    with pytest.raises(BadMessage):
        server_key.handed_over(challenge(TEXT, ada.private, server.public), wrong)


def test_nothing_is_handed_over_that_would_be_too_long_to_be_read():
    """The larger key makes it longer than what the server reads of what rests."""
    small, large = (KEYS[name] for name in ("server_curve", "server_rsa"))
    texts = ("x" * size for size in range(48_000, 40_000, -100))
    sealed = (challenge(text, KEYS["ada"].private, small.public) for text in texts)
    longest = next(each for each in sealed if len(each) <= MOST_SEALED)

    with pytest.raises(BadMessage) as refused:
        ServerKey.load(small.private).handed_over(longest, ServerKey.load(large.private))
    assert refused.value.step == "armor"


# Sets of keys


def test_a_single_key_is_stored_as_it_always_was():
    alone = ServerKeySet.read(KEYS["server_curve"].private)
    assert alone == ServerKeySet((KEYS["server_curve"].private,))
    assert alone.text() == KEYS["server_curve"].private


def test_a_message_is_addressed_to_the_key_it_names(server_keys: dict[str, ServerKey], ada: Key):
    text = ServerKeySet(tuple(KEYS[name].private for name in server_keys)).text()
    keys = ServerKeys.load(text)
    assert "PRIVATE" not in repr(keys)
    for name, key in zip(server_keys, keys.keys, strict=True):
        sealed = challenge("text", ada.private, KEYS[name].public)
        assert addressed(keys.keys, recipients_of(sealed, MOST_SEALED)) is key
    to_both = pysequoia.encrypt(
        b"text",
        recipients=[pysequoia.Cert.from_bytes(KEYS[n].public.encode()) for n in server_keys],
    ).decode()
    assert addressed(keys.keys, recipients_of(to_both, MOST_SEALED)) is keys.keys[0]
    others = message("text", ada.public), "no message", None, "x" * (MOST_SEALED + 1)
    assert [addressed(keys.keys, recipients_of(each, MOST_SEALED)) for each in others] == [None] * 4


@pytest.mark.parametrize("text", ["{}", '{"keys": []}', '{"keys": ["no key"]}', "{"])
def test_what_is_no_set_of_keys_is_refused(text: str):
    with pytest.raises(ValueError, match=r".*"):
        ServerKeys.load(text)
