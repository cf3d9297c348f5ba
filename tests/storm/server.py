"""One server process of the storm: `make serve`'s own front before DynamoDB Local.

Some of its storage calls fail, and at one call of an operation it dies, by a signal that nobody
can catch.
"""

from __future__ import annotations

import ctypes
import logging
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass

from app import app
from chalicelib.storage.connection import Json, Send, connection
from infra.local_server import serve
from infra.local_server.gateway import Gateway
from infra.local_server.service import refuse
from tests.storm import staged
from tests.support.faults.hooks import FAULTS, UNKNOWN_OUTCOMES, in_conflict

_PR_SET_PDEATHSIG = 1
_SLOW = dict.fromkeys(staged.WITHIN, 0.4)
"""How many of these calls come late: meanwhile others change what it rests on, or go on with it."""
_SELDOM_SLOW = 0.05
_LONGEST_PAUSE = 2.0
_WAYS_TO_FAIL = (*FAULTS, *UNKNOWN_OUTCOMES, in_conflict)


@dataclass(frozen=True, slots=True)
class Orders:
    """What a server is told when it is started."""

    port: int
    seed: str
    faults: float
    """The share of its storage calls that fail."""
    moment: str
    """At which calls of operations it dies,"""
    number: int
    """at the how many-th of these,"""
    is_after: bool
    """and whether that is carried out before."""
    notes: str
    """The file where it notes what happens."""
    screen: str
    """The file of what it writes to the screen."""


class Weather:
    """The hook around all storage calls of the process."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._chance = random.Random(orders.seed)
        self._notes = os.open(orders.notes, os.O_WRONLY | os.O_APPEND)
        self._seen: Counter[str] = Counter()

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        moment = staged.moment(operation, parameters)
        if moment is None:
            return self._perhaps_failing(operation, parameters, send)
        self._seen[moment] += 1
        if (self._orders.moment, self._orders.number) == (moment, self._seen[moment]):
            self._die(send)
        self._dawdle(moment)
        answer = self._perhaps_failing(operation, parameters, send)
        self._note("done", moment)
        return answer

    def _perhaps_failing(self, operation: str, parameters: Json, send: Send) -> Json:
        if self._chance.random() >= self._orders.faults:
            return send()
        fault = self._chance.choice(_WAYS_TO_FAIL)
        self._note("fault", fault.__name__)
        return fault(operation, parameters, send)

    def _dawdle(self, moment: str) -> None:
        """Be so slow with an operation, now and then, that others come by and end it."""
        if self._chance.random() < _SLOW.get(moment, _SELDOM_SLOW):
            self._note("slow")
            time.sleep(self._chance.uniform(0, _LONGEST_PAUSE))

    def _die(self, send: Send) -> None:
        if self._orders.is_after:
            send()
        self._note("death", self._orders.moment, "after" if self._orders.is_after else "before")
        os.kill(os.getpid(), signal.SIGKILL)

    def _note(self, *words: str) -> None:
        """Add a line to a file that several processes write, each line whole."""
        os.write(self._notes, (" ".join(words) + "\n").encode())


def run(orders: Orders) -> None:
    """Serve as ordered, until death. It ends with the process that starts it, too."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    screen = os.open(orders.screen, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(screen, 1)
    os.dup2(screen, 2)
    logging.basicConfig(format="%(message)s")
    connection.hooks.append(Weather(orders))
    listener = serve.listen(orders.port)
    listener.listen()
    serve.run(Gateway(app, refuse), listener)
