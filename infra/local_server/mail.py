"""A post office for one machine: each mail becomes a file, and its link a line on the screen."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import Context
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTPUTF8
from pathlib import Path
from typing import Any, Protocol

AT_A_TURN = 10
"""Mails; whoever asks meanwhile waits for so many at most, some 0.1 s."""
QUIET = 0.1
"""Seconds without a request, after which what can wait is sent, one mail at a turn."""
PATIENCE = 10.0
"""Seconds after which it is sent although requests come: a script that asks without a pause for so
long is served more slowly from then on, until all has left."""
_NOT_IN_A_NAME = re.compile(r"[^0-9A-Za-z-]")


class Letter(Protocol):
    """A mail as it is to be sent."""

    @property
    def id(self) -> str: ...
    @property
    def created(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def template(self) -> str: ...
    @property
    def locale(self) -> str: ...
    @property
    def params(self) -> Mapping[str, Any]: ...
    @property
    def relay(self) -> Any: ...


class Rendered(Protocol):
    """What a template makes of its parameters."""

    @property
    def subject(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def html(self) -> str: ...
    @property
    def link(self) -> str: ...


Render = Callable[[str, Mapping[str, Any], str], Rendered]
Deliver = Callable[[str, Callable[[Any], None]], object]
"""Sends a mail of the outbox by what is given, or puts others in its place."""
HandOver = Callable[[Letter, Rendered], None]
"""Has a mail carried by the organisation's own server too, where there is one."""


def hand_over_to_nobody(letter: Letter, rendered: Rendered) -> None:
    """What becomes of mails that are files alone."""


class PostOffice:
    def __init__(
        self,
        folder: Path,
        render: Render,
        deliver: Deliver,
        sender: str,
        hand_over: HandOver = hand_over_to_nobody,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._render = render
        self._deliver = deliver
        self._sender = sender
        self._hand_over = hand_over
        self._waiting: deque[str] = deque()
        self._patient: deque[str] = deque()
        self._quiet_from = self._at_latest = 0.0

    def deliver_later(self, mail_id: str) -> None:
        """Send a mail once the request it comes from is answered, so that it costs none."""
        if loop := _served_by():
            self._waiting.append(mail_id)
            if len(self._waiting) == 1:
                self._go_on(loop)
        else:
            self.deliver(mail_id)

    def deliver_when_quiet(self, mail_id: str) -> None:
        """The same of a mail that nobody looks out for: while requests come, it waits a while."""
        if loop := _served_by():
            self._patient.append(mail_id)
            if len(self._patient) == 1:
                self._at_latest = loop.time() + PATIENCE
                self._plan(loop)
        else:
            self.deliver(mail_id)

    def has_answered(self) -> None:
        """Somebody was answered just now, and may ask again."""
        self._quiet_from = asyncio.get_running_loop().time() + QUIET

    def _go_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Send some of what waits, and let who asks meanwhile come before the others.

        In a context of its own: that of the request ends with it.
        """
        loop.call_soon(self._deliver_some, loop, context=Context())

    def _deliver_some(self, loop: asyncio.AbstractEventLoop) -> None:
        self._deliver_first(AT_A_TURN, self._waiting, loop, self._go_on)

    def _plan(self, loop: asyncio.AbstractEventLoop) -> None:
        when = min(self._quiet_from, self._at_latest)
        loop.call_at(when, self._deliver_patient, loop, context=Context())

    def _deliver_patient(self, loop: asyncio.AbstractEventLoop) -> None:
        """One mail if nobody asks, or some if they have waited for long; else none yet."""
        now = loop.time()
        most = AT_A_TURN if now >= self._at_latest else int(now >= self._quiet_from)
        self._deliver_first(most, self._patient, loop, self._plan)

    def _deliver_first(
        self,
        most: int,
        waiting: deque[str],
        loop: asyncio.AbstractEventLoop,
        plan: Callable[[asyncio.AbstractEventLoop], None],
    ) -> None:
        """Deliver so many at most, and plan another turn where some are left."""
        try:
            for _ in range(min(most, len(waiting))):
                try:
                    self.deliver(waiting[0])
                finally:
                    waiting.popleft()
        finally:
            if waiting:
                plan(loop)

    def deliver(self, mail_id: str) -> None:
        """Send one mail of the outbox, once however often it is asked for."""
        self._deliver(mail_id, self._write)

    def _write(self, letter: Letter) -> None:
        """Write a mail. One that cannot be is told of, and keeps no other from being written."""
        path = self._folder / _file_name(letter)
        try:
            rendered = self._render(letter.template, letter.params, letter.locale)
            mail = self._mail(letter, rendered)
        except (ValueError, LookupError) as error:
            print(f"The mail {path.stem} cannot be written: {type(error).__name__}", flush=True)
            return
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(mail)
        unfinished.rename(path)
        print(f"Mail to {letter.address}: {rendered.subject}\n  {rendered.link}", flush=True)
        self._hand_over(letter, rendered)

    def _mail(self, letter: Letter, rendered: Rendered) -> bytes:
        mail = EmailMessage(policy=SMTPUTF8)
        mail["From"] = self._sender
        mail["To"] = letter.address
        mail["Subject"] = rendered.subject
        mail["Date"] = datetime.fromisoformat(letter.created)
        mail.set_content(rendered.text)
        mail.add_alternative(rendered.html, subtype="html")
        return mail.as_bytes()


def _served_by() -> asyncio.AbstractEventLoop | None:
    """The loop that answers requests; none before anything is served."""
    with suppress(RuntimeError):
        return asyncio.get_running_loop()
    return None


def _file_name(letter: Letter) -> str:
    """A name that sorts by time, whatever the row holds."""
    parts = (_NOT_IN_A_NAME.sub("", each) for each in (letter.created, letter.id))
    return "-".join(parts) + ".eml"
