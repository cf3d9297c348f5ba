"""Steady traffic of a tenant, and a ledger of what was acknowledged.

Threads go through the tenant's address as clients do, each with sessions of its own: they sign
in, store and change passwords, read them again, list. What was answered with 200 stands in the
ledger; whatever is read later has to be that, or what was sent since. Each request is noted with
its status, and with the identifier by which the functions' logs know it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

import requests

from tests.cloud.given.remote import PATIENCE, Remote
from tests.cloud.given.tenants import CloudTenant
from tests.support.wire.client import Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.wire.handshake import VERIFY
from tests.support.world.keys import challenge, message, message_text, open_sealed

NO_ANSWER = 0
PAUSE = 0.4
"""Seconds between two rounds of a thread."""
ROUNDS = 8
"""Rounds after which somebody signs in anew."""
SILENCE = 2.0
"""Seconds after which functions take a storage that does not answer for one that is away."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what it was answered with."""

    phase: str
    what: str
    """Method and path."""
    status: int
    id: str
    """By which the log knows it."""
    began: float
    seconds: float
    said: str
    """What it was told, where it has failed."""

    @property
    def has_failed(self) -> bool:
        return self.status != HTTPStatus.OK


class NotDone(Exception):  # noqa: N818  it says what is so
    """A request has failed: whoever sent it begins anew."""


@dataclass(slots=True)
class Kept:
    """Of one password: all that was sent, as name and text, and how far it was acknowledged."""

    sent: list[tuple[str, str]]
    acknowledged: int = 0

    def expected(self, since: int) -> list[tuple[str, str]]:
        """What may be found by who began to read when so much was acknowledged."""
        return self.sent[since:]


@dataclass
class Ledger:
    kept: dict[str, Kept] = field(default_factory=dict)
    """By resource."""
    unsure: set[str] = field(default_factory=set)
    """Names under which something was sent, and nobody has said that it is stored."""
    wrong: list[str] = field(default_factory=list)
    """What was read, and is not what was acknowledged."""
    _lock: Lock = field(default_factory=Lock)

    def add(self, resource_id: str, sent: tuple[str, str]) -> None:
        with self._lock:
            self.kept[resource_id] = Kept([sent])
            self.unsure.discard(sent[0])

    def now(self) -> dict[str, int]:
        """How far each password is acknowledged."""
        with self._lock:
            return {each: kept.acknowledged for each, kept in self.kept.items()}

    def compare(self, resource_id: str, name: str | None, since: int) -> None:
        if name not in {known for known, _ in self.kept[resource_id].expected(since)}:
            self.wrong.append(f"{resource_id} is called {name}")

    def compare_opened(self, resource_id: str, text: str, since: int) -> None:
        if text not in {known for _, known in self.kept[resource_id].expected(since)}:
            self.wrong.append(f"{resource_id} has another text")

    def compare_all(self, names: Mapping[str, str], since: Mapping[str, int]) -> None:
        for resource_id, acknowledged in since.items():
            self.compare(resource_id, names.get(resource_id), acknowledged)

    def may_have_made(self, count: int) -> bool:
        """Whether so many may be stored: all of which that was said, and maybe others."""
        return 0 <= count - len(self.kept) <= len(self.unsure)

    def may_have_changed(self, count: int) -> bool:
        kept = self.kept.values()
        return (
            sum(each.acknowledged for each in kept)
            <= count
            <= sum(len(each.sent) - 1 for each in kept)
        )


@dataclass
class Traffic:
    tenant: CloudTenant
    phase: str = "before"
    asked: list[Asked] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    silences: list[tuple[float, float]] = field(default_factory=list)
    """From when until when the local cloud itself answered nobody."""
    mistakes: list[BaseException] = field(default_factory=list)
    """What has ended a thread: of the test, or an answer that nobody understands."""
    _over: Event = field(default_factory=Event)

    @contextmanager
    def flowing(self) -> Iterator[Traffic]:
        ways = (Member.store_and_change, Member.look_around, Member.sign_in)
        threads = [Thread(target=self._go, args=(way,)) for way in ways]
        threads.append(Thread(target=self._listen))
        for each in threads:
            each.start()
        try:
            yield self
        finally:
            self._over.set()
            for each in threads:
                each.join()
            self.phase = "after"

    def flow(self, phase: str, most: int) -> None:
        """Let the traffic go on until so many requests that were sent from now on are answered."""
        self.phase, end = phase, time.monotonic() + PATIENCE
        while len(self.of(phase)) < most and not self.mistakes:
            assert time.monotonic() < end, "nobody is answered"
            self._over.wait(0.1)

    @property
    def failed(self) -> list[Asked]:
        """Those that have failed, but for what was told while the local cloud answered nobody.

        On a machine with too much to do it is silent for seconds. Functions take that for a
        storage that is away, and tell people to try again.
        """
        return [each for each in self.asked if each.has_failed and not self._is_excused(each)]

    def _is_excused(self, asked: Asked) -> bool:
        ended = asked.began + asked.seconds
        is_amid = any(asked.began < last and first < ended for first, last in self.silences)
        return asked.status == HTTPStatus.SERVICE_UNAVAILABLE and is_amid

    def of(self, phase: str) -> list[Asked]:
        return [each for each in self.asked if each.phase == phase]

    def told(self) -> str:
        """For each phase: how many requests, how many of them failed, how long one took."""
        phases, failed = dict.fromkeys(each.phase for each in self.asked), self.failed
        return "\n".join(
            f"{phase}: {len(those)} requests, {sum(each in failed for each in those)} failed, "
            f"{sum(each.has_failed and each not in failed for each in those)} amid a silence, "
            f"{max(each.seconds for each in those):.1f} s the slowest"
            for phase in phases
            for those in [self.of(phase)]
        )

    def _listen(self) -> None:
        """Ask the local cloud itself, beside all functions."""
        while not self._over.wait(PAUSE):
            began = time.monotonic()
            requests.get(f"{self.tenant.cloud.address}/_ministack/health", timeout=PATIENCE)
            if (ended := time.monotonic()) - began > SILENCE:
                self.silences.append((began, ended))

    def _go(self, way: Any) -> None:
        while not self._over.is_set() and not self.mistakes:
            try:
                member = Member(self)
                member.sign_in()
                for _ in range(ROUNDS):
                    way(member)
                    if self._over.wait(PAUSE):
                        return
            except NotDone:
                self._over.wait(PAUSE)
            except BaseException as mistake:  # noqa: BLE001  a test tells it
                self.mistakes.append(mistake)


