"""A tenant with a large group, changes of more rows than a transaction has, and small ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from tests.support.races.at_once import Ask
from tests.support.wire.asks import changing, deleting, marking, removing, renaming
from tests.support.wire.client import Client
from tests.support.world import departures, groups, make
from tests.support.world.items import expiry, folders
from tests.support.world.items.folders import taking
from tests.support.world.items.resources import PGP, path
from tests.support.world.items.shares import add, remove, share
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
SOME, MANY = 55, 101
"""Members of a team, and items of somebody alone: a commit has room for their rows, or has not."""


@dataclass(frozen=True)
class Tenant:
    """Betty owns most and manages a large team; Dave manages a small one."""

    ada: Somebody
    betty: Somebody
    carol: Somebody
    dave: Somebody
    frances: Somebody
    member: Somebody
    """Of both teams."""
    team: Team
    other: Team
    one: str
    """An item of the large team."""
    two: str
    """An item of both teams."""
    owned: str
    """An item that only the large team owns."""
    hers: str
    """An item that only Frances owns, who has many more."""
    spare: str
    home: str
    """A folder of the large team."""
    drawer: str
    """A folder that only Betty has, with an item of the large team in it."""

    @property
    def people(self) -> tuple[Somebody, ...]:
        return (self.ada, self.carol, self.dave, *self.concerned)

    @property
    def concerned(self) -> tuple[Somebody, ...]:
        return (self.betty, self.frances, self.member)


def a_tenant(size: int) -> Tenant:
    ada, betty = make.user("ada", admin=True), make.user("betty")
    carol, dave, frances = map(make.user, ("carol", "dave", "frances"))
    crowd = make.crowd(size)
    member = replace(crowd[0], client=Client(make.access_token(crowd[0].user)))
    team = make.group(betty, frances, member, *crowd[1:], name="team")
    other = make.group(dave, member, name="other")
    for _ in range(size):
        make.resource(frances)
    ada.client.get("/account/settings.json")  # what a process reads once and keeps
    return Tenant(
        *(ada, betty, carol, dave, frances, member, team, other),
        one=make.resource(betty, {team: UPDATE}),
        two=make.resource(betty, {team: READ, other: READ}),
        owned=make.resource(team, {member: READ}),
        hers=make.resource(frances, {member: READ, team: READ}),
        spare=make.resource(betty),
        home=make.folder(betty, {team: UPDATE, other: UPDATE}),
        drawer=_drawer(betty, team),
    )


def _drawer(betty: Somebody, team: Team) -> str:
    folder_id, kept = make.folder(betty), make.resource(betty, {team: UPDATE})
    Holding(betty.id, kept).update(actions=[Holding.place.set(folder_id)])
    return folder_id


Change = Callable[[Tenant], Ask]


class Large(NamedTuple):
    """A change that takes steps, and of how many members."""

    size: int
    ask: Change


def sharing(who: Somebody, resource_id: str, *rows: Any, new: Any = ()) -> Ask:
    """A share; one message will do for all."""
    sent = [{"user_id": each.id, "data": PGP} for each in new]
    return lambda: share(who, resource_id, list(rows), sent)


def updating(who: Somebody, resource_id: str, *holders: Somebody) -> Ask:
    sent = {"secrets": [{"user_id": each.id, "data": PGP} for each in holders]}
    return lambda: who.client.put(path(resource_id), sent)


def _group_goes(of: Tenant) -> Ask:
    owners = [departures.owner(of.owned, of.member)]
    return removing(of.ada, of.team, owners=owners)


def _user_goes(of: Tenant) -> Ask:
    owners = [departures.owner(of.hers, of.member)]
    return removing(of.ada, of.frances, owners=owners)


def _team_leaves(of: Tenant) -> Ask:
    gone = [groups.remove(of.team, who) for who in of.team.members[1:]]
    return changing(of.betty, of.team, *gone)


def _team_joins_the_other(of: Tenant) -> Ask:
    new = [who for who in of.team.members if who != of.member]
    return changing(of.dave, of.other, *map(groups.add, new))


def _team_gains_an_item(of: Tenant) -> Ask:
    new = [who for who in of.team.members if who != of.betty]
    return sharing(of.betty, of.spare, add(of.team), new=new)


def _team_loses_an_item(of: Tenant) -> Ask:
    return sharing(of.betty, of.two, remove(of.two, of.team))


def _secrets_are_renewed(of: Tenant) -> Ask:
    return updating(of.betty, of.one, *of.team.members)


def moving(who: Somebody, item: str, to: str | None) -> Ask:
    return lambda: folders.move(who, "resource", item, to)


def _item_moves(of: Tenant) -> Ask:
    return moving(of.betty, of.one, of.home)


def _team_gains_a_folder(of: Tenant) -> Ask:
    return lambda: folders.share(of.betty, of.drawer, add(of.team))


def _folder_goes(of: Tenant) -> Ask:
    return lambda: of.betty.client.delete(f"/folders/{of.home}.json?cascade=1")


def _folder_is_taken(of: Tenant) -> Ask:
    row = taking(of.home, of.other)
    return lambda: folders.share(of.betty, of.home, row)


def _items_expire(of: Tenant) -> Ask:
    held = Resource.batch_get([row["item_id"]["S"] for row in Holding.outlines(of.frances.id)])
    hers = sorted(row.id for row in held if of.frances.id in row.permissions)
    return lambda: expiry.marked(of.frances, *hers)


def _item_goes(of: Tenant) -> Ask:
    return deleting(of.betty, of.two)


_BY_SIZE: dict[int, dict[str, Change]] = {
    SOME: {
        "the team is deleted": _group_goes,
        "a user with many items is deleted": _user_goes,
        "all but its manager leave the team": _team_leaves,
        "many items are marked as expired": _items_expire,
    },
    MANY: {
        "the large team is deleted": _group_goes,
        "a user with very many items is deleted": _user_goes,
        "all but its manager leave the large team": _team_leaves,
        "all of the team join another": _team_joins_the_other,
        "an item is shared with the team": _team_gains_an_item,
        "an item is taken from the team": _team_loses_an_item,
        "all secrets are renewed": _secrets_are_renewed,
        "an item of the team is deleted": _item_goes,
        "an item of the team is moved": _item_moves,
        "a folder is shared with the team": _team_gains_a_folder,
        "a folder of the team is deleted": _folder_goes,
    },
}
LARGE = {
    name: Large(size, change) for size, named in _BY_SIZE.items() for name, change in named.items()
}
"""Changes that take steps."""

SMALL: dict[str, Change] = {
    "an item is shared with another group": lambda of: sharing(
        of.betty, of.one, add(of.other), new=[of.dave]
    ),
    "an item is shared with another group, whose members all need it": lambda of: sharing(
        of.betty, of.one, add(of.other), new=[of.dave, of.member]
    ),
    "an item is shared with a member": lambda of: sharing(of.betty, of.one, add(of.member)),
    "an item is shared with a member, who needs it": lambda of: sharing(
        of.betty, of.one, add(of.member), new=[of.member]
    ),
    "a handed over item is shared with a group": lambda of: sharing(
        of.member, of.owned, add(of.other), new=[of.dave]
    ),
    "another handed over item is shared with a group": lambda of: sharing(
        of.member, of.hers, add(of.other), new=[of.dave]
    ),
    "an item is taken from another group": lambda of: sharing(
        of.betty, of.two, remove(of.two, of.other)
    ),
    "a member leaves another group": lambda of: changing(
        of.dave, of.other, groups.remove(of.other, of.member)
    ),
    "somebody joins another group": lambda of: changing(
        of.dave, of.other, groups.add(of.carol), secrets=[groups.secret(of.carol, of.two)]
    ),
    "an item is moved": lambda of: moving(of.member, of.two, None),
    "an item is moved into a folder": lambda of: moving(of.betty, of.two, of.home),
    "a folder is taken from another group": _folder_is_taken,
    "an item is renamed": lambda of: renaming(of.member, of.one),
    "an item is marked": lambda of: marking(of.member, of.two),
    "an item is deleted": lambda of: deleting(of.betty, of.two),
    "a member is deleted": lambda of: removing(of.ada, of.member),
    "another group is deleted": lambda of: removing(of.ada, of.other),
}
"""Changes that are one transaction, of what the large ones touch."""

VIEWS = (
    *product(
        (
            "/resources/{}.json?contain[secret]=1&contain[permission]=1&contain[permissions.group]=1",
            "/secrets/resource/{}.json",
            "/permissions/resource/{}.json?contain[user]=1&contain[group]=1",
            "/users.json?filter[has-access][]={}",
            "/share/search-users/resource/{}.json?contain[user_count]=1&filter[search]=te",
        ),
        ("one", "two", "owned", "hers", "spare"),
    ),
    *product(
        (
            "/groups/{}.json?contain[groups_users.user]=1",
            "/users.json?filter[has-groups][]={}",
            "/resources.json?filter[is-shared-with-group]={}",
        ),
        ("team", "other"),
    ),
    *product(["/folders/{}.json?contain[children_resources]=1"], ("home", "drawer")),
    *product(["/groups.json?filter[has-users][]={}"], ("member", "frances")),
    *product(
        (
            "/resources.json?contain[secret]=1&contain[permission]=1&contain[favorite]=1",
            "/folders.json?contain[children_resources]=1&contain[permission]=1",
            "/groups.json?contain[groups_users]=1&contain[my_group_user]=1",
            "/users.json?contain[groups_users]=1",
            "/share/search-aros.json?contain[user_count]=1&contain[role]=1",
        ),
        ["one"],
    ),
)
"""What people look at of all that the changes touch: a path, and whose identifier it has."""


def views(of: Tenant) -> list[str]:
    return [path.format(_id(getattr(of, name))) for path, name in VIEWS]


def _id(named: Somebody | Team | str) -> str:
    return named if isinstance(named, str) else named.id
