"""X.509 is loaded when somebody asks for it, and works then."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding

from tests.support.wire.served import ROOT

PARTS = "{each for each in sys.modules if each.startswith('cryptography.x509.')}"
ASKED = [
    "import jwt.algorithms as known; known.x509.load_der_x509_certificate",
    "import cryptography.x509; cryptography.x509.Name",
    "from cryptography.x509 import Name",
    "from cryptography import x509; x509.Name",
]


@pytest.mark.parametrize("asked", ASKED)
def test_x509_is_loaded_when_it_is_asked_for(asked: str) -> None:
    said = in_a_process(
        f"import sys\nimport chalicelib.crypto.tokens\nprint(len({PARTS}))\n{asked}\n"
        f"print('cryptography.x509.base' in {PARTS})"
    )
    assert said == "0\nTrue\n"


def test_who_has_loaded_it_already_keeps_it() -> None:
    said = in_a_process(
        "from cryptography import x509\nbefore = x509.Name\nimport chalicelib.crypto.tokens\n"
        "import jwt.algorithms as known\nprint(known.x509 is x509, x509.Name is before)"
    )
    assert said == "True True\n"


def test_a_certificate_is_refused_as_a_shared_secret_as_before() -> None:
    """What PyJWT has X.509 for: whoever takes a public key for a secret would believe anybody."""
    said = in_a_process(
        "from chalicelib.crypto.pyjwt import jwt\n"
        f"try:\n    jwt.encode({{}}, bytes.fromhex('{certificate().hex()}'), 'HS256')\n"
        "except jwt.InvalidKeyError as problem:\n    print(problem)"
    )
    assert "x509 certificate" in said


def certificate() -> bytes:
    key = ed25519.Ed25519PrivateKey.generate()
    name, today = x509.Name([]), datetime(2026, 11, 29, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, today, today + timedelta(1))
    return made.sign(key, None).public_bytes(Encoding.DER)


def in_a_process(code: str) -> str:
    """What a process says that has imported nothing yet."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ran.stdout