@dataclass
class Noting(Remote):
    """A client whose requests are noted; raises `NotDone` where one fails."""

    traffic: Traffic | None = None

    def request(self, method: str, path: str, **options: Any) -> Response:
        assert self.traffic is not None
        phase, began = self.traffic.phase, time.monotonic()
        try:
            answer = super().request(method, path, **options)
        except requests.RequestException as problem:
            answer = Response(NO_ANSWER, [], str(problem).encode())
        is_done = answer.status == HTTPStatus.OK
        self.traffic.asked.append(
            Asked(
                phase,
                f"{method} {_ID.sub('<id>', path)}",
                answer.status,
                _id(answer),
                began,
                time.monotonic() - began,
                "" if is_done else answer.content[:300].decode(errors="replace"),
            )
        )
        if not is_done:
            raise NotDone
        return answer


def _id(answer: Response) -> str:
    try:
        return str(answer.header["id"])
    except (ValueError, KeyError, TypeError):
        return ""


class Member:
    """Ada, with a session of her own."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._tenant = traffic.tenant
        self._ledger = traffic.ledger
        self._client = self._made(None)

    def _made(self, token: str | None) -> Noting:
        return Noting(token, url=self._tenant.url, traffic=self._traffic)

    def sign_in(self) -> None:
        key, guest = self._tenant.key, self._made(None)
        server_key = guest.get(VERIFY).body["keydata"]
        claims = {
            "version": "1.0.0",
            "domain": self._tenant.url,
            "verify_token": str(uuid4()),
            "verify_token_expiry": int(time.time()) + 120,
        }
        sealed = challenge(json.dumps(claims), key.private, server_key)
        body = {"user_id": self._tenant.user_id, "challenge": sealed}
        answer = guest.post("/auth/jwt/login.json", body, **CSRF_PAIR)
        opened = open_sealed(answer.body["challenge"], key.private, server_key)
        self._client = self._made(str(json.loads(opened)["access_token"]))
        assert self._client.get("/users/me.json").body["id"] == self._tenant.user_id

    def store_and_change(self) -> None:
        """Store a password, change it, read it again."""
        resource_id = self._store(f"name {uuid4()}", f"text {uuid4()}")
        self._change(resource_id, f"name {uuid4()}", f"text {uuid4()}")
        self._read(resource_id)

    def look_around(self) -> None:
        """List, and read what is oldest, what is newest and what lies between."""
        self._list()
        known = list(self._ledger.now())
        for resource_id in {*known[:1], *known[len(known) // 2 :][:1], *known[-1:]}:
            self._read(resource_id)

    def look_at_all(self) -> set[str]:
        """Compare all that is stored; returns names of what nobody has sent."""
        since = self._ledger.now()
        listed = self._client.get("/resources.json?contain[secret]=1").body
        found = {each["id"]: each for each in listed}
        self._ledger.compare_all({each: row["name"] for each, row in found.items()}, since)
        for resource_id in since.keys() & found.keys():
            [secret] = found[resource_id]["secrets"]
            text = message_text(secret["data"], self._tenant.key.private)
            self._ledger.compare_opened(resource_id, text, since[resource_id])
        return {found[each]["name"] for each in found.keys() - since.keys()} - self._ledger.unsure

    def _store(self, name: str, text: str) -> str:
        self._ledger.unsure.add(name)
        made = self._client.post("/resources.json", {"name": name, "secrets": [self._sealed(text)]})
        self._ledger.add(made.body["id"], (name, text))
        return str(made.body["id"])

    def _change(self, resource_id: str, name: str, text: str) -> None:
        kept = self._ledger.kept[resource_id]
        kept.sent.append((name, text))
        sent = {"name": name, "secrets": [self._sealed(text)]}
        self._client.put(f"/resources/{resource_id}.json", sent)
        kept.acknowledged = len(kept.sent) - 1

    def _sealed(self, text: str) -> dict[str, str]:
        return {"user_id": self._tenant.user_id, "data": message(text, self._tenant.key.public)}

    def _list(self) -> dict[str, str]:
        since = self._ledger.now()
        listed = self._client.get("/resources.json").body
        names = {each["id"]: each["name"] for each in listed}
        self._ledger.compare_all(names, since)
        return names

    def _read(self, resource_id: str) -> None:
        since = self._ledger.now()[resource_id]
        name = self._client.get(f"/resources/{resource_id}.json").body["name"]
        self._ledger.compare(resource_id, name, since)
        self._ledger.compare_opened(resource_id, self._opened(resource_id), since)

    def _opened(self, resource_id: str) -> str:
        data = self._client.get(f"/secrets/resource/{resource_id}.json").body["data"]
        return message_text(data, self._tenant.key.private)
