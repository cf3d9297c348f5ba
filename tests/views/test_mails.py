"""Mails: a subject of one line, a text and a link, from each template."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.operator.harmless import LONGEST_NAME
from chalicelib.domain.operator.notices import DIGEST, Event, kind_of
from chalicelib.domain.users.locales import LOCALES
from chalicelib.views import mails
from tests.support.world.operator.autolinks import autolinks, names

LINK = "https://keyhaven.test/x"
PARAMS = {
    "first_name": "Dave",
    "domains": "example.com, example.org",
    "source": "203.0.113.7",
    "link": LINK,
    "reader": "Betty",
    "actor": "Ada Lovelace",
    "name": "Operations",
    "before": "Ops",
    "groups": "Operations\nSales",
    "people": "Dave Evans\nErin Fox",
    "added": "Dave Evans",
    "changed": "Erin Fox",
    "removed": "Frank Green",
    "manages": "yes",
    "trouble": "refused",
    "off": "yes",
    "username": "dave@example.com",
    "reason": "The only key was lost.",
    "asked_by": "max",
    "granted_by": "nora",
    "fingerprint": "0123456789ABCDEF0123456789ABCDEF01234567",
    "agent": "Mozilla/5.0 (X11; Linux x86_64)",
    "since": "2026-12-21 12:00 UTC",
}


def given_to(template):
    """What a mail of this template may say."""
    kind = kind_of(template)
    if template == DIGEST:
        return {"events": [("group-added", PARAMS), ("group-left", PARAMS)], "link": LINK}
    known = {"first_name"} if kind is None else kind.params | {"actor", "reader"}
    return {name: value for name, value in PARAMS.items() if name in {*known, "link"}}


@pytest.mark.parametrize("locale", mails.languages())
@pytest.mark.parametrize("template", mails.TEMPLATES)
def test_a_mail_has_a_subject_and_names_its_link_as_text_and_as_html(template, locale):
    mail = mails.render(template, given_to(template), locale)

    assert mail.subject
    assert mail.link == LINK
    assert LINK in mail.text
    assert f'<a href="{LINK}">{LINK}</a>' in mail.html


@pytest.mark.parametrize("locale", mails.languages())
@pytest.mark.parametrize("template", sorted(event.value for event in Event))
def test_a_mail_says_something_of_whatever_is_not_known(template, locale):
    """Of an item whose metadata are encrypted there is no name."""
    is_of_item = template.startswith(("resource", "folder", "comment", "expir"))
    given_ = {} if is_of_item else given_to(template)
    mail = mails.render(template, {**given_, "link": LINK, "by_reader": True}, locale)

    assert mail.subject
    assert "None" not in mail.subject + mail.text + mail.html


@pytest.mark.parametrize("locale", mails.languages())
@pytest.mark.parametrize("manages", ["", "yes"])
@pytest.mark.parametrize("template", ["group-added", "group-role-changed", "recovery-aborted"])
def test_a_mail_tells_who_did_it_themselves_that_they_did(template, manages, locale):
    said = {**given_to(template), "actor": "Zora Zenith", "manages": manages}
    own = mails.render(template, {**said, "by_reader": True}, locale)
    others = mails.render(template, {**said, "by_reader": False}, locale)

    assert "Zora" not in own.subject + own.text
    assert "Zora" in others.subject
    assert "Zora" in others.text


@pytest.mark.parametrize("locale", mails.languages())
def test_who_did_not_give_up_their_recovery_is_told_that_others_read_their_mails(locale):
    """Whoever has the link can, so the mail may be the first that its owner hears of it."""
    words = {
        "de-DE": "Falls Sie das nicht waren, liest jemand anderes Ihre Mails",
        "en-UK": "If it was not you, somebody else reads your mails",
        "fr-FR": "Si ce n'était pas vous, quelqu'un d'autre lit vos mails",
    }
    said = given_to("recovery-aborted")
    own = mails.render("recovery-aborted", {**said, "by_reader": True}, locale).text
    others = mails.render("recovery-aborted", {**said, "by_reader": False}, locale).text
    assert words[locale] in own
    assert words[locale] not in others


@pytest.mark.parametrize("locale", mails.languages())
def test_no_mail_joins_two_words(locale):
    """A line that ends with a tag does not break in a mail, so no word may stand before it."""
    tag = r"{%[^%]*%}"
    text = (mails.FOLDER / f"{locale}.txt").read_text(encoding="utf-8")
    joined = [
        (line, following)
        for line, following in pairwise(text.splitlines())
        if re.search(rf"{tag}$", line) and re.sub(tag, "", line).strip()
        if re.sub(rf"^(\s*{tag})+", "", following).strip()
    ]
    assert joined == []


@pytest.mark.parametrize("locale", mails.languages())
@pytest.mark.parametrize("ahead", [{}, {"by_reader": True}, {"actor": "Ada Lovelace"}])
def test_owners_are_told_the_same_of_a_loss_that_is_yet_to_come(locale, ahead):
    words = {
        "de-DE": "sofort oder später",
        "en-UK": "has lost access to it, or is to lose it",
        "fr-FR": "dès maintenant ou plus tard",
    }
    told = {"name": "mail", "link": LINK, **ahead}
    assert words[locale] in mails.render("expired-automatically", told, locale).text


@pytest.mark.parametrize("template", mails.TEMPLATES)
@settings(max_examples=10)
@given(data=st.data())
def test_nothing_that_a_mail_is_given_becomes_a_link(template, data):
    ours = mails.render(template, given_to(template))
    wanted = given_to(template).keys() - {"link", "events"}
    stored = data.draw(st.fixed_dictionaries(dict.fromkeys(sorted(wanted), names)))
    if template == DIGEST:
        given_name = {**PARAMS, "name": data.draw(names)}
        stored["events"] = [("group-added", given_name), ("group-left", given_name)]
    mail = mails.render(template, {**stored, "link": LINK})

    assert autolinks(mail.subject) == []
    assert len(mail.subject.splitlines()) == 1
    assert autolinks(mail.text.replace(LINK, "")) == []
    seen = _Seen(mail.html)
    assert seen.links <= {LINK}
    assert seen.tags <= _Seen(ours.html).tags | {"ul", "li"}
    assert autolinks(seen.text.replace(LINK, "")) == []
    assert len(mail.subject) <= len(ours.subject) + 3 * LONGEST_NAME


class _Seen(HTMLParser):
    """What a mail program makes of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.links, self.text = set(), set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links |= {value for name, value in attrs if name in {"href", "src"}}

    def handle_data(self, data):
        self.text += data + "\n"


