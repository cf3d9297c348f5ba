"""Forms with files (`multipart/form-data`, RFC 7578): how many parts are read, and how strictly.

The reader of the standard library is made for mail: it follows nested messages without
end, undoes transfer encodings a form must not use, and parses headers leniently. A form
needs none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.domain.uploads import Upload

MOST_PARTS = 1_000
LONGEST_HEAD = 8_192
LONGEST_BOUNDARY = 70

_PARAMETER = re.compile(r';[ \t]*([^\s=;"]+)=(?:"([^"]*)"|([^\s";]*))[ \t]*')


def parameters(header: str) -> dict[str, str]:
    """The parameters of a header like `form-data; name="x"`; a malformed rest is left out."""
    found: dict[str, str] = {}
    at = header.find(";")
    while at >= 0 and (match := _PARAMETER.match(header, at)):
        found.setdefault(match[1].lower(), match[2] if match[2] is not None else match[3])
        at = match.end()
    return found


def parts(raw: bytes, boundary: str) -> Iterator[tuple[str, str | Upload]]:
    """Name and value of each part. Raises `ValueError` where `raw` is no such form."""
    if not 0 < len(boundary) <= LONGEST_BOUNDARY:
        raise ValueError("The boundary is missing or too long.")
    pieces = (b"\r\n" + raw).split(b"\r\n--" + boundary.encode("ascii"), MOST_PARTS + 2)
    if len(pieces) > MOST_PARTS + 2:
        raise ValueError("The form has too many parts.")
    if not pieces[-1].startswith(b"--"):
        raise ValueError("The form has no end.")
    for piece in pieces[1:-1]:
        yield _part(piece)


def _part(piece: bytes) -> tuple[str, str | Upload]:
    head, blank, content = piece.partition(b"\r\n\r\n")
    if not blank or not head.startswith(b"\r\n") or len(head) > LONGEST_HEAD:
        raise ValueError("A part of the form has no proper head.")
    headers = _headers(head.decode())
    disposition = parameters(headers.get("content-disposition", ""))
    name = disposition.get("name")
    if name is None:
        raise ValueError("A part of the form has no name.")
    if "filename" in disposition:
        kind = headers.get("content-type", "application/octet-stream")
        return name, Upload(disposition["filename"], kind, content)
    return name, content.decode()


def _headers(head: str) -> dict[str, str]:
    lines = (line.partition(":") for line in head.split("\r\n"))
    return {name.strip().lower(): value.strip() for name, _, value in lines}
