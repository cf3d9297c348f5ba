"""All-or-nothing writes: what a failed condition means to whoever asked, and which are sent again.

    with Transaction() as tx:
        tx.require(User.is_active(user_id), otherwise=Forbidden("..."))
        tx.create(resource)

Nothing is written until the block ends. If a condition does not hold, nothing is
written at all and the first failed line's `otherwise` is raised, in the order the
lines stand in. A line without `otherwise` says that the decision was taken from rows
that have changed since: `Stale`, and the request is decided again.

A row appears once: conditions on a row that is also written join the write. A row that says
when it was changed last never says something earlier than before (`stamps.py`). A versioned
row gets a new version, but for what may change without (`unversioned.py`).

What is refused because an operation holds a row is `Locked`: whoever decides again ends that
operation first (`operations.end`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile
from types import TracebackType
from typing import Self

import orjson
from pynamodb.exceptions import CancellationReason, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.errors import IN_THE_WAY, Conflict, Overloaded, Refusal, Stale
from chalicelib.domain.ids import new_id
from chalicelib.domain.light import dataclass
from chalicelib.storage import fetching, pace
from chalicelib.storage.base import Check, Grant, Key, RawRow, Table
from chalicelib.storage.changes import creation, decisions, unversioned
from chalicelib.storage.changes.decisions import Met
from chalicelib.storage.changes.parts import line_key
from chalicelib.storage.changes.writes import DELETE, PUT, UPDATE, Write
from chalicelib.storage.connection import Json, cancellation_reasons, connection
from chalicelib.storage.stamps import Stamp, stamps_in, stamps_of
from chalicelib.storage.versioned import LOCK, Dependent, Versioned

MAX_ROWS = 100
"""DynamoDB's limit; what may exceed it is a staged operation (`storage/changes/operations.py`)."""
MAX_BYTES = 4_000_000
"""DynamoDB's limit; counted as JSON, which is longer than what DynamoDB counts."""
MOST_CONFLICTS = 30
"""How often a transaction is tried where others hold one of its rows, if only to check it. All new
resources of a tenant check one row, so two of them may meet; each is done within milliseconds."""

_CONDITION_FAILED = "ConditionalCheckFailed"
_CONFLICT = "TransactionConflict"

_CHECK = "ConditionCheck"

Reasons = list[CancellationReason | None]
"""Why a transaction was refused, line by line."""


class Locked(Stale):
    """Operations hold rows of the transaction, or are yet to write them."""

    def __init__(self, locks: Mapping[str, Key]) -> None:
        super().__init__()
        self.locks = locks
        """The operations, each with a row it holds."""


class OfAnotherForm(Conflict):
    """Rows of the transaction are not of the form that this release writes.

    Nothing has changed since they were read, so this is not `Stale`: it is for whoever decides
    again (`rewriting.rewrite`), and for nobody who can do without the write.
    """

    def __init__(self, rows: Collection[Key]) -> None:
        super().__init__("The data is being brought to another form; try again.")
        self.rows = rows


