"""One request, sent again and again from the same start, to see what disturbs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from chalicelib.endpoint_groups import WORKERS
from chalicelib.storage.base import every_table
from chalicelib.workers import sweeper
from tests.support.faults.hooks import Recorder
from tests.support.faults.rights import rights_of_group
from tests.support.model.invariants import check_invariants
from tests.support.model.outlines import Outline, Outlines, difference
from tests.support.storage import Contents, Storage
from tests.support.wire.client import Response
from tests.support.wire.valid_requests import is_done

Ask = Callable[[], Response]
[SWEEPER] = (worker for worker in WORKERS if worker.name == "sweeper")


class Time(Protocol):
    now: datetime

    def pass_by(self, **span: float) -> None: ...


@dataclass(frozen=True)
class End:
    """How a request ended: its answer, and all that is stored then."""

    status: int
    rows: Outline


class Trial:
    """A request, its start, and how it ends undisturbed: not sent, sent once, and sent twice."""

    def __init__(
        self, store: Storage, time: Time, ask: Ask, *, later: Callable[[str], str] = str
    ) -> None:
        """`later` makes of a row what it is where the sweeper does what the request has left."""
        self.ask, self._store, self._time = ask, store, time
        self._start, self._moment = store.contents(), time.now
        self._outlines = Outlines(store)
        self.untouched = self._outlines.now()
        with Recorder() as seen:
            self.once = self.sent()
        self._done_later = tuple(sorted(map(later, self.once.rows)))
        assert is_done(getattr(ask, "name", ""), self.once.status)
        self.calls = seen.calls
        self._twice = self.sent()
        self.restart()

    def again(self, time: Time) -> Trial:
        """The same in another test, by a process that has read what it reads once and keeps."""
        self._time = time
        self.restart()
        self.ask()
        self.restart()
        return self

    def sent(self) -> End:
        """Send it once more, from whatever there is now."""
        response = self.ask()
        if response.status == 503:
            assert response.headers["retry-after"]
        return End(response.status, self._outlines.now())

    def restart(self, contents: Contents | None = None) -> None:
        """Let all be as it was before the request was sent, or at a later moment."""
        self._store.put_back(contents or self._start)
        self._time.now = self._moment

    def swept(self) -> Outline:
        """What is there ten minutes later: nothing that is only half there."""
        self._time.pass_by(minutes=10)
        with rights_of_group(SWEEPER):
            sweeper.handler(None, None)
        check_invariants(self._store)
        assert self._store.rows("test-operations") == []
        for table in every_table():
            for row in self._store.rows(table.stored_as()):
                assert "lock" not in row
        return self._outlines.now()

    @property
    def repeated(self) -> int:
        """What is answered to it when it was done already."""
        return self._twice.status

    def require_done_or_not(self, left: Contents) -> None:
        """What is left of it is whole: for who never asks again, and for who does.

        Again it is answered as if it was never sent, or had been answered.
        """
        check_invariants(self._store)
        self._require(self.swept(), self.untouched, self.once.rows, self._done_later)
        self.restart(left)
        status = self.sent().status
        rows = self.swept()
        ends = (self.once, self._twice, End(self.once.status, self._done_later))
        self._require(rows, *(end.rows for end in ends))
        assert status in {end.status for end in ends if end.rows == rows}

    def _require(self, found: Outline, *expected: Outline) -> None:
        assert found in expected, difference(found, expected)
