"""Groups: who is given access together, and who manages that."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.groups.groups import GroupBody, GroupUpdateBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.groups import group_dry_runs, group_lists, group_updates, groups
from chalicelib.services.groups.group_dry_runs import DryRun
from chalicelib.services.groups.group_lists import Details, Found, WantedGroups
from chalicelib.views.groups import groups as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import ids
from chalicelib.web.query import Options, Query

endpoints = Endpoints(__name__)

CONTAINS = frozenset(
    {
        *(views.OWN, views.USERS, views.MODIFIER, views.MODIFIER_PROFILE),
        *(views.MEMBERS, views.MEMBER, views.MEMBER_PROFILE, views.MEMBER_GPGKEY),
    }
)
ALIASES = {
    "user": views.USERS,
    "group_user": views.MEMBERS,
    "group_user.user": views.MEMBER,
    "group_user.user.profile": views.MEMBER_PROFILE,
    "group_user.user.gpgkey": views.MEMBER_GPGKEY,
}
"""Names of older clients."""


@endpoints.get(
    "/groups.json",
    action="GroupsIndex.index",
    access=Access.USER,
    query=Options(
        contains=CONTAINS,
        aliases=ALIASES,
        filters={"has-users": ids("user id"), "has-managers": ids("user id")},
    ),
)
def index(actor: Actor, query: Query) -> list[views.DetailedGroupJson]:
    """List all groups."""
    wanted = WantedGroups(
        users=frozenset(query.filter("has-users") or ()),
        managers=frozenset(query.filter("has-managers") or ()),
    )
    found = group_lists.search(actor, wanted, _details(query))
    return views.listed(found, query.contained)


@endpoints.get(
    "/groups/{group}.json",
    action="GroupsView.view",
    access=Access.USER,
    query=Options(contains=CONTAINS, aliases=ALIASES),
)
def view(actor: Actor, group: str, query: Query) -> views.DetailedGroupJson:
    """Show a group."""
    return views.detailed(group_lists.view(actor, group, _details(query)), query.contained)


def _created(actor: Actor, made: str, query: Query) -> views.DetailedGroupJson:
    found = group_lists.view(actor, made, replace(_details(query), members=True))
    return views.detailed(found, {*query.contained, views.MEMBERS})


@endpoints.post(
    "/groups.json",
    action="GroupsAdd.addPost",
    access=Access.USER,
    body=GroupBody,
    again=_created,
    query=Options(contains=frozenset({views.OWN})),
    message="The group has been added successfully.",
)
def create(actor: Actor, body: Draft[GroupBody], query: Query) -> views.DetailedGroupJson:
    """Create a group with its members: for administrators, and roles that are allowed it."""
    return views.detailed(groups.create(actor, body), {*query.contained, views.MEMBERS})


@endpoints.put(
    "/groups/{group}.json",
    action="GroupsUpdate.update",
    access=Access.USER,
    body=GroupUpdateBody,
    needs_object=True,
    view=views.updated,
)
def update(actor: Actor, group: str, body: Draft[GroupUpdateBody]) -> Found:
    """Rename a group, and add, promote, demote and remove members."""
    return group_updates.update(actor, group, body)


@endpoints.put(
    "/groups/{group}/dry-run.json",
    action="GroupsUpdate.dryRun",
    access=Access.USER,
    body=GroupUpdateBody,
    needs_object=True,
    view=views.dry_run,
)
def dry_run(actor: Actor, group: str, body: Draft[GroupUpdateBody]) -> DryRun:
    """Show which secrets an update needs, and the caller's own to make them from."""
    return group_dry_runs.dry_run(actor, group, body)


def _details(query: Query) -> Details:
    has_users = query.contains(views.MEMBER) or query.contains(views.USERS)
    return Details(
        own=query.contains(views.OWN),
        members=query.contains(views.MEMBERS) or query.contains(views.USERS),
        users=has_users,
        gpgkeys=query.contains(views.MEMBER_GPGKEY),
        modifier=query.contains(views.MODIFIER),
    )
