"""Sharing: who has access to a resource, and who could have."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.shares import FolderShareBody, ShareBody, SimulationBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import FolderId, ResourceId
from chalicelib.services.items.sharing import permissions, shares
from chalicelib.services.items.sharing.shares import Simulation
from chalicelib.services.items.trees import own
from chalicelib.services.users.people import share_search, user_lists
from chalicelib.views.items import folders as folder_views
from chalicelib.views.items import permissions as permission_views
from chalicelib.views.items import share as views
from chalicelib.views.items.folders import ChildFolderJson
from chalicelib.views.items.holders import ShownHolders
from chalicelib.views.items.permissions import PermissionJson
from chalicelib.views.users import gpgkeys
from chalicelib.views.users import users as user_views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import search
from chalicelib.web.query import Options, Query
from chalicelib.web.route import nothing
from chalicelib.web.written import written

endpoints = Endpoints(__name__)

INVALID_ID = {"resource_id": "The resource identifier should be a valid UUID."}
_SHOWN = frozenset({"groups_users", "gpgkey", "role"})
SEARCH = Options(
    contains=_SHOWN,
    filters={"search": search},
)


@endpoints.get(
    "/permissions/resource/{resource_id}.json",
    action="PermissionsView.viewAcoPermissions",
    access=Access.USER,
    query=Options(contains=frozenset({"user", "user.profile", "group"})),
    ids={"resource_id": "The identifier should be a valid UUID."},
)
def view(actor: Actor, resource_id: ResourceId, query: Query) -> list[PermissionJson]:
    """List who may do what with a resource."""
    with_users, with_groups = query.contains("user"), query.contains("group")
    row, found = permissions.view(
        actor, resource_id, with_users=with_users, with_groups=with_groups
    )
    shown = permission_views.permissions_of(row)
    holders = ShownHolders.of(found.users, found.groups)
    if with_users:
        is_whole = query.contains("user.profile")
        permission_views.add_users(shown, holders.with_profile if is_whole else holders.users)
    if with_groups:
        permission_views.add_groups(shown, holders.groups)
    return shown


@endpoints.get(
    "/share/search-aros.json",
    action="ShareSearch.searchArosToShareWith",
    access=Access.USER,
    query=SEARCH,
)
def candidates(actor: Actor, query: Query) -> list[views.CandidateJson]:
    """Search for users and groups to share with."""
    return _candidates(actor, query)


@endpoints.get(
    "/share/search-users/resource/{resource}.json",
    action="ShareSearch.searchArosToShareWith",
    access=Access.USER,
    query=SEARCH,
)
def candidates_for_resource(actor: Actor, resource: str, query: Query) -> list[views.CandidateJson]:
    """Search for users and groups to share with; by its old path, which names a resource."""
    del resource
    return _candidates(actor, query)


@endpoints.post(
    "/share/simulate/resource/{resource_id}.json",
    action="Share.dryRun",
    access=Access.USER,
    body=SimulationBody,
    needs_object=True,
    view=views.simulation,
    ids=INVALID_ID,
)
def simulate(actor: Actor, resource_id: ResourceId, body: Draft[SimulationBody]) -> Simulation:
    """Show who would gain and who would lose access."""
    return shares.simulate(actor, resource_id, body)


@endpoints.put(
    "/share/resource/{resource_id}.json",
    action="Share.share",
    access=Access.USER,
    body=ShareBody,
    needs_object=True,
    view=nothing,
    ids=INVALID_ID,
)
def share(actor: Actor, resource_id: ResourceId, body: Draft[ShareBody]) -> None:
    """Change who has access to a resource."""
    shares.share(actor, resource_id, body)


@endpoints.route(
    "/share/folder/{folder_id}.json",
    ("PUT", "POST"),
    action="FoldersShare.share",
    access=Access.USER,
    body=FolderShareBody,
    needs_object=True,
    ids={"folder_id": "The folder id is not valid."},
)
def share_folder(
    actor: Actor, folder_id: FolderId, body: Draft[FolderShareBody]
) -> ChildFolderJson:
    """Change who has access to a folder."""
    seen = shares.share_folder(actor, folder_id, body)
    shown = folder_views.child(*seen)
    personal = written(lambda: own.in_one({shown["id"]: seen.row["permissions"]["M"]}))
    shown["personal"] = bool(personal)
    return shown


def _candidates(actor: Actor, query: Query) -> list[views.CandidateJson]:
    """The users and groups found; whoever asks for nothing in particular gets all of the users."""
    contained = query.contained if query.spoken_of else _SHOWN
    users, groups = share_search.search(
        actor, query.filter("search"), user_views.person_of, lambda user: user["username"]
    )
    if "gpgkey" in contained:
        users = user_lists.with_keys(users, gpgkeys.gpgkey_of)
    has_members = query.contains("groups_users")
    return views.candidates(users, groups, contained, has_members=has_members)
