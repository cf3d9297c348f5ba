"""Changes of any size: one transaction, or an operation that whoever comes by completes."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest

from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, Invalid, Stale, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.services.operator import sweeper
from chalicelib.storage import pace, reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes import operations
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Locked
from chalicelib.tables.claims import Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.settings import Setting
from tests.support import storage
from tests.support.environment import ENGINE
from tests.support.faults import hooks
from tests.support.faults.hooks import Failing, Killed, Killing, Recorder
from tests.support.faults.large_operations import lines
from tests.support.proving import fewer
from tests.support.races.scheduler import races

SMALL, LARGE = 99, 110
"""Rows that follow: a transaction with the target, and more than any holds (two steps more)."""
LINES = LARGE // 25 + 1
"""Calls that stage the large one, after the header and before the commit."""


def _target(name="before"):
    now, who = clock.now(), new_id()
    group = Group(new_id(), name=name, created=now, modified=now, created_by=who, modified_by=who)
    group.save()
    return group


def _load(group):
    return Group.from_raw(reading.find(group.key))


def _load_all(groups):
    rows = reading.read(each.key for each in groups)
    return [rows.find(Group, each.id) for each in groups]


def _share(group, count=LARGE, secret="pgp"):
    """Give so many users the group, as it was read."""
    changed = group.copy()
    changed.name = f"shared with {count}"
    with Change(group, changed) as tx:
        for n in range(count):
            tx.then_put(Holding(f"user-{n:04}", group.id, secret_data=secret))


def _rename(group, name):
    """A writer as requests are: ends what is in the way, then decides from a new row."""
    for _ in range(3):
        current = _load(group)
        changed = current.copy()
        changed.name = name
        try:
            with Change(current, changed):
                pass
        except Locked as refused:
            operations.end(refused.locks)
        except Stale:
            pass
        else:
            return
    raise Conflict("too busy")


def _finish(group):
    """What a writer does who is refused by the operation that held the row when it was read."""
    operations.end({group.lock: group.key})


def _holders(store):
    return sorted(row["user_id"]["S"] for row in store.rows("test-holdings"))


def _everybody(count=LARGE):
    return [f"user-{n:04}" for n in range(count)]


def _staged(store):
    return store.rows("test-operations")


def _start(store):
    """A target in the tables, beside what the sweeper notes, and one number for that state."""
    store.empty()
    group = _target()
    sweeper.sweep()
    return group, storage.digest(store)


def _sweep_all():
    """As a sweeper whose clock is far ahead."""
    operations.sweep(created_before=clock.now() + timedelta(hours=1))


def _sweep(time):
    time.pass_by(minutes=10)
    sweeper.sweep()


def _calls_of(action):
    with Recorder() as seen:
        action()
    return len(seen.calls)


# Size


def test_a_change_that_fits_is_one_transaction(store):
    with Recorder() as seen:
        _share(_target(), SMALL)

    assert seen.operations[-1:] == ["TransactWriteItems"]
    assert _holders(store) == _everybody(SMALL)
    assert "operations" not in seen.tables


def test_a_change_of_101_rows_is_written_in_steps(store):
    group = _target()
    with Recorder() as seen:
        _share(group, SMALL + 1)

    assert "operations" in seen.tables
    assert _holders(store) == _everybody(SMALL + 1)


@pytest.mark.parametrize("count", [1, SMALL, LARGE])
def test_a_change_raises_the_version_and_leaves_no_trace_of_itself(store, count):
    group = _target()

    _share(group, count)

    current = _load(group)
    assert (current.version, current.lock) == (2, None)
    assert current.name == f"shared with {count}"
    assert _staged(store) == []


def test_a_change_for_500_users_is_complete(store):
    """FT10"""
    group = _target()

    _share(group, 500)

    assert _holders(store) == _everybody(500)
    assert _staged(store) == []


def test_a_change_over_4_mb_is_written_in_steps(store):
    """FT13"""
    group = _target()

    with Recorder() as seen:
        _share(group, 15, secret="x" * 390_000)

    assert seen.operations.count("TransactWriteItems") > 2
    assert _holders(store) == _everybody(15)
    assert all(row["secret_data"]["S"] == "x" * 390_000 for row in store.rows("test-holdings"))


def test_the_number_of_calls_grows_with_the_rows_and_no_faster(store):
    group = _target()
    counts = [_calls_of(lambda n=n: _share(_load(group), n)) for n in (196, 392, 588)]

    assert counts[2] - counts[1] == counts[1] - counts[0]
    assert counts[0] == 1 + 1 + 8 + 1 + 2 + 8  # read; header, lines, commit, apply, remove


def test_the_round_trips_in_sequence_are_few(store):
    group = _target()
    with Recorder() as seen:
        _share(group, 490)

    assert seen.steps == 1 + 1 + 1 + 5 + 1  # header, lines, commit, apply, remove


# What follows


def test_lines_that_follow_put_change_and_remove(store):
    group = _target()
    _share(group, LARGE)
    Holding("user-0001", group.id, secret_data="old", favorite_id="star").save()
    current = _load(group)

    with Change(current, current.copy()) as tx:
        for n in range(1, LARGE):
            key = Holding.of(f"user-{n:04}", group.id)
            tx.then_update(key, Holding.secret_data.set("new"), Holding.secret_id.remove())
        tx.then_delete(Holding.of("user-0000", group.id))
        tx.then_put(Claim("theme", "midgar", subject="a"))

    assert _holders(store) == _everybody()[1:]
    rows = store.rows("test-holdings")
    assert {row["secret_data"]["S"] for row in rows} == {"new"}
    assert [row["user_id"]["S"] for row in rows if "favorite_id" in row] == ["user-0001"]
    assert [claim.subject for claim in Claim.of_kind("theme")] == ["a"]


@pytest.mark.parametrize("count", [SMALL, LARGE])
def test_a_row_is_written_once_in_a_change(store, count):
    group = _target()
    change = Change(group, group.copy())
    for n in range(count):
        change.then_delete(Holding.of(str(n), group.id))
    change.create(Holding("0", group.id))

    with pytest.raises(AssertionError, match="twice"):
        change.commit()
    assert _staged(store) == []


# Refusals


def test_a_row_may_be_rested_on_once_more_when_it_is_staged(store):
    group, other = _target(), _target("other")
    with Change(group, group.copy()) as tx:
        tx.then_update(other, Group.name.set("after"), Group.version.add(1))
        for n in range(operations.MOST_HELD):
            tx.then_put(Holding(f"user-{n:04}", group.id, secret_data="pgp"))
        tx.rest_on(other)

    after = _load(other)
    assert (after.name, after.version, after.lock) == ("after", other.version + 1, None)


@pytest.mark.parametrize("count", [SMALL - 1, LARGE])
def test_a_refused_change_writes_nothing(store, count):
    group, before = _start(store)
    refusal = Invalid("no such theme")
    change = Change(group, group.copy())
    change.require(Check(Setting.named("theme"), Setting.present()), otherwise=refusal)
    for n in range(count):
        change.then_put(Holding(str(n), group.id))

    with pytest.raises(Invalid) as raised:
        change.commit()
    assert raised.value is refusal
    assert storage.digest(store) == before


@pytest.mark.parametrize("count", [SMALL, LARGE])
def test_a_change_decided_from_an_old_row_is_stale(store, count):
    """FT04"""
    group = _target()
    _rename(group, "newer")
    before = storage.digest(store)

    with pytest.raises(Stale):
        _share(group, count)

    assert storage.digest(store) == before


@pytest.mark.parametrize("count", [1, LARGE])
def test_who_does_not_finish_what_stands_over_cannot_write(store, count):
    """I14"""
    group = _target()
    with Killing(at=1 + LINES + 1), pytest.raises(Killed):
        _share(group)
    current = _load(group)

    change = Change(current, current.copy())
    for n in range(count):
        change.then_delete(Holding.of(f"user-{n:04}", group.id))
    with pytest.raises(Stale):
        change.commit()

    assert _load(group).lock == current.lock is not None


def test_more_conditions_than_a_transaction_holds_are_refused_before_anything_is_written(store):
    group, before = _start(store)
    change = Change(group, group.copy())
    for n in range(100):
        change.create(Holding(str(n), group.id))

    with pytest.raises(Invalid):
        change.commit()
    assert storage.digest(store) == before


# Death and repair


def test_whenever_a_process_dies_the_change_is_whole_or_was_never_made(store, time):
    """FT01 FT02 FT10 FT12"""
    group, _ = _start(store)
    calls = _calls_of(lambda: _share(group))
    outcomes = set()

    for killing in hooks.kill_points(calls):
        group, before = _start(store)
        with killing, pytest.raises(Killed):
            _share(group)
        committed = _load(group).version == 2
        outcomes.add(committed)
        if not committed:
            assert _holders(store) == [], "something shows before the commit"
        elif _load(group).lock is not None:
            _finish(_load(group))
        assert _holders(store) == (_everybody() if committed else [])
        _sweep(time)
        assert _staged(store) == []
        assert committed or storage.digest(store) == before

    assert outcomes == {True, False}


def test_the_sweeper_finishes_what_nobody_met(store, time):
    """FT02"""
    group, _ = _start(store)
    calls = _calls_of(lambda: _share(group))

    for killing in hooks.kill_points(calls):
        group, before = _start(store)
        with killing, pytest.raises(Killed):
            _share(group)
        committed = _load(group).version == 2
        _sweep(time)
        assert _holders(store) == (_everybody() if committed else [])
        assert _load(group).lock is None
        assert _staged(store) == []
        assert committed or storage.digest(store) == before


def test_who_finishes_may_die_too(store, time):
    """FT01"""

    def half_done():
        group, _ = _start(store)
        with Killing(at=1 + LINES + 1, after=True), pytest.raises(Killed):
            _share(group)
        group = _load(group)
        assert group.lock is not None
        return group

    group = half_done()
    calls = _calls_of(lambda: _finish(group))
    for killing in hooks.kill_points(calls):
        group = half_done()
        with killing, pytest.raises(Killed):
            _finish(group)
        _sweep(time)
        assert _holders(store) == _everybody()
        assert _staged(store) == []


def test_who_goes_on_does_not_begin_again(store):
    """FT10"""
    group = _target()
    calls = _calls_of(lambda: _share(group, 490))
    store.empty()
    group = _target()
    removal = 490 // 25 + 1
    with Killing(at=calls - removal - 2, after=True), pytest.raises(Killed):
        _share(group, 490)

    with Recorder() as seen:
        _finish(_load(group))

    assert seen.operations.count("TransactWriteItems") == 1


def test_the_sweeper_leaves_alone_what_is_young(store, time):
    group, _ = _start(store)
    with Killing(at=4), pytest.raises(Killed):
        _share(group)
    before = storage.digest(store)
    time.pass_by(minutes=4)

    sweeper.sweep()

    assert storage.digest(store) == before


def test_a_commit_that_comes_after_the_sweeper_fails_cleanly(store, time):
    """FT02"""
    group, before = _start(store)
    group, before = _start(store)

    with hooks.Once(1 + LINES, lambda: _sweep(time)), pytest.raises(Stale):
        _share(group)

    assert storage.digest(store) == before


def test_a_sweeper_in_the_midst_of_staging_leaves_nothing_half(store, time):
    """FT02"""
    for at in range(1 + LINES + 1):
        group, before = _start(store)
        killing = Killing(at=1 + LINES, after=True)
        with killing, hooks.Once(at, _sweep_all), pytest.raises((Killed, Stale)):
            _share(group)
        _sweep_all()
        committed = _load(group).version == 2
        assert _holders(store) == (_everybody() if committed else [])
        assert _staged(store) == []
        assert committed or storage.digest(store) == before


def test_an_operation_that_lost_a_line_is_not_called_finished(store, time):
    """FT22"""
    broken, other = _target(), _target()
    for group in (broken, other):
        with Killing(at=1 + LINES + 1), pytest.raises(Killed):
            _share(group)
    operation = _load(broken).lock
    lines(operation)[6].delete()

    with pytest.raises(sweeper.Unended):
        _sweep(time)

    assert _load(broken).lock == operation
    assert _load(other).lock is None
    with pytest.raises(operations.Incomplete):
        _finish(_load(broken))


# Faults


def test_a_commit_whose_answers_are_lost_is_finished_by_the_next(store, time):
    """FT03 FT06"""
    group = _target()
    lost = Failing(hooks.answer_lost, at=1, times=hooks.ALWAYS, only=["TransactWriteItems"])

    with Recorder() as seen, lost, pytest.raises(Unavailable):
        _share(group)
    assert seen.operations.count("TransactWriteItems") == 1 + pace.ATTEMPTS  # after the header
    assert _load(group).lock is not None
    _rename(group, "renamed")

    assert _holders(store) == _everybody()
    assert _load(group).name == "renamed"


def test_a_change_stands_although_its_rest_cannot_be_written_now(store, time):
    """FT05"""
    group = _target()
    busy = Failing(hooks.throttled, at=2, times=hooks.ALWAYS, only=["TransactWriteItems"])

    with busy:
        _share(group)
    assert _load(group).lock is not None
    _sweep(time)

    assert _holders(store) == _everybody()


@pytest.mark.parametrize("fault", [*hooks.FAULTS, *hooks.UNKNOWN_OUTCOMES])
def test_a_fault_that_passes_is_not_noticed(store, fault):
    """FT05 FT06"""
    group, _ = _start(store)
    calls = _calls_of(lambda: _share(group))
    for at in range(0, calls, fewer(3, 1)):
        group, _ = _start(store)
        with Failing(fault, at=at):
            _share(group)
        assert _holders(store) == _everybody()
        assert (_load(group).version, _load(group).lock) == (2, None)
        assert _staged(store) == []


class Narrow(hooks.Around):
    """Storage that takes so many holdings in one transaction and no more, as where a key is hot."""

    def __init__(self, most):
        self.most = most
        self.sizes = []

    def __call__(self, operation, parameters, send):
        items = parameters.get("TransactItems", [])
        size = sum("test-holdings" in str(item) for item in items)
        if size > self.most:
            raise hooks.cancelled(*["ThrottlingError"] * len(items))
        if size:
            self.sizes.append(size)
        return send()


@pytest.mark.parametrize("most", [1, 30])
def test_a_page_that_storage_does_not_take_is_carried_out_in_smaller_ones(store, most):
    """FT05"""
    group = _target()

    with Narrow(most) as storage_that_is_busy:
        _share(group)

    assert max(storage_that_is_busy.sizes) <= most
    assert sum(storage_that_is_busy.sizes) == LARGE  # none was asked for in vain
    assert _holders(store) == _everybody()
    assert (_load(group).lock, _staged(store)) == (None, [])


def test_what_storage_does_not_take_row_by_row_is_left_to_others(store, time):
    """FT05"""
    group = _target()

    with Narrow(0):
        _share(group)
    assert _load(group).lock is not None
    _sweep(time)

    assert _holders(store) == _everybody()


def test_batches_are_written_to_the_last_row(store):
    """FT07"""
    group = _target()
    with hooks.PartialBatch(13, empty=3):
        _share(group)

    assert _holders(store) == _everybody()
    assert _staged(store) == []


# Races


def _unfinished(store):
    """A target whose change is committed by a process that died then."""
    store.empty()
    group = _target()
    with Killing(at=2 + (SMALL + 1) // 25 + 1), pytest.raises(Killed):
        _share(group, SMALL + 1)
    return _load(group)


def _unfinished_again(store):
    """Makes such a target once, and lets all be as it was then whenever it is called."""
    group = _unfinished(store)
    start = store.contents()

    def again():
        store.put_back(start)
        return group.copy()

    return again


FEW = {
    "limit": 0,
    "switches": fewer(1, 2) if ENGINE == "embedded" else 1,
    "sampled": fewer(3, 30 if ENGINE == "embedded" else 10),
}
"""Races of long operations: all schedules with up to two switches and some with more.

