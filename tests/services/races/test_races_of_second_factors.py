"""Races of second factors, as in `test_races.py`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.services.sign_in import logins
from chalicelib.tables.tokens import Token
from chalicelib.tables.users.users import User
from tests.conftest import Time
from tests.support.races.at_once import Ask, Crowd, Statuses, statuses_of
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.world import second_factors
from tests.support.world.make import Somebody
from tests.support.world.second_factors import COOKIE, POLICIES, SETUP, App

Raced = Callable[..., set[Statuses]]


@pytest.fixture
def app(ada: Somebody, betty: Somebody, time: Time) -> App:
    second_factors.turn_on(ada)
    made = second_factors.set_up(betty.client)
    time.pass_by(minutes=2)
    return made


def giving(who: Somebody, code: str, **members: object) -> Ask:
    return lambda: second_factors.given(who.client, code, **members)


def resetting(administrator: Somebody, who: Somebody) -> Ask:
    return lambda: administrator.client.delete(f"/mfa/setup/{who.id}.json")


def setting_up(who: Somebody, app: App) -> Ask:
    code = app.code()
    return lambda: who.client.post(SETUP, {"otpProvisioningUri": app.uri, "totp": code})


def failed(who: Somebody, app: App, times: int) -> None:
    for _ in range(times):
        assert second_factors.given(who.client, app.wrong()).status == 400


def test_a_code_is_taken_once(betty: Somebody, app: App, race: Raced) -> None:
    """RA11, I11: the other is told that nothing is asked for, or that the code is wrong"""
    code = app.code()
    assert race(giving(betty, code), giving(betty, code)) == {(200, 400), (400, 200)}


def test_codes_of_two_steps_are_both_good_and_only_in_their_order(
    betty: Somebody, app: App, race: Raced
) -> None:
    earlier, later = app.code(), app.code(1)
    assert race(giving(betty, earlier), giving(betty, later)) == {(200, 200), (400, 200)}


def test_a_code_while_the_app_is_removed(
    ada: Somebody, betty: Somebody, app: App, race: Raced
) -> None:
    """RA11: what is given to what is no more counts nowhere"""
    asked = giving(betty, app.code(), remember=1)
    assert race(asked, resetting(ada, betty)) == {(200, 200), (400, 200)}
    assert User.get(betty.id).totp is None
    assert User.get(betty.id).second_factor_epoch == 1


def test_an_app_is_set_up_once(ada: Somebody, betty: Somebody, store: Storage) -> None:
    """RA11: who comes second is led to the second factor, or told that there is one"""
    second_factors.turn_on(ada)
    apps = [second_factors.offered(betty.client) for _ in range(2)]
    first, second = (setting_up(betty, app) for app in apps)
    found = statuses_of(store, first, second)
    assert found <= {(200, 302), (302, 200), (200, 400), (400, 200)}


def test_an_app_is_set_up_while_it_is_reset(ada: Somebody, betty: Somebody, store: Storage) -> None:
    second_factors.turn_on(ada)
    app = second_factors.offered(betty.client)
    assert statuses_of(store, setting_up(betty, app), resetting(ada, betty)) == {(200, 200)}


def test_two_reset_the_same_app(ada: Somebody, betty: Somebody, app: App, race: Raced) -> None:
    assert race(resetting(ada, betty), resetting(ada, betty)) == {(200, 200)}


def test_the_last_wrong_code_is_counted_once(betty: Somebody, app: App, race: Raced) -> None:
    """RA11: of two at once one is the fifth, and the other finds the session ended"""
    failed(betty, app, 4)
    assert race(giving(betty, app.wrong()), giving(betty, app.wrong())) == {(400, 403), (403, 400)}


def test_wrong_codes_are_all_counted(betty: Somebody, app: App, race: Raced) -> None:
    """RA11"""
    failed(betty, app, 3)
    assert race(giving(betty, app.wrong()), giving(betty, app.wrong())) == {(400, 400)}
    assert second_factors.given(betty.client, app.code()).status == 403


def test_a_right_code_beside_the_last_wrong_one(betty: Somebody, app: App, race: Raced) -> None:
    """RA11: it is the fifth try that counts, or it comes too late"""
    failed(betty, app, 4)
    right, wrong = giving(betty, app.code()), giving(betty, app.wrong())
    assert race(right, wrong) == {(200, 400), (403, 400)}


def test_of_many_wrong_codes_at_once_five_are_looked_at(betty: Somebody, app: App) -> None:
    """Each has begun before any other is counted."""
    with Crowd([giving(betty, app.wrong())] * 9) as crowd:
        crowd.seen.append(second_factors.given(betty.client, app.wrong()).status)
    assert sorted(crowd.seen) == [400] * 5 + [403] * 5
    [session] = [row for row in Token.scan() if row.failures == 5 and row.kind == "bearer"]
    assert session.is_spent


def another_session(of: Somebody) -> Client:
    session, tokens = logins.new_session(of.user)
    logins.open_session(of.user, session, tokens, verify_token=new_id(), expiry=4_000_000_000)
    return Client(tokens.access_token, {})


def failed_in_sessions(who: Somebody, app: App, times: int) -> None:
    for _ in range(times):
        assert second_factors.given(another_session(who), app.wrong()).status == 400


def test_of_many_wrong_codes_at_once_in_as_many_sessions_twenty_are_looked_at(
    betty: Somebody, app: App
) -> None:
    """Who has the user's key opens as many sessions as they like; the right code comes too late."""
    failed_in_sessions(betty, app, 15)
    sessions = [another_session(betty) for _ in range(9)]
    wrong = [partial(second_factors.given, each, app.wrong()) for each in sessions]

    with Crowd(wrong) as crowd:
        last = second_factors.given(another_session(betty), app.code())

    assert sorted(crowd.seen) == [400] * 5 + [429] * 4
    assert last.status == 429
    [hour] = [row for row in Token.scan() if row.kind == "wrong-codes"]
    assert hour.failures == 20


def test_of_two_sessions_one_has_the_last_try_of_the_hour(
    betty: Somebody, app: App, race: Raced
) -> None:
    failed_in_sessions(betty, app, 19)
    asked = [partial(second_factors.given, another_session(betty), app.wrong()) for _ in range(2)]

    assert race(*asked) == {(400, 429), (429, 400)}


def test_a_device_is_remembered_while_all_are_forgotten(
    ada: Somebody, betty: Somebody, app: App, race: Raced
) -> None:
    """RA11: whichever comes first, it is not remembered afterwards"""
    answers: list[Response] = []

    def give() -> Response:
        answers.append(second_factors.given(betty.client, code, remember=1))
        return answers[-1]

    def forget() -> Response:
        policies = {"policy": "opt-in", "remember_me_for_a_month": False}
        return ada.client.post(POLICIES, policies)

    code = app.code()
    assert race(give, forget) == {(200, 200)}
    ada.client.post(POLICIES, {"policy": "opt-in", "remember_me_for_a_month": True})
    value = second_factors.cookie_of(answers[-1])
    session = next(row for row in Token.scan() if row.second_factor)
    session.update([Token.second_factor.remove()])
    assert Client(betty.client.token, {COOKIE: value}).get("/users/me.json").status == 302


def test_a_code_while_the_organisation_turns_it_off(
    ada: Somebody, betty: Somebody, app: App, race: Raced
) -> None:
    def turn_off() -> Response:
        return ada.client.post("/mfa/settings.json", {"providers": []})

    assert race(giving(betty, app.code()), turn_off) == {(200, 200), (400, 200)}
