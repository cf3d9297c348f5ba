"""Avatars: the row and the pictures it names, together and apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain import clock
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import AvatarId, new_id
from chalicelib.domain.users import roles
from chalicelib.objects import avatars as objects
from chalicelib.objects.avatars import Note
from chalicelib.services.operator import sweeper
from chalicelib.services.users.people import avatars
from chalicelib.settings import settings
from tests.support.faults.hooks import (
    ALWAYS,
    UNKNOWN_OUTCOMES,
    WRITES,
    Failing,
    Killed,
    Recorder,
    kill_points,
    throttled,
)
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.races.scheduler import races
from tests.support.wire.client import Client, Response
from tests.support.world import make, people
from tests.support.world.beginning import remove_pictures
from tests.support.world.make import Somebody
from tests.support.world.pictures import PNG, RED, notes, plain, show, stored, upload, written

CALLS = 4
"""Of an upload, to the tables."""
OTHER = written(plain(colour=RED))


def avatar_of(who: Somebody) -> str | None:
    return people.stored(who.id).avatar_id


def test_an_upload_writes_the_row_the_record_and_two_pictures(betty, store):
    people.waiting("dave")
    upload(betty.client, betty.id)
    before, row = people.counts(store), people.stored(betty.id).to_simple_dict()

    upload(betty.client, betty.id, OTHER)

    assert people.counts(store) == before | {"action_logs": before["action_logs"] + 1}
    after = people.stored(betty.id).to_simple_dict()
    changed = {name for name in after if after[name] != row[name]}
    assert changed == {"avatar_id"}
    assert stored() == {avatar_of(betty)}
    assert notes() == set()
    check_invariants(store)


# What is refused leaves neither a row nor a picture


@pytest.fixture
def refused_after(digest: Callable[[], str]) -> Callable[..., Response]:
    def ask(change: Callable[[], object], request: Callable[[], Response]) -> Response:
        after: list[object] = []
        there = stored()
        with Meanwhile(lambda: (change(), after.append(digest()))):
            response = request()
        assert response.status >= 400
        assert after == [digest()]
        assert stored() == there
        assert notes() == set()
        return response

    return ask


def test_who_is_suspended_meanwhile_sends_no_picture(betty, refused_after):
    refused_after(lambda: people.suspend(betty), lambda: upload(betty.client, betty.id))


def test_who_is_demoted_meanwhile_sends_nobodys_picture(ada, betty, refused_after):
    upload(betty.client, betty.id)
    demotion = {"role_id": roles.USER.id}

    response = refused_after(
        lambda: people.change(ada.id, **demotion), lambda: upload(ada.client, betty.id)
    )

    assert response.status == 403


def test_who_is_deleted_meanwhile_gets_no_picture(ada, betty, refused_after):
    response = refused_after(lambda: people.delete(betty), lambda: upload(ada.client, betty.id))

    assert response.message == "The user does not exist or has been deleted."


def test_a_picture_with_the_demotion_of_the_last_administrator_is_refused(ada, refused_after):
    other = make.user("carol", admin=True)

    response = refused_after(
        lambda: people.suspend(other),
        lambda: upload(ada.client, ada.id, role_id=roles.USER.id),
    )

    assert set(response.body) == {"role_id"}


# Two who send one at once


def test_a_picture_somebody_else_sends_meanwhile_is_replaced_whole(ada, betty):
    with Meanwhile(lambda: upload(betty.client, betty.id, OTHER)):
        assert upload(ada.client, betty.id).status == 200

    assert stored() == {avatar_of(betty)}


def test_of_two_pictures_sent_at_once_one_stays(store):
    """RA05: of avatars"""
    for race in races(limit=30, sampled=10):
        store.empty()
        remove_pictures()
        people.start_again()
        ada, betty = make.user("ada", admin=True), make.user("betty")
        outcomes = race.run(
            lambda a=ada, b=betty: upload(a.client, b.id),
            lambda b=betty: upload(b.client, b.id, OTHER),
        )
        assert [outcome.get().status for outcome in outcomes] == [200, 200]
        assert stored() == {avatar_of(betty)}


def test_a_name_that_is_given_meanwhile_is_kept(betty):
    """I14"""
    with Meanwhile(lambda: people.change(betty.id, first_name="Byron")):
        upload(betty.client, betty.id)

    assert people.stored(betty.id).first_name == "Byron"
    assert stored() == {avatar_of(betty)}


# What goes wrong on the way


@pytest.mark.parametrize("fault", UNKNOWN_OUTCOMES)
def test_a_profile_whose_change_is_unknown_leads_to_a_picture(api, betty, fault):
    """FT06: of the row"""
    upload(betty.client, betty.id)
    with Failing(fault, only=WRITES, times=ALWAYS):
        assert upload(betty.client, betty.id, OTHER).status == 503

    assert is_shown(api, betty)
    assert len(stored()) == 2
    swept()
    assert stored() == {avatar_of(betty)}


def test_a_profile_that_was_not_changed_keeps_its_picture(api, betty):
    """FT05"""
    upload(betty.client, betty.id)
    before = avatar_of(betty)
    with Failing(throttled, only=WRITES, times=ALWAYS):
        assert upload(betty.client, betty.id, OTHER).status == 503

    assert avatar_of(betty) == before
    assert is_shown(api, betty)
    swept()
    assert stored() == {before}


@pytest.mark.parametrize("first", ["nothing", "a picture"])
def test_a_process_that_dies_leaves_a_profile_that_leads_to_a_picture(api, store, first):
    """FT01, FT02: of the row"""
    for killing in kill_points(CALLS):
        store.empty()
        remove_pictures()
        people.start_again()
        betty = make.user("betty")
        betty.client.get("/users/me.json")  # so that the keys of tokens are known
        if first == "a picture":
            upload(betty.client, betty.id)
        with suppress(Killed), killing:
            upload(betty.client, betty.id, OTHER)
        assert killing.dead
        assert is_shown(api, betty) or avatar_of(betty) is None
        swept()
        assert stored() == {avatar_of(betty)} - {None}
        assert upload(betty.client, betty.id, OTHER).status == 200
        assert stored() == {avatar_of(betty)}


def test_an_upload_makes_as_many_calls_as_are_killed(betty):
    betty.client.get("/users/me.json")
    with Recorder() as seen:
        upload(betty.client, betty.id)
    assert len(seen.calls) == CALLS


BROKEN = ("avatars", "avatar-changes")


@contextmanager
def away(name: str) -> Iterator[None]:
    """The objects of a folder are out of reach."""
    assert settings.avatar_folder is not None
    folder = settings.avatar_folder / name
    folder.mkdir(exist_ok=True)
    moved = folder.rename(folder.with_name("away"))
    folder.write_text("no folder")
    yield
    folder.unlink()
    moved.rename(folder)


@pytest.mark.parametrize("name", BROKEN)
def test_a_picture_that_cannot_be_written_changes_nothing(betty, digest, name):
    """FT05: of objects"""
    upload(betty.client, betty.id)
    before = digest(), stored()

    with away(name):
        response = upload(betty.client, betty.id, OTHER)

    assert (response.status, response.headers["retry-after"]) == (503, "1")
    swept()
    assert (digest(), stored()) == before
    assert notes() == set()


@pytest.mark.parametrize("name", BROKEN)
def test_a_picture_that_cannot_be_removed_is_removed_later(api, betty, name):
    upload(betty.client, betty.id)
    broken = away(name)

    with Meanwhile(broken.__enter__):
        response = upload(betty.client, betty.id, OTHER)
    broken.__exit__(None, None, None)

    assert response.status == 200
    assert is_shown(api, betty)
    swept()
    assert stored() == {avatar_of(betty)}


# What is left behind


def is_shown(api: Client, who: Somebody) -> bool:
    return show(api, avatar_of(who) or "") != show(api, new_id())


def swept() -> None:
    """As a sweeper whose clock is far ahead."""
    avatars.sweep(written_before=datetime.max.replace(tzinfo=UTC))
    assert notes() == set()


def left_behind(who: Somebody, *, age: timedelta) -> AvatarId:
    """An avatar somebody was about to have when the process died."""
    note = Note(who.id, None, AvatarId(new_id()))
    assert note.after is not None
    objects.write_note(note)
    objects.write(note.after, [PNG, PNG])
    assert settings.avatar_folder is not None
    then = (clock.now() - age).timestamp()
    for path in settings.avatar_folder.glob(f"*/{note.id}*"):
        os.utime(path, (then, then))  # the storage has a clock of its own
    return note.after


def test_the_sweeper_removes_what_is_nobodys_work_any_more(betty, caplog):
    """FT02"""
    upload(betty.client, betty.id)
    left_behind(betty, age=timedelta(minutes=6))

    sweeper.sweep()

    assert stored() == {avatar_of(betty)}
    assert notes() == set()
    assert '"action": "Avatars.end"' in caplog.text


def test_the_sweeper_leaves_alone_what_is_young(betty, caplog):
    left = left_behind(betty, age=timedelta(minutes=4))

    sweeper.sweep()

    assert stored() == {left}
    assert len(notes()) == 1
    assert "sweep" not in caplog.text


def test_where_nothing_is_left_no_row_is_read(betty):
    upload(betty.client, betty.id)

    with Recorder() as seen:
        avatars.sweep(written_before=datetime.max.replace(tzinfo=UTC))
    assert seen.calls == []


# Who is deleted


def test_an_avatar_goes_with_the_user(api, betty):
    """AV05"""
    upload(betty.client, betty.id)
    user = people.stored(betty.id)

    with avatars.removed(user):
        people.delete(betty)

    assert stored() == notes() == set()
    assert show(api, user.avatar_id) == show(api, new_id())


def test_an_avatar_stays_with_a_user_who_is_not_deleted_after_all(api, betty):
    upload(betty.client, betty.id)

    with pytest.raises(Invalid), avatars.removed(people.stored(betty.id)):
        raise Invalid("The user cannot be deleted.")

    assert is_shown(api, betty)
    assert notes() == set()


def test_the_avatar_of_a_deleted_user_is_swept(betty):
    """FT02"""
    upload(betty.client, betty.id)
    with suppress(Killed), avatars.removed(people.stored(betty.id)):
        people.delete(betty)
        raise Killed

    assert len(stored()) == 1
    swept()
    assert stored() == set()


def test_who_has_no_avatar_is_deleted_all_the_same(betty):
    with avatars.removed(betty.user):
        people.delete(betty)

    assert notes() == set()
