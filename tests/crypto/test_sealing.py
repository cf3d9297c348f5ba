"""What the server seals: for one key, signed, and readable by every program clients use."""

from __future__ import annotations

import pysequoia
import pytest

from chalicelib.crypto.openpgp import BadMessage, ServerKey
from chalicelib.domain.armor import PUBLIC_KEY, read_block, read_message, write_block
from tests.crypto import forge
from tests.support.effort import quickest
from tests.support.world.keys import KEYS, Key, challenge, open_sealed

TEXT = '{"access_token":"é漢😀","refresh_token":"x"}\n' * 10


@pytest.mark.parametrize("name", ["ada", "carol", "edith", "frances"])
def test_sequoia_opens_and_verifies_it(server: Key, server_key: ServerKey, name: str):
    sealed = server_key.seal(TEXT, KEYS[name].public)
    assert open_sealed(sealed, KEYS[name].private, server.public) == TEXT


def test_gnupg_opens_and_verifies_it(server: Key, server_key: ServerKey, user: Key, gpg):
    opened = gpg.decrypt(server_key.seal(TEXT, user.public), always_trust=True)
    assert opened.ok, opened.status
    assert opened.data.decode() == TEXT
    assert opened.valid
    assert opened.pubkey_fingerprint == server.fingerprint


@pytest.mark.parametrize("release", [5, 6])
def test_openpgpjs_opens_and_verifies_it(
    server: Key, server_key: ServerKey, user: Key, openpgpjs, release: int
):
    request = {"action": "open", "release": release, "private": user.private}
    sealed = server_key.seal(TEXT, user.public)
    answers = openpgpjs(
        {**request, "armored": sealed, "signer": server.public},
        {**request, "armored": sealed, "signer": KEYS["betty"].public},
    )
    assert answers == [TEXT, None]


@pytest.mark.parametrize("algorithm", ["curve25519", "rsa3072"])
def test_clients_verify_a_generated_key(algorithm, openpgpjs, gpg, user: Key):
    key = ServerKey.load(ServerKey.generate("Keyhaven <new@example.com>", algorithm))
    sealed = key.seal(TEXT, user.public)
    request = {"action": "open", "armored": sealed, "private": user.private}
    request["signer"] = key.armored_public_key
    assert openpgpjs({**request, "release": 5}, {**request, "release": 6}) == [TEXT, TEXT]
    gpg.import_keys(key.armored_public_key)
    assert gpg.decrypt(sealed, always_trust=True).pubkey_fingerprint == key.fingerprint


def test_au20_it_is_for_the_recipient_alone(server_key: ServerKey, user: Key):
    """AU20: one session key, and no text in clear."""
    sealed = server_key.seal("hunter2", user.public)
    (recipient,) = read_message(sealed).recipients
    certificate = pysequoia.Cert.from_bytes(user.public.encode())
    probe = pysequoia.encrypt(b"", recipients=[certificate]).decode()
    assert (recipient,) == read_message(probe).recipients
    assert "hunter2" not in sealed
    with pytest.raises(RuntimeError):
        open_sealed(sealed, KEYS["betty"].private, user.public)


def test_the_server_itself_cannot_open_it_again(server: Key, server_key: ServerKey, user: Key):
    sealed = server_key.seal("hunter2", user.public)
    with pytest.raises(RuntimeError, match="decrypt"):
        open_sealed(sealed, server.private, server.public)


def test_it_has_no_header_lines_and_a_checksum(server_key: ServerKey, user: Key):
    """Some deployed readers stumble over the first, and insist on the second."""
    lines = server_key.seal(TEXT, user.public).splitlines()
    assert lines[:2] == ["-----BEGIN PGP MESSAGE-----", ""]
    assert lines[-2].startswith("=")
    assert len(lines[-2]) == 5
    assert max(map(len, lines)) <= 64


def test_even_a_key_that_asks_for_newer_data_gets_what_all_read(server: Key, server_key: ServerKey):
    """Sequoia alone would answer in a form that GnuPG and OpenPGP.js 5 cannot read."""
    secret = pysequoia.Tsk.generate("Ivan <ivan@example.com>")
    public = secret.extract_certificate()
    assert not read_message(pysequoia.encrypt(b"", recipients=[public]).decode()).is_protected
    sealed = server_key.seal(TEXT, str(public))
    assert read_message(sealed).is_protected
    assert open_sealed(sealed, str(secret), server.public) == TEXT


def test_two_seals_of_one_text_differ(server_key: ServerKey, user: Key):
    assert server_key.seal(TEXT, user.public) != server_key.seal(TEXT, user.public)


def test_nothing_is_sealed_for_a_key_that_can_no_longer_encrypt(server_key: ServerKey, user: Key):
    secret = pysequoia.Tsk.from_bytes(user.private.encode())
    public = secret.extract_certificate()
    revoked = bytes(public) + bytes(public.revoke(certifier=secret.certifier()))
    for key in (str(pysequoia.Cert.from_bytes(revoked)), "no key"):
        with pytest.raises(BadMessage) as refused:
            server_key.seal(TEXT, key)
        assert refused.value.step == "recipient"


def test_nothing_is_sealed_when_every_encryption_subkey_has_ended(server_key: ServerKey):
    """The key itself goes on. What the server could read alone would help nobody."""
    with pytest.raises(BadMessage) as refused:
        server_key.seal(TEXT, forge.key_with_revoked_subkey())
    assert refused.value.step == "recipient"


def test_what_a_stored_key_says_of_a_subkey_without_bounds_is_not_verified(
    server: Key, server_key: ServerKey, ada: Key
):
    """It would take seconds, at each sealing and at each challenge."""
    stored = write_block(
        forge.back_signed(ada.private, forge.dsa_body(8_000), *[3_990] * 6), PUBLIC_KEY
    )
    sealed = server_key.seal(TEXT, stored)
    message = challenge(TEXT, ada.private, server.public)
    opened = server_key.open_challenge(message, stored)
    assert quickest(lambda: server_key.seal(TEXT, stored), times=3) < 0.5
    assert quickest(lambda: server_key.open_challenge(message, stored), times=3) < 0.5
    assert opened == open_sealed(sealed, ada.private, server.public) == TEXT


def test_of_a_stored_key_with_very_many_signatures_some_are_verified(
    server: Key, server_key: ServerKey, ada: Key
):
    """It came before there was a bound, and others' signatures lock nobody out."""
    data = read_block(ada.public, PUBLIC_KEY).data
    own = [bytes(each) for each in pysequoia.packet.PacketPile.from_bytes(data)]
    other = KEYS["betty"].private
    others = [forge.packet(2, forge.signature_of(b"%d" % each, other)) for each in range(250)]
    packets = [*own[:3], *others, *own[3:]]
    sealed = server_key.seal(TEXT, write_block(b"".join(packets), PUBLIC_KEY))
    assert open_sealed(sealed, ada.private, server.public) == TEXT


def test_a_stored_signature_at_the_wrong_user_id_is_not_tried_at_each(server_key: ServerKey):
    stored = write_block(forge.misplaced(forge.p521_body(), names=8, signatures=300), PUBLIC_KEY)

    def refused() -> None:
        with pytest.raises(BadMessage):
            server_key.seal(TEXT, stored)

    assert quickest(refused, times=3) < 0.5
