"""Transactions: all lines or none, and the refusal each line means."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import product

import pytest
from pynamodb.exceptions import VerboseClientError

from chalicelib.domain.errors import Conflict, Forbidden, Invalid, Stale, Unavailable
from chalicelib.storage import pace, reading
from chalicelib.storage.base import Check, Grant, Key
from chalicelib.storage.changes.transaction import MOST_CONFLICTS, Transaction
from chalicelib.tables.claims import Claim
from chalicelib.tables.settings import Setting
from chalicelib.tables.tokens import Token
from tests.support import storage
from tests.support.faults import hooks
from tests.support.faults.hooks import ALWAYS, Around, Failing, Recorder
from tests.support.races.scheduler import races
from tests.support.world.claims import subject_of


def _claim(value, subject="1"):
    return Claim("username", value, subject=subject)


def _stands(value):
    return Check(_claim(value).key, Claim.present())


def _subject(value):
    return subject_of("username", value)


def _counter(value=0):
    token = Token("counter", kind="source", expires=0, failures=value)
    token.save()
    return token


def _count():
    return Token.from_raw(reading.find(Token.by_hash("counter"))).failures


def _add_one(times=1):
    with Transaction() as tx:
        tx.update(Token.by_hash("counter"), Token.failures.add(times), provided=Token.present())


class Requests(Around):
    """Keeps the transactions that were sent."""

    def __init__(self) -> None:
        self.sent = []

    def __call__(self, operation, parameters, send):
        if operation == "TransactWriteItems":
            self.sent.append(dict(parameters))
        return send()

    @property
    def tokens(self):
        return {request["ClientRequestToken"] for request in self.sent}


# All or nothing


def test_a_transaction_writes_all_its_lines(store):
    for value in ("put", "update", "delete", "stands"):
        _claim(value).save()

    with Transaction() as tx:
        tx.require(_stands("stands"))
        tx.create(_claim("create", "2"))
        tx.put(_claim("put", "2"))
        tx.update(_claim("update"), Claim.subject.set("2"), provided=Claim.subject == "1")
        tx.delete(_claim("delete"), provided=Claim.subject == "1")

    left = {row["value"]["S"]: row["subject"]["S"] for row in store.rows("test-claims")}
    assert left == {"create": "2", "put": "2", "update": "2", "stands": "1"}


def test_a_block_that_raises_writes_nothing(store):
    def refuse():
        with Transaction() as tx:
            tx.create(_claim("a"))
            raise Forbidden("no")

    with pytest.raises(Forbidden):
        refuse()
    assert store.rows("test-claims") == []


Line = Callable[[Transaction, str, Invalid], None]
LINES: tuple[Line, ...] = (
    lambda tx, value, no: tx.require(_stands(value), otherwise=no),
    lambda tx, value, no: tx.update(
        _claim(value), Claim.subject.remove(), provided=Claim.subject == "1", otherwise=no
    ),
    lambda tx, value, no: tx.update(
        _claim(value), Claim.subject.set("2"), provided=Claim.present(), otherwise=no
    ),
    lambda tx, value, no: tx.delete(_claim(value), provided=Claim.present(), otherwise=no),
)
"""Each refuses when its claim does not stand."""


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
@pytest.mark.parametrize("stand", list(product((True, False), repeat=4)))
def test_the_first_line_that_fails_decides_and_nothing_is_written(store, order, stand):
    refusals = [Invalid(str(n)) for n in range(4)]
    for n, stands in enumerate(stand):
        if stands:
            _claim(str(n)).save()
    before = storage.digest(store)
    tx = Transaction()
    for n in order:
        LINES[n](tx, str(n), refusals[n])

    if all(stand):
        tx.commit()
        return
    with pytest.raises(Invalid) as raised:
        tx.commit()
    assert raised.value is refusals[next(n for n in order if not stand[n])]
    assert storage.digest(store) == before


def test_what_exists_is_not_created(store):
    """RA10"""
    _claim("a", "first").save()
    taken = Invalid("taken")

    with pytest.raises(Invalid) as raised, Transaction() as tx:
        tx.create(_claim("a", "second"), otherwise=taken)

    assert raised.value is taken
    assert _subject("a") == "first"


def test_of_two_who_create_the_same_one_is_refused_in_every_order(store):
    """RA10"""

    def create(subject):
        with Transaction() as tx:
            tx.require(Check(Setting.named("x"), Setting.absent()))
            tx.create(_claim("a", subject), otherwise=Invalid("taken"))
        return subject

    for race in races():
        store.empty()
        outcomes = race.run(lambda: create("one"), lambda: create("other"))
        [refused] = [outcome for outcome in outcomes if outcome.error]
        assert isinstance(refused.error, Invalid)
        assert [outcome.value for outcome in outcomes if not outcome.error] == [_subject("a")]


# Lines


def test_a_line_without_a_refusal_says_the_decision_is_stale(store):
    for line in LINES:
        tx = Transaction()
        line(tx, "missing", None)
        with pytest.raises(Stale):
            tx.commit()


def test_a_grant_is_held_by_all_its_checks(store):
    for present in ("one", "other"):
        store.empty()
        _claim(present).save()
        with pytest.raises(Stale), Transaction() as tx:
            tx.hold(Grant((_stands("one"), _stands("other"))))
    _claim("one").save()

    with Transaction() as tx:
        tx.hold(Grant((_stands("one"), _stands("other"))))


@pytest.mark.parametrize("required_first", [True, False])
def test_a_row_that_is_required_and_written_is_one_line(store, required_first):
    _claim("a").save()
    tx = Transaction()
    if required_first:
        tx.require(_stands("a"))
    tx.update(_claim("a"), Claim.subject.set("2"), provided=Claim.subject == "1")
    if not required_first:
        tx.require(_stands("a"))

    with Requests() as requests:
        tx.commit()

    [request] = requests.sent
    assert len(request["TransactItems"]) == len(tx) == 1
    assert _subject("a") == "2"


@pytest.mark.parametrize(
    ("required", "provided"), [("1", "2"), ("2", "1"), ("2", "2")], ids=["write", "check", "both"]
)
def test_both_conditions_of_a_joined_line_must_hold(store, required, provided):
    _claim("a", "1").save()
    refusal = Forbidden("the first line's")
    tx = Transaction()
    tx.require(Check(_claim("a").key, Claim.subject == required), otherwise=refusal)
    tx.delete(_claim("a"), provided=Claim.subject == provided, otherwise=Invalid("the other's"))

    with pytest.raises(Forbidden) as raised:
        tx.commit()
    assert raised.value is refusal
    assert _subject("a") == "1"


def test_what_is_put_over_nothing_in_particular_joins_a_check_too(store):
    tx = Transaction()
    tx.require(_stands("a"))
    tx.put(_claim("a"))

    with pytest.raises(Stale):
        tx.commit()


def test_a_row_is_not_written_twice(store):
    tx = Transaction()
    tx.create(_claim("a"))

    with pytest.raises(AssertionError, match="twice"):
        tx.delete(_claim("a"))


def test_rows_of_one_key_in_two_tables_are_two_lines(store):
    tx = Transaction()
    tx.create(Setting("same", value={}))
    tx.create(Token("same", kind="x", expires=0))

    tx.commit()

    assert len(tx) == 2


def test_a_line_may_name_its_row_by_key(store):
    _claim("a").save()

    with Transaction() as tx:
        tx.delete(Key(Claim, "username", "a"))

    assert store.rows("test-claims") == []


# Bounds


def test_a_transaction_holds_100_rows(store):
    with Transaction() as tx:
        for n in range(100):
            tx.create(_claim(str(n)))

    assert len(store.rows("test-claims")) == 100


@pytest.mark.parametrize("rows", [0, 101])
def test_no_rows_and_more_than_100_are_a_mistake_of_ours(store, rows):
    tx = Transaction()
    for n in range(rows):
        tx.create(_claim(str(n)))

    with hooks.Recorder() as seen, pytest.raises(AssertionError, match="1 to 100"):
        tx.commit()
    assert seen.calls == []


def test_a_transaction_takes_over_the_lines_of_another(store):
    _claim("a").save()
    one, other = Transaction(), Transaction()
    one.require(_stands("a"), otherwise=Invalid("first"))
    other.delete(_claim("a"))
    other.create(_claim("b"))

    one.join(other)
    one.commit()

    assert [row["value"]["S"] for row in store.rows("test-claims")] == ["b"]


def test_lines_that_were_kept_are_written_as_they_are(store):
    made = Transaction()
    made.put(_claim("a", "2"))
    made.update(Token.by_hash("t"), Token.kind.set("new"), provided=None)
    _claim("a", "1").save()

    with Transaction() as tx:
        tx.require(_stands("a"))
        tx.repeat([item for item in made.items() if "Update" in item])
        assert len(tx) == 2

    assert store.rows("test-tokens")[0]["kind"] == {"S": "new"}


# Conflicts


@pytest.mark.parametrize("times", [1, 3, pace.ATTEMPTS - 1])
def test_a_conflict_that_passes_is_not_noticed(store, times):
    """FT04"""
    _counter()

    with Requests() as requests, Failing(hooks.in_conflict, times=times):
        _add_one()

    assert _count() == 1
    assert len(requests.tokens) == 1


def test_a_conflict_that_stays_is_told(store):
    """FT04"""
    _counter()

    with Failing(hooks.in_conflict, times=ALWAYS), pytest.raises(Conflict) as raised:
        _add_one()

    assert type(raised.value) is Conflict, "it is not worth deciding again"
    assert _count() == 0


def test_retries_pause_longer_each_time_and_by_chance(store):
    """FT04"""
    pauses = []
    pace.set_sources(pauses.append, lambda: 0.5)

    with Failing(hooks.in_conflict, times=ALWAYS), pytest.raises(Conflict):
        _two_lines().commit()

    assert len(pauses) == MOST_CONFLICTS - 1
    assert pauses == sorted(pauses)
    assert pauses[0] == 0.5 * 2 * pace.FIRST_PAUSE
    assert pauses[-1] == 0.5 * pace.LONGEST_PAUSE


def test_a_row_that_others_check_for_long_is_waited_for(store):
    """FT04, FT20: whoever writes checks rows that all others check as well"""
    with Failing(hooks.in_conflict, times=3 * pace.ATTEMPTS):
        _two_lines().commit()

    assert _subject("a") == _subject("b") == "1"


def test_what_storage_does_not_take_is_not_tried_as_long(store):
    """FT05"""
    with _cancelled("ThrottlingError", None), Recorder() as seen, pytest.raises(Unavailable):
        _two_lines().commit()

    assert len(seen.calls) == pace.ATTEMPTS


def _cancelled(*codes):
    def fault(operation, parameters, send):
        raise hooks.cancelled(*codes)

    return Failing(fault, times=ALWAYS)


def _two_lines():
    tx = Transaction()
    tx.create(_claim("a"), otherwise=Invalid("first"))
    tx.create(_claim("b"), otherwise=Invalid("second"))
    return tx


def test_a_failed_condition_beside_a_conflict_decides(store):
    with _cancelled("TransactionConflict", "ConditionalCheckFailed"), pytest.raises(Invalid) as no:
        _two_lines().commit()

    assert no.value.message == "second"


@pytest.mark.parametrize("code", ["ThrottlingError", "ProvisionedThroughputExceeded"])
def test_a_transaction_cancelled_by_overload_is_unavailable(store, code):
    """FT05"""
    with _cancelled(None, code), pytest.raises(Unavailable):
        _two_lines().commit()


@pytest.mark.parametrize("code", ["ValidationError", "ItemCollectionSizeLimitExceeded"])
def test_a_transaction_that_can_never_be_written_is_an_accident(store, code):
    with _cancelled(None, code), pytest.raises(AssertionError):
        _two_lines().commit()


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_what_storage_refuses_for_good_is_an_accident(store, code):
    def fault(operation, parameters, send):
        raise hooks.refusal(code, operation)

    with hooks.Recorder() as seen, pytest.raises(VerboseClientError), Failing(fault, times=ALWAYS):
        _two_lines().commit()
    assert len(seen.calls) <= 1


# Unknown outcomes


@pytest.mark.parametrize("fault", hooks.UNKNOWN_OUTCOMES)
@pytest.mark.parametrize("times", [1, 3])
def test_a_transaction_whose_answer_is_lost_is_not_carried_out_twice(store, fault, times):
    """FT03 FT06"""
    _counter()

    with Requests() as requests, Failing(fault, times=times):
        _add_one()

    assert len(requests.tokens) == 1
    assert _count() == 1


@pytest.mark.parametrize("fault", hooks.UNKNOWN_OUTCOMES)
def test_a_transaction_whose_answers_are_all_lost_is_carried_out_once(store, fault):
    """FT06"""
    _counter()

    with Failing(fault, times=ALWAYS), pytest.raises(Unavailable):
        _add_one()

    assert _count() == 1


@pytest.mark.parametrize("fault", hooks.FAULTS)
def test_a_transaction_that_never_arrives_is_unavailable(store, fault):
    """FT05 FT06"""
    _counter()

    with Failing(fault, times=ALWAYS), pytest.raises(Unavailable):
        _add_one()

    assert _count() == 0


def test_two_transactions_have_two_tokens(store):
    _counter()

    with Requests() as requests:
        _add_one()
        _add_one()

    assert len(requests.tokens) == 2
    assert _count() == 2


def test_an_expired_row_that_is_still_there_does_not_count(store, time):
    """FT18"""
    Token("old", kind="login", expires=time.timestamp).save()

    with pytest.raises(Stale), Transaction() as tx:
        tx.require(Check(Token.by_hash("old"), Token.unspent("login", time.timestamp)))

    assert not Token.get("old").is_live("login", time.timestamp)
    assert Token.get("old").is_live("login", time.timestamp - 1)


# When a row was changed last


def _setting(moment):
    row = Setting("one", value={"is": "old"}, modified=moment)
    row.save()
    return row


def _modified():
    return Setting.from_raw(reading.find(Setting.named("one"))).modified


def test_a_row_says_nothing_earlier_than_before(store, time):
    """FT17: the row was not read, and DynamoDB tells what it says"""
    later = time.now + timedelta(seconds=5)
    _setting(later)

    with Requests() as requests, Transaction() as tx:
        changes = [Setting.value.set({"is": "new"}), Setting.modified.set(time.now)]
        tx.update(Setting.named("one"), *changes, provided=Setting.present())

    assert _modified() == later
    assert len(requests.sent) == len(requests.tokens) == 2


def test_a_row_that_was_read_says_so_at_once(store, time):
    """FT17"""
    row = _setting(time.now + timedelta(seconds=5))

    with Requests() as requests, Transaction() as tx:
        tx.update(row, Setting.modified.set(time.now), provided=Setting.present())

    assert row.modified == _modified() == time.now + timedelta(seconds=5)
    assert len(requests.sent) == 1


def test_a_row_that_is_put_says_nothing_earlier_than_the_one_it_replaces(store, time):
    """FT17"""
    later = time.now + timedelta(seconds=5)
    _setting(later)
    row = Setting("one", value={"is": "new"}, modified=time.now)

    with Transaction() as tx:
        tx.put(row)

    assert row.modified == _modified() == later


def test_a_condition_that_fails_is_told_whatever_the_clock_says(store, time):
    _setting(time.now + timedelta(seconds=5))

    key, changed, never = Setting.named("one"), Setting.modified.set(time.now), Forbidden("no")

    with pytest.raises(Forbidden), Transaction() as tx:
        tx.update(key, changed, provided=Setting.marks.exists(), otherwise=never)
