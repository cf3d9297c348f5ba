"""The search for secrets finds whatever is planted, wherever something is said (HD08, I12).

Each test of the suite ends with that search (`tests/support/leaks.py`).
"""

from __future__ import annotations

import json
import logging
import smtplib
from email.message import EmailMessage

import pytest

from app import app
from chalicelib.domain.actor import Caller
from chalicelib.domain.operator import audit
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator.outbox import ADMINISTRATORS, Mail
from tests.support import relays
from tests.support.leaks import LeakedError, watch
from tests.support.wire import handshake
from tests.support.wire.client import Client
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import people, scim, second_factors
from tests.support.world.keys import KEYS, challenge, message
from tests.support.world.operator import letters
from tests.support.world.operator.posted import posted

ID = "0b5cbfd7-5d06-4f46-8a65-1b1b8f6a3f9b"
OTHER_ID = f"7{ID[1:]}"


def a_message(_):
    return message("the text of a note", KEYS["ada"].public)


def a_line_of_a_message(_):
    return a_message(_).splitlines()[3]


def a_private_key(_):
    return KEYS["ada"].private


def a_line_of_a_private_key(_):
    return KEYS["ada"].private.splitlines()[5]


def a_text_that_was_encrypted(_):
    message("the text of a note", KEYS["ada"].public)
    return "the text of a note"


def a_challenge(_):
    challenge('{"verify_token": "x-1"}', KEYS["ada"].private, KEYS["server_curve"].public)
    return '{"verify_token": "x-1"}'


def an_access_token(ada):
    ada.client.get("/users/me.json")
    return ada.client.token


def a_session_cookie(ada):
    return handshake.signed_in(ada).cookies["passbolt_session"]


def a_part_of_a_session_cookie(ada):
    return max(a_session_cookie(ada).split("."), key=len)


def a_csrf_token(ada):
    ada.client.post("/favorites.json", cookies=CSRF_PAIR["cookies"])
    return CSRF_PAIR["cookies"]["csrfToken"]


def a_nonce_of_the_server(ada):
    return handshake.ask_nonce(Client(), ada.key)


def a_nonce_of_a_client(_):
    nonce = handshake.new_nonce()
    handshake.step(Client(), "/auth/verify.json", server_verify_token=nonce)
    return nonce.split("|")[2]


def a_refresh_token(_):
    Client().post("/auth/jwt/refresh.json", {"user_id": OTHER_ID, "refresh_token": ID})
    return ID.upper()


def a_token_in_a_path(_):
    Client().get(f"/setup/start/{OTHER_ID}/{ID}.json")
    return ID


def a_password(ada):
    ada.client.post("/smtp/settings.json", {"host": "h", "password": "näive and long"})
    return "näive and long"


def a_password_as_it_is_sent(ada):
    ada.client.post("/directorysync/settings/test.json", {"password": "long and naive"})
    return "bG9uZyBhbmQgbmFpdmU="


def a_token_of_a_provisioner(ada):
    scim.directory(ada).get("/Users")
    return scim.TOKEN


def a_secret_of_an_app(ada):
    second_factors.turn_on(ada)
    return second_factors.offered(ada.client).uri.partition("secret=")[2].partition("&")[0]


def a_code(ada):
    second_factors.given(ada.client, "123456")
    return "123456"


def a_link_of_somebody(ada, store):
    return people.invite(store, ada, "dora").token


SECRETS = [
    *(a_message, a_line_of_a_message, a_private_key, a_line_of_a_private_key),
    *(a_text_that_was_encrypted, a_challenge, an_access_token, a_session_cookie),
    *(a_part_of_a_session_cookie, a_csrf_token, a_nonce_of_the_server, a_nonce_of_a_client),
    *(a_refresh_token, a_token_in_a_path, a_password, a_password_as_it_is_sent),
    *(a_token_of_a_provisioner, a_secret_of_an_app, a_code),
]


def in_a_line_of_the_log(text):
    audit.write("alert", step=text)


def in_a_metric(text):
    logging.getLogger("keyhaven").info("%s", json.dumps({"_aws": {}, "Accidents": text}))


def in_a_warning_of_a_library(text):
    logging.getLogger("botocore.endpoint").warning("sent %r", {"body": text})


def in_a_word_of_any_other_logger(text):
    logging.getLogger("another").debug(text)


def in_the_trace_of_an_accident(text):
    logging.getLogger("keyhaven").error("failed", exc_info=RuntimeError(text))


def in_a_row_of_the_outbox(text):
    with Transaction() as tx:
        tx.create(Mail.to("betty@example.com", "resource-updated", name=text))


def in_a_row_of_the_action_log(text):
    with Transaction() as tx:
        tx.create(ActionLog.of("Users.edit", ID, ID, Caller(ID, context=f"PUT {text}")))


def in_a_mail(text):
    watch.posted(["betty@example.com"], f"Dear Betty, {text}")


def in_a_refusal(text):
    watch.answered(400, [], json.dumps({"header": {"url": "/"}, "body": text}))


