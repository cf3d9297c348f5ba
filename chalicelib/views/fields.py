"""Fields of the forms that pages have, as HTML; whatever they are filled with is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote


def fieldset(legend: str, *inside: str) -> str:
    return f"<fieldset><legend>{escape(legend)}</legend>{''.join(inside)}</fieldset>"


def hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'


def _labelled(name: str, label: str) -> tuple[str, str]:
    """The label of a field, and the field's own attributes."""
    known = quote(name, safe="")
    return f'<label for="{known}">{escape(label)}</label>', f'id="{known}" name="{escape(name)}"'


def text(name: str, label: str, value: str, further: str = "") -> str:
    told, own = _labelled(name, label)
    return f'{told}<input {own} type="text" value="{escape(value)}" {further}>'


def password(name: str, *, is_kept: bool) -> str:
    told, own = _labelled(
        name, "Password; it stays as it is if you leave this empty" if is_kept else "Password"
    )
    return f'{told}<input {own} type="password" autocomplete="new-password">'


def area(name: str, label: str, value: str) -> str:
    told, own = _labelled(name, label)
    return f'{told}<textarea {own} rows="4">\n{escape(value)}</textarea>'


def choice(name: str, label: str, choices: Sequence[tuple[str, str]], chosen: str) -> str:
    told, own = _labelled(name, label)
    options = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>'
        f"{escape(shown)}</option>"
        for value, shown in choices
    )
    return f"{told}<select {own}>{options}</select>"


def box(name: str, label: str, form: Mapping[str, Any], *, is_usual: bool = False) -> str:
    """A box, after the hidden field that says that it is not ticked."""
    sent = form.get(name, is_usual)
    ticked = " checked" if sent in (True, 1, "1") else ""
    return (
        f'{hidden(name, "0")}<label class="choice"><input name="{escape(name)}" type="checkbox" '
        f'value="1"{ticked}> {escape(label)}</label>'
    )
