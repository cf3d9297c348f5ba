"""Keyhaven in a process of its own, as `make serve` runs it, and people who are set up there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import requests

from tests.support.leaks import watch
from tests.support.wire.handshake import LOGIN, TOKEN, VERIFY, open_token
from tests.support.world.keys import KEYS, Key

ROOT = Path(__file__).parents[3]
OUTPUT = "output.txt"
MODULE = "infra.local_server"
PATIENCE = 60
"""Seconds the process may take to serve; it needs one, on a machine with nothing else to do."""
_LINK = re.compile(r"http://\S+/setup/(recover/)?start/\S+")


@dataclass(frozen=True, slots=True)
class Served:
    """Where the service is, and who its first administrator became."""

    url: str
    user_id: str
    key: Key
    output: Path
    """All that the process has written to the screen."""

    def mail_to(self, address: str) -> str:
        """What the last mail to somebody says; it leaves before the next request is answered."""
        return mail_to(address, self.output.parent)


class Visitor(requests.Session):
    """A jar as Python clients have it, for one service, of which it is told paths."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    def request(self, method: str, url: str, *args: Any, **options: Any) -> requests.Response:
        options = {"timeout": PATIENCE, **options}
        response = super().request(method, f"{self.url}{url}", *args, **options)
        hear(response)
        return response

    def body(self, method: str, path: str, sent: Any = None) -> Any:
        """The body of the answer to what must succeed."""
        response = self.request(method, path, json=sent)
        assert response.status_code == 200, response.text
        return response.json()["body"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has set up, with a session of their own."""

    id: str
    name: str
    key: Key
    visitor: Visitor


@contextmanager
def serving(
    folder: Path, *, dialect: str, key: Key = KEYS["ada"], **settings: str
) -> Iterator[Served]:
    """Serve from an empty `folder`; the first administrator is Ada, with `key`."""
    with started(folder, dialect=dialect, **settings) as link:
        url, user_id = set_up(link, key)
        yield Served(url, user_id, key, folder / OUTPUT)


@contextmanager
def started(folder: Path, *, dialect: str, **settings: str) -> Iterator[str]:
    """Serve from an empty `folder`; the link with which Ada, the first administrator, sets up."""
    with running(folder, dialect=dialect, **settings) as said:
        yield link_in(said)


@contextmanager
def running(
    folder: Path, *, dialect: str, root: Path = ROOT, module: str = MODULE, **settings: str
) -> Iterator[str]:
    """Serve what is in `folder` with the code in `root`; what the process says when it does."""
    with (folder / OUTPUT).open("wb") as screen:
        process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=root,
            env=_environment(folder, dialect) | settings,
            stdout=screen,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _said(process, folder / OUTPUT)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        _hear_all(folder)


def hear(response: requests.Response) -> None:
    """Keep what a request and its answer hold that is secret, and hear what was refused."""
    for each in (*response.history, response):
        sent = each.request
        body = sent.body or ""
        text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
        watch.keep_request(dict(sent.headers), text)
        watch.keep_answer(_cookies(each), each.text)
        watch.answered(each.status_code, each.headers.items(), each.text)


def _cookies(response: requests.Response) -> list[str]:
    return [f"{each.name}={each.value}" for each in response.cookies]


def _hear_all(folder: Path) -> None:
    """Hear what a process has written to the screen, and its mails.

    Links stand on the screen as well, as README.md says: there may be nobody who reads the mail.
    """
    for file in sorted((folder / "data" / "mail").glob("*.eml")):
        mail = message_from_bytes(file.read_bytes(), policy=policy.default)
        watch.said("a mail of a served process", _LINK.sub("", _text_of(mail)))
    screen = (folder / OUTPUT).read_text(errors="replace")
    watch.said("the screen of a served process", _LINK.sub("", screen))


def mail_to(address: str, folder: Path) -> str:
    """What the last mail to somebody says, of a service in `folder`."""
    files = sorted((folder / "data" / "mail").glob("*.eml"), reverse=True)
    mails = (message_from_bytes(file.read_bytes(), policy=policy.default) for file in files)
    return next(_text_of(mail) for mail in mails if mail["To"] == address)


def _text_of(mail: EmailMessage) -> str:
    text = mail.get_body(("plain",))
    return str(text.get_content()) if text else ""


def _environment(folder: Path, dialect: str) -> dict[str, str]:
    chosen = {"PORT": "0", "DATA": str(folder / "data"), "DIALECT": dialect}
    person = {"ADMIN": "ada@example.com", "FIRST_NAME": "Ada", "LAST_NAME": "Lovelace"}
    return {"PATH": os.environ["PATH"], **chosen, **person}


def administrator(served: Served) -> Person:
    """Ada, signed in."""
    return Person(served.user_id, "ada", served.key, signed_in(served.url, served.key))


def newcomer(served: Served, by: Person, name: str) -> Person:
    """Somebody who was invited, has followed the link in their mail, and is signed in."""
    profile = {"first_name": name.title(), "last_name": "Lovelace"}
    person = {"username": f"{name}@example.com", "profile": profile}
    by.visitor.body("POST", "/users.json", person)
    by.visitor.body("GET", "/auth/is-authenticated.json")
    link = re.search(r"http://\S+/setup/start/\S+", served.mail_to(person["username"]))
    assert link is not None
    _, user_id = set_up(link[0], KEYS[name])
    return Person(user_id, name, KEYS[name], signed_in(served.url, KEYS[name]))


def signed_in(url: str, key: Key) -> Visitor:
    """A visitor who signed in with this key, and has a CSRF cookie."""
    visitor, keyid = Visitor(url), {"keyid": key.fingerprint}
    server_key = visitor.body("GET", VERIFY)["keydata"]
    stage1 = visitor.post(LOGIN, json={"gpg_auth": keyid})
    nonce = open_token(stage1.headers[TOKEN], key, server_key)
    visitor.body("POST", LOGIN, {"gpg_auth": {**keyid, "user_token_result": nonce}})
    visitor.headers["X-CSRF-Token"] = visitor.cookies["csrfToken"]
    return visitor


def _said(process: subprocess.Popen[bytes], output: Path) -> str:
    """What the process says when it serves."""
    deadline = time.monotonic() + PATIENCE
    while "Ctrl-C" not in (said := output.read_text()):
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    return said


def link_in(said: str) -> str:
    link = _LINK.search(said)
    assert link is not None, said
    return link[0]


def set_up(link: str, key: Key) -> tuple[str, str]:
    """Follow the link of an invitation; where that was, and who it was for."""
    assert requests.get(f"{link}.json", timeout=PATIENCE).status_code == 200
    url, _, ids = link.partition("/setup/start/")
    user_id, _, token = ids.partition("/")
    completed = requests.post(
        f"{url}/setup/complete/{user_id}.json",
        json={
            "authentication_token": {"token": token},
            "gpgkey": {"armored_key": key.public},
        },
        timeout=PATIENCE,
    )
    assert completed.status_code == 200, completed.text
    return url, user_id
