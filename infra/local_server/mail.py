"""A post office for one machine: each mail becomes a file, and its link a line on the screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTPUTF8
from pathlib import Path
from typing import Any, Protocol

Row = dict[str, dict[str, Any]]
"""A row of the outbox, in DynamoDB's attribute values."""

_NOT_IN_A_NAME = re.compile(r"[^0-9A-Za-z-]")


class Rendered(Protocol):
    """What a template makes of its parameters."""

    @property
    def subject(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def link(self) -> str: ...


Render = Callable[[str, dict[str, str]], Rendered]
Addresses = Callable[[str], list[str]]
"""To whom a mail to a recipient goes, when it is sent."""


class PostOffice:
    def __init__(self, folder: Path, render: Render, addresses_of: Addresses, sender: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._render = render
        self._addresses_of = addresses_of
        self._sender = sender

    def deliver_later(self, row: Row) -> None:
        """Write a mail once the request it comes from is answered, so that it costs none."""
        try:
            asyncio.get_running_loop().call_soon(self.deliver, row)
        except RuntimeError:  # nothing is served yet
            self.deliver(row)

    def deliver(self, row: Row) -> None:
        """Write one mail of the outbox, once however often it is asked for.

        One that cannot be written is told of, and keeps no other from being written.
        """
        path = self._folder / _file_name(row)
        if path.exists():
            return
        try:
            self._write(row, path)
        except (ValueError, LookupError) as error:
            print(f"The mail {path.stem} cannot be written: {type(error).__name__}", flush=True)

    def _write(self, row: Row, path: Path) -> None:
        addresses = self._addresses_of(row["recipient"]["S"])
        if not addresses:
            return
        rendered = self._render(row["template"]["S"], _texts(row["params"]["M"]))
        mail = EmailMessage(policy=SMTPUTF8)
        mail["From"] = self._sender
        mail["To"] = ", ".join(addresses)
        mail["Subject"] = rendered.subject
        mail["Date"] = datetime.fromisoformat(row["created"]["S"])
        mail.set_content(rendered.text)
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(mail.as_bytes())
        unfinished.rename(path)
        print(f"Mail to {mail['To']}: {rendered.subject}\n  {rendered.link}", flush=True)


def _file_name(row: Row) -> str:
    """A name that sorts by time, whatever the row holds."""
    parts = (_NOT_IN_A_NAME.sub("", row[name]["S"]) for name in ("created", "id"))
    return "-".join(parts) + ".eml"


def _texts(params: Row) -> dict[str, str]:
    return {name: str(next(iter(value.values()))) for name, value in params.items()}
