"""Room: a change that would not fit is refused before anything is written, small and large."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.domain import clock
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import new_id
from chalicelib.services.users.people.users import new_user
from chalicelib.storage import reading
from chalicelib.storage.changes import operations, parts, room
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.room import LOCK, MARGIN, MOST_BYTES, STAGED, size_of
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.users.users import Belonging, User
from infra.local_server.limits import size_of_item
from tests.support import storage
from tests.support.environment import ENGINE
from tests.support.faults.hooks import Killed, Killing

SMALL, LARGE = 1, 110
"""Rows that follow: one transaction, and several."""
full = pytest.mark.skipif(ENGINE == "moto", reason="moto takes no more than 405,000 bytes")
sizes = pytest.mark.parametrize("count", [SMALL, LARGE], ids=["small", "large"])


def a_user(size: int) -> User:
    """A user whose row has so many bytes."""
    row = new_user("ada@example.com", "Ada", "Lovelace")
    row.groups = {new_id(): a_belonging()}
    row.locale = ""
    row.locale = "x" * (size - size_of(row.serialize()))
    assert size_of(row.serialize()) == size
    row.save()
    return load(row)


def load(user: User) -> User:
    return User.from_raw(reading.find(User.by_id(user.id)))


def a_belonging() -> Belonging:
    return Belonging(new_id(), is_admin=False, created=clock.now())


def a_target() -> Group:
    now, who = clock.now(), new_id()
    row = Group(new_id(), name="team", created=now, modified=now)
    row.created_by = row.modified_by = who
    row.save()
    return row


def change(count: int) -> Change:
    target = a_target()
    tx = Change(target, target.copy())
    for n in range(count):
        tx.then_put(Holding(f"user-{n:04}", target.id, secret_data="pgp"))
    return tx


def joins(user: User, count: int) -> None:
    tx = change(count)
    tx.then_update(user, *User.membership(new_id(), a_belonging()))
    tx.commit()


def leaves(user: User, count: int) -> None:
    tx = change(count)
    [group_id] = user.groups
    tx.then_update(user, *User.no_membership(group_id))
    tx.commit()


def grown_by_joining() -> int:
    user = a_user(1_000)
    joins(user, SMALL)
    return size_of(load(user).serialize()) - 1_000


@sizes
def test_a_row_grows_as_long_as_the_margin_is_left(store, count):
    user = a_user(MOST_BYTES - MARGIN - grown_by_joining())

    joins(user, count)

    assert size_of(load(user).serialize()) == MOST_BYTES - MARGIN
    assert store.rows("test-operations") == []


@sizes
def test_what_would_take_of_the_margin_is_refused_before_anything_is_written(store, count):
    user = a_user(MOST_BYTES - MARGIN - grown_by_joining() + 1)
    tx = change(count)
    tx.then_update(user, *User.membership(new_id(), a_belonging()))
    before = storage.digest(store)

    with pytest.raises(Invalid):
        tx.commit()

    assert storage.digest(store) == before


def test_what_is_committed_is_applied_although_others_fill_the_margin(store, time):
    user = a_user(MOST_BYTES - MARGIN - grown_by_joining())
    tx = change(LARGE)
    tx.then_update(user, *User.membership(new_id(), a_belonging()))
    with Killing(at=1 + 111 // 25 + 1, after=True), pytest.raises(Killed):
        tx.commit()
    locked = load(user)
    assert locked.lock is not None
    longer = "é" * 510
    locked.update([User.first_name.set(longer), User.last_name.set(longer)])

    operations.sweep(created_before=clock.now() + timedelta(hours=1))

    assert len(load(user).groups) == 2
    assert list(parts.staged()) == []


@full
@sizes
def test_a_full_row_may_become_shorter(store, count):
    user = a_user(MOST_BYTES - (LOCK if count == LARGE else 0))

    leaves(user, count)

    assert load(user).groups == {}


@full
def test_a_row_without_room_for_a_lock_is_in_no_large_change(store):
    user = a_user(MOST_BYTES - LOCK + 1)
    before = len(store.rows("test-holdings"))

    with pytest.raises(Invalid):
        leaves(user, LARGE)

    assert store.rows("test-operations") == []
    assert len(store.rows("test-holdings")) == before
    assert load(user).lock is None


@full
@sizes
@pytest.mark.parametrize("over", [0, 1])
def test_a_whole_row_fits_with_what_its_line_has_besides(store, count, over):
    tx = change(count)
    row = Holding("someone", new_id(), secret_data="")
    row.secret_data = "x" * (MOST_BYTES - STAGED + over - size_of(row.serialize()))
    tx.then_put(row)
    before = storage.digest(store)

    if over:
        with pytest.raises(Invalid):
            tx.commit()
        assert storage.digest(store) == before
    else:
        tx.commit()
        stored = [each for each in store.rows("test-holdings") if each["user_id"]["S"] == "someone"]
        assert [each["secret_data"]["S"] for each in stored] == [row.secret_data]


@sizes
def test_an_update_of_a_row_that_was_not_read_leaves_room_for_what_else_is_in_it(store, count):
    tx = change(count)
    tx.then_update(
        Holding.of("someone", new_id()), Holding.secret_data.set("x" * (MOST_BYTES - MARGIN))
    )
    before = storage.digest(store)

    with pytest.raises(Invalid):
        tx.commit()

    assert storage.digest(store) == before


@sizes
def test_the_target_of_a_change_has_room_for_the_name_of_the_operation(store, count):
    target = a_target()
    changed = target.copy()
    changed.name = "x" * (MOST_BYTES - 300)
    tx = Change(target, changed)
    for n in range(count):
        tx.then_put(Holding(f"user-{n:04}", target.id))
    before = storage.digest(store)

    with pytest.raises(Invalid):
        tx.commit()

    assert storage.digest(store) == before


@sizes
@pytest.mark.parametrize(("groups", "fits"), [(100, True), (400, False)])
def test_an_expression_that_is_too_long_is_refused_before_anything_is_written(
    store, count, groups, fits
):
    user = a_user(1_000)
    tx = change(count)
    joined = [User.membership(new_id(), a_belonging())[0] for _ in range(groups)]
    tx.then_update(user, *joined, User.version.add(1))
    before = storage.digest(store)

    if fits:
        tx.commit()
        assert len(load(user).groups) == 1 + groups
    else:
        with pytest.raises(Invalid):
            tx.commit()
        assert storage.digest(store) == before


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"text": {"S": "é"}, "é": {"S": ""}},
        {"number": {"N": "12345"}, "below": {"N": "-12345"}},
        {"yes": {"BOOL": True}, "none": {"NULL": True}},
        {"set": {"SS": ["a", "bc"]}, "list": {"L": [{"S": "a"}, {"N": "1"}]}},
        {"map": {"M": {"of": {"M": {"id": {"S": "a"}, "is_admin": {"BOOL": True}}}}}},
    ],
)
def test_bytes_are_counted_as_the_engines_of_the_tests_count_them(row):
    assert room.size_of(row) == size_of_item(row)
