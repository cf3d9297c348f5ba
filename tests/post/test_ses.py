"""SES: what is handed over, and what its answers mean."""

from __future__ import annotations

import traceback

import pytest

from chalicelib.post.sending import NotSent
from chalicelib.post.ses import Ses
from tests.support.world.operator.letters import SENDER, refusing, ses_of_tests, unreachable

SOMEBODY = "ada@example.com"
SUBJECT, TEXT = "Welcome, Zoë!", "Hello Zoë,\n\nhttps://x/setup/start/secret\n"
HTML = "<p>Hello Zoë</p>"


@pytest.fixture
def letters():
    with ses_of_tests() as letters:
        yield letters


def test_a_mail_is_handed_over(letters):
    letters.ses.send("ada@example.com", SUBJECT, TEXT, HTML)

    [sent] = letters.sent()
    assert (sent.source, sent.subject) == (SENDER, SUBJECT)
    assert sent.destinations == {"ToAddresses": ["ada@example.com"]}


def test_what_is_asked_of_ses_is_utf_8_as_text_and_as_html(letters):
    asked = []
    events = letters.ses._client.meta.events
    events.register("provide-client-params.sesv2", lambda params, **_: asked.append(params))

    letters.ses.send("ada@example.com", SUBJECT, TEXT, HTML)

    content = {
        "Subject": {"Data": SUBJECT, "Charset": "UTF-8"},
        "Body": {
            "Text": {"Data": TEXT, "Charset": "UTF-8"},
            "Html": {"Data": HTML, "Charset": "UTF-8"},
        },
    }
    assert asked == [
        {
            "FromEmailAddress": SENDER,
            "Destination": {"ToAddresses": ["ada@example.com"]},
            "Content": {"Simple": content},
        }
    ]


@pytest.mark.parametrize(
    ("address", "sent_to"),
    [
        ("Ada.L@Example.COM", "Ada.L@example.com"),
        ("ada@straße.de", "ada@xn--strae-oqa.de"),
        ("ada@STRASSE.de", "ada@strasse.de"),
        ("ada@münchen.example.com", "ada@xn--mnchen-3ya.example.com"),
        ("ada@mu\u0308nchen.example.com", "ada@xn--mnchen-3ya.example.com"),
        ("ada@пример.рф", "ada@xn--e1afmkfd.xn--p1ai"),
    ],
)
def test_a_domain_in_any_script_is_sent_to_by_its_name_in_the_name_system(
    letters, address, sent_to
):
    letters.ses.send(address, SUBJECT, TEXT, HTML)

    [sent] = letters.sent()
    assert sent.destinations == {"ToAddresses": [sent_to]}


@pytest.mark.parametrize(
    ("code", "may_pass_later"),
    [
        ("MessageRejected", False),
        ("BadRequestException", False),
        ("TooManyRequestsException", True),
        ("LimitExceededException", True),
        ("SendingPausedException", True),
        ("AccountSuspendedException", True),
        ("MailFromDomainNotVerifiedException", True),
        ("AccessDeniedException", True),
        ("InternalFailure", True),
        ("503", True),
    ],
)
def test_only_what_is_said_of_the_mail_itself_is_for_good(letters, code, may_pass_later):
    with refusing(letters.ses, code), pytest.raises(NotSent) as caught:
        letters.ses.send("ada@example.com", SUBJECT, TEXT, HTML)

    assert (caught.value.reason, caught.value.may_pass_later) == (code, may_pass_later)
    assert letters.sent() == []


def test_what_cannot_be_reached_may_be_later(letters):
    with unreachable(letters.ses), pytest.raises(NotSent) as caught:
        letters.ses.send("ada@example.com", SUBJECT, TEXT, HTML)

    assert caught.value.may_pass_later
    assert caught.value.reason == "ConnectTimeoutError"


def test_no_trace_of_a_failure_names_anybody(letters):
    """SES says in its sentences whom a mail was for."""
    with refusing(letters.ses, "MessageRejected"), pytest.raises(NotSent) as caught:
        letters.ses.send(SOMEBODY, SUBJECT, TEXT, HTML)

    trace = "".join(traceback.format_exception(caught.value))
    assert SOMEBODY not in trace
    assert "secret" not in trace


def test_without_a_sender_no_mail_leaves(letters):
    with pytest.raises(NotSent) as caught:
        Ses("").send("ada@example.com", SUBJECT, TEXT, HTML)

    assert (caught.value.reason, caught.value.may_pass_later) == ("NoSender", True)
    assert letters.sent() == []


def test_no_client_is_opened_before_there_is_a_mail():
    assert "_client" not in vars(Ses(SENDER))
