"""What serving needs of the service, gathered in one place.

Importing this reads the settings, so the environment is made first (`serve.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus

from app import app
from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users import INVALID, AdministratorBody
from chalicelib.domain.errors import Invalid, Refusal, TargetTooLong, TooLarge
from chalicelib.domain.ids import new_id
from chalicelib.services.operator import keys, sweeper, tenants
from chalicelib.services.users import administrators
from chalicelib.storage.base import every_table
from chalicelib.storage.connection import connection
from chalicelib.tables.outbox import Mail
from chalicelib.views import mails
from chalicelib.web import envelope
from infra.local_server.engine import Engine
from infra.local_server.events import Answer, Event
from infra.local_server.gateway import Gateway
from infra.local_server.mail import PostOffice
from infra.local_server.options import CannotServe, Options

_ALONE = timedelta(seconds=-1)
"""What an earlier process left is nobody's work, also of this second: the journal has one owner."""
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
    keys.create_local(options.keys)
    _sweep()
    sender = f"Keyhaven <keyhaven@{options.host}>"
    post = PostOffice(options.data / "mail", mails.render, administrators.addresses_of, sender)
    for row in engine.rows(Mail.stored_as()):
        post.deliver(row)
    engine.watch(Mail.stored_as(), post.deliver_later)
    if not tenants.is_founded():
        _found(options)
    return Gateway(app, refuse)


def _sweep() -> None:
    """End what an earlier process left; who meets what cannot be ended is told so."""
    try:
        sweeper.sweep(left_for=_ALONE)
    except sweeper.Unended:
        print("Something of an earlier process could not be ended; the log says what.")


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
            f"ADMIN, FIRST_NAME and LAST_NAME do not make an administrator: {refusal.message}"
        ) from None
    print(f"The first administrator, {options.admin}, sets up the account here:\n  {link}")


def refuse(event: Event, status: int) -> Answer:
    """The gateway's own refusals, in the envelope."""
    call = envelope.Call(new_id(), event["requestContext"]["rawTarget"])
    refusal = _REFUSALS.get(status)
    made = envelope.refusal(call, refusal) if refusal else envelope.accident(call)
    headers = {**envelope.SECURITY_HEADERS, **made.headers}
    return {"statusCode": made.status, "headers": headers, "body": made.body}


def _create_tables() -> None:
    present = set(connection.list_tables()["TableNames"])
    for table in every_table():
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
