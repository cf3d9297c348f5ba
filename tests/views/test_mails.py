"""Mails: a subject of one line, a text and a link, from each template."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.harmless import LONGEST_NAME
from chalicelib.views import mails
from tests.support.world.autolinks import autolinks, names

LINK = "https://keyhaven.test/x"
PARAMS = {
    "first_name": "Dave",
    "domains": "example.com, example.org",
    "source": "203.0.113.7",
    "link": LINK,
}


@pytest.mark.parametrize("template", mails.TEMPLATES)
def test_a_mail_has_a_subject_and_names_its_link(template):
    mail = mails.render(template, PARAMS)

    assert mail.subject
    assert mail.link == LINK
    assert LINK in mail.text


@pytest.mark.parametrize("template", mails.TEMPLATES)
@given(stored=st.fixed_dictionaries(dict.fromkeys(PARAMS.keys() - {"link"}, names)))
def test_nothing_that_a_mail_is_given_becomes_a_link(template, stored):
    mail = mails.render(template, {**stored, "link": LINK})

    assert autolinks(mail.subject) == []
    assert len(mail.subject.splitlines()) == 1
    assert autolinks(mail.text.replace(LINK, "")) == []
    ours = mails.render(template, PARAMS)
    assert len(mail.subject) <= len(ours.subject) + LONGEST_NAME


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
