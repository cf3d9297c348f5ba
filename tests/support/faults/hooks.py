"""What tests put around storage calls: count them, let them fail, kill the process, cut batches.

Each is a context manager and stands at the one point every call passes
(`connection.hooks`); of several, the one entered last is the outermost.

    with Recorder() as seen:
        ada.client.get("/users.json")
    assert seen.steps == 2

    with Failing(throttled, at=1, times=ALWAYS):
        assert ada.client.get("/users.json").status == 503

Calls are counted from 0, of all operations or of those in `only`; one that fails and is tried
again counts as two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError
from pynamodb.exceptions import CancellationReason, VerboseClientError

from chalicelib.settings import settings
from chalicelib.storage.connection import Json, Send, connection, current_branch

WRITES = frozenset({"TransactWriteItems", "BatchWriteItem", "PutItem", "UpdateItem", "DeleteItem"})
READS = frozenset({"BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"})
ALWAYS = 1_000_000
"""How often a fault occurs that does not pass."""


class Around:
    """A hook that stands for the length of a `with` block."""

    def __enter__(self) -> Self:
        connection.hooks.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        connection.hooks.remove(self)

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        return send()


# Counting


@dataclass(frozen=True, slots=True)
class Call:
    """One storage call that was answered."""

    operation: str
    tables: tuple[str, ...]
    """Without the tenant's prefix, each once, in the order of the request."""
    rows: int
    """How many rows came back, or were sent to be written or checked."""
    checked: int
    """How many of these a transaction only checked."""
    branch: tuple[int, int] | None
    """Which of the calls made together it belongs to; `None` when it was made alone."""

    @property
    def is_write(self) -> bool:
        return self.operation in WRITES


@dataclass
class Recorder(Around):
    """Remembers the calls, also those that failed (with no rows)."""

    calls: list[Call] = field(default_factory=list)

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        answer: Json | None = None
        try:
            answer = send()
        finally:
            tables = tuple(dict.fromkeys(_tables(parameters)))
            rows = _count(operation, parameters, answer)
            checked = 0 if answer is None else _count_checked(parameters)
            self.calls.append(Call(operation, tables, rows, checked, current_branch.get()))
        return answer

    @property
    def operations(self) -> list[str]:
        return [call.operation for call in self.calls]

    @property
    def tables(self) -> set[str]:
        return {table for call in self.calls for table in call.tables}

    @property
    def steps(self) -> int:
        """Round trips one after the other: what was made together counts as its longest part."""
        branches = Counter(call.branch for call in self.calls)
        alone = branches.pop(None, 0)
        longest: dict[int, int] = {}
        for (group, _), count in branches.items():  # type: ignore[misc]
            longest[group] = max(count, longest.get(group, 0))
        return alone + sum(longest.values())

    @property
    def rows_read(self) -> int:
        return sum(call.rows for call in self.calls if not call.is_write)

    @property
    def rows_written(self) -> int:
        """Rows sent in writes; checked ones too, since they cost the same."""
        return sum(call.rows for call in self.calls if call.is_write)

    @property
    def rows_checked(self) -> int:
        """Rows among those written that stayed as they were."""
        return sum(call.checked for call in self.calls)


def _tables(parameters: Json) -> Iterator[str]:
    if "TransactItems" in parameters:
        names = (
            line["TableName"] for item in parameters["TransactItems"] for line in item.values()
        )
    else:
        names = iter(parameters.get("RequestItems") or [parameters["TableName"]])
    for name in names:
        yield name.removeprefix(settings.table_prefix)


def _count(operation: str, parameters: Json, answer: Json | None) -> int:
    if answer is None:
        return 0
    if "TransactItems" in parameters:
        return len(parameters["TransactItems"])
    if operation == "BatchWriteItem":
        return sum(map(len, parameters["RequestItems"].values()))
    if operation == "BatchGetItem":
        return sum(map(len, answer["Responses"].values()))
    return len(answer["Items"]) if "Items" in answer else 1


def _count_checked(parameters: Json) -> int:
    return sum("ConditionCheck" in line for line in parameters.get("TransactItems", ()))


# Failing

Fault = Callable[[str, Json, Send], Json]


def throttled(operation: str, parameters: Json, send: Send) -> Json:
    """The table is overloaded; nothing was done."""
    raise refusal("ProvisionedThroughputExceededException", operation)


