"""The pictures of users who have none of their own."""

from __future__ import annotations

from pathlib import Path

_IMAGES = Path(__file__).parent / "images"
PLACEHOLDER = (_IMAGES / "placeholder.jpg").read_bytes()
"""A JPEG: where a client asks for an avatar that is not there."""
MEDIUM = (_IMAGES / "user_medium.png").read_bytes()
SMALL = (_IMAGES / "user.png").read_bytes()
"""PNGs: what the profile of a user without avatar points to."""
