"""Pictures: what is drawn of them, what is left out, and what is not even looked at."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from chalicelib.objects import pictures
from chalicelib.objects.pictures import MOST_REPEATED, MOST_SCANS, NoPicture, squares
from tests.support.world.pictures import BLUE, PNG, RED, WHITE, is_like, plain, read, written

ROOT = Path(__file__).parents[2]
SIDES = (200, 80)
GPS, ORIENTATION, MAKER = 0x8825, 0x0112, 0x010F


def drawn(content: bytes) -> Image.Image:
    """The larger square, once both are what they should be."""
    medium, small = map(read, squares(content, SIDES))
    assert (medium.format, medium.mode, medium.size) == ("JPEG", "RGB", (200, 200))
    assert (small.format, small.mode, small.size) == ("JPEG", "RGB", (80, 80))
    return medium


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
@pytest.mark.parametrize("size", [(300, 200), (200, 300), (200, 200), (1, 1), (3, 700), (4000, 60)])
def test_every_picture_becomes_a_square(kind, size):
    assert is_like(drawn(written(plain(size=size), kind)).getpixel((100, 100)), BLUE)


def test_the_square_is_the_middle():
    wide = plain(size=(600, 200), colour=RED)
    wide.paste(BLUE, (200, 0, 400, 200))

    shown = drawn(written(wide))

    assert all(is_like(shown.getpixel(at), BLUE) for at in [(2, 2), (197, 2), (2, 197), (197, 197)])


def test_a_large_picture_looks_like_itself():
    """Thinning out what is larger than enough moves nothing."""
    half = plain(size=(4400, 3300), colour=RED)
    half.paste(BLUE, (2200, 0, 4400, 3300))
    for content in (written(half), written(half, "JPEG")):
        shown = drawn(content)
        assert is_like(shown.getpixel((90, 100)), RED)
        assert is_like(shown.getpixel((110, 100)), BLUE)


@pytest.mark.parametrize(
    "image",
    [
        plain("RGBA", colour=(*BLUE, 0)),
        plain("LA", colour=(0, 0)),
        plain("P", colour=0),
        plain("L", colour=9),
    ],
    ids=lambda image: str(image.mode),
)
def test_what_is_transparent_is_white(image):
    options: dict[str, Any] = {"P": {"transparency": 0}, "L": {"transparency": 9}}.get(
        image.mode, {}
    )
    assert is_like(drawn(written(image, **options)).getpixel((100, 100)), WHITE)


def test_what_is_half_transparent_is_mixed_with_white():
    shown = drawn(written(plain("RGBA", colour=(0, 0, 0, 128))))

    assert is_like(shown.getpixel((100, 100)), (127, 127, 127))


@pytest.mark.parametrize(
    ("mode", "colour", "kind", "seen"),
    [
        ("1", 1, "PNG", WHITE),
        ("L", 77, "PNG", (77, 77, 77)),
        ("I;16", 77 * 256, "PNG", (77, 77, 77)),
        ("L", 77, "JPEG", (77, 77, 77)),
        ("CMYK", (0, 255, 255, 0), "JPEG", (255, 0, 0)),
    ],
)
def test_pictures_of_all_depths_keep_their_colour(mode, colour, kind, seen):
    shown = drawn(written(plain(mode, colour=colour), kind))

    assert is_like(shown.getpixel((100, 100)), seen)


def test_the_first_frame_is_shown():
    frames = [plain(colour=BLUE), plain(colour=RED)]
    for kind in ("GIF", "PNG"):
        moving = written(frames[0], kind, save_all=True, append_images=frames[1:])
        assert is_like(drawn(moving).getpixel((100, 100)), BLUE)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_picture_that_lies_is_put_upright(kind, orientation):
    upright = plain(size=(300, 300), colour=WHITE)
    upright.paste(RED, (0, 0, 150, 150))
    upright.paste(BLUE, (150, 0, 300, 150))
    back = {6: 8, 8: 6}.get(orientation, orientation)
    lying = upright if back == 1 else upright.transpose(pictures._UPRIGHT[back])
    exif = Image.Exif()
    exif[ORIENTATION] = orientation

    shown = drawn(written(lying, kind, exif=exif))

    assert is_like(shown.getpixel((50, 50)), RED)
    assert is_like(shown.getpixel((150, 50)), BLUE)
    assert is_like(shown.getpixel((100, 150)), WHITE)


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_an_orientation_there_is_not_counts_as_upright(orientation):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation

    assert is_like(drawn(written(plain(), "JPEG", exif=exif)).getpixel((1, 1)), BLUE)


def with_all_it_may_say(kind: str) -> bytes:
    exif = Image.Exif()
    exif[MAKER] = "Leitz"
    exif.get_ifd(GPS)[1] = "N"
    exif.get_ifd(GPS)[2] = (52.0, 31.0, 12.0)
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Author", "Grace Hopper")
    notes.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta>Leitz</x:xmpmeta>")
    options = {
        "PNG": {"exif": exif, "pnginfo": notes, "icc_profile": b"Leitz" * 40, "dpi": (300, 300)},
        "JPEG": {
            "exif": exif,
            "comment": b"Grace Hopper",
            "icc_profile": b"Leitz" * 40,
            "xmp": b"<x:xmpmeta>Leitz</x:xmpmeta>",
            "dpi": (300, 300),
        },
        "GIF": {"comment": b"Grace Hopper of Leitz"},
    }
    return written(plain(), kind, **options[kind])


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_nothing_of_what_a_file_says_is_kept(kind):
    """AV02"""
    content = with_all_it_may_say(kind)
    assert b"Grace" in content or b"Leitz" in content

    for made in squares(content, SIDES):
        assert not {b"Grace", b"Leitz", b"Exif", b"xmp", b"ICC"} & {
            word for word in (b"Grace", b"Leitz", b"Exif", b"xmp", b"ICC") if word in made
        }
        assert not read(made).getexif()
        assert set(read(made).info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_the_same_picture_is_drawn_the_same_again():
    assert squares(PNG, SIDES) == squares(PNG, SIDES)


# What is not looked at


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def png_of(width: int, height: int, *, bits: int = 1) -> bytes:
    """A whole black-and-white PNG of any size, in little space."""
    row = b"\0" * (1 + (width * bits + 7) // 8)
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


BOMBS = {
    "13,000 a side": (13_000, 13_000),
    "50,000 in a row": (50_000, 1),
    "50,000 in a column": (1, 50_000),
    "one row too many": (5_000, 5_001),
}


@pytest.mark.parametrize("size", BOMBS.values(), ids=BOMBS)
def test_a_picture_of_too_many_pixels_is_not_read(size):
    """AV03"""
    content = png_of(*size)
    assert len(content) < 25_000

    with pytest.raises(NoPicture, match="25 million pixels, and at most 20000"):
        squares(content, SIDES)


def test_a_picture_of_as_many_pixels_as_may_be_is_read():
    """AV03"""
    drawn(png_of(5_000, 5_000))
    drawn(png_of(20_000, 1_250))


MEASURE = """
import resource, sys
from chalicelib.objects.pictures import NoPicture, squares

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