def internal_error(operation: str, parameters: Json, send: Send) -> Json:
    """The storage failed before it did anything."""
    raise refusal("InternalServerError", operation)


def unreachable(operation: str, parameters: Json, send: Send) -> Json:
    raise ConnectTimeoutError(endpoint_url="https://storage.invalid")


def timed_out(operation: str, parameters: Json, send: Send) -> Json:
    """No answer came, and nothing was done."""
    raise ReadTimeoutError(endpoint_url="https://storage.invalid")


def answer_lost(operation: str, parameters: Json, send: Send) -> Json:
    """The call was carried out, and its answer did not arrive."""
    send()
    raise ReadTimeoutError(endpoint_url="https://storage.invalid")


def failed_after(operation: str, parameters: Json, send: Send) -> Json:
    """The call was carried out and answered with an internal error."""
    send()
    raise refusal("InternalServerError", operation)


def in_conflict(operation: str, parameters: Json, send: Send) -> Json:
    """Another transaction holds a row of this one; a read passes by it."""
    if operation == "TransactWriteItems":
        lines = len(parameters["TransactItems"])
        raise cancelled("TransactionConflict", *[None] * (lines - 1))
    if operation in WRITES - {"BatchWriteItem"}:
        raise refusal("TransactionConflictException", operation)
    return send()


FAULTS: tuple[Fault, ...] = (throttled, internal_error, unreachable, timed_out)
"""After these nothing was done."""
UNKNOWN_OUTCOMES: tuple[Fault, ...] = (answer_lost, failed_after)
"""After these it was done, and who called cannot know."""


def refusal(code: str, operation: str) -> VerboseClientError:
    return VerboseClientError({"Error": {"Code": code, "Message": "made by a test"}}, operation)


def cancelled(*codes: str | None) -> VerboseClientError:
    """The refusal of a transaction with these reasons, one for each line."""
    return VerboseClientError(
        {"Error": {"Code": "TransactionCanceledException", "Message": "made by a test"}},
        "TransactWriteItems",
        cancellation_reasons=[None if code is None else CancellationReason(code) for code in codes],
    )


class Failing(Around):
    """Lets `times` calls from number `at` on fail, then works again."""

    def __init__(
        self, fault: Fault, *, at: int = 0, times: int = 1, only: Collection[str] = READS | WRITES
    ) -> None:
        self.fault = fault
        self.failing = range(at, at + times)
        self.only = only
        self.seen = 0

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        if operation not in self.only:
            return send()
        number, self.seen = self.seen, self.seen + 1
        return self.fault(operation, parameters, send) if number in self.failing else send()


class Late(Around):
    """Loses call number `at` on the way; it is tried again, and arrives before call number `then`.

    Whoever sent it has had the answer of the second try by then, and hears nothing of the first.
    """

    def __init__(self, *, at: int, then: int) -> None:
        assert then > at + 1, "the second try is the call after it"
        self.at = at
        self.then = then
        self.seen = 0
        self._lost: Send | None = None

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        number, self.seen = self.seen, self.seen + 1
        if number == self.at:
            self._lost = send
            raise refusal("InternalServerError", operation)
        if number == self.then and self._lost is not None:
            with suppress(ClientError, VerboseClientError):
                self._lost()
        return send()


class Delaying(Around):
    """Makes calls slow: `wait` is called before each, e.g. to move the clock of the test."""

    def __init__(self, wait: Callable[[], object]) -> None:
        self.wait = wait

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        self.wait()
        return send()


class Once(Around):
    """Lets another process go by before call number `at`; no hook of ours sees its calls."""

    def __init__(self, at: int, action: Callable[[], object]) -> None:
        self.at = at
        self.action = action
        self.seen = 0

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        number, self.seen = self.seen, self.seen + 1
        if number == self.at:
            ours = connection.hooks.copy()
            connection.hooks.clear()
            self.action()
            connection.hooks += ours
        return send()


class Killed(BaseException):
    """The process is gone: not an `Exception`, so that nobody answers for it."""


class Killing(Around):
    """Kills the process before call number `at`, or after it; the dead make no further calls."""

    def __init__(self, *, at: int, after: bool = False) -> None:
        self.at = at
        self.after = after
        self.seen = 0
        self.dead = False

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        number, self.seen = self.seen, self.seen + 1
        if self.dead or (number == self.at and not self.after):
            self._die()
        answer = send()
        if number == self.at:
            self._die()
        return answer

    def _die(self) -> None:
        self.dead = True
        raise Killed


