"""What a mail program would make a link of, judged more widely than any we know does."""

# ruff: noqa: RUF001 - signs that look like others are what it is about

from __future__ import annotations

import re

from hypothesis import strategies as st

_LINKS = re.compile(
    r"\w+:\S"  # a scheme
    r"|\\\\|//"  # a path of a network
    r"|\S[@\uff20\ufe6b]|[@\uff20\ufe6b]\S"  # an address
    r"|[.\u2024\u3002\uff0e\uff61\ufe52][\u00ad\u200b-\u200f]*\w"  # words with a dot between them
    r"|\d(?:[^\w\n]*\d){6,}"  # a telephone number
    r"|[<>]"
    r"|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]",  # letters that hide or turn others
    re.IGNORECASE,
)
_PARTS = (
    *("https://", "HTTP:", "//", "www.", "ftp.", "tel:", "mailto:", "javascript:", "\\\\"),
    *(".", "..", "．", "。", "｡", "․", "﹒", "…", "⒈", "@", "＠", "﹫", ":", "：", "/", "／", "#"),
    *(
        "evil",
        "example",
        "com",
        "Dave",
        "李",
        "é",
        "e\u0301",
        "علی",
        "\u0600",
        "1",
        "49",
        "٣",
        "1234",
    ),
    *(
        "+49 30 1234567",
        "(0)",
        "-",
        "–",
        "'",
        '"',
        "&",
        "&lt;",
        "<a href=",
        ">",
        "=?utf-8?q?",
        "?=",
    ),
    *(" ", "\t", "\r\n", "\n", "\u2028", "\x00", "\x1b", "\u00a0", "\u3000"),
    *("\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2066", "\ufeff", "\u00ad", "\U000e0041"),
)
names = st.lists(st.sampled_from(_PARTS) | st.characters(), max_size=30).map("".join)
"""What somebody might call themselves to have others follow a link."""


def autolinks(text: str) -> list[str]:
    return [match[0] for match in _LINKS.finditer(text)]
