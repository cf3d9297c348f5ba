"""Who is asking: caller, session and user as values, and the kinds of access that routes name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import Enum

from chalicelib.domain import clock
from chalicelib.domain.ids import GpgkeyId, GroupId, RoleId, UserId, new_id
from chalicelib.domain.light import dataclass

SHELL = "shell"
"""The action of what is done without a request."""


class Access(Enum):
    """Who may call an endpoint at all. Every route names one."""

    PUBLIC = "public"
    """Anyone; whoever is signed in is not even asked."""
    ANYONE = "anyone"
    """Anyone; the endpoint is told who, where somebody is signed in."""
    GUEST = "guest"
    """Only who is not signed in."""
    USER = "user"
    ADMIN = "admin"
    PROVISIONER = "provisioner"
    """A directory, by its own token (`web/scim.py`); no user, whoever is signed in."""


@dataclass(frozen=True, slots=True)
class Session:
    """A standing sign-in: the row that keeps it, and the kind of credential that names it."""

    key: str
    is_bearer: bool
    expires: int
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One request's sender, known or not: its address, and the id its traces are filed under."""

    request_id: str = field(default_factory=new_id)
    source: str = ""
    """Network address the request came from."""
    action: str = SHELL
    """What was asked for, such as `ResourcesAdd.add`."""
    context: str = ""
    """Method and path as they were sent, without what stands for a session in them."""
    agent: str = ""
    """What the request says it was sent by, as browsers name themselves."""
    at: datetime = field(default_factory=clock.now)
    """When the request came in. It stays so where the request is decided again."""


@dataclass(frozen=True, slots=True)
class Lock:
    """The operation that held a row when it was read (`storage/changes/operations.py`)."""

    operation: str
    is_committed: bool = False
    is_closed: bool = False
    """Whether what belongs to the row is being read for good: nothing may be added to it."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A user who is signed in, active and not suspended, as of this request."""

    id: UserId
    role_id: RoleId
    is_admin: bool = False
    gpgkey_id: GpgkeyId | None = None
    groups: Mapping[GroupId, bool] = field(default_factory=dict)
    """Groups the user belongs to, each with whether they manage it."""
    session: Session | None = None
    caller: Caller = field(default_factory=Caller)
    lock: Lock | None = None
    """What held the user's row."""
    pending: tuple[str, ...] = ()
    """Providers of the second factor that is still to be given: one of them is to be used."""