@dataclass(slots=True)
class _Line:
    verb: str
    key: Key
    condition: Condition | None
    otherwise: Refusal
    row: Table | None = None
    """The row that is put; of an update the row as it was read, where it was."""
    before: Versioned | None = None
    """Of an update to what `row` says: the row as it was read."""
    actions: tuple[Action, ...] = ()
    stamps: tuple[Stamp, ...] = ()
    """What it says of the last change of a row that may be there."""
    unlocked: bool = False
    """Whether no operation may hold the row, but for the transaction's own, or `beside`."""
    beside: str | None = None
    own: str | None = None
    """The transaction's own operation, where that holds the row."""
    of_any_form: bool = False
    """Whether it speaks of nothing but the lock."""

    def joined(self, other: _Line) -> _Line:
        """One line for two on the same row, of which at most one writes."""
        assert _CHECK in (self.verb, other.verb), f"{self.key} is written twice"  # noqa: S101
        return replace(
            self if other.verb == _CHECK else other,
            condition=_both(self.condition, other.condition),
            otherwise=self.otherwise,
            unlocked=self.unlocked or other.unlocked,
            beside=self.beside if other.beside == self.beside else None,
            own=self.own or other.own,
        )

    def item(self) -> Json:
        """The line as DynamoDB takes it, which returns the row where that stands in the way."""
        condition = self._with_lock()
        if self._depends_on_form:
            condition = _both(condition, self.key.table.is_written_form())
        for stamp in self.stamps:
            condition = _both(condition, stamp.says_nothing_earlier())
        is_wanted = self.stamps or self.unlocked or self._depends_on_form
        wanted = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"} if is_wanted else {}
        return {self.verb: self._request(condition) | wanted}

    @property
    def says_all(self) -> bool:
        """Whether the row will be as the row in hand is, lock and all."""
        return self.verb == PUT or self.before is not None

    def write(self) -> Write:
        """What the line does, where nobody else changes its row meanwhile."""
        if self.verb == PUT and self.row is not None:
            return Write(self.key, PUT, self.row.serialize())
        actions = self._said()
        return Write.update(self.key, actions) if actions else Write(self.key, DELETE)

    def held_by(self, reason: CancellationReason) -> str | None:
        """The operation of somebody else that holds the row, where that matters to the line."""
        lock = (reason.raw_item or {}).get(LOCK, {}).get("S")
        return None if not self.unlocked or lock == self.own else lock

    def is_of_another_form(self, reason: CancellationReason) -> bool:
        """Whether the line was refused for the form of the row, or maybe for that."""
        if not self._depends_on_form or reason.raw_item is None:
            return False
        forms = self.key.table.forms
        return forms.of(reason.raw_item) != forms.written

    @property
    def _depends_on_form(self) -> bool:
        """Whether it speaks of attributes of a row that may be of several forms."""
        is_bare = self.verb == PUT or (self.verb == DELETE and self.condition is None)
        return not (is_bare or self.of_any_form) and self.key.table.forms.are_several

    def _with_lock(self) -> Condition | None:
        """The condition with what it says of operations."""
        if not self.unlocked:
            return self.condition
        table = self.key.table
        assert issubclass(table, Versioned)  # noqa: S101
        if self.own is not None:
            return _both(self.condition, table.lock == self.own)
        free = table.lock.does_not_exist()
        return _both(
            self.condition, free if self.beside is None else free | (table.lock == self.beside)
        )

    def lift(self, stored: RawRow) -> bool:
        """Say nothing earlier of the last change than the row does; whether it would have."""
        lifted = [stamp.lift_to_row(stored) for stamp in self.stamps]
        self.show()
        return any(lifted)

    def show(self) -> None:
        """Let the row in hand say what will be stored."""
        for stamp in self.stamps:
            if self.row is not None:
                setattr(self.row, stamp.name, stamp.moment)

    def _request(self, condition: Condition | None) -> Json:
        if self.verb == PUT and self.row is not None:
            return dict(self.row.get_save_kwargs_from_instance(condition=condition))
        return connection.get_operation_kwargs(
            self.key.table.known(),
            self.key.hash_key,
            range_key=self.key.range_key,
            key="Key",
            condition=condition,
            actions=self._said() or None,
        )

    def _said(self) -> Sequence[Action]:
        """What the line changes."""
        if self.before is None or self.row is None:
            return self.actions
        before = self.before.serialize()
        stored = self.before.stored or before
        return Write.between(self.key, before, self.row.serialize(), stored).actions()


Besides = Callable[["Transaction", str], None]
"""Writes what else goes with a change of this subject, in the same transaction."""


def nothing_besides(tx: Transaction, subject: str) -> None:
    """Write nothing else."""


