"""Pictures of users: those they send, and those of users who have none of their own."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from zipfile import ZipFile

import pytest

from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.uploads import LARGEST_UPLOAD
from tests.support.environment import BASE_URL
from tests.support.faults.hooks import Recorder
from tests.support.wire.client import Response
from tests.support.world import people
from tests.support.world.pictures import (
    BLUE,
    PNG,
    form,
    is_like,
    plain,
    read,
    show,
    stored,
    upload,
    written,
)

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
START_OF_FRAME, START_OF_SCAN = 0xC0, 0xDA
UPDATED = "The user has been updated successfully."
INVALID = "Could not validate user data."


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
    assert content.startswith(PNG_SIGNATURE)
    at, data, kinds = len(PNG_SIGNATURE), b"", []
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


# Sending one


@contextmanager
def nothing_is_changed(digest: Callable[[], str]) -> Iterator[None]:
    """In the tables, nor in the pictures that lie somewhere."""
    before = digest(), stored()
    yield
    assert (digest(), stored()) == before


def avatar_of(response: Response) -> dict:
    assert (response.status, response.message) == (200, UPDATED), response.json
    return response.body["profile"]["avatar"]


def refused(response: Response) -> set[str]:
    """The rules the file breaks, once it is the file alone that is refused."""
    assert (response.status, response.message) == (400, INVALID)
    assert all(text.endswith(".") for text in response.body["profile"]["avatar"]["file"].values())
    assert list(response.body) == ["profile"]
    assert list(response.body["profile"]) == ["avatar"]
    return set(response.body["profile"]["avatar"]["file"])


def test_a_user_sends_their_picture(betty, time):
    time.pass_by(minutes=1)

    avatar = avatar_of(upload(betty.client, betty.id))

    assert find_uuid(avatar["id"])
    assert avatar == {
        "id": avatar["id"],
        "profile_id": betty.user.profile_id,
        "created": "2026-11-21T12:01:00+00:00",
        "modified": "2026-11-21T12:01:00+00:00",
        "url": {
            "medium": f"{BASE_URL}/avatars/view/{avatar['id']}/medium.jpg",
            "small": f"{BASE_URL}/avatars/view/{avatar['id']}/small.jpg",
        },
    }


def test_everybody_sees_the_picture_where_the_profile_leads(api, ada, betty):
    upload(betty.client, betty.id)
    url = ada.client.get(f"/users/{betty.id}.json").body["profile"]["avatar"]["url"]

    for name, side in {"medium": 200, "small": 80}.items():
        response = api.get(url[name].removeprefix(BASE_URL))
        assert is_picture(response, "image/jpeg")
        assert size_of_jpeg(response.content) == (side, side)
        assert is_like(read(response.content).getpixel((40, 40)), BLUE)


def test_the_picture_is_shown_wherever_the_profile_is(ada, betty):
    avatar = avatar_of(upload(betty.client, betty.id))

    listed = {user["id"]: user for user in ada.client.get("/users.json").body}
    assert listed[betty.id]["profile"]["avatar"] == avatar
    assert listed[ada.id]["profile"]["avatar"].keys() == {"url"}
    assert betty.client.get("/users/me.json").body["profile"]["avatar"] == avatar


def test_an_administrator_sends_somebodys_picture(ada, betty):
    avatar = avatar_of(upload(ada.client, betty.id))

    assert betty.client.get("/users/me.json").body["profile"]["avatar"] == avatar


def test_nobody_else_does(ada, betty, digest):
    with nothing_is_changed(digest):
        response = upload(betty.client, ada.id)

    assert response.status == 403
    assert response.message == "You are not authorized to access that location."


def test_a_picture_may_come_with_other_fields(ada, betty):
    response = upload(
        ada.client, betty.id, profile__first_name="Elizabeth", disabled="2031-02-03T04:05:06"
    )

    assert "id" in avatar_of(response)
    assert response.body["profile"]["first_name"] == "Elizabeth"
    assert response.body["disabled"] == "2031-02-03T04:05:06+00:00"


def test_nothing_is_kept_of_a_request_whose_other_fields_are_wrong(ada, betty, digest):
    with nothing_is_changed(digest):
        response = upload(ada.client, betty.id, profile__first_name="", role_id=new_id())
        assert set(response.body["profile"]) == {"first_name"}
        response = upload(ada.client, betty.id, role_id=new_id())
        assert set(response.body) == {"role_id"}


def test_each_picture_is_a_new_avatar_and_the_one_before_is_gone(api, betty):
    first = avatar_of(upload(betty.client, betty.id))["id"]
    others = stored() - {first}

    again = avatar_of(upload(betty.client, betty.id))["id"]

    assert again != first
    assert stored() == others | {again}
    assert show(api, first) == show(api, new_id())
    assert show(api, again) != show(api, new_id())


def test_put_takes_no_form(betty, digest):
    sent = form(profile__avatar__file=("me.png", "image/png", PNG))

    with nothing_is_changed(digest):
        response = betty.client.request("PUT", f"/users/{betty.id}.json", **sent)

    assert (response.status, response.message) == (400, "Some user data should be provided.")


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_the_picture_stays_where_json_speaks_of_none(betty, method):
    avatar = avatar_of(upload(betty.client, betty.id))

    shown = {"url": {"medium": "https://other.example/", "small": ""}}
    silent = ({"file": None}, {"file": None, "url": None}, {**shown, "file": None})
    for sent in (None, {}, avatar, shown, {**avatar, "id": new_id()}, *silent):
        body = {"profile": {"avatar": sent}}
        response = betty.client.request(method, f"/users/{betty.id}.json", json=body)
        assert avatar_of(response) == avatar


@pytest.mark.parametrize("avatar", ["x", 5, True, [], "", [{}]])
def test_an_avatar_that_is_no_object_is_none(betty, digest, avatar):
    with nothing_is_changed(digest):
        response = betty.client.put(f"/users/{betty.id}.json", {"profile": {"avatar": avatar}})

    assert (response.status, response.message) == (400, INVALID)
    assert set(response.body["profile"]["avatar"]) == {"_required"}


def test_an_avatar_without_file_lacks_it(betty, digest):
    with nothing_is_changed(digest):
        sent = form(profile__avatar__name="me.png")
        response = betty.client.request("POST", f"/users/{betty.id}.json", **sent)

    assert refused(response) == {"_required"}


@pytest.mark.parametrize("file", ["", "me.png", 5, [], {"filename": "me.png"}])
def test_a_file_comes_in_a_form(betty, digest, file):
    with nothing_is_changed(digest):
        body = {"profile": {"avatar": {"file": file}}}
        response = betty.client.put(f"/users/{betty.id}.json", body)

    assert refused(response) == {"validUploadedFile", "validExtension", "validMimeType"}


def test_a_text_field_is_no_file(betty, digest):
    with nothing_is_changed(digest):
        sent = form(profile__avatar__file="me.png")
        response = betty.client.request("POST", f"/users/{betty.id}.json", **sent)

    assert "validUploadedFile" in refused(response)


@pytest.mark.parametrize("field", ["first_name", "last_name"])
def test_a_file_is_no_name(betty, digest, field):
    with nothing_is_changed(digest):
        sent = form(**{f"profile__{field}": ("me.png", "image/png", PNG)})
        response = betty.client.request("POST", f"/users/{betty.id}.json", **sent)

    assert response.body == {"profile": {field: response.body["profile"][field]}}


@pytest.mark.parametrize("name", ["me.png", "ME.PNG", "a.b.png", "ä.jpeg", "x.jpg", "x.GIF"])
def test_a_picture_may_have_any_usual_name(betty, name):
    """By its content it is a PNG, whatever its name says."""
    avatar_of(upload(betty.client, betty.id, PNG, name, "image/png"))


@pytest.mark.parametrize(
    "name", ["me", "png", "me.svg", "me.png.exe", "me.webp", ".png", "me.png "]
)
def test_a_picture_of_another_extension_is_refused(betty, digest, name):
    with nothing_is_changed(digest):
        response = upload(betty.client, betty.id, PNG, name, "image/png")

    assert refused(response) == {"validExtension"}


def test_an_empty_file_is_refused(betty, digest):
    with nothing_is_changed(digest):
        assert refused(upload(betty.client, betty.id, b"")) == {
            "validUploadedFile",
            "validMimeType",
        }


# What is no picture, or one that is too large


FOREIGN = {
    "SVG": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
    "HTML": b"<!DOCTYPE html><script>alert(1)</script>",
    "PDF": written(plain(), "PDF"),
    "text": b"GIF",
    "BMP": written(plain(), "BMP"),
    "WEBP": written(plain(), "WEBP"),
    "TIFF": written(plain(), "TIFF"),
    "ZIP": b"PK\x03\x04",
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("name", ["me.png", "me.jpg", "me.gif"])
def test_what_is_no_picture_is_refused_whatever_its_name(betty, digest, kind, name):
    """AV01"""
    with nothing_is_changed(digest):
        response = upload(betty.client, betty.id, FOREIGN[kind], name)

    assert refused(response) == {"validMimeType"}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_what_only_begins_as_a_picture_is_refused(betty, digest, kind):
    """AV01"""
    begun = written(plain(), kind)[:30]
    name, told = f"me.{kind.lower()}", f"image/{kind.lower()}"

    with nothing_is_changed(digest):
        response = upload(betty.client, betty.id, begun + b"<script>" * 50, name, told)

    assert refused(response) == {"validMimeType"}


def zipped() -> bytes:
    archive = BytesIO()
    with ZipFile(archive, "w") as written_to:
        written_to.writestr("evil.js", "alert(1)")
    return archive.getvalue()


POLYGLOTS = {
    # Its width spells the beginning of a comment, which ends before the script.
    "GIF and JavaScript": (
        "me.gif",
        written(plain(size=(0x2A2F, 2)), "GIF") + b"*/=1;alert('evil')//",
    ),
    "PNG and ZIP": ("me.png", PNG + zipped()),
    "JPEG and PHP": ("me.jpg", written(plain(), "JPEG", comment=b"<?php evil(); ?>")),
}


@pytest.mark.parametrize("kind", POLYGLOTS)
def test_of_a_file_that_is_also_another_only_the_picture_is_kept(api, betty, kind):
    """AV02"""
    name, content = POLYGLOTS[kind]
    assert b"evil" in content

    avatar_id = avatar_of(upload(betty.client, betty.id, content, name))["id"]

    for format_ in ("medium.jpg", "small.jpg"):
        shown = show(api, avatar_id, format_)
        size_of_jpeg(shown)
        assert not [word for word in (b"evil", b"php", b"PK", b"GIF") if word in shown]
        assert is_like(read(shown).getpixel((40, 40)), BLUE)


def test_where_a_picture_was_taken_is_not_told(api, betty):
    """AV02"""
    exif = plain().getexif()
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    exif[0x010F] = "Leitz"
    content = written(plain(), "JPEG", exif=exif)
    assert read(content).getexif().get_ifd(0x8825)

    avatar_id = avatar_of(upload(betty.client, betty.id, content, "me.jpg"))["id"]

    for format_ in ("medium.jpg", "small.jpg"):
        shown = show(api, avatar_id, format_)
        assert b"Exif" not in shown
        assert b"Leitz" not in shown
        assert not read(shown).getexif()


def test_a_picture_of_too_many_pixels_is_refused(betty, digest):
    """AV03; what it costs is measured in tests/objects/test_pictures.py"""
    for size in ((50_000, 1), (5_001, 5_000)):
        with nothing_is_changed(digest):
            response = upload(betty.client, betty.id, written(plain("1", size, 0)))

        assert refused(response) == {"validMimeType"}
        text = response.body["profile"]["avatar"]["file"]["validMimeType"]
        assert "25 million pixels" in text


def test_a_file_above_the_limit_is_refused(betty, digest):
    """AV04"""
    with nothing_is_changed(digest):
        response = upload(betty.client, betty.id, PNG.ljust(LARGEST_UPLOAD + 1, b"\0"))

    assert refused(response) == {"validUploadedFile"}
    assert response.body["profile"]["avatar"]["file"]["validUploadedFile"].endswith("most 5 MB.")


def test_a_file_at_the_limit_is_taken(betty):
    """AV04"""
    avatar_of(upload(betty.client, betty.id, PNG.ljust(LARGEST_UPLOAD, b"\0")))


def test_a_form_that_no_allowed_file_needs_is_not_read(betty, digest):
    """AV04"""
    with nothing_is_changed(digest):
        response = upload(betty.client, betty.id, PNG.ljust(LARGEST_UPLOAD + 500_000, b"\0"))

    assert (response.status, response.message) == (
        413,
        "The request is larger than the service reads.",
    )


TOLD = (
    *("", "application/octet-stream", "IMAGE/PNG; q=1", "image/jpg", "image/pjpeg", "image/png"),
    *("image/jpeg", "image/gif", "image/svg+xml", "text/html", "image/png2", "png"),
)


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_a_picture_is_taken_whatever_it_is_called(api, betty, told, kind):
    """AV04: it is drawn anew, and shown as what we have drawn."""
    response = upload(betty.client, betty.id, written(plain(), kind), "me.jpg", told)

    shown = api.get(avatar_of(response)["url"]["small"].removeprefix(BASE_URL))
    assert is_picture(shown, "image/jpeg")
    assert size_of_jpeg(shown.content) == (80, 80)


@pytest.mark.parametrize("told", TOLD)
def test_what_is_no_picture_is_refused_whatever_it_is_called(betty, digest, told):
    """AV01"""
    with nothing_is_changed(digest):
        response = upload(betty.client, betty.id, FOREIGN["HTML"], "me.png", told)

    assert refused(response) == {"validMimeType"}


# Showing one


@pytest.mark.parametrize(
    "name", ["huge.jpg", "MEDIUM.JPG", "medium.png", "medium", "medium.jpg.json", "small.new"]
)
def test_an_avatar_in_another_format_is_the_placeholder(api, betty, name):
    """AV05"""
    avatar_id = avatar_of(upload(betty.client, betty.id))["id"]

    assert show(api, avatar_id, name) == show(api, new_id())


def test_an_avatar_is_known_in_capitals_too(api, betty):
    avatar_id = avatar_of(upload(betty.client, betty.id))["id"]

    assert show(api, avatar_id.upper()) == show(api, avatar_id)


@pytest.mark.parametrize("avatar", ["keys", "avatars", "*", "..jwt.pem", "%2e%2e%2e", "~"])
@pytest.mark.parametrize("name", ["jwt.pem", "openpgp.asc", "medium.jpg"])
def test_no_other_file_is_ever_shown(api, avatar, name):
    """AV05"""
    assert show(api, avatar, name) == show(api, new_id())


def test_the_avatar_is_not_the_users_identifier(api, betty):
    """AV05"""
    upload(betty.client, betty.id)

    for known in (betty.id, betty.user.profile_id, betty.gpgkey_id):
        assert show(api, known) == show(api, new_id())