def test_what_a_mail_is_given_stands_in_html_as_it_is_and_does_nothing():
    mail = mails.render("group-added", PARAMS | {"name": "R&D '<b>x</b>'"})

    assert "R&amp;D" in mail.html
    assert "<b>" not in mail.html
    assert "R&D" in mail.text


def test_an_unknown_template_is_an_error():
    with pytest.raises(LookupError):
        mails.render("of tomorrow", PARAMS)


def said_in(locale):
    """Of each text of a language, the words that are put into it and asked about."""
    text = (mails.FOLDER / f"{locale}.txt").read_text(encoding="utf-8")
    blocks = re.findall(r"{% block (\w+) %}(.*?){% endblock %}", text, re.DOTALL)
    return {
        name: set(re.findall(r"{{ (\w+) }}|{% (?:el)?if (\w+)|{% for each in (\w+)", body))
        for name, body in blocks
    }


def test_there_are_texts_in_three_languages():
    assert mails.languages() == ["de-DE", "en-UK", "fr-FR"]
    assert set(mails.languages()) <= set(LOCALES)


@pytest.mark.parametrize("locale", mails.languages())
def test_a_language_has_the_texts_that_english_has_and_says_the_same_in_them(locale):
    own, english = said_in(locale), said_in("en-UK")
    assert own == english


def test_who_reads_a_language_without_texts_reads_english():
    mail = mails.render("invitation", PARAMS, "ja-JP")

    assert mail == mails.render("invitation", PARAMS)
    assert '<html lang="en">' in mail.html


def test_who_registered_is_welcomed_and_administrators_learn_their_name():
    assert mails.render("registration", PARAMS).subject == "Welcome to Keyhaven, Dave!"
    told = mails.render("registered", PARAMS)
    assert told.subject == "Dave just created an account on Keyhaven!"


@pytest.mark.parametrize(
    ("domains", "said"),
    [("example.com", "these domains may register: example[.]com"), ("", "Nobody may.")],
)
def test_administrators_learn_who_may_register(domains, said):
    assert said in mails.render("self-registration", PARAMS | {"domains": domains}).text


@pytest.mark.parametrize(
    ("trouble", "said"),
    [("refused", "would remove many users"), ("unreadable", "could not be read in full")],
)
def test_administrators_are_told_why_a_directory_is_not_synchronised_with(trouble, said):
    mail = mails.render("directory-not-synchronised", PARAMS | {"trouble": trouble})

    assert said in mail.text
