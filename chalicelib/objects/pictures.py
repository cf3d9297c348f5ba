"""Which pictures are taken, of what format and size, and how they are drawn anew as squares.

Of a file nothing is kept but its pixels. What it costs to read them is bounded before they
are: by what its header says, for JPEGs by how often the whole picture would be gone over, and by
how many pieces of Exif data, colour profiles and texts there are.
Pillow is imported here alone.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from io import BytesIO

from PIL import Image
from PIL.Image import Resampling, Transpose

MOST_PIXELS = 25_000_000
LONGEST_SIDE = 20_000
MOST_SCANS = 100
"""Passes over a progressive JPEG; usual ones have ten. Each costs 15 ms, however short it is."""
MOST_REPEATED = 100
"""Pieces of one kind of description: Pillow joins those of Exif in a JPEG one by one, and inflates
each colour profile and each compressed text of a PNG."""
ENOUGH = 1_600
"""Pixels a side from which every square is made; whatever is larger is thinned out first."""
QUALITY = 90

Image.MAX_IMAGE_PIXELS = None  # Pillow would only warn; the bounds are ours

_FORMATS = ("GIF", "JPEG", "PNG")
_START_OF_JPEG, _START_OF_SCAN = b"\xff\xd8", b"\xff\xda"
_REPEATED = (b"Exif\0\0", b"iCCP", b"zTXt", b"iTXt")
"""The first bytes of pieces that take longer to read than their length says."""
_ORIENTATION = 0x0112
_UPRIGHT = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}
"""How to turn a picture of an orientation; one of any other stands upright."""
_WHITE = (255, 255, 255)
_GREY_OF_16_BITS = "I;16"
_UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, LookupError, struct.error, zlib.error)
"""What Pillow raises over files that are broken or no pictures."""
_NO_TEXTS = ("exif", "transparency", "xmp")
"""What Pillow reads of a file and keeps beside the texts of a PNG, which may have these names."""


class NoPicture(Exception):  # noqa: N818  it says what is so
    """Why a file is not made into a picture, in a sentence for whoever sent it."""


def squares(content: bytes, sides: Iterable[int]) -> list[bytes]:
    """The middle of a picture's first frame, as JPEGs of these sizes, upright and on white.

    Raises `NoPicture`.
    """
    _require_few_scans(content)
    _require_few_pieces(content)
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as image:
            _require_moderate(*image.size)
            drawn = _drawn(image)
    except _UNREADABLE as error:
        raise NoPicture("The file could not be read as a picture.") from error
    return [_jpeg(drawn.resize((side, side), Resampling.LANCZOS)) for side in sides]


def _require_few_scans(content: bytes) -> None:
    """No scan hides from this: what else would look like the start of one is escaped in JPEGs."""
    if content.startswith(_START_OF_JPEG) and content.count(_START_OF_SCAN) > MOST_SCANS:
        raise NoPicture(f"The picture should have at most {MOST_SCANS} scans.")


def _require_few_pieces(content: bytes) -> None:
    if any(content.count(start) > MOST_REPEATED for start in _REPEATED):
        raise NoPicture(
            f"The picture has more than {MOST_REPEATED} pieces of Exif data, colour profiles or "
            "texts: please save it anew without them."
        )


def _require_moderate(width: int, height: int) -> None:
    if width * height > MOST_PIXELS or max(width, height) > LONGEST_SIDE:
        raise NoPicture(
            f"The picture should have at most {MOST_PIXELS // 1_000_000} million pixels, "
            f"and at most {LONGEST_SIDE} in one direction."
        )


def _drawn(image: Image.Image) -> Image.Image:
    image.draft(None, (ENOUGH, ENOUGH))  # has a JPEG read at a fraction of its size
    _drop_texts(image)
    square = _on_white(_thinned(image))
    turn = _UPRIGHT.get(image.getexif().get(_ORIENTATION, 1))
    return square if turn is None else square.transpose(turn)


def _drop_texts(image: Image.Image) -> None:
    """Forget texts that Pillow would take for something else; some come after the pixels."""
    image.load()
    for name in _NO_TEXTS:
        if isinstance(image.info.get(name), str):
            del image.info[name]


def _thinned(image: Image.Image) -> Image.Image:
    """The middle of the picture, in no more pixels than are enough.

    Whatever comes after needs little memory then, as the conversions of Pillow need much.
    """
    width, height = image.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    edge = min(side, ENOUGH)
    box = (left, top, left + side, top + side)
    return image.resize((edge, edge), Resampling.NEAREST, box)


def _on_white(image: Image.Image) -> Image.Image:
    """The picture on a canvas of its own, which knows nothing of what the file said of it."""
    canvas = Image.new("RGB", image.size, _WHITE)
    if image.mode == _GREY_OF_16_BITS:
        image = image.point(lambda value: value / 256).convert("L")
    if image.has_transparency_data:
        seen = image.convert("RGBA")
        canvas.paste(seen, mask=seen)
    else:
        canvas.paste(image.convert("RGB"))
    return canvas


def _jpeg(image: Image.Image) -> bytes:
    written = BytesIO()
    image.save(written, "JPEG", quality=QUALITY)
    return written.getvalue()
