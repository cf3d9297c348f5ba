"""Every function may read and finish what a large change has left of the rows it reads."""

from __future__ import annotations

from chalicelib.tables.operator.outbox import ADMINISTRATORS, Mail
from tests.services.test_half_done import MANY, items_of, signed_in
from tests.support.faults.deaths import after_commit
from tests.support.world import groups, make
from tests.support.world.operator import posted


def test_who_has_joined_reads_their_secret_before_it_is_written(ada, betty, store):
    crowd = make.crowd(MANY)
    team = make.group(betty, crowd[0])
    [item] = items_of(ada, team, count=1)
    joiner = signed_in(crowd[-1])
    new = crowd[1:]
    given = [groups.secret(who, item) for who in new]
    after_commit(lambda: groups.update(betty, team, *map(groups.add, new), secrets=given))

    response = joiner.client.get(f"/secrets/resource/{item}.json")

    assert response.status == 200


def test_administrators_are_found_while_their_rows_are_locked(ada, betty, store):
    crowd = make.crowd(MANY)
    team = make.group(betty, ada, *crowd)
    after_commit(lambda: groups.update(betty, team, *(groups.remove(team, who) for who in crowd)))

    posted.posted(store)
    Mail.to(ADMINISTRATORS, "registered", first_name="Dave", link="https://x/").save()

    assert posted.told(store) == [("ada", "registered")]
