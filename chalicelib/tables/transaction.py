"""All-or-nothing writes, each with the refusal it means when its condition fails.

    with Transaction() as tx:
        tx.require(User.is_active(user_id), otherwise=Forbidden("..."))
        tx.create(resource)

Nothing is written until the block ends. If a condition does not hold, nothing is
written at all and the first failed line's `otherwise` is raised, in the order the
lines stand in. A line without `otherwise` says that the decision was taken from rows
that have changed since: `Stale`, and the request is decided again.

A row appears once: conditions on a row that is also written join the write. A row that says
when it was changed last never says something earlier than before (`stamps.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from pynamodb.exceptions import CancellationReason, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.errors import Conflict, Refusal, Stale, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.tables import creations, fetching, pace
from chalicelib.tables.base import Check, Grant, Key, RawRow, Table
from chalicelib.tables.connection import Json, cancellation_reasons, connection
from chalicelib.tables.stamps import Stamp, stamps_in, stamps_of

MAX_ROWS = 100
"""DynamoDB's limit; what may exceed it is a staged operation (`tables/operations.py`)."""

_CONDITION_FAILED = "ConditionalCheckFailed"
_IN_THE_WAY = "TransactionConflict"

Reasons = list[CancellationReason | None]
"""Why a transaction was refused, line by line."""


@dataclass(slots=True)
class _Line:
    verb: str
    key: Key
    condition: Condition | None
    otherwise: Refusal
    row: Table | None = None
    """The row that is put; of an update the row as it was read, where it was."""
    actions: tuple[Action, ...] = ()
    stamps: tuple[Stamp, ...] = ()
    """What it says of the last change of a row that may be there."""

    def joined(self, other: _Line) -> _Line:
        """One line for two on the same row, of which at most one writes."""
        assert "ConditionCheck" in (self.verb, other.verb), f"{self.key} is written twice"  # noqa: S101
        writes = self if other.verb == "ConditionCheck" else other
        condition = _both(self.condition, other.condition)
        return replace(writes, condition=condition, otherwise=self.otherwise)

    def item(self) -> Json:
        """The line as DynamoDB takes it, where nobody else changes its row meanwhile."""
        return {self.verb: self._request(self.condition)}

    def checked_item(self) -> Json:
        """The line as DynamoDB takes it, and returns the row where that says something later."""
        condition = self.condition
        for stamp in self.stamps:
            condition = _both(condition, stamp.says_nothing_earlier())
        wanted = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"} if self.stamps else {}
        return {self.verb: self._request(condition) | wanted}

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
        if self.verb == "Put" and self.row is not None:
            return dict(self.row.get_save_kwargs_from_instance(condition=condition))
        return connection.get_operation_kwargs(
            self.key.table.known(),
            self.key.hash_key,
            range_key=self.key.range_key,
            key="Key",
            condition=condition,
            actions=self.actions or None,
        )


class Transaction:
    def __init__(self) -> None:
        self._lines: dict[Key, _Line] = {}
        self._kept: list[Json] = []

    def makes(self, subject: str) -> None:
        """Say what the request makes; a repetition under its idempotency key is shown that.

        This stands before all other lines: who repeats the request in the same moment is not
        told that a name is taken.
        """
        creation = creations.current()
        if creation is not None:
            note = creation.note(subject)
            line = _Line("Put", note.key, creation.is_new(), Stale(), note)
            self._lines = {note.key: line, **self._lines}

    def require(self, check: Check, *, otherwise: Refusal | None = None) -> None:
        """Hold a condition on a row, whether or not the transaction writes it."""
        self._add(_Line("ConditionCheck", check.key, check.condition, otherwise or Stale()))

    def hold(self, grant: Grant) -> None:
        """Hold the permission under which the rest of the transaction is written."""
        for check in grant.checks:
            self.require(check)

    def create(self, row: Table, *, otherwise: Refusal | None = None) -> None:
        """Write a row that must not exist yet."""
        self._add(_Line("Put", row.key, row.absent(), otherwise or Stale(), row))

    def put(
        self, row: Table, *, provided: Condition | None, otherwise: Refusal | None = None
    ) -> None:
        """Write a whole row, over the one that may stand there."""
        stamps = stamps_of(row)
        self._add(_Line("Put", row.key, provided, otherwise or Stale(), row, stamps=stamps))

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
        line = _Line("Update", _key(where), provided, refusal, row, actions, stamps)
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
        self._add(_Line("Delete", _key(where), provided, otherwise or Stale()))

    def repeat(self, items: Iterable[Json]) -> None:
        """Write rows as these lines say that were made earlier, whatever stands there now."""
        self._kept += items

    def join(self, other: Transaction) -> None:
        """Take over the lines of another, which is then not committed."""
        for line in other._lines.values():
            self._add(line)

    @property
    def written(self) -> set[Key]:
        """The rows that lines write, and do not only check."""
        return {key for key, line in self._lines.items() if line.verb != "ConditionCheck"}

    def move(self, key: Key, other: Transaction) -> None:
        """Give the line of this row, if there is one, to another transaction."""
        line = self._lines.pop(key, None)
        if line is not None:
            other._add(line)

    def update_too(self, where: Table | Key, *actions: Action) -> None:
        """Change a row in this way as well, where a line may change it already."""
        key = _key(where)
        line = self._lines.setdefault(key, _Line("Update", key, None, Stale()))
        assert line.verb == "Update", f"{key} is written whole or removed"  # noqa: S101
        line.actions += actions

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
        return [line.checked_item() for line in self._lines.values()] + self._kept

    def items_by_key(self) -> list[tuple[Key, Json]]:
        """The lines, each with its row's key, to be written where nobody else writes."""
        return [(key, line.item()) for key, line in self._lines.items()]

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
        if kind is None:
            self.commit()

    def commit(self) -> None:
        """Write all lines or none; called by the end of the `with` block.

        The request token is the same on every try, so that a try whose answer was lost
        is not carried out a second time. It is another for a transaction that says later
        moments than one that was refused.
        """
        lines = list(self._lines.values())
        assert 0 < len(self) <= MAX_ROWS, "a transaction holds 1 to 100 rows"  # noqa: S101
        request, reasons = self._request(), Reasons()
        for _ in pace.attempts():
            reasons = _send(request)
            if not reasons:
                return
            if _lift(lines, reasons):
                request = self._request()
            else:
                _raise_first_failed(lines, reasons)
        if any(reason and reason.code == _IN_THE_WAY for reason in reasons):
            raise Conflict("The data is being changed by others; try again.")
        raise Unavailable

    def _request(self) -> Json:
        return {
            "TransactItems": self.items(),
            "ClientRequestToken": new_id(),
            "ReturnConsumedCapacity": "TOTAL",
        }

    def _add(self, line: _Line) -> None:
        earlier = self._lines.get(line.key)
        self._lines[line.key] = earlier.joined(line) if earlier else line


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


def _raise_first_failed(lines: list[_Line], reasons: Reasons) -> None:
    for line, reason in zip(lines, reasons, strict=False):
        if reason and reason.code == _CONDITION_FAILED:
            raise line.otherwise
    codes = {reason.code for reason in reasons if reason}
    if invalid := {code for code in codes if code.startswith(("Validation", "Item"))}:
        raise AssertionError(f"a transaction DynamoDB does not take: {invalid}")


def _both(one: Condition | None, other: Condition | None) -> Condition | None:
    if one is None:
        return other
    if other is None:
        return one
    both: Condition = one & other
    return both


def _key(where: Table | Key) -> Key:
    return where if isinstance(where, Key) else where.key
