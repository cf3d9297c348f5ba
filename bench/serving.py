"""What a client of `make serve` waits for: one connection that is kept, HTTP, whole answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote_plus, urlsplit
from uuid import uuid4

from bench import sharing, surroundings
from bench.measure import Spread
from bench.tables import Table
from bench.tenant import SECRET, Tenant
from tests.support.world.keys import KEYS, Key, challenge, message, open_sealed

RUNS = 40
LIST_RUNS = 7


def measure(folder: Path, *, is_quick: bool) -> Path:
    """Fill a tenant, serve it, and print what its clients wait for; returns where it is."""
    data = folder / "data"
    data.mkdir()
    env = surroundings.environment(
        data / "keys", AVATAR_FOLDER=str(data), DATA=str(data), TABLE_PREFIX="keyhaven-"
    )
    surroundings.run("bench.fill", env)
    with serving(data) as client:
        part = 4 if is_quick else 1
        _print(client, RUNS // part, LIST_RUNS // part)
    return data


class Client:
    """One connection; times are from a request until all of its answer is there."""

    def __init__(self, url: str, tenant: Tenant) -> None:
        self.url = url
        self.tenant = tenant
        self.token = ""
        self.server = ""
        self.seconds = 0.0
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._unused = iter(tenant.singles)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[HTTPResponse, Any]:
        """Ask and read the answer, timing only what the server and the wire take."""
        content = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        started = time.perf_counter()
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        read = response.read()
        self.seconds = time.perf_counter() - started
        assert response.status == 200, read[:300]
        return response, json.loads(read)["body"]

    def fresh(self) -> str:
        return next(self._unused)

    def log_in(self, user_id: str, key: Key) -> str:
        """Sign in by a challenge; returns the access token."""
        self.token = ""
        claims = {
            "version": "1.0.0",
            "domain": self.url,
            "verify_token": str(uuid4()),
            "verify_token_expiry": int(time.time()) + 120,
        }
        sealed = challenge(json.dumps(claims), key.private, self.server)
        body = {"user_id": user_id, "challenge": sealed}
        _, answer = self.ask("POST", "/auth/jwt/login.json", body)
        opened = open_sealed(answer["challenge"], key.private, self.server)
        return str(json.loads(opened)["access_token"])

    def step(self, key: Key, **members: str) -> HTTPResponse:
        """One step of the GPG sign-in."""
        gpg_auth = {"keyid": key.fingerprint, **members}
        response, _ = self.ask("POST", "/auth/login.json", {"data": {"gpg_auth": gpg_auth}})
        return response


def _print(client: Client, runs: int, list_runs: int) -> None:
    carol, key = client.tenant.carol, KEYS["carol"]
    secret = message(SECRET, key.public)
    table = Table(("request", "ms", "PHP ms", "goal"))

    def line(
        name: str, work: Callable[[], object], php: str = "", times: int = runs, goal: str = ""
    ) -> None:
        seconds = []
        for _ in range(times + 1):
            work()
            seconds.append(client.seconds)
        table.row(name, Spread.of(seconds[1:]).times(1000), php, goal)

    line("sign in, JWT", lambda: client.log_in(carol, key), "124")
    line("sign in, GPG stage 0", lambda: client.step(key, server_verify_token=_nonce(client)))
    line("sign in, GPG stage 1", lambda: client.step(key))
    line("sign in, GPG stage 2", lambda: _last_stage(client, key))
    client.token = client.log_in(client.tenant.ada, KEYS["ada"])
    of_one = f"{client.tenant.listed}.json"
    line("resource", lambda: client.ask("GET", f"/resources/{of_one}"), "30")
    line("secret", lambda: client.ask("GET", f"/secrets/resource/{of_one}"), "33")
    for name, query, php, goal in (
        ("5,000 resources", "", "229", ""),
        ("… with permission, favorite", "?contain[permission]=1&contain[favorite]=1", "", ""),
        ("… with secrets", "?contain[secret]=1", "4200", "≤ 400"),
    ):
        path = f"/resources.json{query}"
        line(name, lambda path=path: client.ask("GET", path), php, list_runs, goal)  # type: ignore[misc]
    line("1,000 users", lambda: client.ask("GET", "/users.json"), times=list_runs)
    client.token = client.log_in(carol, key)
    body = {"name": "Mail", "secrets": [{"user_id": carol, "data": secret}]}
    line("create a resource", lambda: client.ask("POST", "/resources.json", body), "60")
    line("update a resource", lambda: client.ask("PUT", _fresh(client), {"name": "New"}))
    line("update with secret", lambda: client.ask("PUT", _fresh(client), body))
    line("delete a resource", lambda: client.ask("DELETE", _fresh(client)))
    *_, (group_id, members) = client.tenant.members.items()
    few, many = members[: sharing.USERS], sharing.with_group(group_id, members)
    line("share with 10 users", lambda: _share(client, sharing.with_users(few)), "190")
    line(f"share with a group of {len(members)}", lambda: _share(client, many), times=list_runs)


def _fresh(client: Client) -> str:
    return f"/resources/{client.fresh()}.json"


def _share(client: Client, body: Any) -> None:
    client.ask("PUT", sharing.path(client.fresh()), body)


def _nonce(client: Client) -> str:
    return message(f"gpgauthv1.3.0|36|{uuid4()}|gpgauthv1.3.0", client.server)


def _last_stage(client: Client, key: Key) -> None:
    encoded = client.step(key).headers["X-GPGAuth-User-Auth-Token"]
    armored = re.sub(r"\\(.)", r"\1", unquote_plus(encoded))
    client.step(key, user_token_result=open_sealed(armored, key.private, client.server))


@contextmanager
def serving(data: Path) -> Iterator[Client]:
    """Run `python -m infra.local_server` on what was filled; yields a client once it serves."""
    with _running({"PATH": os.environ["PATH"], "DATA": str(data), "PORT": "0"}) as url:
        client = Client(url, Tenant.read(data))
        client.server = client.ask("GET", "/auth/verify.json")[1]["keydata"]
        yield client


@contextmanager
def _running(env: dict[str, str]) -> Iterator[str]:
    """Run `python -m infra.local_server`; yields its address once it serves."""
    process = subprocess.Popen(
        [sys.executable, "-m", "infra.local_server"],
        cwd=surroundings.ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"infra.local_server ended before it served: {said}")
            said += line
        found = re.search(r"listens on (http://\S+),", said)
        assert found is not None, said
        # It goes on to tell of each mail, and would wait for somebody who reads that.
        Thread(target=process.stdout.read, daemon=True).start()
        yield found[1]
    finally:
        process.terminate()
        process.wait(surroundings.PATIENCE)
