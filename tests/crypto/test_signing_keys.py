"""The key of access tokens: what is loaded signs."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from chalicelib.crypto import tokens


@pytest.fixture(scope="module")
def pem():
    return tokens.generate()


def damaged(pem, **numbers):
    """The key with other numbers in it, as no library would write it by itself."""
    key = serialization.load_pem_private_key(pem.encode(), password=None)
    right = key.private_numbers()
    usual = {name: getattr(right, name) for name in ("p", "q", "d", "dmp1", "dmq1", "iqmp")}
    changed = {name: change(usual[name]) for name, change in numbers.items()}
    wrong = rsa.RSAPrivateNumbers(**usual | changed, public_numbers=right.public_numbers)
    return (
        wrong.private_key(unsafe_skip_rsa_key_validation=True)
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        .decode()
    )


def test_a_key_that_was_made_is_loaded(pem):
    assert tokens.load(pem).key.key_size == tokens.KEY_BITS


def test_a_key_that_does_not_sign_is_not_loaded(pem):
    """OpenSSL signs by `d` where the quicker numbers are damaged, so both have to be."""
    with pytest.raises(ValueError, match="damaged"):
        tokens.load(damaged(pem, d=lambda d: d + 2, dmp1=lambda n: n + 2))


def test_a_short_key_is_not_loaded():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    with pytest.raises(ValueError, match="3072"):
        tokens.load(pem)
