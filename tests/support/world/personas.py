"""The fourteen kinds of people who ask for everything, around one resource and one group.

Ada sets it all up: she owns the resource, and manages the two groups it is shared with. The
group that is asked about is another, to which nothing is shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain import clock
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.services.sign_in import sessions
from chalicelib.tables.users.users import User
from chalicelib.web.access import SESSION_COOKIE
from tests.support.storage import Storage
from tests.support.wire.client import Client
from tests.support.wire.valid_requests import Tenant
from tests.support.world import make, people
from tests.support.world.make import Somebody

NAMES = (
    *("owner", "owner by group", "updater", "reader", "reader by group", "stranger"),
    *("group member", "group manager", "administrator with access", "administrator"),
    *("disabled", "deleted", "inactive", "anonymous"),
)


@dataclass(frozen=True)
class Persona:
    name: str
    client: Client
    """Calls with an access token."""
    browser: Client
    """Calls with the cookie of a session."""


@dataclass(frozen=True)
class World:
    tenant: Tenant
    personas: tuple[Persona, ...]


def a_world(store: Storage) -> World:
    ada, betty = make.user("ada", admin=True), make.user("betty")
    known = {**_crowd(), "reader": betty}
    resource = _shared(ada, known)
    team = make.group(known["group manager"], known["group member"])
    for name in ("administrator with access", "administrator"):
        people.change(known[name].id, role_id=roles.ADMIN.id)
    people.change(known["disabled"].id, disabled=clock.now())
    people.delete(known["deleted"])
    dave = people.invite(store, ada)
    ada.client.get("/users/me.json")  # what a process reads once and keeps
    tenant = Tenant(ada, betty, dave, resource, store, Client(), team)
    users = {name: who.user for name, who in known.items()} | {"inactive": people.waiting("ivan")}
    signed_in = [_signed_in(name, users[name]) for name in NAMES[:-1]]
    return World(tenant, (*signed_in, Persona(NAMES[-1], Client(), Client())))


def _crowd() -> dict[str, Somebody]:
    """People who need no key of their own, by name."""
    names = [name for name in NAMES if name not in ("reader", "inactive", "anonymous")]
    return dict(zip(names, make.crowd(len(names)), strict=True))


def _shared(ada: Somebody, known: Mapping[str, Somebody]) -> str:
    """The resource everything is about."""
    owners = make.group(ada, known["owner by group"])
    readers = make.group(ada, known["reader by group"])
    return make.resource(
        ada,
        {
            known["owner"]: PermissionType.OWNER,
            known["disabled"]: PermissionType.OWNER,
            owners: PermissionType.OWNER,
            known["updater"]: PermissionType.UPDATE,
            known["reader"]: PermissionType.READ,
            known["administrator with access"]: PermissionType.READ,
            readers: PermissionType.READ,
        },
    )


def _signed_in(name: str, row: User) -> Persona:
    """Whoever it is, with sessions as from a better time."""
    session, value = sessions.open_cookie(row)
    session.save()
    return Persona(name, Client(make.access_token(row)), Client(cookies={SESSION_COOKIE: value}))
