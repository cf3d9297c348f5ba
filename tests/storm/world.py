"""The tenant of a storm: teams that come and go as one, items they share, people who will leave."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.items.permissions import PermissionType
from tests.support.world import make
from tests.support.world.make import Somebody, Team

READ = PermissionType.READ
MANY, SOME = 101, 40
"""Members of a crowd that is above a transaction by itself, and of one that is with its secrets."""
FOUNDERS = 60
"""Members of groups that are made in the storm."""
BELONGINGS = 60
"""Items of somebody who leaves."""
FIRST = "tag 0"
"""What every item is called before the storm."""


@dataclass(frozen=True)
class Crowd:
    """A team, who manages it, and those of its members who only ever come and go together."""

    team: Team
    manager: Somebody
    people: tuple[Somebody, ...]
    others: tuple[Somebody, ...]
    """Who come and go one by one."""


@dataclass(frozen=True)
class Item:
    owner: Somebody
    readers: tuple[Somebody | Team, ...]


@dataclass(frozen=True)
class World:
    admin: Somebody
    keepers: tuple[Somebody, ...]
    """Who own the items, and stay."""
    reader: Somebody
    """Who is in all the teams, and stays."""
    crowds: tuple[Crowd, ...]
    items: dict[str, Item]
    """The items that are shared, as they are before the storm."""
    founders: tuple[Somebody, ...]
    leavers: dict[Somebody, tuple[str, ...]]
    """Who will be deleted, each with the items that are theirs alone."""


def made(leaving: int) -> World:
    ada, betty, carol = make.user("ada", admin=True), make.user("betty"), make.user("carol")
    dave, edith = make.user("dave"), make.user("edith")
    everybody = iter(make.crowd(MANY + SOME + FOUNDERS + leaving))
    many, some, founders, leavers = (
        tuple(next(everybody) for _ in range(count)) for count in (MANY, SOME, FOUNDERS, leaving)
    )
    large = make.group(betty, carol, *many, *leavers, name="large")
    small = make.group(dave, carol, *some, *leavers, name="small")
    items = (
        *2 * [Item(betty, (large,))],
        *2 * [Item(dave, (small,))],
        Item(carol, (large, small)),
        Item(carol, (dave,)),
    )
    belongings = {
        who: tuple(make.resource(who, name=FIRST) for _ in range(BELONGINGS)) for who in leavers
    }
    return World(
        ada,
        (betty, carol, dave),
        carol,
        (Crowd(large, betty, many, (edith, dave)), Crowd(small, dave, some, (edith, betty))),
        {str(make.resource(i.owner, dict.fromkeys(i.readers, READ), name=FIRST)): i for i in items},
        founders,
        belongings,
    )
