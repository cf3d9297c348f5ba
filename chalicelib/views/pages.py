"""Pages for people's browsers, complete without script.

The browser extension takes a page over where `<html>` is of the class it knows and nothing follows
it. Of most pages it removes what lies at the place it looks for; the sign-in page stays beneath
its frame, for who is not let in.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

from chalicelib.settings import settings

_FOLDER = Path(__file__).with_suffix("")
_STYLE = (_FOLDER / "style.css").read_text(encoding="utf-8")
_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
CONTENT_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HTML_TYPE = "text/html; charset=utf-8"
_TAKEN_OVER = "temporary-skeleton"
_KEPT = "page"


def home() -> str:
    return _page("home", "Your passwords")


def sign_in() -> str:
    return _page("sign-in", "Sign in", place=_KEPT)


def setup() -> str:
    return _page("setup", "Set up your account")


def recovery() -> str:
    return _page("recovery", "Recover your account")


def recover(csrf_token: str, refused: str = "") -> str:
    """The form that asks for a link; with why it was refused, where it was."""
    told = f'<p class="refused" role="alert">{escape(refused)}</p>' if refused else ""
    return _page("recover", "Recover your account", token=escape(csrf_token), refused=told)


def sent() -> str:
    return _page("sent", "Look into your mail")


def _page(name: str, title: str, *, place: str = _TAKEN_OVER, **values: str) -> str:
    """A page; `values` are HTML."""
    content = _template(name).substitute(values)
    return (
        _template("frame")
        .substitute(title=title, style=_STYLE, place=place, content=content, support=_support())
        .strip()
    )


def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.html").read_text(encoding="utf-8"))


def _support() -> str:
    address = escape(settings.support_address)
    return f'<p>Questions? Write to <a href="mailto:{address}">{address}</a>.</p>' if address else ""
