"""Break-glass: another administrator, where nobody who is one can sign in any more.

Two people who run the service do it together: one asks, and within a day another one grants it.
All administrators are told of both, and who did it stands in the log. What people encrypted stays
theirs: whoever is admitted begins with an account that has nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from chalicelib.bodies.users.users import EmergencyBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import Conflict, Forbidden, NotFound
from chalicelib.domain.ids import new_id
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.domain.operator.operators import Operator
from chalicelib.domain.users import roles
from chalicelib.services.users.people import invitations, users
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import BREAK_GLASS, TENANT, Setting, as_read, value_of

ENDS_AFTER = timedelta(days=1)
_KEY = Setting.named(BREAK_GLASS)
_GRANTED = "BreakGlass.grant"
_NOBODY = NotFound("Nobody asks for another administrator, or it was asked more than a day ago.")
_ASKED_ALREADY = Conflict("Another administrator is asked for already; grant or withdraw that.")
_ALONE = Forbidden("Who asked cannot grant it: another person of those who run the service does.")


@dataclass(frozen=True, slots=True)
class Request:
    """Who is to become an administrator, why, and who asks for that."""

    id: str
    username: str
    first_name: str
    last_name: str
    reason: str
    asked_by: str
    asked: str

    @property
    def stands(self) -> bool:
        return clock.now() < datetime.fromisoformat(self.asked) + ENDS_AFTER


def ask(wanted: EmergencyBody, by: Operator) -> Request:
    """Ask for another administrator. One is asked for at a time."""
    row, before = _read()
    if before is not None and before.stands:
        raise _ASKED_ALREADY
    asked = timestamp_text(clock.now())
    named = (wanted.username, wanted.first_name, wanted.last_name)
    request = Request(new_id(), *named, wanted.reason, by.arn, asked)
    with Transaction() as tx:
        tx.update(_KEY, *Setting.says(asdict(request)), provided=as_read(row))
        _tell(tx, Event.ADMINISTRATOR_ASKED_FOR, request)
    audit.write("break-glass", step="ask", object=request.id, actor=by.arn, result="success")
    return request


def look() -> Request | None:
    """What is asked for and can be granted."""
    _, request = _read()
    return request if request is not None and request.stands else None


def grant(request_id: str, by: Operator) -> Request:
    """Invite who was asked for; the link to the setup goes to their address and to nobody else.

    It is granted once: the request goes with the transaction that adds the administrator.
    """
    row, request = _require(request_id)
    if by.is_person(Operator(request.asked_by)):
        raise _ALONE
    person = users.new_user(request.username, request.first_name, request.last_name)
    person.role_id = roles.ADMIN.id
    context = f"{request.asked_by}, {by.arn}"
    with Transaction() as tx:
        tx.delete(_KEY, provided=as_read(row))
        caller = Caller(action=_GRANTED, context=context)
        users.add(tx, person, None, caller, template=invitations.ADMISSION)
        _tell(tx, Event.ADMINISTRATOR_ADMITTED, request, granted_by=by.name)
    audit.write("break-glass", step="grant", object=request.id, actor=by.arn, result="success")
    return request


def withdraw(request_id: str) -> None:
    row, _ = _require(request_id)
    with Transaction() as tx:
        tx.delete(_KEY, provided=as_read(row))
    audit.write("break-glass", step="withdraw", object=request_id, result="success")


def _read() -> tuple[Setting | None, Request | None]:
    rows = reading.read([_KEY, Setting.named(TENANT)])
    if rows.find(Setting, TENANT) is None:
        raise NotFound("The tenant has no administrator yet; `onboard` invites the first one.")
    row = rows.find(Setting, BREAK_GLASS)
    said: Mapping[str, Any] = value_of(row)
    return row, Request(**said) if said else None


def _require(request_id: str) -> tuple[Setting | None, Request]:
    row, request = _read()
    if request is None or request.id != request_id or not request.stands:
        raise _NOBODY
    return row, request


def _tell(tx: Transaction, event: Event, request: Request, **by: str) -> None:
    person = {"name": f"{request.first_name} {request.last_name}", "username": request.username}
    why = {"reason": request.reason, "asked_by": Operator(request.asked_by).name}
    notices.tell(tx, event, to=notices.administrators(), actor=None, **person, **why, **by)
