"""What may be chosen when the service is started on one machine, and what follows from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from infra.installed import ROOT

LAST_PORT = 65535


class CannotServe(Exception):  # noqa: N818  it says what is so
    """Why serving is impossible, in a sentence for the person who started it."""


@dataclass(frozen=True, slots=True)
class Options:
    port: int = 8000
    """0 takes any that is free."""
    data: Path = ROOT / ".local"
    dialect: str = "specification"
    admin: str = "admin@example.com"
    first_name: str = "First"
    last_name: str = "Administrator"
    base_url: str = ""
    server_key: str = ""
    """The step to take of changing the server's key, if any."""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Options:
        """Raises `CannotServe` for what cannot be meant."""
        given = {name: value for name, value in environment.items() if value}
        default = cls()
        return cls(
            port=_port(given.get("PORT", str(default.port))),
            data=Path(given.get("DATA", default.data)).absolute(),
            dialect=given.get("DIALECT", default.dialect),
            admin=given.get("ADMIN", default.admin),
            first_name=given.get("FIRST_NAME", default.first_name),
            last_name=given.get("LAST_NAME", default.last_name),
            base_url=_address(given.get("BASE_URL", default.base_url)),
            server_key=given.get("SERVER_KEY", default.server_key),
        )

    @property
    def keys(self) -> Path:
        return self.data / "keys"

    @property
    def mails(self) -> Path:
        return self.data / "mail"

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or "localhost"

    def apply(self) -> None:
        """Make this process's environment what the service's settings are read from.

        The credentials are none: nothing leaves the machine, whoever's keys lie about on it.
        """
        for name in (
            *("AWS_PROFILE", "AWS_SESSION_TOKEN", "DYNAMODB_ENDPOINT"),
            *("AVATAR_BUCKET", "ANSWER_BUCKET", "ENDPOINT_GROUP"),
        ):
            os.environ.pop(name, None)
        os.environ.update(
            AWS_ACCESS_KEY_ID="local",
            AWS_SECRET_ACCESS_KEY="local",  # noqa: S106  a word, not a secret
            AWS_EC2_METADATA_DISABLED="true",
            BASE_URL=self.base_url,
            DIALECT=self.dialect,
            KEY_FOLDER=str(self.keys),
            AVATAR_FOLDER=str(self.data),
        )
        for name, value in (
            ("PARALLEL_CALLS", "1"),
            ("ANSWER_LIMIT", "0"),
            ("LOGIN_LIMIT", "0"),
            ("DIRECTORY_ON_OWN_MACHINE", "on"),
        ):
            os.environ.setdefault(name, value)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise CannotServe(f"PORT is {text!r}; it must be a number up to {LAST_PORT}.")
    return int(text)


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of brackets, or of the port
        is_one = False
    if text and not is_one:
        raise CannotServe(f"BASE_URL is {text!r}; it must be such as https://keyhaven.example.")
    return text
