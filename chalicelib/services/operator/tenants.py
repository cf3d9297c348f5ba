"""Tenants: the very first administrator, whom nobody can invite."""

from __future__ import annotations

from chalicelib.bodies.users.users import AdministratorBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.ids import UserId
from chalicelib.domain.users import roles
from chalicelib.services.users.people import invitations, users
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.settings import TENANT, Setting
from chalicelib.tables.users.users import User


def is_founded() -> bool:
    return reading.find(Setting.named(TENANT)) is not None


def found(invited: AdministratorBody) -> str:
    """Invite the first administrator; return the address that leads to their setup.

    A tenant is founded once: the row that says so is created with the administrator, and
    whoever tries again, or at the same moment, changes nothing.
    """
    administrator = users.new_user(invited.username, invited.first_name, invited.last_name)
    administrator.role_id = roles.ADMIN.id
    founding = Setting(TENANT, value={"administrator": administrator.id}, modified=clock.now())
    with Transaction() as tx:
        tx.create(founding, otherwise=Conflict("The tenant has its administrator already."))
        link = users.add(tx, administrator, None, Caller())
    return link.address


def link_again() -> str:
    """Make another link for the first administrator, while their account is not set up.

    For an administrator who could not read the first one. That they are still waiting is a
    condition of the write, so nobody gets a link into an account that is in use.
    """
    founding = reading.find(Setting.named(TENANT))
    if founding is None:
        raise NotFound("The tenant has no administrator yet.")
    row = reading.find(User.by_id(str(Setting.from_raw(founding).value["administrator"])))
    administrator = None if row is None else User.from_raw(row)
    if administrator is None or administrator.deleted:
        raise NotFound("The first administrator is not there any more.")
    if administrator.is_suspended(clock.now()):
        raise Conflict("The first administrator is suspended.")
    link = invitations.setup_link(administrator, invitations.REMINDER)
    has_set_up = Conflict("The first administrator has set up the account.")
    with Transaction() as tx:
        tx.require(User.is_waiting(UserId(administrator.id), clock.now()), otherwise=has_set_up)
        link.add_to(tx)
    return link.address
