"""Pictures of users who have none of their own."""

from __future__ import annotations

import zlib
from itertools import pairwise

import pytest

from chalicelib.domain.ids import new_id
from tests import people
from tests.client import Response
from tests.hooks import Recorder

PNG = b"\x89PNG\r\n\x1a\n"
START_OF_FRAME, START_OF_SCAN = 0xC0, 0xDA


def size_of_jpeg(content: bytes) -> tuple[int, int]:
    """Width and height, once the markers lead from the start of the picture to its scan."""
    assert content[:2] == b"\xff\xd8"
    assert content[-2:] == b"\xff\xd9"
    at, size = 2, (0, 0)
    while True:
        assert content[at] == 0xFF
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4])
        if marker == START_OF_FRAME:
            size = (
                int.from_bytes(content[at + 7 : at + 9]),
                int.from_bytes(content[at + 5 : at + 7]),
            )
        at += 2 + length
        if marker == START_OF_SCAN:
            # In the scan a byte 255 stands before a zero or a restart, until the end.
            pairs = pairwise(content[at:-2])
            assert all(b == 0 or 0xD0 <= b <= 0xD7 for a, b in pairs if a == 0xFF)
            return size


def size_of_png(content: bytes) -> tuple[int, int]:
    """Width and height, once every chunk has its checksum and all the pixels are there."""
    assert content.startswith(PNG)
    at, data, kinds = len(PNG), b"", []
    while at < len(content):
        length = int.from_bytes(content[at : at + 4])
        chunk = content[at + 4 : at + 8 + length]
        kinds.append(chunk[:4])
        assert zlib.crc32(chunk) == int.from_bytes(content[at + 8 + length : at + 12 + length])
        data += chunk[4:] if chunk[:4] == b"IDAT" else b""
        at += 12 + length
    assert (kinds[0], kinds[-1]) == (b"IHDR", b"IEND")
    width, height = (int.from_bytes(content[n : n + 4]) for n in (16, 20))
    bits = content[24]
    assert len(zlib.decompress(data)) == height * (1 + (width * bits + 7) // 8)
    return width, height


def is_picture(response: Response, kind: str) -> bool:
    headers = response.headers
    return (response.status, headers["content-type"], headers["x-content-type-options"]) == (
        *(200, kind),
        "nosniff",
    )


@pytest.mark.parametrize("avatar_format", ["medium.jpg", "small.jpg", "huge.jpg", "x", "x.json"])
@pytest.mark.parametrize("avatar", ["unknown", "betty", "abc"])
def test_an_avatar_that_is_not_there_is_the_placeholder(api, betty, avatar, avatar_format):
    """AV05"""
    people.delete(betty)
    named = {"unknown": new_id(), "betty": betty.id, "abc": "abc"}[avatar]

    response = api.get(f"/avatars/view/{named}/{avatar_format}")

    assert is_picture(response, "image/jpeg")
    assert size_of_jpeg(response.content) == (200, 200)


@pytest.mark.parametrize(
    "path",
    [
        *("/avatars/view", "/avatars/view/", "/avatars/view/x", "/avatars/view/x/"),
        *(
            "/avatars/view/../x",
            "/avatars/view/x/..",
            "/avatars/view/x/a/b",
            "/avatars/x/small.jpg",
        ),
        *("/avatars/view/%2e%2e/medium.jpg", "/avatars/view/x/..%2f..%2fapp.py", "/img/avatar/"),
        *("/avatars/view/x/a%00.jpg", "/img/avatar/..%2fuser.png", "/img/avatar/other.png"),
    ],
)
def test_what_is_no_avatar_is_not_found(api, path):
    """AV05"""
    response = api.get(path)

    assert response.status == 404
    assert response.header["status"] == "error"


def test_profiles_lead_to_pictures_that_are_there(api, ada):
    url = ada.client.get("/users/me.json").body["profile"]["avatar"]["url"]

    sizes = {}
    for name, address in url.items():
        response = api.get(address.removeprefix("https://keyhaven.test"))
        assert is_picture(response, "image/png")
        sizes[name] = size_of_png(response.content)
    assert sizes == {"medium": (200, 200), "small": (80, 80)}


@pytest.mark.parametrize("accept", [None, "", "application/json", "image/webp", "text/html"])
def test_a_picture_comes_whatever_the_client_says_it_takes(api, accept):
    headers = {} if accept is None else {"accept": accept}

    assert api.get("/avatars/view/x/small.jpg", headers=headers).status == 200
    assert api.get("/img/avatar/user.png", headers=headers).status == 200


def test_nobody_need_be_known_and_nothing_is_read(api, ada):
    with Recorder() as seen:
        for path in ("/avatars/view/x/small.jpg", "/img/avatar/user_medium.png"):
            headers = {"authorization": "Bearer wrong"}
            assert api.get(path, headers=headers).status == 200
    assert seen.calls == []
