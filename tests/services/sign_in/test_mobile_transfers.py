"""Mobile transfers, whoever changes what at the same moment."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.races.at_once import Ask
from tests.support.wire.client import Client
from tests.support.world import mobile, people
from tests.support.world.make import Somebody
from tests.support.world.mobile import LAST, SECOND, path, path_of_phone

CANCEL = {"status": "cancel"}
Json = dict[str, Any]


@pytest.fixture
def transfer(betty: Somebody) -> Json:
    return mobile.begun(betty)


def by_owner(who: Somebody, transfer: Json, sent: Json) -> Ask:
    return lambda: who.client.put(path(transfer), sent)


def by_phone(transfer: Json, sent: Json) -> Ask:
    return lambda: Client().put(path_of_phone(transfer), sent)


def test_it_ends_once(betty, transfer, race):
    """I11: the token is spent by one of them; who comes second hears that it is over"""
    asked = by_phone(transfer, LAST), by_phone(transfer, CANCEL)

    assert race(*asked) == {(200, 403), (403, 200)}


def test_its_user_ends_it_while_the_phone_does(betty, transfer, race):
    asked = by_phone(transfer, LAST), by_owner(betty, transfer, CANCEL)

    assert race(*asked) == {(200, 403), (403, 200)}


def test_it_goes_on_while_it_ends(betty, transfer, race):
    """What is over does not go on"""
    asked = by_phone(transfer, SECOND), by_owner(betty, transfer, CANCEL)

    assert race(*asked) == {(200, 200), (403, 200)}


def test_it_goes_on_twice(betty, transfer, race):
    """I14: the second is decided from what the first has left"""
    further = {"current_page": 2}
    by_phone(transfer, SECOND)()

    asked = by_phone(transfer, further), by_owner(betty, transfer, {"status": "in progress"})

    assert race(*asked) == {(200, 200)}


@pytest.mark.parametrize("end", [people.suspend, people.delete])
def test_its_user_is_gone_when_it_is_written(betty, transfer, refused_after, end):
    response = refused_after(lambda: end(betty), by_phone(transfer, SECOND))

    assert response.status == 403


def test_its_user_is_deleted_at_the_same_moment(ada, betty, transfer, race):
    deleting = lambda: ada.client.delete(f"/users/{betty.id}.json")  # noqa: E731

    assert race(by_phone(transfer, SECOND), deleting) == {(200, 200), (403, 200)}
