"""Hands mails over to a mail server of the organisation's own, beside the requests of one machine.

Such a server may take its time, and requests are answered one after the other: a thread waits for
it. A mail that it does not take is told of on the screen; each is a file as well (`mail.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Protocol

from infra.local_server.mail import Rendered


class Carrier(Protocol):
    def send(self, address: str, subject: str, text: str, html: str) -> None: ...
    def close(self) -> None: ...


class Courier:
    def __init__(self, refusal: type[Exception]) -> None:
        self._refusal = refusal
        """What a carrier raises of a mail that it does not take."""
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread: Thread | None = None

    def take(self, carrier: Carrier, address: str, mail: Rendered) -> None:
        """Have a mail sent, and return at once."""
        if self._thread is None:
            self._thread = Thread(target=self._work, daemon=True)
            self._thread.start()
        self._jobs.put(lambda: self._send(carrier, address, mail))

    def _work(self) -> None:
        while True:
            self._jobs.get()()

    def _send(self, carrier: Carrier, address: str, mail: Rendered) -> None:
        try:
            carrier.send(address, mail.subject, mail.text, mail.html)
        except self._refusal as failure:
            print(
                f"The mail server did not take a mail ({failure}); it is a file alone.", flush=True
            )
        finally:
            carrier.close()
