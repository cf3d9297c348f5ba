"""The server's key at every stage of a change, and what rests sealed to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pysequoia

from chalicelib.crypto import private_keys
from chalicelib.crypto.openpgp import ServerKey
from chalicelib.crypto.private_keys import Held, Place
from chalicelib.crypto.server_keys import ServerKeys
from chalicelib.domain.operator.server_key_sets import Step
from chalicelib.services.directory import directory_settings
from chalicelib.services.operator import (
    keys,
    mail_relay,
    passwords,
    server_key,
    server_key_rotation,
)
from chalicelib.services.sign_in import authenticators
from chalicelib.storage.base import every_table
from chalicelib.tables.items.metadata_private_keys import SERVER, MetadataPrivateKey
from chalicelib.tables.operator.outbox import ADMINISTRATORS, Mail
from chalicelib.tables.settings import DIRECTORY_SYNC, MAIL_RELAY, Setting
from chalicelib.tables.users.users import User
from tests.conftest import Time
from tests.support.storage import Storage
from tests.support.world import second_factors
from tests.support.world.items import metadata
from tests.support.world.items.metadata import SharedKey
from tests.support.world.keys import challenge
from tests.support.world.make import Somebody
from tests.support.world.second_factors import App

NEXT, USE, RETIRE, REMOVE = Step
STAGES = {
    "at rest": (),
    "announced": (NEXT,),
    "in use": (NEXT, USE),
    "retired": (NEXT, USE, RETIRE),
    "removed": tuple(Step),
}
"""What was done before, by what the keys then are."""
PASSWORDS = {"domain": "the directory's", "domain1": "the other one's"}
RELAY_PASSWORD = "the relay's"


@cache
def _made(number: int) -> str:
    return keys.new_server_key(f"keyhaven{number}.test")


class Pool:
    """Makes keys, each another one, and after a restart the same: hundreds take no time."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        return _made(self.made)


pool = Pool()


def own_place() -> Place:
    """Where the process that serves the tests has its key."""
    return private_keys.place_of(private_keys.OPENPGP)


@contextmanager
def kept_after() -> Iterator[Place]:
    """What is done to the key ends here."""
    own = own_place()
    before, pool.made = own.read(), 0
    yield own
    own.follow(own.read(), before.text)
    server_key.forget()


def take(step: Step, time: Time, place: Place | None = None) -> ServerKeys:
    """Take a step as soon as it may be taken, with what rests sealed anew before."""
    place = place or own_place()
    due = server_key_rotation.due(server_key_rotation.look(place).key_set)
    if due is not None:
        time.now = max(time.now, due)
    if step in (RETIRE, REMOVE):
        server_key_rotation.reseal(place)
    return server_key_rotation.take(step, place, pool)


def do(time: Time, *steps: Step, place: Place | None = None) -> ServerKeys:
    """All of these, and until each function has noticed."""
    for step in steps:
        take(step, time, place)
        time.pass_by(seconds=server_key_rotation.REACHES.total_seconds())
    return server_key_rotation.look(place or own_place())


def public_of(private: str) -> str:
    return ServerKey.load(private).armored_public_key


@dataclass
class Dying:
    """A place whose process dies just before it writes, or just after."""

    place: Place
    error: type[BaseException]
    after: bool

    def read(self) -> Held:
        return self.place.read()

    def create(self, make: Callable[[], str]) -> None:
        self.place.create(make)

    def follow(self, held: Held, text: str) -> None:
        if self.after:
            self.place.follow(held, text)
        raise self.error


@dataclass(frozen=True)
class Sealed:
    """One of everything that rests sealed to the server, each made without our own code."""

    app: App
    who: Somebody
    admin: Somebody
    shared: tuple[SharedKey, SharedKey]
    """Of the first the server's copy is signed by the administrator, of the other by itself."""

    def require_open(self) -> None:
        """The service opens all of it."""
        opened = authenticators.opened(User.get(self.who.id))
        assert opened.uri("keyhaven.test", self.who.user.username) == self.app.uri
        relay = mail_relay.view()
        assert relay is not None
        assert mail_relay.named_by(relay).password == RELAY_PASSWORD
        stored = directory_settings.view()
        assert stored is not None
        for name, sealed in stored.sealed.items():
            assert passwords.opened(passwords.DIRECTORY, name, sealed) == PASSWORDS[name]


def sealed_to(server: str, admin: Somebody, who: Somebody, time: Time) -> Sealed:
    """Seal one of everything to the server's key, given as a private key."""
    public = public_of(server)
    second_factors.turn_on(admin)
    app = second_factors.set_up(who.client)
    time.pass_by(minutes=2)
    first = metadata.shared(admin, None)
    second = metadata.shared(admin, number=2)
    text = metadata.content(second)
    own = MetadataPrivateKey(SERVER, second.id, id=second.id, data=challenge(text, server, public))
    own.created = own.modified = time.now
    own.save()
    store_relay(server)
    store_directory(server)
    return Sealed(app, who, admin, (first, second))


def _password(purpose: str, connection: str, password: str) -> str:
    return json.dumps({"purpose": purpose, "connection": connection, "password": password})


def store_relay(server: str, password: str = RELAY_PASSWORD) -> None:
    form: dict[str, Any] = {
        "host": "mail.example.com",
        "port": 587,
        "username": "keyhaven",
        "sender_name": "Keyhaven",
        "sender_email": "keyhaven@example.com",
        "client": None,
        "ca_certificate": None,
    }
    sealed = _password("relay", "keyhaven at mail.example.com:587", password)
    value = {"id": "relay", "form": form, "password": challenge(sealed, server, public_of(server))}
    Setting(MAIL_RELAY, value=value).save()


def store_directory(server: str, said: Mapping[str, str] = PASSWORDS) -> None:
    public = public_of(server)
    sealed = {
        name: challenge(_password("directory", name, password), server, public)
        for name, password in said.items()
    }
    value = {"id": "directory", "form": {"domains": {}}, "passwords": sealed}
    Setting(DIRECTORY_SYNC, value=value).save()


def messages(store: Storage) -> list[str]:
    """All messages that are stored anywhere."""
    rows = [store.rows(table.stored_as()) for table in every_table()]
    return list(_messages(rows))


def _messages(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.startswith(("{", "[")):
        try:
            yield from _messages(json.loads(value))
        except ValueError:
            return
    elif isinstance(value, str) and value.startswith("-----BEGIN PGP MESSAGE"):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _messages(each)
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from _messages(each)


def open_to(private: str, store: Storage) -> set[str]:
    """The texts of all stored messages that this key opens, as another program reads them."""
    decryptor = pysequoia.Tsk.from_bytes(private.encode()).decryptor()
    found = set()
    for armored in messages(store):
        try:
            opened = pysequoia.decrypt(armored.encode(), decryptor=decryptor)
        except RuntimeError:
            continue
        found.add(opened.bytes.decode())
    return found


def mailed(store: Storage) -> list[tuple[str, str]]:
    """Which mails about the key wait, with the fingerprint that each tells."""
    rows = [row for row in store.rows(Mail.stored_as()) if "server-key" in row["template"]["S"]]
    assert {row["recipient"]["S"] for row in rows} <= {ADMINISTRATORS}
    return sorted((row["template"]["S"], row["params"]["M"]["fingerprint"]["S"]) for row in rows)
