"""Mails: a subject of one line, a text and a link, from each template."""

from __future__ import annotations

import pytest

from chalicelib.views import mails

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
def test_a_name_adds_no_line_to_a_subject(template):
    mail = mails.render(template, PARAMS | {"first_name": "Dave\r\nBcc: eve@example.com"})

    assert len(mail.subject.splitlines()) == 1


def test_who_registered_is_welcomed_and_administrators_learn_his_name():
    assert mails.render("registration", PARAMS).subject == "Welcome to Keyhaven, Dave!"
    told = mails.render("registered", PARAMS)
    assert told.subject == "Dave just created an account on Keyhaven!"


@pytest.mark.parametrize(
    ("domains", "said"),
    [("example.com", "these domains may register: example.com"), ("", "Nobody may.")],
)
def test_administrators_learn_who_may_register(domains, said):
    assert said in mails.render("self-registration", PARAMS | {"domains": domains}).text
