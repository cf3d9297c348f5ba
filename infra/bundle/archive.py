"""Zip files that are the same whenever and wherever they are made from the same files."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_MOMENT = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_READABLE = 0o644 << 16


def pack(folder: Path, archive: Path, prefix: str = "") -> None:
    """Write all files of a folder, in the order of their names."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = prefix + path.relative_to(folder).as_posix()
            packed.writestr(_entry(name), path.read_bytes(), compresslevel=9)


def content_digest(archive: Path) -> str:
    """A word for what is in an archive: it names the versions that run it."""
    return sha256(archive.read_bytes()).hexdigest()[:16]


def checksum(archive: bytes) -> str:
    """The whole SHA-256 of an archive, as Lambda and S3 write it."""
    return b64encode(sha256(archive).digest()).decode()


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, _MOMENT)
    entry.create_system = _UNIX
    entry.external_attr = _READABLE
    entry.compress_type = ZIP_DEFLATED
    return entry
