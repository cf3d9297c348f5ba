"""Keys of users and of the server, and messages between them, made without our own code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pysequoia

from tests.support.leaks import watch

_FOLDER = Path(__file__).parents[2] / "fixtures" / "keys"


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    fingerprint: str
    private: str = field(repr=False)
    public: str = field(repr=False)


def _read(name: str) -> Key:
    public = (_FOLDER / f"{name}.public.asc").read_text()
    return Key(
        name=name,
        fingerprint=fingerprint(public),
        private=(_FOLDER / f"{name}.private.asc").read_text(),
        public=public,
    )


def fingerprint(armored: str) -> str:
    return _certificate(armored).fingerprint.upper()


def challenge(text: str, signer_private: str, server_public: str) -> str:
    """What a client sends: signed by its key, encrypted to the server's."""
    watch.keep(text)
    recipients = [_certificate(server_public)]
    signer = _secret(signer_private).signer()
    return pysequoia.encrypt(text.encode(), recipients=recipients, signer=signer).decode()


def message(text: str, *recipients_public: str) -> str:
    """What a client stores: encrypted to each of the keys, unsigned."""
    watch.keep_text(text)
    recipients = [_certificate(each) for each in recipients_public]
    return pysequoia.encrypt(text.encode(), recipients=recipients).decode()


def message_text(armored: str, private: str) -> str:
    """What a client shows of what was stored: the text of a message to the key, unsigned."""
    opened = pysequoia.decrypt(armored.encode(), decryptor=_secret(private).decryptor())
    assert opened.bytes is not None
    return opened.bytes.decode()


def open_sealed(armored: str, private: str, signer_public: str) -> str:
    """What a client reads: the text, if it is for the key and the signer has signed it."""
    signer = _certificate(signer_public)
    opened = pysequoia.decrypt(
        armored.encode(), decryptor=_secret(private).decryptor(), store=lambda _: [signer]
    )
    assert [each.certificate for each in opened.valid_sigs] == [signer.fingerprint]
    assert opened.bytes is not None
    watch.keep_answer((), opened.bytes.decode())
    watch.keep(opened.bytes.decode())
    return opened.bytes.decode()


@lru_cache(maxsize=64)
def _certificate(armored: str) -> pysequoia.Cert:
    return pysequoia.Cert.from_bytes(armored.encode())


@lru_cache(maxsize=64)
def _secret(armored: str) -> pysequoia.Tsk:
    return pysequoia.Tsk.from_bytes(armored.encode())


KEYS: Mapping[str, Key] = {
    name: _read(name)
    for name in (
        *("ada", "betty", "carol", "dave", "edith", "frances"),
        *("server_curve", "server_rsa"),
    )
}
