from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.errors import Invalid
from chalicelib.domain.uploads import Upload
from chalicelib.web import payload

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
BOUNDARY = "----WebKitFormBoundaryX"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


def read_json(text: str | bytes, content_type: str = JSON) -> Any:
    return payload.read(text if isinstance(text, bytes) else text.encode(), content_type)


def form(*parts: tuple[str, bytes]) -> bytes:
    """A multipart body of parts, each the rest of its Content-Disposition line and its bytes."""
    written = b"".join(
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode()
        + content
        + b"\r\n"
        for head, content in parts
    )
    return written + f"--{BOUNDARY}--\r\n".encode()


def assert_refused(raw: bytes, content_type: str) -> None:
    with pytest.raises(Invalid, match=r"^Bad Request$") as refused:
        payload.read(raw, content_type)
    assert refused.value.errors is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 1.5, true, null, "\\u00e9"]}', {"a": [1, 1.5, True, None, "é"]}),
        ("[]", []),
        ('"text"', "text"),
        ("5", 5),
        ("null", None),
        ('"\\ud83d\\ude00"', "😀"),
        ("9999999999999999999", 9_999_999_999_999_999_999),
        ("-9999999999999999999", -9_999_999_999_999_999_999),
        ('{"__proto__": {"a.b": 1, "": 2}}', {"__proto__": {"a.b": 1, "": 2}}),
    ],
)
def test_json_is_read_as_it_is(text, value):
    """NP06, NP08."""
    assert read_json(text) == value


@pytest.mark.parametrize(
    "content_type",
    [JSON, "application/json;charset=UTF-8", 'Application/JSON; charset="utf-8"', JSON + "; q=1"],
)
def test_json_may_name_its_encoding(content_type):
    assert read_json("{}", content_type) == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b'{"a": 1',
        b"{} {}",
        b"{}x",
        b"{'a': 1}",
        b'{"a": 1,}',
        b"[1,]",
        b"// a\n{}",
        b" ",
        b"\xef\xbb\xbf{}",
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-16-le"),
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"[-1e999]",
        b"01",
        b"9" * 20,
        b"-" + b"9" * 20,
        b"9" * 5_000,
        b'"\x00"',
        b'"\n"',
    ],
)
def test_what_is_no_strict_json_is_refused(raw):
    """NP03."""
    assert_refused(raw, JSON)


@pytest.mark.parametrize(
    "raw", [b'"\xff"', b'"\xc0\xaf"', b'"\xe0\x80\xaf"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"']
)
def test_bytes_that_are_no_utf8_are_refused(raw):
    """NP04."""
    assert_refused(raw, JSON)
    assert_refused(b"a=" + raw.strip(b'"'), FORM)
    assert_refused(form(('name="a"', raw)), MULTIPART)


@pytest.mark.parametrize("raw", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000])
def test_arrays_are_not_followed_without_end(raw):
    """NP05."""
    assert_refused(raw, JSON)


def test_objects_are_not_followed_without_end():
    """NP05."""
    assert_refused(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, JSON)


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}"), ('[1,{"a":', "}]")])
def test_thirty_two_levels_are_read(start, end):
    """NP05."""
    times = 32 // len(end)

    read_json(start * times + "1" + end * times)
    assert_refused((start * (times + 1) + "1" + end * (times + 1)).encode(), JSON)


@pytest.mark.parametrize("raw", [b'{"a":1,"a":1}', b'[{"b":{"a":1,"\\u0061":2}}]'])
def test_a_key_stands_once_in_an_object(raw):
    """NP03."""
    assert_refused(raw, JSON)


@pytest.mark.parametrize("text", ['"\\ud800"', '{"\\udc00": 1}', '["\\ud800\\ud800"]'])
def test_lone_surrogates_are_refused_anywhere(text):
    """NP10."""
    assert_refused(text.encode(), JSON)


@pytest.mark.parametrize(
    "content_type", [None, "", "text/plain", "application/xml", "image/png", ";", "json"]
)
def test_bodies_of_other_types_are_no_data(content_type):
    """NP19."""
    assert payload.read(b'{"a": 1}', content_type) is None


@pytest.mark.parametrize("content_type", [None, JSON, FORM, MULTIPART, JSON + "; charset=utf-16"])
def test_an_empty_body_is_no_data(content_type):
    """NP19."""
    assert payload.read(b"", content_type) is None


@pytest.mark.parametrize("kind", [JSON, FORM, MULTIPART])
@pytest.mark.parametrize("charset", ["utf-16", "iso-8859-1", "utf-7", '"utf-32"'])
def test_other_encodings_are_refused(kind, charset):
    """NP19."""
    assert_refused(b"{}", f"{kind}; charset={charset}")
    assert_refused(b"{}", f"{kind}; x-version=2;CHARSET={charset}")


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(),
        lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
        max_leaves=20,
    )
)
def test_what_json_writes_is_read_back(value):
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value, ensure_ascii=False)) == value


