"""QR codes, as SVG."""

from __future__ import annotations

_PIXELS = 5
"""Of a module of the code."""


def svg(text: str) -> str:
    """The code of a text, to stand in a page: without an XML prolog, with its quiet zone."""
    import segno  # noqa: PLC0415 - takes 37 ms, and few ask for it

    drawn: str = segno.make_qr(text).svg_inline(scale=_PIXELS)
    return drawn
