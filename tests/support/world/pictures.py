"""Pictures of all kinds, made on the spot, and how people send them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from PIL import Image

from chalicelib.objects.storage import storage
from tests.support.wire.client import Client, Response

BOUNDARY = "----WebKitFormBoundaryAv"
BLUE, RED, WHITE = (10, 40, 200), (210, 30, 20), (255, 255, 255)
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif"}


def plain(mode: str = "RGB", size: tuple[int, int] = (300, 200), colour: Any = BLUE) -> Image.Image:
    return Image.new(mode, size, colour)


def written(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    content = BytesIO()
    image.save(content, kind, **options)
    return content.getvalue()


def read(content: bytes) -> Image.Image:
    image = Image.open(BytesIO(content))
    image.load()
    return image


def is_like(colour: Any, expected: tuple[int, int, int]) -> bool:
    """Whether a pixel has a colour, give or take what JPEG makes of it."""
    return all(abs(one - other) <= 6 for one, other in zip(colour, expected, strict=True))


PNG = written(plain())
"""A picture there is nothing wrong with."""


def form(**parts: str | bytes | tuple[str, str, bytes]) -> dict[str, Any]:
    """The options of a request that sends a form; a file is name, type and content."""
    raw = b"".join(_part(name.replace("__", "]["), value) for name, value in parts.items())
    raw += f"--{BOUNDARY}--\r\n".encode()
    return {"raw": raw, "headers": {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}}


def _part(path: str, value: str | bytes | tuple[str, str, bytes]) -> bytes:
    """`profile][avatar][file` is the field `profile[avatar][file]`."""
    first, *rest = path.split("][")
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{first}'
    head += "".join(f"[{step}]" for step in rest) + '"'
    if isinstance(value, tuple):
        filename, kind, content = value
        head += f'; filename="{filename}"' + (f"\r\nContent-Type: {kind}" if kind else "")
    else:
        content = value.encode() if isinstance(value, str) else value
    return head.encode() + b"\r\n\r\n" + content + b"\r\n"


def upload(
    client: Client,
    user_id: str,
    content: bytes = PNG,
    filename: str = "me.png",
    kind: str | None = None,
    **fields: str,
) -> Response:
    """Send an avatar as the web client does, by default as the type its name speaks of."""
    told = TYPES.get(filename.rpartition(".")[2].lower(), "") if kind is None else kind
    sent = form(profile__avatar__file=(filename, told, content), **fields)
    return client.request("POST", f"/users/{user_id}.json", **sent)


def show(client: Client, avatar_id: str, name: str = "medium.jpg") -> bytes:
    return client.get(f"/avatars/view/{avatar_id}/{name}").content


def stored() -> set[str]:
    """All avatars whose pictures lie somewhere."""
    return {each.key.split("/")[1] for each in storage().stored("avatars")}


def notes() -> set[str]:
    """The changes of avatars that have not come to an end."""
    return {each.key for each in storage().stored("avatar-changes")}
