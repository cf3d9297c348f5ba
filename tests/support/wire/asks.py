"""Requests that are made now and sent later, as often as wanted."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.support.races.at_once import Ask
from tests.support.world import departures, groups
from tests.support.world.items.comments import comment
from tests.support.world.items.resources import path, secrets
from tests.support.world.items.shares import share
from tests.support.world.make import Somebody, Team


def sharing(
    who: Somebody, resource_id: str, *rows: dict[str, Any], new: Collection[Somebody] = ()
) -> Ask:
    """A share with these rows, and with secrets for new users."""
    sent = secrets(*new, text=f"shared by {who.key.name}")
    return lambda: share(who, resource_id, list(rows), sent)


def updating(who: Somebody, resource_id: str, *holders: Somebody) -> Ask:
    """New secrets for these, under a new name."""
    sent = {"name": f"of {who.key.name}", "secrets": secrets(*holders, text=f"of {who.key.name}")}
    return lambda: who.client.put(path(resource_id), sent)


def renaming(who: Somebody, resource_id: str) -> Ask:
    return lambda: who.client.put(path(resource_id), {"name": f"of {who.key.name}"})


def deleting(who: Somebody, resource_id: str) -> Ask:
    return lambda: who.client.delete(path(resource_id))


def marking(who: Somebody, resource_id: str) -> Ask:
    return lambda: who.client.post(f"/favorites/resource/{resource_id}.json")


def commenting(who: Somebody, resource_id: str) -> Ask:
    return lambda: comment(who, resource_id)


def changing(who: Somebody, team: Team, *changes: dict[str, Any], **fields: Any) -> Ask:
    """An update of a group by changes of memberships, or by another name."""
    return lambda: groups.update(who, team, *changes, **fields)


def founding(who: Somebody, *members: Somebody, name: str = "team") -> Ask:
    """A new group; the first of the members manages it."""
    return lambda: groups.create(who, groups.body(*members, name=name))


def removing(who: Somebody, gone: Somebody | Team, **transfer: Any) -> Ask:
    """The deletion of a user or a group."""
    return lambda: departures.delete(who, gone, **transfer)
