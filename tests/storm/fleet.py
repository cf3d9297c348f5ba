"""The server processes of a storm: started, killed and started again until it is over."""

from __future__ import annotations

import multiprocessing
import random
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Self

import requests

from tests.storm import server, staged
from tests.storm.people import CUT_OFF
from tests.storm.server import Orders
from tests.support.storage import Storage

PATIENCE = 60
FAULTS = 0.02
"""The share of storage calls that fail."""
LIFE = (5.0, 20.0)
"""Seconds after which a server dies that has not met its end; somewhere between these."""
_AIMS = (staged.STAGE, staged.HOLD, *3 * (staged.COMMIT, staged.APPLY), staged.END, staged.CLEAR)
"""The moments at which servers are told to die: the middle of operations most often."""
MOST_SEEN = 5
"""The last call of its kind at which a server may be told to die."""
_FORKS = multiprocessing.get_context("forkserver")
"""Servers come from a process that has imported all they need, and has done nothing else."""
_FORKS.set_forkserver_preload([server.__name__])


class Fleet:
    def __init__(self, store: Storage, folder: Path, seed: int, size: int) -> None:
        self._store, self._seed = store, seed
        self._notes, self._output = folder / "notes", folder / "output"
        self._notes.touch()
        self._output.touch()
        self._over = threading.Event()
        self._ports = [_free_port() for _ in range(size)]
        self._asking = threading.Lock()
        """Held by whoever asks how processes ended: it is told once, and a start asks for all."""
        self._watches = [threading.Thread(target=self._keep, args=(port,)) for port in self._ports]
        self.killed: Counter[bool] = Counter()
        """How many servers were killed from outside, by whether an operation was under way."""
        self.ended: list[int | None] = []
        """How all servers ended; by a signal is below 0."""

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self._ports]

    @property
    def accidents(self) -> list[str]:
        """What the servers wrote to the screen that is not about requests they answered."""
        lines = self._output.read_text().splitlines()
        return [line for line in lines if '"event"' not in line or '"accident"' in line]

    @property
    def happened(self) -> Counter[str]:
        """What the servers noted, each as often as it was."""
        return Counter(self._notes.read_text().splitlines())

    def __enter__(self) -> Self:
        for watch in self._watches:
            watch.start()
        for url in self.urls:
            _wait_for(url)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for watch in self._watches:
            watch.join()

    def _keep(self, port: int) -> None:
        """Have a server at this port, one after the other."""
        chance = random.Random(f"{self._seed} server {self._ports.index(port)}")
        while not self._over.is_set():
            process = _FORKS.Process(target=server.run, args=(self._orders(port, chance),))
            with self._asking:
                process.start()
            end = time.monotonic() + chance.uniform(*LIFE)
            ending = [process.sentinel]
            while not wait(ending, 0.05) and time.monotonic() < end and not self._over.is_set():
                pass
            if not wait(ending, 0):
                self.killed[staged.under_way(self._store)] += 1
                process.kill()
            wait(ending)
            with self._asking:
                process.join()
            self.ended.append(process.exitcode)

    def _orders(self, port: int, chance: random.Random) -> Orders:
        return Orders(
            port,
            seed=str(chance.random()),
            faults=FAULTS,
            moment=chance.choice(_AIMS),
            number=chance.randint(1, MOST_SEEN),
            is_after=chance.random() < 0.5,
            notes=str(self._notes),
            screen=str(self._output),
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(*CUT_OFF):
            requests.get(f"{url}/auth/verify.json", timeout=PATIENCE)
            return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens at {url}")