def kill_points(calls: int) -> Iterator[Killing]:
    """Every moment at which a process that makes so many calls can die."""
    for at in range(calls):
        yield Killing(at=at)
        yield Killing(at=at, after=True)


# Cutting answers


class PartialBatch(Around):
    """Carries out `size` rows of each batch; the first `empty` batches do nothing at all."""

    def __init__(self, size: int = 1, *, empty: int = 0) -> None:
        self.size = size
        self.empty = empty

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        if operation not in ("BatchGetItem", "BatchWriteItem"):
            return send()
        size = 0 if self.empty else self.size
        self.empty = max(0, self.empty - 1)
        whole = parameters["RequestItems"]
        done, left = _cut(whole, size)
        answer: Json = {"Responses": {}} if operation == "BatchGetItem" else {}
        if done:
            parameters["RequestItems"] = done
            try:
                answer = send()
            finally:
                parameters["RequestItems"] = whole
        kind = "UnprocessedKeys" if operation == "BatchGetItem" else "UnprocessedItems"
        return {**answer, kind: left}


def _cut(requests: Json, size: int) -> tuple[Json, Json]:
    """The first `size` rows of a batch, and the others."""
    rows = [(table, row) for table, wanted in requests.items() for row in _rows(wanted)]
    return _gathered(requests, rows[:size]), _gathered(requests, rows[size:])


def _rows(wanted: Any) -> list[Json]:
    return list(wanted["Keys"] if isinstance(wanted, dict) else wanted)


def _gathered(requests: Json, rows: list[tuple[str, Json]]) -> Json:
    gathered: Json = {}
    for table in dict.fromkeys(table for table, _ in rows):
        of_table = [row for name, row in rows if name == table]
        wanted = requests[table]
        gathered[table] = {**wanted, "Keys": of_table} if isinstance(wanted, dict) else of_table
    return gathered


class SmallPages(Around):
    """Answers queries and scans in pages of `size` rows, each after an empty one if wanted."""

    def __init__(self, size: int = 1, *, empty: bool = False) -> None:
        self.size = size
        self.empty = empty
        self._kept: list[Json | None] = []

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        if operation not in ("Query", "Scan"):
            return send()
        start = parameters.get("ExclusiveStartKey")
        if self.empty and (start is None or "continued" not in start):
            self._kept.append(start)
            return {"Items": [], "Count": 0, "LastEvaluatedKey": self._token()}
        before = deepcopy(parameters)
        if start is not None and "continued" in start:
            self._continue(parameters, self._kept[int(start["continued"]["N"])])
        parameters["Limit"] = min(self.size, parameters.get("Limit", self.size))
        try:
            return send()
        finally:
            parameters.clear()
            parameters.update(before)

    def _token(self) -> Json:
        return {"continued": {"N": str(len(self._kept) - 1)}}

    @staticmethod
    def _continue(parameters: Json, start: Json | None) -> None:
        parameters.pop("ExclusiveStartKey")
        if start is not None:
            parameters["ExclusiveStartKey"] = start


# Reading what is true


class StaleRead(BaseException):
    """Not an `Exception`, so that no handler takes it for an accident of the request."""


LOCATING: frozenset[str] = frozenset({"by-type", "by-expiry"})
"""Global indexes that only say where rows lie, which are then read themselves."""

SHOWN_AS_OF_LATE: frozenset[str] = frozenset({"by-month"})
"""Global indexes that are shown to people, and from which nothing is decided."""


def only_consistent_reads(operation: str, parameters: Json, send: Send) -> Json:
    """Fail a test that reads rows which may be old, except to count an index.

    With no such reads, there is no decision that old data could lead astray.
    """
    if operation in READS - {"TransactGetItems"} and not _is_consistent(operation, parameters):
        raise StaleRead(f"{operation} of {', '.join(_tables(parameters))} may return old rows")
    return send()


def _is_consistent(operation: str, parameters: Json) -> bool:
    if operation == "BatchGetItem":
        return all(wanted.get("ConsistentRead") for wanted in parameters["RequestItems"].values())
    counts = parameters.get("Select") == "COUNT" and "IndexName" in parameters
    by_index = parameters.get("IndexName") in LOCATING | SHOWN_AS_OF_LATE
    return counts or by_index or parameters.get("ConsistentRead", False)
