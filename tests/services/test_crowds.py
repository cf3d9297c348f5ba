"""Many at once, in threads and not by turns: everybody gets through, and nothing is torn.

On the embedded engine alone: moto loses updates when two come at once.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from threading import Barrier, Thread

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import pace
from tests.support.environment import ENGINE
from tests.support.faults.trials import Ask
from tests.support.model.invariants import check_invariants
from tests.support.storage import Storage
from tests.support.world import make
from tests.support.world.items import shares
from tests.support.world.items.resources import path, secret_of, secrets, stored
from tests.support.world.make import Somebody

READ, UPDATE, _ = PermissionType
READERS, WRITERS, SHARERS = 200, 50, 25
MOST_ERRORS = 0.01

pytestmark = pytest.mark.skipif(ENGINE != "embedded", reason="moto serves one at a time")


@pytest.fixture(autouse=True)
def _pauses(_no_pauses: None) -> Iterator[None]:
    """Retries wait, as they do where others are served meanwhile.

    Deadlines do not come: here all share one machine, and how slow it is must not matter.
    """
    previous = pace.set_sources(time.sleep, random.random)
    yield
    pace.set_sources(*previous)


def at_once(*requests: Ask) -> Counter[int]:
    """Send all of them in the same moment; count the answers by status."""
    found: list[int] = []
    start = Barrier(len(requests))

    def send(ask: Ask) -> Callable[[], None]:
        def run() -> None:
            start.wait()
            found.append(ask().status)

        return run

    threads = [Thread(target=send(each)) for each in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(requests)
    return Counter(found)


def assert_few_are_refused(found: Counter[int]) -> None:
    """Who is refused is told that others were faster, which is no error of anybody's."""
    assert found.keys() <= {200, 409}
    assert found[409] <= MOST_ERRORS * found.total()


def test_readers_and_writers_of_one_resource_do_not_starve(
    ada: Somebody, betty: Somebody, store: Storage
) -> None:
    """FT20, I14"""
    resource_id = make.resource(ada, {betty: UPDATE})
    both = (ada, betty)
    new = [secrets(*both, text=str(number)) for number in range(WRITERS)]

    def writing(number: int) -> Ask:
        sent = {"name": str(number), "secrets": new[number]}
        return lambda: both[number % 2].client.put(path(resource_id), sent)

    def reading(number: int) -> Ask:
        query = f"{path(resource_id)}?contain[secret]=1"
        return lambda: both[number % 2].client.get(query)

    found = at_once(*map(writing, range(WRITERS)), *map(reading, range(READERS)))

    assert_few_are_refused(found)
    row = stored(resource_id)
    assert row.version == 1 + WRITERS - found[409]
    last = [each["data"] for each in new[int(row.name or "")]]
    assert [secret_of(who, resource_id) for who in both] == last
    check_invariants(store)


def test_a_group_that_everybody_uses_lets_everybody_through(
    ada: Somebody, betty: Somebody, carol: Somebody, store: Storage
) -> None:
    """FT20, I1"""
    team = make.group(betty, carol)
    given = secrets(betty, carol)
    mine = [make.resource(ada) for _ in range(SHARERS)]

    def sharing(resource_id: str) -> Ask:
        rows = [shares.add(team, READ)]
        return lambda: shares.share(ada, resource_id, rows, given)

    def listing(_: int) -> Ask:
        return lambda: carol.client.get("/resources.json?contain[secret]=1")

    found = at_once(*map(sharing, mine), *map(listing, range(READERS)))

    assert_few_are_refused(found)
    assert len(carol.client.get("/resources.json").body) == SHARERS - found[409]
    check_invariants(store)