small, *bombs = [open(name, "rb").read() for name in sys.argv[1:]]
squares(small, (200, 80))
before = most()
for bomb in bombs:
    try:
        squares(bomb, (200, 80))
        sys.exit("a bomb was read")
    except NoPicture:
        pass
print(most() - before)
"""


def test_a_refused_picture_costs_little_memory(tmp_path):
    """AV03: at most 32 MB more"""
    contents = [PNG, *(png_of(*size) for size in BOMBS.values()), with_scans(5_000, 2_000)]
    files = [tmp_path / str(number) for number in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)

    run = subprocess.run(
        [sys.executable, "-c", MEASURE, *files], cwd=ROOT, capture_output=True, check=True
    )

    assert int(run.stdout) <= 32


def with_scans(side: int, count: int) -> bytes:
    """A progressive JPEG that goes over the whole picture again and again, in 40 bytes each."""
    content = written(plain(size=(side, side)), "JPEG", progressive=True)
    start = content.rindex(b"\xff\xda")
    return content[:-2] + content[start:-2] * count + content[-2:]


def test_a_jpeg_of_endless_scans_is_not_read():
    """AV03"""
    with pytest.raises(NoPicture, match="at most 100 scans"):
        squares(with_scans(500, MOST_SCANS), SIDES)
    drawn(with_scans(500, 5))


def with_exif_in_pieces(count: int) -> bytes:
    content = written(plain(), "JPEG")
    piece = b"\xff\xe1" + struct.pack(">H", 18) + b"Exif\0\0" + b"x" * 10
    return content[:2] + piece * count + content[2:]


def with_chunks(kind: bytes) -> Callable[[int], bytes]:
    """PNGs with so many chunks of a kind, each of which inflates to a megabyte."""
    content = written(plain(), "PNG")
    chunk = kind + b"\0\0" + zlib.compress(bytes(1_000_000), 9)
    length, checksum = len(chunk) - 4, zlib.crc32(chunk)
    whole = struct.pack(">I", length) + chunk + struct.pack(">I", checksum)
    return lambda count: content[:33] + whole * count + content[33:]


@pytest.mark.parametrize(
    "made",
    [
        with_exif_in_pieces,
        with_chunks(b"iCCPa"),
        with_chunks(b"zTXt"),
        with_chunks(b"iTXta\0\1\0"),
    ],
    ids=["Exif", "iCCP", "zTXt", "iTXt"],
)
def test_a_picture_that_is_described_without_end_is_not_read(made):
    """AV03: of 4.5 MB the one costs seconds that grow with their square, the others eight."""
    with pytest.raises(NoPicture, match="more than 100 pieces"):
        squares(made(MOST_REPEATED + 1), SIDES)
    drawn(made(3))


def test_what_looks_like_scans_in_other_files_is_none():
    noise = b"\xff\xda" * 40_000
    drawn(written(Image.frombytes("RGB", (200, 133), noise[: 200 * 133 * 3]), compress_level=0))


# What cannot be read


def halves() -> dict[str, bytes]:
    return {
        kind: content[: len(content) * 2 // 3]
        for kind in ("PNG", "JPEG", "GIF")
        for content in [written(noisy("RGB"), kind)]
    }


def noisy(mode: str) -> Image.Image:
    size = (60, 40)
    bands = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, size, random.Random(1).randbytes(60 * 40 * bands))


@pytest.mark.parametrize("kind", halves())
def test_half_a_picture_is_none(kind):
    """AV01"""
    with pytest.raises(NoPicture, match="could not be read"):
        squares(halves()[kind], SIDES)


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "WEBP", "PPM", "ICO", "PDF"])
def test_pictures_of_other_kinds_are_none(kind):
    """AV01"""
    with pytest.raises(NoPicture, match="could not be read"):
        squares(written(plain(), kind), SIDES)


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
@pytest.mark.parametrize("name", ["xmp", "exif", "transparency"])
def test_a_text_where_pillow_looks_for_something_else_changes_nothing(name, mode, is_last):
    """AV01: PNG has texts of any name, and Pillow keeps them beside what it reads itself"""
    notes = PngImagePlugin.PngInfo()
    notes.add(b"iTXt", name.encode() + b"\0\0\0\0\0hello", is_last)
    image = noisy(mode)

    assert squares(written(image, pnginfo=notes), SIDES) == squares(written(image), SIDES)


@pytest.mark.filterwarnings("ignore")  # Pillow warns of what is odd and goes on
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_a_broken_picture_is_drawn_or_refused(kind):
    """AV01: nothing else comes of it"""
    chance = random.Random(kind)
    whole = with_all_it_may_say(kind)
    outcomes = set()
    for _ in range(600):
        raw = bytearray(whole)
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(min(len(raw), chance.choice((60, len(raw)))))
            raw[at : at + chance.randrange(2)] = chance.randbytes(chance.randrange(3))
        if kind == "PNG":
            raw = with_right_checksums(raw)
        try:
            outcomes.add(len(squares(bytes(raw), SIDES)))
        except NoPicture:
            outcomes.add(0)
    assert outcomes == {0, len(SIDES)}


def with_right_checksums(raw: bytearray) -> bytearray:
    """So that what is changed in a chunk is read at all."""
    at = 8
    while (end := at + 12 + int.from_bytes(raw[at : at + 4])) <= len(raw):
        raw[end - 4 : end] = struct.pack(">I", zlib.crc32(raw[at + 4 : end - 4]))
        at = end
    return raw
