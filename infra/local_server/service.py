"""What serving on one machine does beside requests: tables, keys, mails, sweeps and directory runs.

Importing this reads the settings, so the environment is made first (`serve.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from itertools import count
from typing import Any

from app import app
from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.users import INVALID, AdministratorBody
from chalicelib.domain import deadline
from chalicelib.domain.errors import Invalid, Refusal, TargetTooLong, TooLarge, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.operator import audit, notices
from chalicelib.post.relay import Relay
from chalicelib.post.sending import NotSent
from chalicelib.services.directory import synchronisation
from chalicelib.services.operator import keys, mail_relay, sweeper, tenants
from chalicelib.services.operator import mails as outbox
from chalicelib.storage.connection import connection
from chalicelib.tables import catalogue
from chalicelib.tables.operator.outbox import Mail
from chalicelib.views import mails, pages
from chalicelib.web import envelope
from infra.local_server import server_key
from infra.local_server.courier import Courier
from infra.local_server.engine import Engine
from infra.local_server.events import Answer, Event
from infra.local_server.gateway import Gateway
from infra.local_server.mail import HandOver, Letter, PostOffice, Rendered
from infra.local_server.options import CannotServe, Options

_ALONE = timedelta(seconds=-1)
"""What an earlier process left is nobody's work, also of this second: the journal has one owner."""
_NOT_FOR_LONG = 7.0
"""Seconds of a sweep; of which the last five begin nothing further."""
SWEEPS_TO_A_RUN = 12
"""How often is swept until the next run over the directory: an hour."""
_REFUSALS: Mapping[int, Refusal] = {
    HTTPStatus.BAD_REQUEST: Invalid("Bad Request"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TooLarge("The request is larger than the service reads."),
    HTTPStatus.REQUEST_URI_TOO_LONG: TargetTooLong("The address is longer than the service reads."),
}


def prepare(options: Options, engine: Engine) -> Gateway:
    """Make the service ready on the embedded tables: tables, keys, mail, first administrator."""
    engine.attach(connection.client)
    connection.hooks.append(engine.hand_over)
    _create_tables()
    _create_keys(options)
    sweep()
    if options.server_key:
        print(f"The server's key: {server_key.change(options.server_key)}")
    sender = f"Keyhaven <keyhaven@{options.host}>"
    post = PostOffice(options.mails, mails.render, outbox.deliver, sender, _carried())
    engine.watch(Mail.stored_as(), lambda row: take(row, post))
    for row in list(engine.rows(Mail.stored_as())):
        post.deliver(row["id"]["S"])
    if tenants.is_founded():
        _lead_on(options)
    else:
        _found(options)
    return Gateway(app, refuse, post.has_answered)


def take(row: Mapping[str, Any], post: PostOffice) -> None:
    """Links are looked out for; what tells of changes is read some time."""
    kind = notices.kind_of(row["template"]["S"])
    can_wait = kind is not None and kind.family is not None
    deliver = post.deliver_when_quiet if can_wait else post.deliver_later
    deliver(row["id"]["S"])


def _create_keys(options: Options) -> None:
    try:
        keys.create_local(options.keys)
    except (OSError, ValueError, Unavailable) as problem:
        raise CannotServe(f"the keys in {options.keys} cannot be used: {problem}") from None


def _carried() -> HandOver:
    """How mails leave by a mail server of the organisation's own, where one is named."""
    courier = Courier(NotSent)

    def hand_over(letter: Letter, rendered: Rendered) -> None:
        if letter.relay is None:
            return
        try:
            relay = Relay(mail_relay.named_by(letter.relay))
        except Refusal as refusal:  # its password does not open
            print(f"A mail is a file alone: {refusal.message}", flush=True)
        else:
            courier.take(relay, letter.address, rendered)

    return hand_over


def sweep() -> None:
    """End what earlier requests left, also of an earlier process.

    Between two requests nobody is at work. Whoever meets what cannot be ended is told so; what
    would keep clients waiting for longer is left to the next time.
    """
    with deadline.within(_NOT_FOR_LONG), suppress(Unavailable):
        try:
            sweeper.sweep(left_for=_ALONE)
        except sweeper.Unended:
            print("Something that was left could not be ended; the log says what.")


def chores() -> Callable[[], None]:
    """What is done between requests, time and again: a sweep, and with each twelfth one a run.

    That is what in the cloud the sweeper and the synchroniser do.
    """
    turns = count(1)

    def do() -> None:
        sweep()
        if next(turns) % SWEEPS_TO_A_RUN == 0:
            synchronise()

    return do


def synchronise() -> None:
    """Bring users and groups in step with the directory, if there is one, for so long as a request.

    Whatever it fails at, the server goes on, and the next run with it.
    """
    try:
        with deadline.within(deadline.REQUEST):
            synchronisation.scheduled()
    except Exception as error:  # noqa: BLE001 - the requests that follow are answered
        audit.accident(error, action="DirectorySync.scheduled")


def _found(options: Options) -> None:
    administrator = {
        "username": options.admin,
        "first_name": options.first_name,
        "last_name": options.last_name,
    }
    try:
        link = tenants.found(Draft(AdministratorBody, administrator).read(INVALID))
    except Refusal as refusal:
        raise CannotServe(
            "ADMIN, FIRST_NAME and LAST_NAME do not make an administrator: "
            f"{pages.told_of(refusal)}"
        ) from None
    print(f"The first administrator, {options.admin}, sets up the account here:\n  {link}")


def _lead_on(options: Options) -> None:
    """Give another link to a first administrator who has not followed theirs.

    Theirs may be over, lead to another port, or have gone by on a screen that is closed.
    """
    with suppress(Refusal):  # they have set up, or are not there any more
        print(f"The first administrator still sets up the account:\n  {tenants.link_again()}")
    if options.admin != Options().admin:
        print("This DATA has its first administrator; ADMIN is for a new one.")


def refuse(event: Event, status: int) -> Answer:
    """The gateway's own refusals, in the envelope."""
    call = envelope.Call(new_id(), event["requestContext"]["rawTarget"])
    refusal = _REFUSALS.get(status)
    made = envelope.refusal(call, refusal) if refusal else envelope.accident(call)
    headers = {**envelope.SECURITY_HEADERS, **made.headers}
    return {"statusCode": made.status, "headers": headers, "body": made.body}


def _create_tables() -> None:
    present = set(connection.list_tables()["TableNames"])
    for table in catalogue.tables():
        if table.stored_as() in present:
            continue
        table.create_table(wait=False)
        if "expires" in table.get_attributes():
            connection.call(
                "UpdateTimeToLive",
                {
                    "TableName": table.stored_as(),
                    "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True},
                },
            )
