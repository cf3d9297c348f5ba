"""Tenants: the very first administrator, whom nobody can invite."""

from __future__ import annotations

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
    """Add the first administrator, once; return the address that leads to his setup."""
    administrator = users.new_user(username, first_name, last_name)
    administrator.role_id = roles.ADMIN.id
    founding = Setting(TENANT, value={"administrator": administrator.id}, modified=clock.now())
    with Transaction() as tx:
        tx.create(founding, otherwise=Conflict("The tenant has its administrator already."))
        link = users.add(tx, administrator, None, Caller())
    return link.address
