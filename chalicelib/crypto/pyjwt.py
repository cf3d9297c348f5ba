"""PyJWT, without X.509 at its start.

PyJWT imports X.509 to tell a certificate from a shared secret, and our tokens know no shared ones;
that was a tenth of each start of a function (ADR 51). It is loaded when somebody asks for one of
its members.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec

import cryptography


def _load_when_asked() -> None:
    """The standard library's recipe for lazy imports, where nobody has imported it yet."""
    name = "cryptography.x509"
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # Otherwise `from cryptography import x509` would ask for a member, as any import of it does.
    setattr(cryptography, "x509", module)  # noqa: B010 - it declares none


_load_when_asked()

import jwt  # noqa: E402
from jwt.types import Options  # noqa: E402
from jwt.utils import base64url_encode  # noqa: E402

__all__ = ["Options", "base64url_encode", "jwt"]
