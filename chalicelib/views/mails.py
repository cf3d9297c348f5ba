"""What mails say, as text and HTML; English where nothing is written in a language.

A file has the texts of one language (`letters/`), each a pair of blocks: what becomes of a block
in a mail is decided here, once for all languages. Jinja is imported here alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import harmless
from chalicelib.domain.operator.notices import DIGEST, Event, kind_of
from chalicelib.domain.users import locales

FOLDER = Path(__file__).parent / "letters"
DIRECT = frozenset({"invitation", "admission", "reminder", "recovery", "registration"})
"""Mails with a link that is good for one person; they are no notices."""
TEMPLATES = sorted(DIRECT | {DIGEST} | {event.value for event in Event})
_SUBJECT, _BODY = "{}_subject", "{}"
_BLANK_LINE = re.compile(r"\n\s*\n")
_ITEM = "- "
_ALWAYS = {"actor": "", "reader": "", "by_reader": False}
"""What every text may speak of."""


@dataclass(frozen=True, slots=True)
class Mail:
    subject: str
    text: str
    html: str
    link: str


def render(template: str, stored: Mapping[str, Any], locale: str = locales.DEFAULT) -> Mail:
    """Return the mail of a template and of what its outbox row holds.

    There is no other way to a text that somebody else chose than by `_harmless`, so no template
    can forget that a name may be a sentence with a link in it.
    """
    texts, name = _texts(locale), _block_of(template)
    kind = kind_of(template)
    unsaid = dict.fromkeys(kind.params if kind else ())
    said = {**_ALWAYS, **unsaid, **{key: _harmless(key, value) for key, value in stored.items()}}
    if template == DIGEST:
        said["events"] = [render(each, its, locale).subject for each, its in stored["events"]]
    subject = _one_line(_filled(texts, _SUBJECT.format(name), said, Markup))
    text = _filled(texts, _BODY.format(name), said, Markup).strip() + "\n"
    body = _filled(texts, _BODY.format(name), said, str)
    html = _frame().render(
        language=_known(locale)[:2], subject=subject, paragraphs=list(map(_paragraph, _split(body)))
    )
    return Mail(subject, text, html, str(stored["link"]))


def languages() -> list[str]:
    """The locales whose texts there are."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def _domains(text: str) -> str:
    return ", ".join(map(harmless.domain, filter(None, text.split(", "))))


def _names(text: str) -> str:
    return ", ".join(map(harmless.name, filter(None, text.split("\n"))))


_WAYS: Mapping[str, Callable[[str], str]] = {
    "link": str,  # ours, which who sends the mail sees to
    "domains": _domains,
    "source": harmless.network_address,
    "agent": harmless.program,
    "fingerprint": harmless.fingerprint,
    "reason": harmless.reason,
    "since": harmless.moment,
    "username": harmless.mail_address,
    **dict.fromkeys(("people", "added", "changed", "removed", "groups"), _names),
}
"""How a value is made harmless, where it is no name."""


def _harmless(name: str, value: Any) -> Any:
    return _WAYS.get(name, harmless.name)(value) if isinstance(value, str) else value


def _block_of(template: str) -> str:
    if template not in TEMPLATES:
        raise LookupError(template)
    return template.replace("-", "_")


def _filled(
    texts: Template, block: str, said: Mapping[str, Any], as_text: Callable[[str], str]
) -> str:
    """A block with its values: as text they stand as they are, in HTML they are escaped.

    The environment escapes whatever is no `Markup`; what our files say is never escaped.
    """

    def shown(value: Any) -> Any:
        if isinstance(value, list):
            return [as_text(each) for each in value]
        return as_text(value) if isinstance(value, str) else value

    values = {name: shown(value) for name, value in said.items()}
    return "".join(texts.blocks[block](texts.new_context(values)))


def _one_line(text: str) -> str:
    return " ".join(str(text).split())


def _split(body: str) -> list[str]:
    return [part.strip() for part in _BLANK_LINE.split(body) if part.strip()]


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A piece of a body, whose values are escaped already."""

    lines: list[Markup]
    is_list: bool
    is_link: bool


def _paragraph(part: str) -> _Paragraph:
    lines = [line.strip() for line in part.splitlines()]
    is_list = all(line.startswith(_ITEM) for line in lines)
    shown = [line.removeprefix(_ITEM) if is_list else line for line in lines]
    is_link = len(lines) == 1 and lines[0].startswith(("https://", "http://"))
    return _Paragraph([Markup(line) for line in shown], is_list, is_link)  # noqa: S704 - escaped


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _texts(locale: str) -> Template:
    return _environment().get_template(f"{_known(locale)}.txt")


@cache
def _known(locale: str) -> str:
    """The locale, if there are texts of it."""
    return locale if locale in languages() else locales.DEFAULT


@cache
def _frame() -> Template:
    return _environment().get_template("frame.html")
