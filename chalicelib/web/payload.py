"""Which types of bodies are read, how many fields they may have; and the Cookie header."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from chalicelib.domain import strict_json
from chalicelib.domain.errors import Invalid
from chalicelib.web import brackets, multipart

MOST_FIELDS = 1_000


def read(raw: bytes, content_type: str | None) -> Any:
    """The body as JSON values; `None` where there is none of a type we read."""
    kind, _, _ = (content_type or "").partition(";")
    reader = _READERS.get(kind.strip().lower())
    if reader is None or not raw:
        return None
    options = multipart.parameters(content_type or "")
    if options.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise Invalid("Bad Request")
    try:
        return reader(raw, options)
    except ValueError as error:
        raise Invalid("Bad Request") from error


def is_multipart(content_type: str | None) -> bool:
    return (content_type or "").lower().startswith("multipart/")


def cookies(header: str) -> Mapping[str, str]:
    """Cookies by name; of one sent twice, the first.

    Pairs without a name are passed over: one client sends `=; =` as long as it has none,
    and the parser of the standard library gives up at the first of them.
    """
    found: dict[str, str] = {}
    for pair in header.split(";"):
        name, equals, value = pair.partition("=")
        if equals and name.strip():
            found.setdefault(name.strip(), value.strip())
    return found


def _json(raw: bytes, _: Mapping[str, str]) -> Any:
    return strict_json.loads(raw)


def _form(raw: bytes, _: Mapping[str, str]) -> Any:
    return brackets.nested(
        parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    )


def _multipart(raw: bytes, options: Mapping[str, str]) -> Any:
    return brackets.nested(multipart.parts(raw, options.get("boundary", "")))


_READERS: Mapping[str, Callable[[bytes, Mapping[str, str]], Any]] = {
    "application/json": _json,
    "application/scim+json": _json,
    "application/x-www-form-urlencoded": _form,
    "multipart/form-data": _multipart,
}
