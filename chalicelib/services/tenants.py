"""Tenants: the very first administrator, whom nobody can invite."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users import INVALID, InvitationBody
from chalicelib.domain import clock, roles
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import Conflict
from chalicelib.services import users
from chalicelib.tables import reading
from chalicelib.tables.settings import TENANT, Setting
from chalicelib.tables.transaction import Transaction


def is_founded() -> bool:
    return reading.find(Setting.named(TENANT)) is not None


def found(username: str, first_name: str, last_name: str) -> str:
    """Invite the first administrator; return the address that leads to his setup.

    A tenant is founded once: the row that says so is created with the administrator, and
    whoever tries again, or at the same moment, changes nothing.
    """
    profile = {"first_name": first_name, "last_name": last_name}
    body = Draft(InvitationBody, {"username": username, "profile": profile}).read(INVALID)
    administrator = users.new_user(body.username, first_name, last_name)
    administrator.role_id = roles.ADMIN.id
    founding = Setting(TENANT, value={"administrator": administrator.id}, modified=clock.now())
    with Transaction() as tx:
        tx.create(founding, otherwise=Conflict("The tenant has its administrator already."))
        link = users.add(tx, administrator, None, Caller())
    return link.address
