"""Certificates as administrators paste them: PEM, one after the other."""

from __future__ import annotations

import ssl


def are_certificates(text: object) -> bool:
    """Whether a text is certificates that TLS can verify others by, and nothing that is not."""
    if not isinstance(text, str) or not text.isascii():
        return False
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError):
        return False
    return context.cert_store_stats()["x509"] > 0
