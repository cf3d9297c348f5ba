"""What is made is made once, however often it is asked for under one idempotency key.

P2, I15, of every endpoint that makes something; which these are, routes say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.environment import ENGINE
from tests.support.faults.hooks import ALWAYS, Failing, Killed, answer_lost, kill_points
from tests.support.faults.trials import Trial
from tests.support.model.invariants import check_invariants
from tests.support.model.outlines import Outlines
from tests.support.proving import PROVING, fewer, more, tried
from tests.support.races.at_once import some_orders
from tests.support.races.scheduler import races
from tests.support.storage import Storage, digest
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR, ROUTES
from tests.support.wire.valid_requests import REQUESTS, Request, Tenant
from tests.support.world import groups, make, people
from tests.support.world.items.comments import comment
from tests.support.world.pictures import BLUE, form, plain, written

MANY = 105
"""More than a transaction has rows."""
WEEK = {"days": 7}
DECLARED = {f"{route.method} {route.path}" for route in ROUTES if route.again is not None}
CREATIONS = sorted(name for name in REQUESTS if " ".join(name.split()[:2]) in DECLARED)
EACH = pytest.mark.parametrize("name", tried(CREATIONS))


@pytest.fixture
def request_(tenant: Tenant, name: str) -> Request:
    """A request that makes something, with a key."""
    return keyed(REQUESTS[name](tenant, name))


def keyed(request: Request, key: str = "8f1a") -> Request:
    headers = {**request.options.get("headers", {}), "idempotency-key": key}
    return replace(request, options={**request.options, "headers": headers})


def say(who: Client, resource_id: str, content: str = "hello") -> Response:
    """A comment, with a key."""
    key = {"idempotency-key": "8f1a"}
    path = f"/comments/resource/{resource_id}.json"
    return who.post(path, {"content": content}, headers=key)


def of_other_content(request: Request, tenant: Tenant) -> Request:
    """The same key for something else."""
    if "raw" in request.options:
        picture = ("me.png", "image/png", written(plain(size=(9, 9), colour=BLUE)))
        raw = form(profile__avatar__file=picture)["raw"]
        return replace(request, options={**request.options, "raw": raw})
    if request.body is None:
        other = make.resource(tenant.betty)
        return replace(request, ids={**request.ids, "resource_id": other})
    if isinstance(request.body, list):
        return replace(request, body=[*request.body, {"other": "content"}])
    return replace(request, body={**request.body, "other": "content"})


@EACH
def test_a_repetition_is_answered_as_the_first_and_writes_nothing(
    store: Storage, request_: Request
) -> None:
    """FT03"""
    first = request_()
    before = digest(store)

    again = request_()

    assert (first.status, again.status) == (200, 200)
    assert (again.message, again.body) == (first.message, first.body)
    assert digest(store) == before


@EACH
def test_a_key_stands_for_one_content(store: Storage, tenant: Tenant, request_: Request) -> None:
    other = of_other_content(request_, tenant)
    assert request_().status == 200
    before = digest(store)

    response = other()

    assert (response.status, response.body) == (409, "")
    assert response.message == "The idempotency key belongs to a request with another content."
    assert digest(store) == before


@pytest.mark.parametrize("renewed", ["x", None])
def test_the_csrf_token_is_no_content(tenant: Tenant, renewed: str | None) -> None:
    """A page that was loaded anew sends another one with the same form."""
    headers = {"idempotency-key": "8f1a"}
    path = f"/comments/resource/{make.resource(tenant.ada)}.json"
    tokens = ({"_csrfToken": "a"}, {} if renewed is None else {"_csrfToken": renewed})
    first, again = (
        tenant.ada.client.post(path, {"content": "hello", **each}, headers=headers)
        for each in tokens
    )
    assert (first.status, again.status) == (200, 200)
    assert again.body["id"] == first.body["id"]


@EACH
@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_a_length(store: Storage, tenant: Tenant, name: str, key: str) -> None:
    request = keyed(REQUESTS[name](tenant, name), key)
    before = digest(store)

    response = request()

    assert response.status == 400
    assert response.message == "The idempotency key should have 1 to 255 characters."
    assert digest(store) == before


@EACH
def test_the_same_request_twice_at_once_makes_one_thing(
    store: Storage, tenant: Tenant, request_: Request
) -> None:
    start, outlines = store.contents(), Outlines(store)
    assert request_().status == 200
    expected = outlines.now()
    for race in races(limit=50, sampled=more(fewer(5, 10), 200)):
        store.put_back(start)
        one, other = (each.get() for each in race.run(request_, request_))
        assert (one.status, other.status) == (200, 200), race.order
        assert one.body == other.body, race.order
        assert outlines.now() == expected, race.order


@EACH
def test_a_process_may_die_and_the_repetition_is_answered_as_the_first(
    store: Storage, time: Any, request_: Request
) -> None:
    """FT01, FT03"""
    endure(store, Trial(store, time, request_), request_)


@EACH
def test_what_could_not_be_confirmed_is_answered_to_the_repetition(
    store: Storage, request_: Request
) -> None:
    """FT06"""
    with Failing(answer_lost, times=ALWAYS, only={"TransactWriteItems"}):
        assert request_().status == 503
    before = digest(store)

    assert request_().status == 200
    assert digest(store) == before


def endure(store: Storage, trial: Trial, ask: Callable[[], Any], step: int = 1) -> None:
    """Let the process die at each moment; who asks again is answered, and all is made once."""
    assert trial.repeated == 200
    for killing in list(kill_points(len(trial.calls)))[::step]:
        trial.restart()
        with killing, pytest.raises(Killed):
            ask()
        first, again = trial.sent(), ask()
        assert (first.status, first.rows) == (200, trial.once.rows), killing.at
        assert again.status == 200
        assert trial.sent().rows == trial.once.rows


def test_a_large_group_is_founded_once(store: Storage, tenant: Tenant) -> None:
    sent = groups.body(tenant.betty, *make.crowd(MANY))
    ask = keyed(Request(tenant.ada.client, "POST /groups.json", {}, sent, {}))
    first = ask()
    before = digest(store)

    again = ask()

    assert (first.status, again.status) == (200, 200)
    assert again.body == first.body
    assert digest(store) == before


@pytest.mark.skipif(ENGINE != "embedded" and not PROVING, reason="takes long on moto")
def test_a_large_group_is_founded_once_by_two_requests_at_once(
    store: Storage, tenant: Tenant
) -> None:
    sent = groups.body(tenant.betty, *make.crowd(MANY))
    ask = keyed(Request(tenant.ada.client, "POST /groups.json", {}, sent, {}))
    start = store.contents()
    for race in some_orders():
        store.put_back(start)
        one, other = (each.get() for each in race.run(ask, ask))
        assert (one.status, other.status) == (200, 200), race.order
        assert one.body == other.body, race.order
        assert len(store.rows("test-groups")) == 1
        check_invariants(store)


@pytest.mark.skipif(ENGINE != "embedded" and not PROVING, reason="takes long on moto")
def test_the_process_that_founds_a_large_group_may_die(
    store: Storage, time: Any, tenant: Tenant
) -> None:
    """FT01, FT03, FT10"""
    sent = groups.body(tenant.betty, *make.crowd(MANY))
    ask = keyed(Request(tenant.ada.client, "POST /groups.json", {}, sent, {}))
    endure(store, Trial(store, time, ask), ask, step=more(fewer(27, 9), 1))


def test_without_a_key_each_is_another(tenant: Tenant) -> None:
    ids = [comment(tenant.ada, tenant.resource).body["id"] for _ in range(2)]
    assert len(set(ids)) == 2


def test_a_key_is_its_endpoints_own(tenant: Tenant) -> None:
    names = ("POST /resources.json", "POST /roles.json", "POST /groups.json")
    made = [keyed(REQUESTS[name](tenant, name))() for name in names]
    assert [response.status for response in made] == [200, 200, 200]


def test_a_key_of_a_guest_is_of_their_address(tenant: Tenant) -> None:
    people.let_in(tenant.ada)
    sent = {**CSRF_PAIR, "headers": {**CSRF_PAIR["headers"], "idempotency-key": "8f1a"}}
    first = tenant.guest.post("/users/register.json", people.invitation("edith"), **sent)

    other = Client(source="192.0.2.7")
    response = other.post("/users/register.json", people.invitation("edith"), **sent)

    assert (first.status, response.status) == (200, 403)
    assert first.body["id"] not in response.content.decode()


def test_a_key_of_a_refused_request_stands_for_nothing(tenant: Tenant) -> None:
    assert say(tenant.ada.client, tenant.resource, "").status == 400

    assert say(tenant.ada.client, tenant.resource, "hello").status == 200


def test_a_key_is_kept_for_a_week(tenant: Tenant, time: Any) -> None:
    """FT18: also while the row is still there"""

    def said() -> str:
        ada = Client(make.access_token(tenant.ada.user))
        return str(say(ada, tenant.resource).body["id"])

    first = said()
    time.pass_by(**WEEK)
    time.pass_by(seconds=-1)
    assert said() == first
    time.pass_by(seconds=1)

    second = said()

    assert second != first
    assert said() == second


def test_what_is_gone_is_not_made_again(store: Storage, tenant: Tenant) -> None:
    ada = tenant.ada.client
    first = say(ada, tenant.resource).body["id"]
    assert ada.delete(f"/comments/{first}.json").status == 200
    before = digest(store)

    assert say(ada, tenant.resource).status == 404
    assert digest(store) == before


def test_what_may_no_longer_be_seen_is_not_shown_again(tenant: Tenant) -> None:
    """I8"""
    first = say(tenant.betty.client, tenant.resource)
    assert tenant.ada.client.delete(f"/resources/{tenant.resource}.json").status == 200

    again = say(tenant.betty.client, tenant.resource)

    assert (first.status, again.status) == (200, 404)
