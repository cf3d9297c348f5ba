"""Pages for people's browsers, complete without script, and what a browser may load for them.

The browser extension takes a page over where `<html>` is of the class it knows and nothing follows
it. Of most pages it removes what lies at the place it looks for; the sign-in page stays beneath
its frame, for whoever is not let in.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from chalicelib.domain.errors import Forbidden, Refusal
from chalicelib.settings import settings

_FOLDER = Path(__file__).with_suffix("")
_STYLE = (_FOLDER / "style.css").read_text(encoding="utf-8")
_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_TAKEN_OVER = "temporary-skeleton"
_KEPT = "page"
_TO_REGISTER = '<p><a href="/users/register">Register</a></p>'


class Document(NamedTuple):
    """A page, and what the browser may load and send for it."""

    html: str
    policy: str


def home() -> Document:
    return _page("home", "Your passwords")


def sign_in() -> Document:
    return _page("sign-in", "Sign in", place=_KEPT)


def setup() -> Document:
    return _page("setup", "Set up your account")


def told_of(error: Refusal) -> str:
    """Why something is refused, with what is wrong of each field."""
    return " ".join([error.message, *_messages(error.errors or {})])


def _messages(errors: Any) -> Iterator[str]:
    if isinstance(errors, str):
        yield errors
        return
    for inside in errors.values() if isinstance(errors, Mapping) else errors:
        yield from _messages(inside)


def recovery() -> Document:
    return _page("recovery", "Recover your account")


def recover(csrf_token: str, refused: str = "", *, may_register: bool = False) -> Document:
    """The form that asks for a link; with why it was refused, where it was, and the way to
    register for whoever may.
    """
    told = _told(refused) + (_TO_REGISTER if may_register else "")
    values = {"token": escape(csrf_token), "refused": told}
    return _page("recover", "Recover your account", **values)


def register(csrf_token: str, refused: str, typed: Mapping[str, str]) -> Document:
    """The form by which a guest registers, with what they typed and why it was refused."""
    names = ("username", "first_name", "last_name")
    filled = {name: escape(typed.get(name, "")) for name in names}
    values = {"token": escape(csrf_token), "refused": _told(refused), **filled}
    return _page("register", "Register", **values)


def registered() -> Document:
    return _page("registered", "Look into your mail")


def second_factor(csrf_token: str, refused: str = "") -> Document:
    """The form that asks for a code; with why it was refused, where it was."""
    values = {"token": escape(csrf_token), "refused": _told(refused)}
    return _page("second-factor", "Your second factor", place=_KEPT, **values)


def settings_form(path: str, csrf_token: str, told: str, fields: str) -> str:
    """A form of settings, which is sent to this path; HTML, as its fields are.

    `told` is what became of it the last time.
    """
    values = {"path": escape(path), "token": escape(csrf_token), "told": _status(told)}
    return _template("form").substitute(values, fields=fields).strip()


def settings_page(name: str, title: str, form: str) -> Document:
    """The page of a form of settings, with what the file of this name says about it."""
    return _page(name, title, place=_KEPT, form=form)


def users_directory(**values: str) -> Document:
    """The settings of the company's directory, and what can be done with them (HTML)."""
    return _page("users-directory", "Users directory", place=_KEPT, **values)


def mail_server(csrf_token: str, told: str, shown: Mapping[str, Any]) -> Document:
    """The form by which administrators name a mail server, filled with what is shown of one.

    `told` is HTML. Whoever has typed a password gives it `again`.
    """
    names = [*("host", "port", "username", "password", "sender_name", "sender_email", "client")]
    names += ["ca_certificate", "email_test_to"]
    filled = {name: escape(str(shown.get(name) or "")) for name in names}
    filled["again"] = "required" if shown.get("again") else ""
    values = {"token": escape(csrf_token), "told": told, **filled}
    return _page("mail-server", "Mail server", place=_KEPT, **values)


def mail_server_told(message: str, said: Iterable[tuple[str, str]], *, is_done: bool) -> str:
    """What became of what was asked for, with what was said to the server and its answers: HTML."""
    items = "".join(f"<li><code>{escape(ours)}</code> {escape(its)}</li>" for ours, its in said)
    told = _status(message) if is_done else _told(message)
    if not items:
        return told
    return (
        f"{told}<details><summary>What was said to the server</summary><ol>{items}</ol></details>"
    )


def refused(message: str, back: str) -> Document:
    """What was asked for is refused; `back` is the path of the page it was asked for on."""
    values = {"refused": _told(message), "back": escape(back)}
    return _page("refused", "This was not done", place=_KEPT, **values)


def not_shown(error: Refusal, path: str) -> Document:
    """Why the page at a path is not shown, with the way to it, unless it is for others alone."""
    if isinstance(error, Forbidden):
        told = _told(error.message)
        return _page("not-for-you", "This page is not for you", place=_KEPT, refused=told)
    return refused(told_of(error), path)


def sent() -> Document:
    return _page("sent", "Look into your mail")


def description() -> Document:
    """The API in words, as `python -m infra.describe.readable` has written it."""
    return _page("api", "The API", place=_KEPT)


def _page(name: str, title: str, *, place: str = _TAKEN_OVER, **values: str) -> Document:
    """A page; `values` are HTML."""
    content = _template(name).substitute(values)
    around = {"title": title, "style": _STYLE, "place": place, "support": _support()}
    html = _template("frame").substitute(around, content=content)
    return Document(html.strip(), _POLICY)


def _told(refused: str) -> str:
    return f'<p class="refused" role="alert">{escape(refused)}</p>' if refused else ""


def _status(told: str) -> str:
    return f'<p role="status">{escape(told)}</p>' if told else ""


def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.html").read_text(encoding="utf-8"))


def _support() -> str:
    address = escape(settings.support_address)
    return (
        f'<p>Questions? Write to <a href="mailto:{address}">{address}</a>.</p>' if address else ""
    )