On moto and in a sample, up to one.
"""


def test_two_who_finish_at_once_write_the_same(store):
    """FT10"""
    unfinished = _unfinished_again(store)
    for race in races(**FEW):
        group = unfinished()
        assert group.lock is not None
        outcomes = race.run(lambda r=group: _finish(r), lambda r=group: _finish(r))
        assert [outcome.error for outcome in outcomes] == [None, None]
        assert _holders(store) == _everybody(SMALL + 1)
        assert _load(group).lock is None
        assert _staged(store) == []


def test_a_late_applier_overwrites_nothing_newer(store):
    """FT10"""

    def finish_and_renew(group):
        _rename(group, "renamed")
        for n in (0, SMALL):
            Holding(f"user-{n:04}", group.id, secret_data="newer").save()

    unfinished = _unfinished_again(store)
    for race in races(**FEW):
        group = unfinished()
        race.run(lambda r=group: _finish(r), lambda r=group: finish_and_renew(r))[1].get()
        rows = {row["user_id"]["S"]: row["secret_data"]["S"] for row in store.rows("test-holdings")}
        assert (rows["user-0000"], rows[f"user-{SMALL:04}"]) == ("newer", "newer")
        assert _load(group).name == "renamed"


def test_what_was_applied_is_not_applied_again_by_a_slower_one(store):
    """FT10: others may have changed it since."""

    def apply_some_and_renew():
        with Killing(at=2, after=True), pytest.raises(Killed):
            _finish(group)
        Holding("user-0000", group.id, secret_data="newer").save()

    group = _unfinished(store)
    with hooks.Once(at=2, action=apply_some_and_renew):
        _finish(group)

    rows = {row["user_id"]["S"]: row["secret_data"]["S"] for row in store.rows("test-holdings")}
    assert sorted(rows) == _everybody(SMALL + 1)
    assert rows["user-0000"] == "newer"
    assert _load(group).lock is None
    assert _staged(store) == []


def _share_resting(group, others):
    """Give so many users the group, and change rows that this rests on."""
    with Change(group, group.copy()) as tx:
        for other in others:
            tx.rest_on(other)
            tx.then_update(other, Group.name.set("after"), Group.version.add(1))
        for n in range(LARGE):
            tx.then_put(Holding(f"user-{n:04}", group.id, secret_data="pgp"))


@pytest.mark.parametrize("rested", [1, LARGE] if ENGINE == "embedded" else [1])
def test_rows_it_rests_on_are_locked_until_the_others_are_written(store, rested):
    """FT02: the commit has the room to change one of them, and not all"""
    seen = set()
    others, group = [_target() for _ in range(rested)], _target()
    start = store.contents()
    for at in range(LARGE):
        store.put_back(start)
        with suppress(Killed), Killing(at=at, after=True) as kill:
            _share_resting(group, others)
        if not kill.dead:
            break
        if _load(group).lock is not None and _holders(store) != _everybody():
            assert all(each.lock is not None for each in _load_all(others))
            seen.add(len(_holders(store)))

    assert len(seen) > 1
    assert [each.lock for each in _load_all(others)] == [None] * rested
    assert {each.name for each in _load_all(others)} == {"after"}
    assert _staged(store) == []


def test_a_later_writer_comes_after_the_whole_operation_or_before_it(store, time):
    """I13 I14"""
    for race in races(**FEW):
        store.empty()
        group = _target()
        share, rename = race.run(
            lambda r=group: _share(r, SMALL + 1),
            lambda r=group: _rename(r, "renamed"),
        )
        rename.get()
        assert share.error is None or isinstance(share.error, Stale)
        current = _load(group)
        assert current.name == "renamed" or (share.error is None and current.version == 3)
        assert current.lock is None
        assert _holders(store) == (_everybody(SMALL + 1) if share.error is None else [])
        _sweep(time)
        assert _staged(store) == []


def test_a_sweeper_beside_a_slow_change_undoes_it_or_lets_it_be(store, time):
    """FT02"""
    undone = set()
    for race in races(**FEW):
        store.empty()
        group = _target()
        share, sweep = race.run(lambda r=group: _share(r, SMALL + 1), _sweep_all)
        sweep.get()
        undone.add(isinstance(share.error, Stale))
        assert share.error is None or isinstance(share.error, Stale)
        assert _holders(store) == (_everybody(SMALL + 1) if share.error is None else [])
        assert _load(group).lock is None
        _sweep_all()
        assert _staged(store) == []

    assert undone == {True, False}


def test_what_is_staged_after_others_undid_the_operation_goes_with_its_refusal(store):
    """FT10"""
    group = _target()

    def share_within():
        with operations.begun(group) as (locked, header):
            changed = locked.copy()
            changed.name = "shared"
            with Change(locked, changed, within=header) as tx:
                for n in range(LARGE):
                    tx.then_put(Holding(f"user-{n:04}", group.id, secret_data="pgp"))

    for at in range(1, 1 + LINES + 1):
        with hooks.Once(at, lambda: _finish(_load(group))), pytest.raises(Stale):
            share_within()

        assert _staged(store) == []
        assert _holders(store) == []
        assert _load(group).lock is None
