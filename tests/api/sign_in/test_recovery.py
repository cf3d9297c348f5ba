"""Recoveries: another link by mail, and what a person does with it on a new device."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pysequoia
import pytest

from chalicelib.domain.armor import (
    PUBLIC_KEY,
    read_block,
    read_packets,
    write_block,
    write_packets,
)
from chalicelib.domain.ids import new_id
from chalicelib.services.sign_in.recovery import MOST_AN_HOUR
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.views.logs import log_events
from tests.conftest import START, Time
from tests.support.faults.hooks import Recorder
from tests.support.faults.meanwhile import Meanwhile
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import make, people
from tests.support.world.keys import KEYS
from tests.support.world.make import Somebody
from tests.support.world.people import change, recover

STARTED = "Recovery process started, check your email."
LOST = "lost-passphrase"
DONE = "The recovery was completed successfully."
ABORTED = "The recovery process was aborted."
BAD_TOKEN = "The authentication token is not valid."
NOT_ACTIVE = "The user does not exist, has not completed the setup or was deleted."
NO_RECOVERY = "The user does not exist or is not active or is disabled."

pytestmark = pytest.mark.usefixtures("time")


@dataclass(frozen=True)
class Recovering:
    """A user who asked for a recovery, and the token they were sent."""

    who: Somebody
    token: str

    @property
    def id(self) -> str:
        return self.who.id


@pytest.fixture
def betty_again(store: Storage, betty: Somebody) -> Recovering:
    recover(Client(), username="betty@example.com")
    [mail] = people.mails(store)
    return Recovering(betty, people.token_of(mail))


def complete(client: Client, user: str, token: Any, key: Any) -> Response:
    body = {"authentication_token": {"token": token}, "gpgkey": {"armored_key": key}}
    return client.post(f"/setup/recover/complete/{user}.json", body)


def abort(client: Client, user: str, token: Any) -> Response:
    body = {"authentication_token": {"token": token}}
    return client.post(f"/setup/recover/abort/{user}.json", body, **CSRF_PAIR)


def refused(response: Response, message: str, body: Any = "") -> bool:
    return (response.status, response.message, response.body) == (400, message, body)


# Asking for a link


@pytest.mark.parametrize("sent", [{}, {"case": None}, {"case": "default"}, {"case": LOST}])
def test_an_active_user_gets_a_recovery_link(api, betty, store, sent):
    response = recover(api, username="BETTY@example.com", **sent)

    assert (response.status, response.message, response.body) == (200, STARTED, None)
    [mail] = people.mails(store)
    assert (mail.recipient, mail.template) == ("betty@example.com", "recovery")
    link = people.link_of(mail)
    assert link.startswith(f"https://keyhaven.test/setup/recover/start/{betty.id}/")
    assert link.endswith(f"?case={sent.get('case') or 'default'}")


@pytest.mark.parametrize("asked", ["andr\u00e9", "Andre\u0301"])
@pytest.mark.parametrize("stored", ["andr\u00e9", "andre\u0301"])
def test_an_address_is_found_however_its_letters_are_composed(api, ada, store, stored, asked):
    ada.client.post("/users.json", people.invitation(stored))

    assert recover(api, username=f"{asked}@example.com").status == 200

    assert [mail.recipient for mail in people.mails(store)] == [f"{stored}@example.com"] * 2


@pytest.mark.parametrize("asks", ["guest", "administrator"])
def test_an_invited_person_gets_another_setup_link_beside_the_first(api, ada, store, time, asks):
    invited = people.invite(store, ada)
    time.pass_by(minutes=1)

    recover(api if asks == "guest" else ada.client, username="dave@example.com")

    mail = people.mails(store)[-1]
    assert mail.template == ("reminder" if asks == "guest" else "invitation")
    for token in (invited.token, people.token_of(mail)):
        assert api.get(f"/setup/start/{invited.id}/{token}.json").status == 200


def test_who_asks_cannot_tell_whether_an_address_is_known(api, ada, betty, store, time):
    """AU39: the same status, body, calls, and rows written."""
    people.suspend(make.user("carol"))
    people.invite(store, ada)
    recover(api, username="warm@example.com")
    told = []
    for name in ("betty", "dave", "carol", "nobody"):
        with Recorder() as seen:
            response = recover(api, username=f"{name}@example.com")
        told.append(
            (
                response.status,
                response.message,
                response.body,
                set(response.headers) - {"content-length"},
                seen.operations,
                seen.rows_written,
            )
        )

    assert all(each == told[0] for each in told)


def test_nobody_is_buried_in_links_whoever_asks(api, ada, betty, store, time):
    """AU39: whoever asks sees no difference, and what was sent stays good."""
    people.invite(store, ada)
    told = []
    for name in ("betty", "dave", "nobody"):
        for _ in range(MOST_AN_HOUR + 2):
            with Recorder() as seen:
                response = recover(api, username=f"{name}@example.com")
            told.append((response.status, response.message, seen.operations, seen.rows_written))

    sent = Counter((mail.recipient, mail.template) for mail in people.mails(store))
    assert sent == {
        ("betty@example.com", "recovery"): MOST_AN_HOUR,
        ("dave@example.com", "invitation"): 1,
        ("dave@example.com", "reminder"): MOST_AN_HOUR,
    }
    assert all(each == told[0] for each in told)
    first = next(mail for mail in people.mails(store) if mail.template == "recovery")
    assert api.get(f"/setup/recover/start/{betty.id}/{people.token_of(first)}.json").status == 200
    time.pass_by(hours=1)
    recover(api, username="betty@example.com")
    assert len(people.mails(store)) == sum(sent.values()) + 1


def test_nobody_who_is_suspended_deleted_or_unknown_gets_mail(api, betty, carol, store):
    people.suspend(betty)
    people.delete(carol)

    for name in ("betty", "carol", "nobody"):
        assert recover(api, username=f"{name}@example.com").message == STARTED
    assert people.mails(store) == []


@pytest.mark.parametrize("case", [5, ["default"], {}])
def test_the_case_is_text_for_known_and_unknown_addresses(api, betty, digest, case):
    """AU39, NP07"""
    before = digest()

    for name in ("betty", "nobody"):
        response = recover(api, username=f"{name}@example.com", case=case)
        assert refused(response, "Account recovery case must be a string.")
        response = recover(api, username=f"{name}@example.com", case="bored")
        assert refused(response, "Account recovery reason not supported.")
    assert digest() == before


@pytest.mark.parametrize(
    "username", [None, "", "ada", 5, True, ["ada@example.com"], {}, "a\x00@example.com", "x" * 9999]
)
def test_a_recovery_needs_an_address(api, ada, digest, username):
    """NP07, NP11"""
    before = digest()

    response = recover(api, username=username)

    assert refused(response, "Please provide a valid email address.")
    assert digest() == before


@pytest.mark.parametrize("payload", [None, [], "x", 5])
def test_a_request_that_is_no_object_has_no_address(api, store, payload):
    """NP06"""
    response = api.post("/users/recover.json", payload, **CSRF_PAIR)

    assert refused(response, "Please provide a valid email address.")


def test_who_is_signed_in_does_not_recover_but_for_others(api, ada, betty):
    response = recover(betty.client, username="ada@example.com")

    assert response.status == 403
    assert response.message == (
        "Only guests are allowed to recover an account. Please logout first."
    )
    assert recover(ada.client, username="betty@example.com").status == 200


def test_a_guest_needs_the_csrf_pair(api, betty, digest):
    before = digest()

    assert api.post("/users/recover.json", {"username": "betty@example.com"}).status == 403
    assert digest() == before


@pytest.mark.parametrize(
    "fields", [{"deleted": True}, {"disabled": START}], ids=["deleted", "suspended"]
)
def test_who_may_not_sign_in_any_more_gets_no_link(api, betty, store, fields):
    with Meanwhile(lambda: change(betty.id, **fields)):
        response = recover(api, username="betty@example.com")

    assert response.message == STARTED
    assert people.mails(store) == []


# Following it


def test_who_recovers_is_addressed_in_their_language_or_the_organisations(
    api, ada, betty, betty_again
):
    assert ada.client.post("/locale/settings.json", {"value": "de-DE"}).status == 200
    path = f"/setup/recover/start/{betty_again.id}/{betty_again.token}.json"
    assert api.get(path).body["user"]["locale"] == "de-DE"

    sent = {"value": "fr-FR"}
    assert betty.client.post("/account/settings/locales.json", sent).status == 200
    assert api.get(path).body["user"]["locale"] == "fr-FR"


@pytest.mark.parametrize("word", ["recover/start", "recover"])
def test_a_user_on_a_new_device_is_told_who_they_are(api, betty_again, digest, word):
    before = digest()

    response = api.get(f"/setup/{word}/{betty_again.id}/{betty_again.token}.json")

    assert response.body["user"]["username"] == "betty@example.com"
    assert "gpgkey" not in response.body["user"]
    assert digest() == before


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("suffix", [".json", ""])
def test_who_has_the_key_ends_the_recovery(api, betty_again, method, suffix):
    body = {
        "authenticationtoken": {"token": betty_again.token},
        "gpgkey": {"armored_key": betty_again.who.key.public},
    }
    path = f"/setup/recover/complete/{betty_again.id}{suffix}"

    response = api.request(method, path, json=body, headers={"accept": "application/json"})

    assert (response.status, response.message, response.body) == (200, DONE, None)


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_who_has_lost_the_key_aborts(api, betty_again, method):
    path = f"/setup/recover/abort/{betty_again.id}.json"
    body = {"authentication_token": {"token": betty_again.token}}

    response = api.request(method, path, json=body, **CSRF_PAIR)

    assert (response.status, response.message, response.body) == (200, ABORTED, None)


def test_a_recovery_spends_its_link_forgets_devices_and_is_told_and_does_nothing_else(
    api, betty_again, store
):
    user, key = people.stored(betty_again.id).to_simple_dict(), betty_again.who.key.public
    before = people.counts(store)

    complete(api, betty_again.id, betty_again.token, key)

    told = {"outbox": before["outbox"] + 2, "action_logs": 1}
    assert people.counts(store) == before | told
    assert people.stored(betty_again.id).to_simple_dict() == user | {"second_factor_epoch": 1}
    start = api.get(f"/setup/recover/start/{betty_again.id}/{betty_again.token}.json")
    for response in (
        start,
        complete(api, betty_again.id, betty_again.token, key),
        abort(api, betty_again.id, betty_again.token),
    ):
        assert (response.status, response.message) == (400, BAD_TOKEN)
        assert list(response.body["token"]) == ["isActive"]


def test_a_link_ends_after_ten_days(api, betty_again, time: Time):
    """FT18"""
    time.pass_by(days=10)

    start = api.get(f"/setup/recover/start/{betty_again.id}/{betty_again.token}.json")
    end = complete(api, betty_again.id, betty_again.token, betty_again.who.key.public)

    for response in (start, end, abort(api, betty_again.id, betty_again.token)):
        assert (response.status, response.message) == (400, BAD_TOKEN)
        assert list(response.body["token"]) == ["expired"]


@pytest.mark.parametrize("what", ["unknown", "inactive", "deleted", "suspended"])
def test_only_who_may_sign_in_recovers(api, betty_again, digest, what):
    fields: dict[str, dict[str, Any]] = {
        "inactive": {"active": False},
        "deleted": {"deleted": True},
        "suspended": {"disabled": START},
        "unknown": {},
    }
    change(betty_again.id, **fields[what])
    user = new_id() if what == "unknown" else betty_again.id
    before = digest()

    start = api.get(f"/setup/recover/start/{user}/{betty_again.token}.json")
    assert refused(start, NO_RECOVERY)
    end = complete(api, user, betty_again.token, betty_again.who.key.public)
    assert refused(end, NOT_ACTIVE)
    assert refused(abort(api, user, betty_again.token), NOT_ACTIVE)
    assert digest() == before


def test_the_key_is_the_users(api, betty_again, digest):
    before = digest()

    response = complete(api, betty_again.id, betty_again.token, KEYS["carol"].public)

    assert refused(response, "The key provided does not belong to given user.")
    assert digest() == before


def test_a_key_that_many_have_signed_since_is_the_users(api, betty_again):
    packets = read_packets(read_block(betty_again.who.key.public, PUBLIC_KEY).data)
    signed = write_block(
        write_packets([*packets[:3], *packets[2:3] * 250, *packets[3:]]), PUBLIC_KEY
    )

    assert complete(api, betty_again.id, betty_again.token, signed).message == DONE


def test_what_a_key_says_of_itself_is_verified_once_the_link_is_good(api, betty_again, digest):
    """Else whoever knows an identifier could have us verify what they like."""
    secret = pysequoia.Tsk.from_bytes(betty_again.who.key.private.encode())
    expired = str(
        secret.extract_certificate().set_expiration(
            datetime(2024, 2, 1, tzinfo=UTC), secret.certifier()
        )
    )
    before = digest()

    assert refused(complete(api, betty_again.id, new_id(), expired), BAD_TOKEN)
    response = complete(api, betty_again.id, betty_again.token, expired)
    assert response.body == {"gpgkey": {"expires": {"custom": "The key is expired."}}}
    assert digest() == before


@pytest.mark.parametrize("key", [None, "", 5, [], {}])
def test_a_recovery_needs_a_key(api, betty_again, key):
    """NP07"""
    response = complete(api, betty_again.id, "x", key)

    assert refused(response, "An OpenPGP key must be provided.")


def test_what_is_no_public_key_is_refused(api, betty_again, digest):
    """IN34"""
    before = digest()

    for key in ("x", betty_again.who.key.private):
        assert complete(api, betty_again.id, betty_again.token, key).status == 400
    assert digest() == before


def test_the_key_is_looked_at_before_the_token(api, betty_again):
    key = betty_again.who.key.public

    for token, message in (
        (None, "An authentication token should be provided."),
        ("x", "The authentication token should be a valid UUID."),
        ("8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21", BAD_TOKEN),
    ):
        assert refused(complete(api, betty_again.id, token, key), message)


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (None, "An authentication token must be provided."),
        ("", "An authentication token must be provided."),
        ("x", "The token should be a valid UUID."),
        (5, "The token should be a valid UUID."),
        ("8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21", BAD_TOKEN),
    ],
)
def test_an_abort_needs_its_token(api, betty_again, digest, token, message):
    """NP07"""
    before = digest()

    assert refused(abort(api, betty_again.id, token), message)
    assert digest() == before


def test_an_abort_does_not_take_the_old_spelling_and_needs_the_csrf_pair(api, betty_again):
    path = f"/setup/recover/abort/{betty_again.id}.json"
    old = {"authenticationtoken": {"token": betty_again.token}}
    new = {"authentication_token": {"token": betty_again.token}}

    assert refused(api.post(path, old, **CSRF_PAIR), "An authentication token must be provided.")
    assert api.post(path, new).status == 403


def test_a_recovery_link_of_somebody_else_or_of_a_setup_is_none(api, ada, carol, betty_again):
    for token in (betty_again.token, new_id()):
        assert refused(abort(api, carol.id, token), BAD_TOKEN)
        assert refused(complete(api, carol.id, token, carol.key.public), BAD_TOKEN)


def test_who_is_signed_in_does_not_recover(ada, betty_again):
    told = {
        ada.client.get(f"/setup/recover/start/{betty_again.id}/x.json").message,
        complete(ada.client, betty_again.id, "x", "x").message,
        abort(ada.client, betty_again.id, "x").message,
    }

    assert told == {
        "Only guests are allowed to proceed with account recovery.",
        "Only guests are allowed to complete account recovery.",
        "Only guests are allowed to abort recovery process.",
    }


@pytest.mark.parametrize("text", ["abc", "{}", "0" * 36])
def test_identifiers_are_looked_at_first(api, betty_again, text):
    """NP01"""
    user = "The user identifier should be a valid UUID."
    start = "/setup/recover/start/"

    assert refused(api.get(f"{start}{text}/x.json"), user)
    assert refused(
        api.get(f"{start}{betty_again.id}/{text}.json"), "The token should be a valid UUID."
    )
    assert refused(complete(api, text, "x", "x"), user)
    assert refused(abort(api, text, "x"), user)


@pytest.mark.parametrize(
    ("end", "action"), [("complete", "Users.recovered"), ("abort", "Users.recovery-aborted")]
)
def test_the_end_of_a_recovery_is_told_to_auditors(api, ada, betty_again, end, action):
    """HD10: it is in the log of the service, too."""
    user, token, key = betty_again.id, betty_again.token, betty_again.who.key.public
    response = complete(api, user, token, key) if end == "complete" else abort(api, user, token)

    [event] = map(log_events.of_row, ActionLog.between(START, START + timedelta(days=1)))
    assert (event["action"], event["object_kind"], event["object_id"]) == (action, "user", user)
    assert (event["actor_id"], event["request_id"]) == (user, response.header["id"])
    [told] = ada.client.get("/actionlog/logs.json").body
    assert (told["id"], told["user_id"]) == (response.header["id"], user)
    assert ada.client.get(f"/actionlog/user/{user}.json").body == []


@pytest.mark.parametrize("end", ["complete", "abort"])
def test_what_was_true_at_the_check_is_true_at_the_end(api, betty_again, store, end):
    """I11"""
    user, token, key = betty_again.id, betty_again.token, betty_again.who.key.public

    def go() -> Response:
        return complete(api, user, token, key) if end == "complete" else abort(api, user, token)

    with Meanwhile(lambda: change(user, disabled=START)):
        assert refused(go(), NOT_ACTIVE)
    change(user, disabled=None)
    with Meanwhile(lambda: abort(Client(), user, token)):
        response = go()
    assert (response.status, response.message) == (400, BAD_TOKEN)
    assert list(response.body["token"]) == ["isActive"]
