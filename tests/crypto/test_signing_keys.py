"""The key of access tokens: what is loaded signs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from chalicelib.crypto import tokens
from chalicelib.domain.errors import Unauthenticated


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


def test_a_text_may_hold_several_keys_and_each_has_its_name(pem):
    other = tokens.generate()
    names = [tokens.load(each).kid for each in (pem, other)]

    assert tokens.by_name(pem) == {names[0]: pem}
    assert tokens.by_name(other + pem) == dict(zip(reversed(names), (other, pem), strict=True))
    assert tokens.by_name("") == {}


def test_a_key_in_an_older_form_has_the_same_name(pem):
    """As somebody may have put it into the secret by hand."""
    key = serialization.load_pem_private_key(pem.encode(), password=None)
    older = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()

    assert older.startswith("-----BEGIN RSA PRIVATE KEY-----")
    assert tokens.by_name(older).keys() == tokens.by_name(pem).keys()


def test_a_key_is_called_by_its_numbers():
    """The example of RFC 7638, section 3.1."""
    jwk = {
        "kty": "RSA",
        "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tS"
        "oc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQ"
        "R0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTW"
        "hAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
        "e": "AQAB",
        "alg": "RS256",
        "kid": "2011-04-29",
    }
    assert tokens.thumbprint(jwk) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


def test_a_token_is_verified_with_the_key_it_names(pem):
    one, other = tokens.load(pem), tokens.load(tokens.generate())
    keys = tokens.read_jwks([tokens.public_jwk(one), tokens.public_jwk(other)])
    signed = [key.sign("user", "session", issuer="us", now=1000) for key in (one, other)]
    misnamed = replace(one, kid=other.kid).sign("user", "session", issuer="us", now=1000)
    unnamed = replace(one, kid=None).sign("user", "session", issuer="us", now=1000)

    for token in signed:
        assert tokens.verify(token, keys, issuer="us", now=1000).session == "session"
    for token in (misnamed, unnamed):
        with pytest.raises(Unauthenticated) as refused:
            tokens.verify(token, keys, issuer="us", now=1000)
        assert not isinstance(refused.value, tokens.UnknownKey)
    with pytest.raises(tokens.UnknownKey):
        tokens.verify(signed[1], tokens.read_jwks([tokens.public_jwk(one)]), issuer="us", now=1000)
