"""Where the tenant's private keys lie: in Secrets Manager, or in a folder on one machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import aws
from chalicelib.domain import deadline
from chalicelib.domain.errors import Conflict, Unavailable
from chalicelib.domain.light import dataclass
from chalicelib.settings import settings

OPENPGP = "openpgp.asc"
SIGNING = "jwt.pem"
FIRST = "keyhaven-first-value-of-this-secret"
"""Names the first value of a secret: of two who store one at once, one does."""
PATIENCE = deadline.Patience(tries=2, connect=0.8, answer=2.5)


@dataclass(frozen=True, slots=True, repr=False)
class Held:
    """What a place holds, and the name of this value of it."""

    text: str
    version: str


class Place(Protocol):
    def read(self) -> Held:
        """Return what is there; raises `Unavailable` where it cannot be had, never makes one."""
        ...

    def create(self, make: Callable[[], str]) -> None:
        """Make a private key where there is none yet; one that is there is never replaced."""
        ...

    def follow(self, held: Held, text: str) -> None:
        """Store what comes after the value that was read."""
        ...


def place_of(name: str) -> Place:
    if settings.key_folder is not None:
        return File(settings.key_folder / name)
    return Secret(settings.openpgp_secret if name == OPENPGP else settings.jwt_secret)


def read(name: str) -> str:
    return place_of(name).read().text


@dataclass(frozen=True, slots=True)
class File:
    """A file of one process, readable to its owner alone."""

    path: Path

    def read(self) -> Held:
        try:
            return Held(self.path.read_text(encoding="ascii"), "")
        except OSError as error:
            raise Unavailable("The server's key cannot be read now.") from error

    def create(self, make: Callable[[], str]) -> None:
        if not self.path.exists():
            self._write(make())

    def follow(self, held: Held, text: str) -> None:  # noqa: ARG002  nobody else writes it
        self._write(text)

    def _write(self, text: str) -> None:
        """The whole key or nothing, also where the power fails: it is on the disk before it counts.

        There is no other copy of the one that it may replace.
        """
        draft = self.path.with_suffix(".new")
        draft.touch(mode=0o600)
        with draft.open("w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(self.path)


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret of Secrets Manager, whose values have names that are given once."""

    id: str | None

    def read(self) -> Held:
        if self.id is None:
            raise Unavailable("The server has no key.")
        try:
            value = _secrets().get_secret_value(SecretId=self.id)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("The server's key cannot be read now.") from error
        return Held(str(value["SecretString"]), str(value["VersionId"]))

    def create(self, make: Callable[[], str]) -> None:
        """Once it has a value, it keeps it."""
        if self.id is None:
            raise Unavailable("The server has no place for its key.")
        client = _secrets()
        try:
            if client.describe_secret(SecretId=self.id).get("VersionIdsToStages"):
                return
            client.put_secret_value(SecretId=self.id, ClientRequestToken=FIRST, SecretString=make())
        except client.exceptions.ResourceExistsException:
            return  # somebody else stored one just now
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("The server's key cannot be stored now.") from error

    def follow(self, held: Held, text: str) -> None:
        """Of two who read the same value, one stores the next: both would name it alike."""
        client = _secrets()
        name = sha256(f"after {held.version}".encode()).hexdigest()
        try:
            client.put_secret_value(SecretId=self.id, ClientRequestToken=name, SecretString=text)
        except client.exceptions.ResourceExistsException:
            raise Conflict("Somebody else is changing the server's keys; try again.") from None
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("The server's key cannot be stored now.") from error


def _secrets() -> Any:
    """A client for one call, which is to end before whoever asks has to."""
    deadline.require(PATIENCE.longest)
    return aws.client("secretsmanager", PATIENCE)
