"""Passwords expire when somebody who was given one loses access to it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import GroupId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.operator import readings
from chalicelib.tables.logs.readings import Reading
from tests.conftest import Time
from tests.support.faults.hooks import Recorder
from tests.support.faults.meanwhile import Meanwhile
from tests.support.storage import Storage
from tests.support.wire.asks import removing
from tests.support.world import departures, directories, groups, make, scim
from tests.support.world.items.expiry import marked, turned_off, turned_on
from tests.support.world.items.resources import path, secret_of, secrets, stored
from tests.support.world.items.shares import remove, share
from tests.support.world.make import Somebody, Team
from tests.support.world.operator.posted import posted, told

READ, UPDATE, OWNER = PermissionType
THEN = "2026-11-21T11:59:58+00:00"
AUTOMATICALLY = "expired-automatically"


def read(who: Somebody, *items: str) -> None:
    for each in items:
        assert who.client.get(f"/secrets/resource/{each}.json").status == 200


def expired(*items: str) -> list[str | None]:
    moments = [stored(each).expired for each in items]
    return [each and each.isoformat() for each in moments]


def suspend(by: Somebody, who: Somebody, disabled: str | None = "2026-11-21T12:00:00Z") -> None:
    response = by.client.put(f"/users/{who.id}.json", {"disabled": disabled})
    assert response.status == 200, response.json


def told_automatically(store: Storage) -> list[str]:
    return [who for who, what in told(store) if what == AUTOMATICALLY]


@pytest.fixture
def on(ada: Somebody) -> None:
    turned_on(ada)


@pytest.mark.usefixtures("on")
def test_who_has_read_a_secret_and_loses_it_lets_it_expire(ada, betty, carol, store, time: Time):
    """Each owner is told by one mail, whoever did it; the moment of the last change stays."""
    seen, unseen = (make.resource(ada, {betty: READ, carol: OWNER}) for _ in range(2))
    read(betty, seen)
    time.pass_by(minutes=1)

    for each in (seen, unseen):
        assert share(ada, each, [remove(each, betty)]).status == 200

    assert expired(seen, unseen) == ["2026-11-21T12:00:58+00:00", None]
    assert stored(seen).modified.isoformat() == "2026-11-21T12:00:00+00:00"
    assert told_automatically(store) == ["ada", "carol"]


@pytest.mark.usefixtures("on")
def test_a_reading_of_what_was_exchanged_since_counts_as_well(ada, betty, carol, store):
    """Of two who lose it at once, the owner is told by one mail."""
    item = make.resource(ada, {betty: READ, carol: READ})
    read(betty, item)
    read(carol, item)
    assert ada.client.put(path(item), {"secrets": secrets(ada, betty, carol)}).status == 200

    assert share(ada, item, [remove(item, betty), remove(item, carol)]).status == 200

    assert expired(item) == [THEN]
    assert told_automatically(store) == ["ada"]


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("moment", ["2026-11-01", "2026-11-21T12:00:00Z"])
def test_what_has_expired_stays_as_it_is(ada, betty, store, moment):
    item = make.resource(ada, {betty: READ})
    marked(ada, item, expired=moment)
    read(betty, item)
    before = expired(item)

    share(ada, item, [remove(item, betty)])

    assert expired(item) == before
    assert told_automatically(store) == []


@pytest.mark.usefixtures("on")
def test_what_was_to_expire_later_expires_now(ada, betty):
    item = make.resource(ada, {betty: READ})
    marked(ada, item, expired="2027-01-01")
    read(betty, item)

    share(ada, item, [remove(item, betty)])

    assert expired(item) == [THEN]


@pytest.mark.usefixtures("on")
def test_a_lesser_permission_takes_nothing_away(ada, betty):
    item = make.resource(ada, {betty: UPDATE})
    read(betty, item)
    permission = stored(item).permissions[betty.id].id
    assert share(ada, item, [{"id": permission, "type": READ}]).status == 200
    assert expired(item) == [None]


@pytest.mark.usefixtures("on")
def test_what_a_member_loses_expires_when_they_leave_a_group(ada, betty, carol, store):
    """Not what they have by another group, or by themselves; nor what they never read."""
    team, other = make.group(ada, betty, carol), make.group(carol, betty)
    lost, unread = (make.resource(ada, {team: READ}) for _ in range(2))
    own, twice = (
        make.resource(ada, {team: READ, betty: READ}),
        make.resource(ada, {team: READ, other: READ}),
    )
    read(betty, lost, own, twice)

    assert groups.update(ada, team, groups.remove(team, betty)).status == 200

    assert expired(lost, unread, own, twice) == [THEN, None, None, None]
    assert told_automatically(store) == ["ada"]


@pytest.mark.usefixtures("on")
def test_several_that_expire_by_one_change_are_one_mail(ada, betty, carol, store):
    """Its link leads to all passwords."""
    team = make.group(ada, betty)
    one, two = make.resource(ada, {team: READ}), make.resource(carol, {team: READ, ada: OWNER})
    read(betty, one, two)

    groups.update(ada, team, groups.remove(team, betty))

    assert expired(one, two) == [THEN, THEN]
    mails = [each for each in posted(store) if each.template == AUTOMATICALLY]
    assert [each.who for each in mails] == ["ada", "carol"]
    assert all("/app/passwords\n" in each.text for each in mails)


@pytest.mark.usefixtures("on")
def test_what_a_group_alone_gave_expires_with_the_group(ada, betty, carol):
    team = make.group(ada, betty)
    lost, own = make.resource(carol, {team: READ}), make.resource(carol, {team: READ, betty: READ})
    unread = make.resource(carol, {team: READ})
    read(betty, lost, own)

    assert ada.client.delete(f"/groups/{team.id}.json").status == 200

    assert expired(lost, own, unread) == [THEN, None, None]


@pytest.mark.usefixtures("on")
def test_what_a_user_has_read_expires_when_they_are_deleted(ada, betty, carol, store):
    """Their own, what groups gave them, and what is handed over; the new owner is told."""
    team = make.group(ada, betty)
    direct, by_group = make.resource(ada, {betty: READ}), make.resource(ada, {team: READ})
    handed, unread = (
        make.resource(betty, {carol: READ}),
        make.resource(ada, {betty: READ, team: READ}),
    )
    read(betty, direct, by_group, handed)

    response = removing(ada, betty, owners=[departures.owner(handed, carol)])()

    assert response.status == 200, response.json
    assert expired(direct, by_group, handed, unread) == [THEN, THEN, THEN, None]
    assert told_automatically(store) == ["ada", "carol"]


@pytest.mark.usefixtures("on")
def test_what_a_user_has_read_expires_when_they_are_suspended(ada, betty, carol, store):
    """They keep it; a second date changes nothing, nor does the end of the suspension."""
    team = make.group(carol, betty)
    direct, by_group = make.resource(ada, {betty: READ}), make.resource(carol, {team: READ})
    unread = make.resource(ada, {betty: READ})
    read(betty, direct, by_group)

    suspend(ada, betty)

    assert expired(direct, by_group, unread) == [THEN, THEN, None]
    assert told_automatically(store) == ["ada", "carol"]
    for each in (direct, by_group):
        assert marked(ada if each == direct else carol, each, expired=None).status == 200
    suspend(ada, betty, "2027-01-01T00:00:00Z")
    suspend(ada, betty, None)
    assert expired(direct, by_group) == [None, None]
    assert secret_of(betty, direct)


@pytest.mark.usefixtures("on")
def test_a_suspension_that_is_yet_to_come_lets_expire_at_once(ada, betty):
    item = make.resource(ada, {betty: READ})
    read(betty, item)
    suspend(ada, betty, "2027-01-01T00:00:00Z")
    assert expired(item) == [THEN]


@pytest.mark.usefixtures("on")
def test_who_is_to_be_suspended_is_not_told_by_what_expires(ada, betty, carol, store):
    """They sign in until then, and own it: the mail would tell them what was decided on them."""
    item = make.resource(betty, {make.group(betty, carol): OWNER})
    read(betty, item)
    suspend(ada, betty, "2027-01-01T00:00:00Z")
    assert expired(item) == [THEN]
    assert told_automatically(store) == ["carol"]


@pytest.mark.usefixtures("on")
def test_who_is_suspended_later_reads_until_then_and_nothing_expires(ada, betty, time):
    """As long as they have access, nobody loses anything."""
    suspend(ada, betty, "2099-01-01T00:00:00Z")
    item = make.resource(ada, {betty: READ})

    read(betty, item)
    time.pass_by(minutes=1)
    readings.sweep(clock.now())

    assert expired(item) == [None]
    read(betty, item)


@pytest.mark.usefixtures("on")
def test_a_date_that_comes_by_itself_lets_nothing_expire(ada, betty, time: Time):
    """Not what was read in the minutes before it, either."""
    suspend(ada, betty, "2026-11-21T12:06:00Z")
    item = make.resource(ada, {betty: READ})
    time.pass_by(minutes=4)
    read(betty, item)

    time.pass_by(minutes=6)
    readings.sweep(clock.now())

    assert expired(item) == [None]
    assert betty.client.get("/users/me.json").status in (401, 403)


@pytest.mark.usefixtures("on")
def test_what_is_read_until_a_browser_that_is_ahead_says_now_expires(ada, betty, time: Time):
    """A suspension «now» is of that clock: who is suspended so reads for some minutes more."""
    item = make.resource(ada, {betty: READ})
    suspend(ada, betty, "2026-11-21T12:04:00Z")
    time.pass_by(minutes=3)
    read(betty, item)

    time.pass_by(minutes=6)
    readings.sweep(clock.now())

    assert expired(item) == ["2026-11-21T12:08:58+00:00"]


DATES = {
    "suspended": "2026-11-21T12:00:00Z",
    "suspended by a clock ahead": "2026-11-21T12:04:00Z",
    "suspended of old": "2020-01-01T00:00:00Z",
    "suspended since ever": "0001-01-01T00:00:00Z",
}


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("how", [*DATES, "deleted", "unshared"])
def test_what_is_read_in_the_moment_of_the_loss_expires_when_it_is_spread(
    ada, betty, time: Time, how
):
    item = make.resource(ada, {betty: READ})
    row = remove(item, betty)
    if how in DATES:  # what expires is asked after it: only who was let in before reads unseen
        with Meanwhile(lambda: suspend(ada, betty, DATES[how])):
            read(betty, item)
    else:
        with Meanwhile(lambda: read(betty, item), nth=2 if how == "deleted" else 1):
            if how == "deleted":
                assert ada.client.delete(f"/users/{betty.id}.json").status == 200
            else:
                assert share(ada, item, [row]).status == 200
    assert expired(item) == [None]

    time.pass_by(minutes=6)
    readings.sweep(clock.now())

    assert expired(item) == ["2026-11-21T12:05:58+00:00"]


@pytest.mark.parametrize("was_off", ["while it was off", "before it was ever on"])
def test_what_was_lost_before_it_was_turned_on_does_not_expire(ada, betty, time: Time, was_off):
    if was_off == "while it was off":
        turned_on(ada)
        turned_off(ada)
    item = make.resource(ada, {betty: READ})
    read(betty, item)
    time.pass_by(minutes=1)
    assert share(ada, item, [remove(item, betty)]).status == 200
    time.pass_by(minutes=1)
    turned_on(ada)

    time.pass_by(minutes=6)
    readings.sweep(clock.now())

    assert expired(item) == [None]


@pytest.mark.usefixtures("on")
def test_what_is_read_in_the_moment_of_the_loss_expires_though_settings_are_saved(
    ada, betty, time: Time
):
    item = make.resource(ada, {betty: READ})
    row = remove(item, betty)
    with Meanwhile(lambda: read(betty, item)):
        assert share(ada, item, [row]).status == 200
    time.pass_by(minutes=1)
    turned_on(ada)

    time.pass_by(minutes=6)
    readings.sweep(clock.now())

    assert expired(item) == ["2026-11-21T12:06:58+00:00"]


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("by", ["an administrator", "a run", "SCIM"])
def test_who_is_suspended_before_their_date_lets_expire_what_they_read(ada, betty, by):
    suspend(ada, betty, "2099-01-01T00:00:00Z")
    item, unread = (make.resource(ada, {betty: READ}) for _ in range(2))
    read(betty, item)

    suspend(ada, betty, "2098-01-01T00:00:00Z")
    assert expired(item) == [None]
    if by == "an administrator":
        suspend(ada, betty)
    elif by == "a run":
        entries = [directories.person(name) for name in ("ada", "betty")]
        directories.run(ada, *entries)
        directories.run(ada, entries[0], suspends_users=True)
    else:
        provisioning = scim.directory(ada)
        provisioning.patch(f"/Users/{betty.id}", scim.replace("active", False))

    assert expired(item, unread) == [THEN, None]


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("how", ["suspended", "removed", "deleted"])
def test_what_was_read_expires_whatever_a_directory_does(ada, betty, carol, how):
    read_one, unread = (make.resource(carol, {betty: READ}) for _ in range(2))
    read(betty, read_one)
    provisioning = scim.directory(ada)

    if how == "suspended":
        response = provisioning.patch(f"/Users/{betty.id}", scim.replace("active", False))
    elif how == "deleted":
        response = provisioning.delete(f"/Users/{betty.id}")
    else:
        entries = [directories.person(name) for name in ("ada", "betty")]
        directories.run(ada, *entries)
        directories.run(ada, entries[0])
        response = None

    assert response is None or response.status in (200, 204)
    assert expired(read_one, unread) == [THEN, None]
    assert betty.client.get("/users/me.json").status in (401, 403)


@pytest.mark.usefixtures("on")
def test_what_was_read_expires_when_a_directory_takes_somebody_from_a_group(ada, betty, carol):
    provisioning = scim.directory(ada)
    team = provisioning.grouped("crew", betty.id)
    item = make.resource(carol, {Team(GroupId(team["id"]), (ada, betty)): READ})
    read(betty, item)

    left = scim.remove(f'members[value eq "{betty.id}"]')
    assert provisioning.patch(f"/Groups/{team['id']}", left).status in (200, 204)
    assert expired(item) == [THEN]
    assert provisioning.delete(f"/Groups/{team['id']}").status == 204


@pytest.mark.usefixtures("on")
def test_many_expire_with_one_suspension(ada, betty, store):
    items = [make.resource(ada, {betty: READ}) for _ in range(110)]
    assert betty.client.get("/resources.json?contain[secret]=1").status == 200

    suspend(ada, betty)

    assert {*expired(*items)} == {THEN}
    assert {(row.version, row.lock) for row in map(stored, items)} == {(2, None)}
    assert told_automatically(store) == ["ada"]


@pytest.mark.usefixtures("on")
def test_many_expire_when_a_user_is_deleted(ada, betty, carol, store):
    """Also those that they only had by a group."""
    team = make.group(ada, betty, carol)
    items = [make.resource(ada, {team: READ}) for _ in range(110)]
    assert betty.client.get("/resources.json?contain[secret]=1").status == 200

    assert ada.client.delete(f"/users/{betty.id}.json").status == 200

    assert {*expired(*items)} == {THEN}
    assert told_automatically(store) == ["ada"]


def updated(who: Somebody, item: str) -> str:
    """The secret that an update is answered with."""
    response = who.client.put(path(item), {"description": "x"})
    assert response.status == 200, response.json
    return str(response.body["secrets"][0]["data"])


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("is_spread", [False, True])
def test_who_is_given_a_secret_by_their_update_and_loses_it_lets_it_expire(
    ada, betty, time: Time, is_spread
):
    """Where others wrote it. The log tells of the update alone, before and after it is spread."""
    item = make.resource(ada, {betty: UPDATE})
    assert ada.client.put(path(item), {"secrets": secrets(ada, betty)}).status == 200
    time.pass_by(minutes=1)

    assert updated(betty, item) == secret_of(betty, item)

    if is_spread:
        time.pass_by(minutes=1)
        readings.sweep(clock.now())
    found = ada.client.get(f"/actionlog/resource/{item}.json").body
    assert [each["type"] for each in found] == [
        "Resources.updated",
        "Resources.updated",
        "Resource.Secrets.updated",
    ]
    requests = ada.client.get(f"/actionlog/logs.json?filter[has-users][]={betty.id}").body
    assert len(requests) == 1
    assert share(ada, item, [remove(item, betty)]).status == 200
    assert expired(item) == [(clock.now() - timedelta(seconds=2)).isoformat()]


@pytest.mark.usefixtures("on")
def test_an_update_in_the_moment_of_the_loss_lets_its_password_expire(ada, betty, time: Time):
    item = make.resource(ada, {betty: UPDATE})
    ada.client.put(path(item), {"secrets": secrets(ada, betty)})
    with Meanwhile(lambda: suspend(ada, betty)):
        updated(betty, item)
    assert expired(item) == [None]

    time.pass_by(minutes=6)
    readings.sweep(clock.now())

    assert expired(item) == ["2026-11-21T12:05:58+00:00"]


@pytest.mark.usefixtures("on")
def test_an_update_gives_its_author_no_news_where_they_wrote_the_secret(ada, betty, store):
    item = make.resource(ada, {betty: UPDATE})
    assert betty.client.put(path(item), {"secrets": secrets(ada, betty)}).status == 200
    updated(betty, item)
    assert store.rows(Reading.stored_as()) == []

    share(ada, item, [remove(item, betty)])

    assert expired(item) == [None]


def test_nothing_expires_where_nobody_wants_it(ada, betty, carol):
    items = [make.resource(ada, {betty: READ, carol: READ}) for _ in range(2)]
    read(betty, *items)
    read(carol, *items)

    share(ada, items[0], [remove(items[0], betty)])
    turned_off(ada)
    suspend(ada, carol)
    ada.client.delete(f"/users/{betty.id}.json")

    assert expired(*items) == [None, None]


def test_who_lets_a_password_expire_tells_its_other_owners(ada, betty, carol, store):
    """By marking it, or by updating it; once, and not of what is to expire later."""
    team = make.group(betty, carol)
    one, two = (make.resource(ada, {team: OWNER}) for _ in range(2))

    def by_user() -> list[str]:
        return [who for who, what in told(store) if what == "expired-by-user"]

    marked(ada, one, two, expired="2027-01-01")
    assert by_user() == []
    marked(ada, one)
    assert by_user() == ["betty", "carol"]
    assert betty.client.put(path(two), {"expired": "2026-11-21"}).status == 200
    assert by_user() == ["ada", "carol"]
    marked(ada, one, two, expired="2026-11-20")
    assert by_user() == []


def test_it_costs_nothing_where_nobody_wants_it_and_two_steps_where_somebody_does(ada, betty):
    """What `docs/budgets.md` says."""
    one, two, three = (make.resource(ada, {betty: READ}) for _ in range(3))

    def steps(item: str) -> int:
        row = remove(item, betty)
        with Recorder() as seen:
            assert share(ada, item, [row]).status == 200
        return seen.steps

    ada.client.get("/users/me.json")
    off = steps(one)
    turned_on(ada)
    assert steps(two) == off + 2
    marked(ada, three)
    assert steps(three) == off