class Transaction:
    def __init__(self) -> None:
        self._lines: dict[Key, _Line] = {}
        self._kept: list[Json] = []
        self._met = decisions.met()

    def makes(self, subject: str) -> None:
        """Say what the request makes; a repetition under its idempotency key is shown that.

        This stands before all other lines: whoever repeats the request at the same moment is not
        told that a name is taken.
        """
        made_by = creation.current()
        if made_by is not None:
            note = made_by.note(subject)
            line = _Line(PUT, note.key, made_by.is_new(), Stale(), note)
            self._lines = {note.key: line, **self._lines}

    def require(self, check: Check, *, otherwise: Refusal | None = None) -> None:
        """Hold a condition on a row, whether or not the transaction writes it."""
        refusal = otherwise or Stale()
        self._add(
            _Line(
                *(_CHECK, check.key, check.condition, refusal),
                unlocked=check.unlocked,
                beside=check.beside,
            )
        )

    def lock(self, row: Versioned, operation: str) -> None:
        """Let an operation hold a row that is as it was read."""
        earlier = self._lines.get(row.key)
        self.require(row.is_unchanged())
        if earlier is None or not earlier.says_all:
            self.update(row.key, type(row).lock.set(operation), provided=None)

    def release(self, key: Key, operation: str) -> None:
        """Let go of a row that an operation holds, of whatever form it is."""
        lock = key.table.get_attributes()[LOCK]
        line = _Line(UPDATE, key, lock == operation, Stale(), actions=(lock.remove(),))
        line.of_any_form = True
        self._add(line)

    def is_held_by(self, operation: str, keys: Iterable[Key]) -> None:
        """Say that the operation of which this is the commit holds these rows already."""
        for key in keys:
            if key in self._lines:
                self._lines[key].own = operation

    def hold(self, grant: Grant) -> None:
        """Hold the permission under which the rest of the transaction is written."""
        for check in grant.checks:
            self.require(check)

    def create(self, row: Table, *, otherwise: Refusal | None = None) -> None:
        """Write a row that must not exist yet."""
        self._add(_Line(PUT, row.key, row.absent(), otherwise or Stale(), row))

    def put(self, row: Table) -> None:
        """Write a row that is new, though what is written may stand there already."""
        assert not isinstance(row, Versioned), "this is created, or changed"  # noqa: S101
        self._add(_Line(PUT, row.key, None, Stale(), row, stamps=stamps_of(row)))

    def change(self, before: Versioned, after: Versioned) -> None:
        """Let a row that is as it was read become another, which has a later version."""
        unchanged = before.is_unchanged()
        unversioned.require_raised(before, after)
        line = _Line(UPDATE, after.key, unchanged.condition, Stale(), after, before)
        line.stamps, line.unlocked = stamps_of(after), unchanged.unlocked
        self._add(line)

    def update(
        self,
        where: Table | Key,
        *actions: Action,
        provided: Condition | None,
        otherwise: Refusal | None = None,
    ) -> None:
        """Change a row that is still as `provided` says.

        A row as it was read then says of its last change what is written.
        """
        row, stamps = (where if isinstance(where, Table) else None), stamps_in(actions)
        for stamp in stamps:
            stamp.lift(None if row is None else getattr(row, stamp.name))
        refusal = otherwise or Stale()
        line = _Line(UPDATE, _key(where), provided, refusal, row, actions=actions, stamps=stamps)
        unversioned.require_raised_by_update(line.key.table, actions)
        line.show()
        self._add(line)

    def delete(
        self,
        where: Table | Key,
        *,
        provided: Condition | None = None,
        otherwise: Refusal | None = None,
    ) -> None:
        """Remove a row that is still as `provided` says."""
        self._add(_Line(DELETE, _key(where), provided, otherwise or Stale()))

    def repeat(self, items: Iterable[Json]) -> None:
        """Write rows as these lines say that were made earlier, whatever stands there now."""
        self._kept += items

    def join(self, other: Transaction) -> None:
        """Take over the lines of another, which is then not committed."""
        for line in other._lines.values():
            self._add(line)

    @property
    def keys(self) -> Iterable[Key]:
        """The rows that lines speak of."""
        return self._lines

    @property
    def held(self) -> set[Key]:
        """The rows that no operation holds, and none may begin to hold, when this is written."""
        return {key for key, line in self._lines.items() if line.unlocked}

    def require_given(self, held: Collection[Key]) -> None:
        """Check that who is given something is held: nobody gives to whoever is being deleted."""
        for key, line in self._lines.items():
            if line.verb == PUT and isinstance(line.row, Dependent):
                assert line.row.is_given_by(held), f"{key} is given to who is not held"  # noqa: S101

    def look_at_rows(self) -> None:
        """Let all lines say nothing earlier of the last change than their rows do.

        For lines that are written without conditions, in what nobody else changes meanwhile.
        """
        lines = [line for line in self._lines.values() if line.stamps and line.row is None]
        rows = fetching.read(line.key for line in lines) if lines else {}
        for line in lines:
            line.lift(rows.get(line.key, {}))

    def items(self) -> list[Json]:
        """The lines as DynamoDB takes them."""
        return [line.item() for line in self._lines.values()] + self._kept

    def writes(self) -> list[Write]:
        """What the lines do with rows, but for those that only check one."""
        return [line.write() for line in self._lines.values() if line.verb != _CHECK]

    def updates(self) -> list[Write]:
        """Those of the writes that change a row which is there."""
        return [line.write() for line in self._lines.values() if line.verb == UPDATE]

    def fits(self) -> bool:
        """Whether DynamoDB takes all of it in one transaction."""
        items = self.items()
        return fitting(items) == len(items)

    def __len__(self) -> int:
        return len(self._lines) + len(self._kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.commit()
        else:
            self.give_up(error)

    def give_up(self, error: BaseException) -> None:
        """Leave nothing of a block that raised: nothing of a transaction is written before."""

    def commit(self) -> None:
        """Write all lines or none; called by the end of the `with` block."""
        self.send(self.items())

    def send(self, items: list[Json]) -> None:
        """Write all lines or none; `items` are the lines as `items()` has just made them.

        The request token is the same on every try, so that a try whose answer was lost
        is not carried out a second time. It is another for a transaction that says later
        moments than one that was refused.
        """
        lines = list(self._lines.values())
        self.require_given(self.held)
        assert 0 < len(self) <= MAX_ROWS, "a transaction holds 1 to 100 rows"  # noqa: S101
        request, in_the_way = _request(items), False
        for attempt in pace.attempts(MOST_CONFLICTS):
            if attempt >= pace.ATTEMPTS and not in_the_way:
                raise Overloaded
            reasons = _send(request)
            if not reasons:
                return
            if _lift(lines, reasons):
                request = _request(self.items())
            else:
                _raise_first_failed(lines, reasons, self._met)
            in_the_way = any(reason and reason.code == _CONFLICT for reason in reasons)
        raise Conflict(IN_THE_WAY)

    def _add(self, line: _Line) -> None:
        earlier = self._lines.get(line.key)
        self._lines[line.key] = earlier.joined(line) if earlier else line


def fitting(items: Sequence[Json]) -> int:
    """How many of these items, from the first one on, fit a transaction."""
    sizes = accumulate(len(orjson.dumps(item)) for item in items[:MAX_ROWS])
    return sum(1 for _ in takewhile(lambda size: size <= MAX_BYTES, sizes))


def _request(items: list[Json]) -> Json:
    return {
        "TransactItems": items,
        "ClientRequestToken": new_id(),
        "ReturnConsumedCapacity": "TOTAL",
    }


def _send(request: Json) -> Reasons:
    """Send the transaction; return nothing when it is written, else each line's reason."""
    try:
        connection.call("TransactWriteItems", request)
    except VerboseClientError as error:
        if error.response["Error"]["Code"] != "TransactionCanceledException":
            raise
        return cancellation_reasons(error)
    return []


def _lift(lines: list[_Line], reasons: Reasons) -> bool:
    """Lift what lines say of the last change of rows that say something later; whether any do."""
    failed = zip(lines, reasons, strict=False)  # kept lines have no condition
    lifted = [line.lift(reason.raw_item) for line, reason in failed if reason and reason.raw_item]
    return any(lifted)


def _raise_first_failed(lines: list[_Line], reasons: Reasons, met: Met) -> None:
    """Raise what the first line that failed means, or which operations stand in the way."""
    failed = [
        (line, reason)
        for line, reason in zip(lines, reasons, strict=False)
        if reason and reason.code == _CONDITION_FAILED
    ]
    locks = {each: line.key for line, reason in failed if (each := line.held_by(reason))}
    locks |= _unwritten(met, (line.key for line, _ in failed))
    if locks:
        raise Locked(locks)
    if others := [line.key for line, reason in failed if line.is_of_another_form(reason)]:
        raise OfAnotherForm(others)
    if failed:
        raise failed[0][0].otherwise.forget()
    codes = {reason.code for reason in reasons if reason}
    if _CONDITION_FAILED in codes:
        raise Stale  # a kept line, whose row was brought to another form
    if invalid := {code for code in codes if code.startswith(("Validation", "Item"))}:
        raise AssertionError(f"a transaction DynamoDB does not take: {invalid}")


def _unwritten(met: Met, rows: Iterable[Key]) -> Met:
    """Those of the operations that were met which are yet to write one of these rows.

    What they make of it counts already; so the condition may have failed for that alone.
    """
    dependent = [key for key in rows if issubclass(key.table, Dependent)] if met else []
    found = fetching.read(line_key(each, key) for each in met for key in dependent)
    return {key.hash_key: met[key.hash_key] for key in found}


def _both(one: Condition | None, other: Condition | None) -> Condition | None:
    if one is None:
        return other
    if other is None:
        return one
    both: Condition = one & other
    return both


def _key(where: Table | Key) -> Key:
    return where if isinstance(where, Key) else where.key
