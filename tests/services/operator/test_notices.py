"""One event is one row, however many are told; each of them gets one mail, in their language."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.operator.notices import KINDS, Event
from chalicelib.services.operator import mails
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.operator import notices
from chalicelib.tables.operator.notices import MOST_LISTED
from chalicelib.tables.settings import EMAIL_NOTIFICATIONS, Setting
from chalicelib.tables.users.users import User
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import Killed, kill_points
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import groups, make, people
from tests.support.world.items import resources, shares
from tests.support.world.operator.posted import posted, told

READ, OWNER = PermissionType.READ, PermissionType.OWNER


def tell(event=Event.GROUP_ADDED, *, to, actor=None, **params):
    with Transaction() as tx:
        notices.tell(tx, event, to=to, actor=actor, subject=new_id(), **params)


def setting(name, **value):
    Setting(name, value=value).save()


def deliver_all(store, send):
    for row in people.mails(store):
        mails.deliver(row.id, send)


def test_every_event_has_a_kind():
    assert KINDS.keys() == set(Event)


def test_one_row_tells_everybody_and_each_gets_one_mail(store, ada, betty, carol):
    tell(to=notices.users([ada.id, betty.id, carol.id]), actor=ada.id, name="Operations")

    assert len(people.mails(store)) == 1
    mails_ = posted(store)
    assert [each.who for each in mails_] == ["ada", "betty", "carol"]
    assert "Ada" in mails_[1].subject
    assert "Operations" in mails_[1].subject
    assert "Hello Betty" in mails_[1].text
    assert "Hello Betty" in mails_[1].html


def test_five_thousand_people_are_one_row_that_fits(store):
    ids = [new_id() for _ in range(5_000)]
    tell(to=notices.users(ids), name="all")

    [row] = people.mails(store)
    assert sorted(row.users) == sorted(ids)
    assert len(row.serialize()["users"]["S"]) < 110_000


def test_a_notice_for_nobody_is_none(store, ada):
    with Transaction() as tx:
        tx.require(User.is_active(ada.id))
        told_ = notices.users([ada.id], but=[ada.id])
        notices.tell(tx, Event.GROUP_ADDED, to=told_, actor=None, name="team")

    assert people.mails(store) == []


def test_many_people_are_told_in_steps_and_each_once(store, ada):
    """FT01: whoever dies between two steps has lost no mail, and repeats none."""
    crowd = make.crowd(230)
    tell(to=notices.users([who.id for who in crowd]), actor=ada.id, name="all")
    sent = []
    for killing in kill_points(3):
        with killing, pytest.raises(Killed):
            deliver_all(store, sent.append)

    assert sorted(each.address for each in posted(store)) == sorted(
        who.user.username for who in crowd
    )
    assert sent == []


def test_long_names_of_many_fit_the_mails_of_many(store, ada):
    """A notice that cannot be spread would hold back all mails behind it."""
    crowd = make.crowd(90)
    said = dict.fromkeys(("added", "changed", "removed"), "\n".join(["x" * 511] * MOST_LISTED))
    told_ = notices.users([who.id for who in crowd])
    tell(Event.GROUP_MEMBERS_CHANGED, to=told_, actor=ada.id, name="team", **said)

    assert len(posted(store)) == len(crowd)


def test_two_who_spread_a_notice_make_one_mail_for_each(store, ada, betty):
    tell(to=notices.users([betty.id]), actor=ada.id, name="team")
    [row] = people.mails(store)
    with Meanwhile(lambda: mails.deliver(row.id, print)):
        assert mails.deliver(row.id, print)

    assert told(store) == [("betty", "group-added")]


def test_suspended_deleted_and_invited_people_get_no_mail(store, ada, betty, carol):
    """P7"""
    people.suspend(betty)
    people.delete(carol)
    dave = people.waiting("dave")
    tell(to=notices.users([ada.id, betty.id, carol.id, dave.id]), name="team")

    assert told(store) == [("ada", "group-added")]


def test_who_is_suspended_while_their_mail_waits_does_not_get_it(store, ada, betty):
    tell(to=notices.users([betty.id]), actor=ada.id, name="team")
    [row] = people.mails(store)
    mails.deliver(row.id, lambda letter: None)
    people.suspend(betty)

    assert told(store) == []


def test_a_notice_reaches_who_has_access_by_themselves_or_by_a_group(store, ada, betty, carol):
    team = make.group(betty, carol)
    item = make.resource(ada, {team: READ})
    with Transaction() as tx:
        notices.tell_of(tx, Event.COMMENT_ADDED, item_row(item), actor=ada.id, but=[ada.id])
    tell(Event.EXPIRED_BY_USER, to=notices.owners(item_row(item)), actor=betty.id, name="mail")

    assert told(store) == [
        ("ada", "expired-by-user"),
        ("betty", "comment-added"),
        ("carol", "comment-added"),
    ]


def test_who_joined_by_a_clock_that_is_ahead_is_told_of_a_change(store, ada, betty, carol, time):
    """P11: clocks of functions may be seconds apart."""
    time.pass_by(seconds=5)
    team = make.group(ada, betty, carol)
    time.pass_by(seconds=-5)
    item = make.resource(ada, {team: READ}, name="merger")
    assert ada.client.put(resources.path(item), {"name": "merger 2"}).status == 200

    assert {name for name, _ in told(store)} == {"ada", "betty", "carol"}


def test_who_joins_a_group_after_a_change_is_not_told_of_it(store, ada, betty, carol, time):
    """What was shared with the group until then may be nothing they ever had access to."""
    team = make.group(ada, betty)
    item = make.resource(ada, {team: READ}, name="merger")
    assert ada.client.put(resources.path(item), {"name": "merger 2"}).status == 200
    time.pass_by(minutes=1)
    assert shares.share(ada, item, [shares.remove(item, team)]).status == 200
    assert groups.update(ada, team, groups.add(carol)).status == 200

    assert told(store) == [
        ("ada", "resource-updated"),
        ("betty", "resource-updated"),
        ("carol", "group-added"),
    ]


def item_row(item):
    from chalicelib.tables.items.resources import Resource  # noqa: PLC0415

    return Resource.get(item)


def test_administrators_are_who_they_are_when_it_is_sent(store, ada, betty):
    tell(Event.REGISTERED, to=notices.administrators(but=[ada.id]), first_name="Dave")
    make.user("carol", admin=True)

    assert told(store) == [("carol", "registered")]


def test_a_switch_turns_its_mails_off_also_those_that_wait(store, ada, betty):
    tell(to=notices.users([betty.id]), actor=ada.id, name="team")
    [row] = people.mails(store)
    mails.deliver(row.id, lambda letter: None)
    tell(to=notices.users([ada.id]), actor=ada.id, name="team")
    setting(EMAIL_NOTIFICATIONS, send_group_user_add=False)

    assert told(store) == []
    assert people.mails(store) == []


def test_a_mail_is_in_the_language_of_its_reader_else_of_the_organisation(store, ada, betty):
    people.change(ada.id, locale="fr-FR")
    assert ada.client.post("/locale/settings.json", {"value": "de-DE"}).status == 200
    tell(to=notices.users([ada.id, betty.id]), name="team")
    letters = []
    for _ in range(2):
        for row in people.mails(store):
            mails.deliver(row.id, letters.append)

    assert {each.address: each.locale for each in letters} == {
        "ada@example.com": "fr-FR",
        "betty@example.com": "de-DE",
    }


def test_nothing_encrypted_is_said_of_an_item(store, ada):
    item = item_row(make.resource(ada))
    item.metadata = "-----BEGIN PGP MESSAGE-----"

    assert notices.clear_name(item) is None


def test_an_unknown_word_is_a_mistake_of_ours(store, ada):
    with pytest.raises(AssertionError, match="says nothing of"):
        tell(to=notices.users([ada.id]), secret="x")


def test_a_large_change_stages_what_it_tells(store, ada, betty):
    """FT12: whoever carries the change out tells everybody, once."""
    *crowd, late = make.crowd(61)
    team = make.group(betty)
    after_commit(lambda: groups.update(betty, team, *map(groups.add, crowd)))
    assert people.mails(store) == []
    groups.update(betty, team, groups.add(late))

    sent = [who for who, what in told(store) if what == "group-added"]
    everybody = [who.user.username.partition("@")[0] for who in (*crowd, late)]
    assert sorted(sent) == sorted(everybody)