@given(
    raw=st.binary(max_size=60)
    | st.text(alphabet='[]{}",:0.eE-\\u d8', max_size=40).map(str.encode),
    content_type=st.sampled_from([JSON, FORM, MULTIPART, "multipart/form-data; boundary=0", "x"]),
)
def test_any_bytes_are_read_or_refused(raw, content_type):
    """NP03, NP04, NP19."""
    try:
        payload.read(raw, content_type)
    except Invalid as refused:
        message = refused.message
        assert message == "Bad Request"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1&b=", {"a": "1", "b": ""}),
        ("a", {"a": ""}),
        (
            "data%5Bgpg_auth%5D%5Bkeyid%5D=AB+C&data[gpg_auth][user_token_result]=x%7Cy",
            {"data": {"gpg_auth": {"keyid": "AB C", "user_token_result": "x|y"}}},
        ),
        ("a[]=1&a[]=2", {"a": ["1", "2"]}),
        ("a[0][b]=1&a[1][b]=2", {"a": [{"b": "1"}, {"b": "2"}]}),
        ("a[1]=x", {"a": {"1": "x"}}),
        ("a=1&a=2", {"a": "2"}),
        ("a=1&a[b]=2", {"a": {"b": "2"}}),
        ("a[b]=2&a=1", {"a": "1"}),
        ("a[b=1&c]=2&d]e[f]=3", {"a[b": "1", "c]": "2", "d]e[f]": "3"}),
        ("%C3%A9=%F0%9F%98%80", {"é": "😀"}),
    ],
)
def test_names_with_brackets_become_objects(text, value):
    assert payload.read(text.encode(), FORM) == value


@pytest.mark.parametrize(
    "raw", [b"a=%ff", b"a" + b"[b]" * 40 + b"=1", b"&".join([b"a=1"] * 1_001), b"a=%ed%a0%80"]
)
def test_forms_are_bounded_and_utf8(raw):
    """NP05, NP10."""
    assert_refused(raw, FORM)


def test_a_multipart_form_reads_like_any_other():
    raw = form(
        ('name="data[gpg_auth][keyid]"', b"ABC"),
        ('name="data[gpg_auth][server_verify_token]"', b"-----BEGIN\r\n\r\n--x\r\n"),
    )

    assert payload.read(raw, MULTIPART) == {
        "data": {"gpg_auth": {"keyid": "ABC", "server_verify_token": "-----BEGIN\r\n\r\n--x\r\n"}}
    }


def test_a_file_keeps_its_bytes():
    content = bytes(range(256)) + b"\r\n--\r\n"
    raw = form(
        (
            'name="profile[avatar][file]"; filename="a; name=x.png"\r\nContent-Type: image/png',
            content,
        )
    )

    upload = payload.read(raw, MULTIPART)["profile"]["avatar"]["file"]

    assert upload == Upload("a; name=x.png", "image/png", content)
    assert "\\x" not in repr(upload)


def test_a_boundary_may_be_quoted_and_preceded_by_text():
    raw = b"ignored\r\n" + form(('name="a"', b"1")) + b"ignored"

    assert payload.read(raw, f'multipart/form-data; charset=utf-8; boundary="{BOUNDARY}"') == {
        "a": "1"
    }


def test_an_empty_form_has_no_members():
    assert payload.read(form(), MULTIPART) == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"a=1",
        b"--" + BOUNDARY.encode(),
        form(('name="a"', b"1"))[:-6],
        form(('nome="a"', b"1")),
        form(("", b"1")),
        form(('name="a"', b"1")).replace(b"\r\n\r\n", b"\r\n"),
        form((f'name="a"; x="{"y" * 9_000}"', b"1")),
        form(*[('name="a"', b"1")] * 1_001),
        form(('name="a' + "[b]" * 40 + '"', b"1")),
        form(('name="a"', b"\xff")),
    ],
)
def test_a_malformed_multipart_form_is_refused(raw):
    """NP19."""
    assert_refused(raw, MULTIPART)


@pytest.mark.parametrize("boundary", ["", "; boundary=", f"; boundary={'x' * 71}", "; boundary=é"])
def test_a_multipart_form_needs_a_boundary(boundary):
    """NP19."""
    assert_refused(form(('name="a"', b"1")), f"multipart/form-data{boundary}")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("", {}),
        ("=; =", {}),
        ("passbolt_session=abc; =", {"passbolt_session": "abc"}),
        ("a=1; b=2=3;c=", {"a": "1", "b": "2=3", "c": ""}),
        ("a; ;b=1", {"b": "1"}),
        ("a=1; a=2", {"a": "1"}),
    ],
)
def test_cookies_are_read_whatever_stands_beside_them(header, found):
    assert payload.cookies(header) == found


@given(header=st.text())
def test_any_cookie_header_is_read(header):
    assert all(name and name == name.strip() for name in payload.cookies(header))
