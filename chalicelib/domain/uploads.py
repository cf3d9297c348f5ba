"""A file as a form brings it, and how large one may be."""

from __future__ import annotations

from dataclasses import field
from hashlib import sha256

from chalicelib.domain.light import dataclass

LARGEST_UPLOAD = 5 * 1024 * 1024
"""Bytes of one file."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a form, under the name and type its sender claims."""

    filename: str
    content_type: str
    content: bytes = field(repr=False)

    def told(self) -> list[str]:
        """What tells one file from another, as JSON."""
        return [self.filename, self.content_type, sha256(self.content).hexdigest()]
