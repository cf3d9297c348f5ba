"""Texts in mails that somebody else chose: they stay names, and become no links."""

# ruff: noqa: RUF001 - signs that look like others are what it is about

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.operator import harmless
from tests.support.world.operator.autolinks import autolinks, names


@pytest.mark.parametrize(
    "name",
    [
        "José",
        "O'Neil",
        "D’Angelo",
        "Anne-Marie",
        "Nguyễn Thị Minh Khai",
        "李小龙",
        "ジョン・スミス",
        "J. R. R. Tolkien",
        "St. John",
        "Martin Luther King Jr.",
        "Ağaoğlu",
        "Владимир",
        "Αλέξανδρος",
        "שָׁלוֹם",
        "ז׳קלין",
        "علی‌رضا",
        "ශ්‍රී",
        "सुब्रह्मण्यम्",
        "ณัฐพงษ์",
        "김민준",
        "Hawaiʻi",
        "Gal·la",
        "Research & Development (Berlin)",
        "C++ builds, team 2",
    ],
)
def test_ordinary_names_stay_as_they_are(name):
    assert harmless.name(unicodedata.normalize("NFC", name)) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://evil.example/login", "https evil. example login"),
        ("Sign in at evil.example", "Sign in at evil. example"),
        ("www.evil.example", "www. evil. example"),
        ("boss@evil.example", "boss evil. example"),
        ("evil．example", "evil. example"),
        ("evil。example", "evil example"),
        ("evil․example", "evil. example"),
        ("evil\u200b.\u200bexample", "evil. example"),
        ("⒈evil", "1. evil"),
        ("mailto:boss＠evil.example", "mailto boss evil. example"),
        ("tel:+49-30-1234567", "tel +…"),
        ("call 030 / 12 34 56 7 now", "call … now"),
        (r"\\evil\share", "evil share"),
        ("<b>Dave</b>", "b Dave b"),
        ("=?utf-8?q?Dave?=", "utf-8 q Dave"),
        ("Dave\r\nBcc: eve", "Dave Bcc eve"),
        ("Dave\u2028Hello\x1b[31m", "Dave Hello 31m"),
        ("\u202eevaD\u202c", "evaD"),
        ("J.R.R. Tolkien", "J. R. R. Tolkien"),
        ("🚀", "…"),
        ("", "…"),
        ("x" * 255, "x" * 39 + "…"),
        ("x" * 38 + "." + "y" * 20, "x" * 38 + "…"),
    ],
)
def test_what_is_no_name_is_made_one(text, shown):
    assert harmless.name(text) == shown


@given(names)
def test_no_name_becomes_a_link(text):
    shown = harmless.name(text)

    assert autolinks(shown) == []
    assert 0 < len(shown) <= harmless.LONGEST_NAME
    assert len(shown.splitlines()) == 1
    assert not any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in shown)


@given(st.text())
def test_no_text_at_all_becomes_a_link(text):
    assert autolinks(harmless.name(text)) == []
    assert autolinks(harmless.program(text)) == []


def test_a_domain_is_told_whole_and_not_followed():
    domain = "mail." + "a" * 60 + ".例え.example"

    assert harmless.domain(domain) == domain.replace(".", "[.]")
    assert autolinks(harmless.domain(domain)) == []
    assert harmless.domain("https://evil.example") == "https evil. example"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:DB8::1", "2001:db8::1"),
        ("", "unknown"),
        ("evil.example", "unknown"),
    ],
)
def test_a_network_address_is_one(text, shown):
    assert harmless.network_address(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-12-21 12:00 UTC", "2026-12-21 12:00 UTC"),
        ("2026-12-21 12:00", "unknown"),
        ("٢٠٢٦-12-21 12:00 UTC", "unknown"),
        ("evil.example", "unknown"),
    ],
)
def test_a_moment_is_one(text, shown):
    assert harmless.moment(text) == shown
