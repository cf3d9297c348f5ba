"""Which files are taken for an avatar, by name and content, and what a profile may send back."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any

from chalicelib.bodies.rules import UNSET, Rule, TakenAs, filled
from chalicelib.domain.light import dataclass
from chalicelib.domain.uploads import LARGEST_UPLOAD, Upload

_EXTENSIONS = frozenset({".png", ".jpg", ".jpeg", ".gif"})
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")


def _is_upload(value: Any) -> bool:
    return isinstance(value, Upload) and 0 < len(value.content) <= LARGEST_UPLOAD


def _has_extension(value: Any) -> bool:
    return isinstance(value, Upload) and _extension(value.filename) in _EXTENSIONS


def _extension(filename: str) -> str:
    return PurePath(filename).suffix.lower()


def _is_picture(value: Any) -> bool:
    """Whether a file is a picture by its content, whatever its name and its sender call it."""
    return isinstance(value, Upload) and value.content.startswith(_SIGNATURES)


def _if_new(sent: Any) -> Any:
    """Nothing, where the profile is sent back as it was shown: clients do so with each change."""
    if not isinstance(sent, dict):
        return sent
    named = {name for name, value in sent.items() if value is not None}
    is_shown = not named or ("file" not in named and "url" in named)
    return UNSET if is_shown else sent


if_new = TakenAs(_if_new)
valid_uploaded_file = Rule(
    "validUploadedFile",
    f"The {{field}} should arrive whole, in a form, and have at most {LARGEST_UPLOAD >> 20} MB.",
    _is_upload,
    gives=Upload,
    schema={"type": "string", "format": "binary", "contentMediaType": "image/*"},
)
valid_extension = Rule(
    "validExtension",
    "The name of the {field} should end in .png, .jpg, .jpeg or .gif.",
    _has_extension,
)
valid_mime_type = Rule(
    "validMimeType",
    "The {field} should be a PNG, JPEG or GIF.",
    _is_picture,
)


@dataclass(frozen=True, slots=True)
class AvatarBody:
    file: Annotated[Any, filled, valid_uploaded_file, valid_extension, valid_mime_type]
    """An `Upload`: a part of a form that is sent by POST."""
