"""Signing in with a signed challenge."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pysequoia
import pytest

from chalicelib.domain.ids import new_id
from chalicelib.tables.tokens import Token
from chalicelib.tables.users.users import User
from tests.conftest import Time
from tests.support.environment import BASE_URL
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.world import make
from tests.support.world.keys import KEYS, challenge, open_sealed
from tests.support.world.make import Somebody
from tests.support.world.operator import posted

SERVER = KEYS["server_curve"]
LOGIN = "/auth/jwt/login.json"
INVALID = "The credentials are invalid."

pytestmark = pytest.mark.usefixtures("time")


def claims(time: Time, **changes: Any) -> dict[str, Any]:
    made = {
        "version": "1.0.0",
        "domain": BASE_URL,
        "verify_token": str(uuid4()),
        "verify_token_expiry": time.timestamp + 120,
    }
    return {name: value for name, value in (made | changes).items() if value is not ...}


def log_in(api: Client, who: Somebody, text: str | dict[str, Any], **options: Any) -> Response:
    clear = text if isinstance(text, str) else json.dumps(text)
    signer = options.get("signer", who.key)
    armored = challenge(clear, signer.private, SERVER.public)
    return api.post(LOGIN, {"user_id": options.get("user_id", who.id), "challenge": armored})


def opened(response: Response, who: Somebody) -> dict[str, Any]:
    assert response.status == 200, response.content
    text = open_sealed(response.body["challenge"], who.key.private, SERVER.public)
    return dict(json.loads(text))


def assert_refused(response: Response) -> None:
    assert (response.status, response.message, response.body) == (400, INVALID, "")


def test_the_answer_is_for_the_user_alone_and_signed_by_the_server(
    api: Client, betty: Somebody, time: Time
) -> None:
    """AU20"""
    sent = claims(time, verify_token="7D9BBD8A-1C0F-4F1F-8C6E-2F2F5D1B6F01")
    response = log_in(api, betty, sent)

    answer = opened(response, betty)
    assert answer.keys() == {
        *("version", "domain", "verify_token", "access_token", "refresh_token")
    }
    assert answer["verify_token"] == sent["verify_token"]
    assert answer["domain"] == BASE_URL + "/"
    assert response.message == "The authentication was a success."
    for token in (answer["access_token"], answer["refresh_token"]):
        assert token not in response.content.decode()
        assert all(token not in value for _, value in response.raw_headers)
    with pytest.raises(Exception, match=r"(?i)decrypt|session key|recipient"):
        open_sealed(response.body["challenge"], KEYS["carol"].private, SERVER.public)


def test_a_challenge_opens_one_session_and_its_replay_is_told_of(
    api: Client,
    ada: Somebody,
    betty: Somebody,
    time: Time,
    store: Storage,
    digest: Callable[[], str],
) -> None:
    """AU01"""
    assert ada.user.is_admin
    armored = challenge(json.dumps(claims(time)), betty.key.private, SERVER.public)
    body = {"user_id": betty.id, "challenge": armored}

    assert api.post(LOGIN, body).status == 200
    assert_refused(api.post(LOGIN, body))
    assert posted.told(store) == [("ada", "sign-in-refused-of-user"), ("betty", "sign-in-refused")]
    before = digest()  # and once within the hour
    assert_refused(api.post(LOGIN, body))
    assert digest() == before


@pytest.mark.parametrize("is_used", [True, False])
def test_a_replay_is_told_of_also_after_the_challenge_has_expired(
    api: Client,
    ada: Somebody,
    betty: Somebody,
    time: Time,
    store: Storage,
    caplog: pytest.LogCaptureFixture,
    *,
    is_used: bool,
) -> None:
    """AU01 AU02: and one that only has expired is told to nobody."""
    assert ada.user.is_admin
    armored = challenge(json.dumps(claims(time)), betty.key.private, SERVER.public)
    body = {"user_id": betty.id, "challenge": armored}
    if is_used:
        assert api.post(LOGIN, body).status == 200
    time.pass_by(seconds=120)

    assert_refused(api.post(LOGIN, body))

    [told] = [json.loads(r.message) for r in caplog.records if '"alert"' in r.message]
    assert told["step"] == ("replay" if is_used else "expiry")
    assert [who for who, _ in posted.told(store)] == (["ada", "betty"] if is_used else [])


def test_what_is_told_of_a_replay_names_address_and_program(
    api: Client, ada: Somebody, betty: Somebody, time: Time, store: Storage
) -> None:
    """AU01"""
    assert ada.user.is_admin
    armored = challenge(json.dumps(claims(time)), betty.key.private, SERVER.public)
    body = {"user_id": betty.id, "challenge": armored}
    for _ in range(2):
        api.post(LOGIN, body, headers={"user-agent": "Thief"})

    mails = posted.posted(store)
    assert len(mails) == 2
    for mail in mails:
        assert api.source in mail.text
        assert "calls itself: Thief" in mail.text


def test_a_verify_token_in_other_letter_case_is_the_same(
    api: Client, betty: Somebody, time: Time
) -> None:
    """AU01"""
    sent = claims(time)

    assert log_in(api, betty, sent).status == 200
    assert_refused(log_in(api, betty, sent | {"verify_token": sent["verify_token"].upper()}))


def test_two_users_may_send_the_same_verify_token(
    api: Client, betty: Somebody, carol: Somebody, time: Time
) -> None:
    sent = claims(time)

    assert log_in(api, betty, sent).status == 200
    assert log_in(api, carol, sent).status == 200


@pytest.mark.parametrize("ahead", [-1, 0, 3601, 3700, 10**9])
def test_an_expiry_in_the_past_or_far_ahead_is_refused(
    api: Client, betty: Somebody, time: Time, digest: Callable[[], str], ahead: int
) -> None:
    """AU02 AU03"""
    before = digest()
    assert_refused(log_in(api, betty, claims(time, verify_token_expiry=time.timestamp + ahead)))
    assert digest() == before


@pytest.mark.parametrize("form", [int, float, str, "{}.0".format, "{}.512345".format])
def test_an_expiry_may_be_a_number_or_one_as_a_text(
    api: Client, betty: Somebody, time: Time, form: Callable[[int], Any]
) -> None:
    expiry = form(time.timestamp + 3590)
    assert log_in(api, betty, claims(time, verify_token_expiry=expiry)).status == 200


@pytest.mark.parametrize("value", [None, True, "soon", "", "-5", "1e30", "1.", [], {}, ...])
def test_an_expiry_that_is_no_time_is_refused(
    api: Client, betty: Somebody, time: Time, value: Any
) -> None:
    """AU02"""
    assert_refused(log_in(api, betty, claims(time, verify_token_expiry=value)))


@pytest.mark.parametrize(
    "value", ["abc", "", None, 7, "{7d9bbd8a-1c0f-4f1f-8c6e-2f2f5d1b6f01}", [], ...]
)
def test_a_verify_token_is_a_uuid(api: Client, betty: Somebody, time: Time, value: Any) -> None:
    """AU04"""
    assert_refused(log_in(api, betty, claims(time, verify_token=value)))


@pytest.mark.parametrize("value", ["1.0.1", 1, None, "", ...])
def test_the_version_is_the_one_there_is(
    api: Client, betty: Somebody, time: Time, value: Any
) -> None:
    """AU14"""
    assert_refused(log_in(api, betty, claims(time, version=value)))


@pytest.mark.parametrize(
    "value",
    [
        "https://evil.test",
        BASE_URL.replace("https", "http"),
        BASE_URL + ":8443",
        BASE_URL.replace("https://", "https://keyhaven.test@"),
        BASE_URL.replace("a", "\u0430"),
        BASE_URL + "/path",
        BASE_URL.upper(),
        None,
        [BASE_URL],
        "",
        ...,
    ],
)
def test_a_challenge_for_another_domain_is_refused(
    api: Client, betty: Somebody, time: Time, value: Any
) -> None:
    """AU13"""
    assert_refused(log_in(api, betty, claims(time, domain=value)))


def test_a_trailing_slash_of_the_domain_is_passed_over(
    api: Client, betty: Somebody, time: Time
) -> None:
    """AU13"""
    assert log_in(api, betty, claims(time, domain=BASE_URL + "/")).status == 200


def test_a_challenge_signed_by_another_users_key_is_refused_and_told(
    api: Client,
    betty: Somebody,
    carol: Somebody,
    time: Time,
    digest: Callable[[], str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """AU05 AU06"""
    before = digest()
    assert_refused(log_in(api, betty, claims(time), signer=carol.key))
    assert_refused(log_in(api, carol, claims(time), user_id=betty.id))
    assert digest() == before
    alerts = [json.loads(r.message) for r in caplog.records if '"alert"' in r.message]
    assert [(a["step"], a["object"]) for a in alerts] == [("signature", betty.id)] * 2


def test_an_unsigned_challenge_is_refused(api: Client, betty: Somebody, time: Time) -> None:
    """AU07"""
    recipient = pysequoia.Cert.from_bytes(SERVER.public.encode())
    text = json.dumps(claims(time)).encode()
    unsigned = pysequoia.encrypt(text, recipients=[recipient]).decode()

    assert_refused(api.post(LOGIN, {"user_id": betty.id, "challenge": unsigned}))


def test_a_signed_challenge_that_is_not_encrypted_is_refused(
    api: Client, betty: Somebody, time: Time
) -> None:
    """AU08"""
    signer = pysequoia.Tsk.from_bytes(betty.key.private.encode()).signer()
    text = json.dumps(claims(time)).encode()
    for mode in (pysequoia.SignatureMode.INLINE, pysequoia.SignatureMode.CLEAR):
        signed = pysequoia.sign(signer, text, mode=mode).decode()
        assert_refused(api.post(LOGIN, {"user_id": betty.id, "challenge": signed}))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "no json",
        lambda text: f"[{text}]",
        lambda text: text[:-1] + ', "more": {"deep": {"deeper": 1}}}',
        lambda text: text[:-1] + ', "more": []}',
        lambda text: text[:-1] + ', "version": "1.0.0"}',
        lambda text: text + " trailing",
        lambda text: text[:-1] + ', "more": "' + "x" * 1_000_000 + '"}',
        lambda text: text[:-1] + ', "more": NaN}',
        lambda text: "\ufeff" + text,
        lambda text: "",
    ],
)
def test_a_challenge_holds_one_flat_json_object(
    api: Client, betty: Somebody, time: Time, change: Callable[[str], str]
) -> None:
    """AU15"""
    assert_refused(log_in(api, betty, change(json.dumps(claims(time)))))


def test_other_members_of_a_challenge_are_passed_over(
    api: Client, betty: Somebody, time: Time
) -> None:
    assert log_in(api, betty, claims(time, client="keyhaven-cli")).status == 200


def test_unknown_deleted_inactive_and_suspended_users_look_the_same(
    api: Client, betty: Somebody, time: Time, digest: Callable[[], str]
) -> None:
    """AU16"""
    changes: list[dict[str, Any]] = [
        {"deleted": True},
        {"active": False},
        {"disabled": time.now},
    ]
    answers = [log_in(api, betty, claims(time), user_id=new_id())]
    for change in changes:
        row = User.from_raw(betty.user.serialize())
        for name, value in change.items():
            setattr(row, name, value)
        row.save()
        before = digest()
        answers.append(log_in(api, betty, claims(time)))
        assert digest() == before

    assert {(a.status, a.message, a.body) for a in answers} == {
        (404, "The user does not exist or is not active or has been deleted.", "")
    }


def test_a_suspension_that_lies_ahead_does_not_hinder(
    api: Client, betty: Somebody, time: Time
) -> None:
    time.pass_by(hours=1)
    betty.user.disabled = time.now
    betty.user.save()
    time.pass_by(seconds=-1)

    assert log_in(api, betty, claims(time)).status == 200


@pytest.mark.parametrize("value", [..., None, 7, [], {}, True, "x" * 1_000_000])
@pytest.mark.parametrize("name", ["user_id", "challenge"])
def test_user_id_and_challenge_are_texts_of_their_kind(
    api: Client, betty: Somebody, digest: Callable[[], str], name: str, value: Any
) -> None:
    """AU17"""
    body = {"user_id": betty.id, "challenge": "x"} | {name: value}
    before = digest()
    assert_refused(api.post(LOGIN, {n: v for n, v in body.items() if v is not ...}))
    assert digest() == before


def test_a_message_that_opens_and_one_that_does_not_are_refused_alike(
    api: Client, betty: Somebody, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    """AU11 HD09"""
    canary = "correct-horse-battery-staple"
    wrong_key = challenge(canary, betty.key.private, KEYS["carol"].public)
    not_json = challenge(canary, betty.key.private, SERVER.public)

    for armored in (wrong_key, not_json):
        assert_refused(api.post(LOGIN, {"user_id": betty.id, "challenge": armored}))
    assert canary not in caplog.text
    steps = [json.loads(r.message)["step"] for r in caplog.records if '"alert"' in r.message]
    assert steps == ["decrypt", "json"]


def test_signing_in_is_noted_and_writes_what_keeps_the_session(
    api: Client, betty: Somebody, time: Time, store: Storage
) -> None:
    before = len(store.rows(Token.stored_as()))
    assert log_in(api, betty, claims(time)).status == 200

    assert User.get(betty.id).last_logged_in == time.now
    kinds = sorted(row["kind"]["S"] for row in store.rows(Token.stored_as()))
    assert len(kinds) == before + 3
    assert kinds == ["bearer", "bearer", "challenge", "refresh"]


def test_cookies_of_a_browser_session_are_given_up(
    api: Client, betty: Somebody, time: Time
) -> None:
    api.cookies = {"passbolt_session": "old", "csrfToken": "0" * 128}
    expired = log_in(api, betty, claims(time)).set_cookies

    assert [c.partition("=")[0] for c in expired] == ["passbolt_session", "csrfToken"]
    assert all("1970" in c for c in expired)


@pytest.mark.parametrize("name", ["ada", "edith", "frances"])
def test_keys_of_every_kind_sign_in(api: Client, time: Time, name: str) -> None:
    who = make.user(name)
    assert opened(log_in(api, who, claims(time)), who)["access_token"]
