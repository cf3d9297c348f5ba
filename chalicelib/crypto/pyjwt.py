"""PyJWT, without X.509 at its start.

PyJWT imports X.509 to tell a certificate from a shared secret, and our tokens know no shared ones;
that was a tenth of each start of a function (ADR 51). It is loaded when somebody asks for one of
its members.
"""

from __future__ import annotations

from chalicelib.lazy import put_off

put_off("cryptography.x509")

import jwt  # noqa: E402
from jwt.types import Options  # noqa: E402
from jwt.utils import base64url_encode  # noqa: E402

__all__ = ["Options", "base64url_encode", "jwt"]