def in_a_header_of_an_answer_that_fails(text):
    watch.answered(500, [("X-Error", text)], "")


PLACES = [
    *(in_a_line_of_the_log, in_a_metric, in_a_warning_of_a_library),
    *(in_a_word_of_any_other_logger, in_the_trace_of_an_accident),
    *(in_a_row_of_the_outbox, in_a_row_of_the_action_log),
    *(in_a_mail, in_a_refusal, in_a_header_of_an_answer_that_fails),
]


def name_of(function):
    return function.__name__


EACH_IN_A_LINE = [(secret, in_a_line_of_the_log) for secret in SECRETS]
SOME_ANYWHERE = [
    (secret, say)
    for secret in (a_line_of_a_message, a_nonce_of_the_server, a_password)
    for say in PLACES[1:]
]


@pytest.mark.parametrize(("secret", "say"), [*EACH_IN_A_LINE, *SOME_ANYWHERE], ids=name_of)
def test_a_secret_that_is_said_is_found(ada, secret, say):
    """HD08"""
    text = secret(ada)
    watch.require_silence_so_far()

    say(text)

    with pytest.raises(LeakedError):
        watch.require_silence()


@pytest.mark.parametrize(
    "secret",
    [a_text_that_was_encrypted, a_part_of_a_session_cookie, a_password, a_password_as_it_is_sent],
    ids=name_of,
)
def test_a_secret_that_is_said_is_found_among_thousands(ada, secret):
    """HD08"""
    text = secret(ada)
    watch.keep_all(({f"{number} of many" for number in range(10_000)}, set(), set()))
    watch.require_silence_so_far()

    audit.write("alert", step=f"said: {text}")

    with pytest.raises(LeakedError):
        watch.require_silence()


@pytest.mark.parametrize("say", PLACES, ids=name_of)
def test_the_token_of_a_link_is_found_anywhere_but_in_its_mail(ada, store, say):
    """HD08"""
    token = a_link_of_somebody(ada, store)
    posted(store)
    watch.require_silence_so_far()

    say(token)

    with pytest.raises(LeakedError):
        watch.require_silence()


@pytest.mark.parametrize("recipient", [ADMINISTRATORS, "betty@example.com"])
def test_a_link_that_is_told_to_others_is_found(ada, store, recipient):
    """HD08"""
    link = f"https://keyhaven.test/setup/start/{ID}/{a_link_of_somebody(ada, store)}"
    with Transaction() as tx:
        tx.create(Mail.to(recipient, "resource-updated", name="mail", about=link))

    with pytest.raises(LeakedError):
        watch.require_silence()


def test_what_ses_is_given_is_heard(ada, store):
    """HD08"""
    token = a_link_of_somebody(ada, store)
    with letters.ses_of_tests() as found:
        found.ses.send("dora@example.com", "Welcome", f"https://x/{token}", "")
        watch.require_silence_so_far()
        found.ses.send("betty@example.com", "Welcome", f"https://x/{token}", "")

    with pytest.raises(LeakedError):
        watch.require_silence()


def test_what_a_relay_is_given_is_heard(ada, store):
    """HD08: also where it is encoded on the way"""
    token = a_link_of_somebody(ada, store)
    mail = EmailMessage()
    mail["Subject"] = "Welcome"
    mail.set_content(f"Grüße, https://x/{token}", cte="base64")
    with relays.serving(begins_with_tls=True) as server:
        relay_says(server, mail)

    with pytest.raises(LeakedError):
        watch.require_silence()


def relay_says(server, mail):
    import ssl  # noqa: PLC0415

    context = ssl.create_default_context(cadata=server.authority)
    with smtplib.SMTP_SSL(relays.HOST, server.port, context=context) as session:
        session.send_message(mail, relays.SENDER, ["betty@example.com"])


def test_what_nobody_may_say_is_forgotten_with_its_test():
    assert (watch.literals, watch.tokens, watch.codes, watch.readers) == (set(), set(), set(), {})


def test_libraries_tell_the_log_of_nothing_but_what_is_wrong(ada, caplog):
    """HD08: not even where a function's level is lowered, for they would tell whole rows"""
    caplog.set_level(logging.DEBUG)
    ada.client.get("/users.json")
    assert app is not None
    ours = {"keyhaven", "root", *(name for name in _loggers() if name.startswith("infra"))}
    assert {record.name for record in caplog.records} <= ours


def _loggers():
    return list(logging.root.manager.loggerDict)


SHIPPED = ("botocore", "urllib3", "pynamodb", "ldap3", "PIL", "jinja2", "jwt", "pgpy")


@pytest.mark.parametrize("library", SHIPPED)
def test_no_library_that_is_shipped_writes_what_it_does(library):
    """HD08"""
    names = [name for name in _loggers() if name.partition(".")[0] == library]
    for name in {library, *names}:
        assert logging.getLogger(name).getEffectiveLevel() >= logging.WARNING
