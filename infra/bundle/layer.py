"""The layer: what the functions import and we have not written, without what they never load."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chalice
import chalice.app

from infra.bundle.runtime import ARCHITECTURE, ARCHITECTURES, RUNTIME
from infra.bundle.symbols import blank

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "requirements.txt"
HASHED = ROOT / "requirements-layer.txt"
"""The same, each with the hashes of the files that the layer is made from (`hashes.py`)."""
INSIDE = "python/"
"""Where Lambda looks for modules in a layer."""
SERVICES = ("codedeploy", "dynamodb", "lambda", "s3", "secretsmanager", "sesv2")
"""Services of AWS the functions call; botocore describes 400 more."""
LINUX = ("manylinux_2_28", "manylinux_2_17")
"""What the runtime's can load."""
WITHOUT_WHEEL = "PGPy"
"""Published as source alone, which is plain Python."""
PICTURES = ("Bmp", "Gif", "Jpeg", "Mpo", "Png", "Ppm", "Tiff")
"""Pillow's readers that reading GIF, JPEG and PNG may load; it has forty."""
_NEVER_LOADED = (
    *("bin", "*.pyi", "**/*.pyi", "**/py.typed", "**/tests", "**/*.c", "**/*.h"),
    *("*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED"),
    *("*.dist-info/direct_url.json", "*.dist-info/sboms"),
    *("botocore/data/*/*/examples-1.json*", "botocore/data/*/*/waiters-2.json*"),
    *("cffi", "cffi-*", "pycparser", "pycparser-*", "dateutil/zoneinfo/*.tar.gz"),
    *(f"PIL/_{codec}.*" for codec in ("avif", "webp", "imagingft", "imagingcms", "imagingtk")),
    *(f"pillow.libs/lib{codec}*" for codec in ("avif", "webp", "sharpyuv", "lcms2", "png16")),
    *(f"pillow.libs/lib{font}*" for font in ("freetype", "harfbuzz", "brotli")),
)
"""Among others Pillow's codecs nobody may send, and the part of cffi that makes libraries. What
Pillow is linked with stays, TIFF too."""


def gather(folder: Path, architecture: str = ARCHITECTURE) -> None:
    """Put into an empty folder what the layer consists of."""
    install(folder, architecture=architecture)
    _add_runtime_of_chalice(folder)
    for path in list(_superfluous(folder)):
        _remove(path)
    for library in folder.rglob("*.so*"):
        blank(library)


def _superfluous(folder: Path) -> Iterator[Path]:
    for pattern in _NEVER_LOADED:
        yield from folder.glob(pattern)
    for path in (folder / "botocore" / "data").iterdir():
        if path.is_dir() and path.name not in SERVICES:
            yield path
    for path in (folder / "PIL").glob("*Plugin.py"):
        if path.name.removesuffix("ImagePlugin.py") not in PICTURES:
            yield path


def install(folder: Path, hashed: Path = HASHED, architecture: str = ARCHITECTURE) -> None:
    """Let pip fetch what fits the functions, whatever machine this is, and compare it first."""
    options = ["--quiet", "--no-compile", "--require-hashes", f"--requirement={hashed}"]
    subprocess.run([*fetching(folder, architecture), *options], check=True)  # noqa: S603  nothing from outside


def fetching(folder: Path, architecture: str = ARCHITECTURE) -> list[str]:
    """The beginning of what pip is told: to take what fits the functions."""
    python = RUNTIME.removeprefix("python")
    platforms = [f"--platform={each}_{ARCHITECTURES[architecture]}" for each in LINUX]
    return [
        *(sys.executable, "-m", "pip", "install", "--disable-pip-version-check"),
        *("--no-deps", f"--target={folder}", f"--python-version={python}"),
        *(*platforms, "--implementation=cp", f"--abi=cp{python.replace('.', '')}"),
        *("--abi=abi3", "--abi=none", "--only-binary=:all:", f"--no-binary={WITHOUT_WHEEL}"),
    ]


def _add_runtime_of_chalice(folder: Path) -> None:
    """The two modules of Chalice that run in a function; the rest of it deploys."""
    target = folder / "chalice"
    target.mkdir()
    for module in (chalice, chalice.app):
        shutil.copy(str(module.__file__), target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
