"""What the role of an actor allows, as the organisation has set it.

One document says of each role what differs from the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden
from chalicelib.domain.users.rbacs import ALLOW, Controlled
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Grant
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import RBACS, Setting, as_read, value_of
from chalicelib.tables.users.users import User

KEY = Setting.named(RBACS)
"""The row `of` needs, to be read together with others."""

Document = Mapping[str, Any]


def require(actor: Actor, action: Controlled, otherwise: Forbidden) -> Grant:
    """Return what lets the actor do something: they are an administrator, or their role may."""
    now = clock.now()
    if actor.is_admin:
        return Grant((User.is_administrator(actor.id, now),))
    row = of(reading.read([KEY]))
    if function(stored(row).get(actor.role_id, {}), action) != ALLOW:
        raise otherwise
    return Grant((User.has_role(actor.id, actor.role_id, now), Check(KEY, as_read(row))))


def of(rows: Rows) -> Setting | None:
    return rows.find(Setting, RBACS)


def stored(row: Setting | None) -> Document:
    """What differs from the default, by role and name."""
    roles: Document = value_of(row).get("roles", {})
    return roles


def function(of_role: Document, controlled: Controlled) -> str:
    """What a role may do of this, by its part of the document."""
    said = of_role.get(controlled.name, {})
    return str(said.get("control_function", controlled.default))
