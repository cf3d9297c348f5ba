"""DynamoDB embedded in our process, for serving on one machine and for tests.

botocore hands each request over just before it would send it (`before-send`); the tables
answer, one request at a time. What a request changed is in the journal before it is answered.
Rows read by key need not come this far: `hand_over` gives them to a service in the same process.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

from botocore.awsrequest import AWSResponse

from infra.local_server.journal import Journal
from infra.local_server.mini import Answer, Change, Item, MiniTables

Watcher = Callable[[Item], None]

_READS = frozenset(
    {
        "BatchGetItem",
        "DescribeContinuousBackups",
        "DescribeTable",
        "DescribeTimeToLive",
        "GetItem",
        "ListTables",
        "Query",
        "Scan",
        "TransactGetItems",
    }
)
_WRITES = frozenset({"BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"})
_SCHEMA = frozenset(
    {
        "CreateTable",
        "DeleteTable",
        "UpdateContinuousBackups",
        "UpdateTable",
        "UpdateTimeToLive",
    }
)
_KNOWN = _READS | _WRITES | _SCHEMA
_log = logging.getLogger(__name__)


class Engine:
    """All of DynamoDB that the service uses, behind one lock.

    `client.meta.events.register("before-send.dynamodb", engine)` leads a botocore client
    here; `attach` does it.
    """

    def __init__(self, journal: Path | None = None) -> None:
        """Load the journal, or start empty and keep everything in memory.

        Raises `JournalInUse` and `OSError` as `Journal` does.
        """
        self._journal = None if journal is None else Journal(journal)
        self._watchers: defaultdict[str, list[Watcher]] = defaultdict(list)
        self._tables = MiniTables()
        if self._journal is not None:
            with self._tables.turn():
                self._load(self._journal)

    def attach(self, client: Any) -> None:
        """Answer this botocore client's requests from now on."""
        client.meta.events.register("before-send.dynamodb", self, unique_id="keyhaven-engine")

    def watch(self, table: str, callback: Watcher) -> None:
        """Call back with each new row of a table once it is stored, as a stream would."""
        self._watchers[table].append(callback)

    def rows(self, table: str) -> list[Item]:
        """All rows of a table."""
        with self._tables.turn():
            return self._tables.rows(table)

    def empty(self) -> None:
        """Remove all rows; the tables stay."""
        with self._tables.turn():
            self._tables.empty()
            if self._journal is not None:
                self._journal.clear_rows()

    def reset(self) -> None:
        """Remove everything, tables too."""
        with self._tables.turn():
            self._tables.reset()
            if self._journal is not None:
                self._journal.clear()

    def close(self) -> None:
        """Let go of the journal, so that another process may have it."""
        if self._journal is not None:
            self._journal.close()

    def __call__(self, request: Any, **_: Any) -> AWSResponse:
        """Answer a request that botocore is about to send."""
        status, headers, body = self.answer(_operation(request), request.body or b"{}")
        return AWSResponse(request.url, status, headers, _Body(body))

    def hand_over(self, operation: str, parameters: Item, send: Callable[[], Item]) -> Item:
        """Answer reads by key within the process: a hook of the service's connection.

        Its rows are the stored ones, which the service never changes. All else is sent.
        """
        with self._tables.turn():
            found = self._tables.look_up(operation, parameters)
        return send() if found is None else found

    def answer(self, operation: str, body: bytes | str) -> Answer:
        """Answer one request of DynamoDB's wire protocol.

        When it cannot be carried out or journalled to the end, nothing of it remains.
        """
        if operation not in _KNOWN:
            raise NotImplementedError(f"The embedded engine does not offer {operation}.")
        request = body if isinstance(body, bytes) else body.encode()
        with self._tables.turn():
            answer, changes = self._carry_out(operation, request)
        self._tell(changes)
        return answer

    def _carry_out(self, operation: str, request: bytes) -> tuple[Answer, list[Change]]:
        try:
            answer = self._tables.run(operation, request)
            if self._journal is not None and self._tables.changes:
                self._journal.write(self._tables.changes)
        except BaseException:
            self._tables.undo(self._tables.take_changes())
            raise
        if self._journal is not None and operation in _SCHEMA and answer[0] == HTTPStatus.OK:
            self._journal.add_schema(operation, request)
        return answer, self._tables.take_changes()

    def _tell(self, changes: list[Change]) -> None:
        """Call the watchers. What fails there cannot undo the write, nor fail its answer."""
        for change in changes:
            if change.old is None and change.new is not None:
                for callback in self._watchers[change.table]:
                    try:
                        callback(change.new)
                    except Exception:  # noqa: BLE001  it stands in for another function
                        _log.exception("A watcher of %s failed.", change.table)

    def _load(self, journal: Journal) -> None:
        """Bring back the tables, and drop for good the rows whose time to live is over."""
        for operation, request in journal.schema():
            self._tables.run(operation, request)
        expired = []
        for table, key, row in journal.rows():
            if self._tables.is_expired(table, row):
                expired.append(Change(table, key, row, None))
            else:
                self._tables.place(table, key, row)
        journal.write(expired)


class _Body:
    """An answer's body as botocore reads it."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


def _operation(request: Any) -> str:
    target = request.headers["X-Amz-Target"]
    return (target.decode() if isinstance(target, bytes) else str(target)).partition(".")[2]
