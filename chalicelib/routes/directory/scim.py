"""SCIM 2.0: what a directory asks for and changes, by its own token (RFC 7643, 7644).

These endpoints answer in the form of SCIM, not in the envelope (`web/scim.py`, ADR 40). Each path
has all methods: those that do nothing there say so, to whoever shows the token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from chalicelib.domain.directory.scim.filters import Compared
from chalicelib.domain.directory.scim.projections import Shown
from chalicelib.domain.directory.scim.schemas import GROUP_ATTRIBUTES, USER_ATTRIBUTES
from chalicelib.domain.directory.scim.versions import Versions
from chalicelib.domain.errors import Forbidden, NotFound
from chalicelib.services.directory import scim_groups, scim_users
from chalicelib.services.directory.provisioners import Provisioner
from chalicelib.views.directory import scim as views
from chalicelib.web import scim_query
from chalicelib.web.endpoint import Endpoints, Handler
from chalicelib.web.envelope import UNKNOWN_ACTION
from chalicelib.web.reply import Reply
from chalicelib.web.scim import NotAllowed, Unsupported, reply, unchanged
from chalicelib.web.scim_query import Parameters, Search, page

endpoints = Endpoints(__name__)

Json = dict[str, Any]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_NOTHING_HERE = NotFound("There is nothing of this name.")
_offered: dict[str, list[str]] = {}
"""The methods of each path that do something."""


def _on(path: str, method: str, action: str) -> Callable[[Handler], Handler]:
    _offered.setdefault(path, []).append(method)
    return endpoints.provision(path, method, action=action)


# Users


@_on("/Users", "GET", "ScimIndex.index")
def users(provisioner: Provisioner, parameters: Parameters) -> Reply:
    """List people whom the directory provisions."""
    return _users(provisioner, scim_query.of_query(parameters, USER_ATTRIBUTES))


@_on("/Users/.search", "POST", "ScimIndex.index")
def search_users(provisioner: Provisioner, sent: Any) -> Reply:
    """List them as a body asks for."""
    return _users(provisioner, scim_query.of_body(sent, USER_ATTRIBUTES))


@_on("/Users", "POST", "ScimCreate.create")
def add_user(provisioner: Provisioner, sent: Any) -> Reply:
    """Invite a person, or take over their account."""
    return _created(views.person(scim_users.create(provisioner, sent), provisioner.setting_id))


@_on("/Users/{user}", "GET", "ScimView.view")
def user(provisioner: Provisioner, user: str, parameters: Parameters, versions: Versions) -> Reply:
    """Show a person."""
    wanted, found = scim_query.shown(parameters), scim_users.view(user)
    if versions.has(found.version):
        return unchanged(found.version)
    shown = views.person(found, provisioner.setting_id)
    return reply(wanted.of(shown), version=found.version)


@_on("/Users/{user}", "PUT", "ScimPut.put")
def replace_user(provisioner: Provisioner, user: str, sent: Any, versions: Versions) -> Reply:
    """Change a person, who is given as a whole."""
    return _person(provisioner, scim_users.replace(provisioner, user, sent, versions))


@_on("/Users/{user}", "PATCH", "ScimPatch.patch")
def change_user(provisioner: Provisioner, user: str, sent: Any, versions: Versions) -> Reply:
    """Change a person in part."""
    return _person(provisioner, scim_users.patch(provisioner, user, sent, versions))


@_on("/Users/{user}", "DELETE", "ScimDelete.delete")
def delete_user(provisioner: Provisioner, user: str, versions: Versions) -> Reply:
    """Delete a person; where something stands in the way, suspend them and say what."""
    scim_users.delete(provisioner, user, versions)
    return reply(None, status=HTTPStatus.NO_CONTENT)


# Groups


@_on("/Groups", "GET", "ScimIndex.index")
def groups(provisioner: Provisioner, parameters: Parameters) -> Reply:
    """List the groups that the directory provisions."""
    return _groups(provisioner, scim_query.of_query(parameters, GROUP_ATTRIBUTES))


@_on("/Groups/.search", "POST", "ScimIndex.index")
def search_groups(provisioner: Provisioner, sent: Any) -> Reply:
    """List them as a body asks for."""
    return _groups(provisioner, scim_query.of_body(sent, GROUP_ATTRIBUTES))


@_on("/Groups", "POST", "ScimCreate.create")
def add_group(provisioner: Provisioner, sent: Any) -> Reply:
    """Make a group."""
    return _created(views.team(scim_groups.create(provisioner, sent), provisioner.setting_id))


@_on("/Groups/{group}", "GET", "ScimView.view")
def group(
    provisioner: Provisioner, group: str, parameters: Parameters, versions: Versions
) -> Reply:
    """Show a group."""
    wanted, found = scim_query.shown(parameters), scim_groups.view(group)
    if versions.has(found.version):
        return unchanged(found.version)
    shown = views.team(found, provisioner.setting_id)
    return reply(wanted.of(shown), version=found.version)


@_on("/Groups/{group}", "PUT", "ScimPut.put")
def replace_group(provisioner: Provisioner, group: str, sent: Any, versions: Versions) -> Reply:
    """Change a group, which is given as a whole."""
    return _team(provisioner, scim_groups.replace_(provisioner, group, sent, versions))


@_on("/Groups/{group}", "PATCH", "ScimPatch.patch")
def change_group(provisioner: Provisioner, group: str, sent: Any, versions: Versions) -> Reply:
    """Change a group in part."""
    return _team(provisioner, scim_groups.patch(provisioner, group, sent, versions))


@_on("/Groups/{group}", "DELETE", "ScimDelete.delete")
def delete_group(provisioner: Provisioner, group: str, versions: Versions) -> Reply:
    """Delete a group."""
    scim_groups.delete(provisioner, group, versions)
    return reply(None, status=HTTPStatus.NO_CONTENT)


# What the service says of itself


@_on("/ServiceProviderConfig", "GET", "ScimServiceProviderConfig.serviceProviderConfig")
def configuration(provisioner: Provisioner) -> Reply:
    """Tell what the service can do."""
    return reply(views.configuration(provisioner.setting_id))


@_on("/ResourceTypes", "GET", "ScimResourceTypes.resourceTypes")
def resource_types(provisioner: Provisioner, parameters: Parameters) -> Reply:
    """Tell which resources there are."""
    return _discovered(views.resource_types(provisioner.setting_id), parameters)


@_on("/ResourceTypes/{resource_type}", "GET", "ScimResourceTypes.resourceTypes")
def resource_type(provisioner: Provisioner, resource_type: str) -> Reply:
    """Tell of one of them."""
    return _one_of(views.resource_types(provisioner.setting_id), resource_type)


@_on("/Schemas", "GET", "ScimSchemas.schemas")
def schemas(provisioner: Provisioner, parameters: Parameters) -> Reply:
    """Tell what resources consist of."""
    return _discovered(views.schemas_of(provisioner.setting_id), parameters)


@_on("/Schemas/{schema}", "GET", "ScimSchemas.schemas")
def schema(provisioner: Provisioner, schema: str) -> Reply:
    """Tell what one kind of them consists of."""
    return _one_of(views.schemas_of(provisioner.setting_id), schema)


@_on("/.search", "POST", "ScimIndex.index")
def search(provisioner: Provisioner, sent: Any) -> Reply:
    """List people and groups as a body asks for."""
    wanted = scim_query.of_body(sent, {**USER_ATTRIBUTES, **GROUP_ATTRIBUTES})
    setting_id = provisioner.setting_id
    people = [views.person(each, setting_id) for each in scim_users.everybody()]
    teams = scim_groups.everything(with_members=True)
    shown = [*people, *(views.team(each, setting_id) for each in teams)]
    return _listed(wanted, views.matching(shown, wanted.filter))


# What does nothing


@_on("/Bulk", "POST", UNKNOWN_ACTION)
def change_many() -> Reply:
    """Refuse to do many things at once, which ServiceProviderConfig says as well."""
    raise Unsupported("The service does not change many things at once.")


def _refuse(methods: tuple[str, ...]) -> Callable[[], Reply]:
    def refuse() -> Reply:
        raise NotAllowed(methods)

    return refuse


for _path, _known in _offered.items():
    _rest = [each for each in METHODS if each not in _known]
    endpoints.provision(_path, *_rest, action=UNKNOWN_ACTION)(_refuse(tuple(_known)))


@endpoints.provision(None, "GET", action=UNKNOWN_ACTION)
@endpoints.provision("/{proxy+}", *METHODS, action=UNKNOWN_ACTION)
def nothing_here() -> Reply:
    """Tell who may ask at all that there is nothing."""
    raise _NOTHING_HERE


def _users(provisioner: Provisioner, search: Search) -> Reply:
    name = _exact(search, "username")
    found = scim_users.everybody() if name is None else scim_users.named(name)
    shown = [views.person(each, provisioner.setting_id) for each in found]
    return _listed(search, views.matching(shown, search.filter))


def _groups(provisioner: Provisioner, search: Search) -> Reply:
    """The members of a page alone are read, unless the filter asks for what speaks of them."""
    setting_id = provisioner.setting_id
    asks_members = any(each in str(search.filter) for each in ("members", "meta.version"))
    found = scim_groups.everything(with_members=asks_members)
    shown = {each.group.id: views.team(each, setting_id) for each in found}
    matching = views.matching(shown.values(), search.filter)
    wanted = [each["id"] for each in page(matching, search)]
    if search.shown.includes("members") and not asks_members:
        rows = [each for each in found if each.group.id in wanted]
        read = scim_groups.with_members(rows) if rows else []
        shown = {each.group.id: views.team(each, setting_id) for each in read}
    resources = [search.shown.of(shown[group_id]) for group_id in wanted]
    return reply(views.listed(resources, len(matching), search.start))


def _exact(search: Search, path: str) -> str | None:
    """What an attribute is to be, where that is all a filter asks for."""
    wanted = search.filter
    is_one = isinstance(wanted, Compared) and (wanted.path, wanted.operator) == (path, "eq")
    return str(wanted.value) if isinstance(wanted, Compared) and is_one and wanted.value else None


def _listed(search: Search, matching: list[Json]) -> Reply:
    resources = [search.shown.of(each) for each in page(matching, search)]
    return reply(views.listed(resources, len(matching), search.start))


def _person(provisioner: Provisioner, found: scim_users.Found) -> Reply:
    return _usual(views.person(found, provisioner.setting_id))


def _team(provisioner: Provisioner, found: scim_groups.Found) -> Reply:
    return _usual(views.team(found, provisioner.setting_id))


def _usual(resource: Json) -> Reply:
    return reply(Shown().of(resource), version=resource["meta"]["version"])


def _created(resource: Json) -> Reply:
    meta = resource["meta"]
    return reply(
        Shown().of(resource),
        status=HTTPStatus.CREATED,
        version=meta["version"],
        location=meta["location"],
    )


def _discovered(known: Mapping[str, Json], parameters: Parameters) -> Reply:
    """All there is: what tells of a service is neither filtered nor paged (RFC 7644, 4)."""
    if "filter" in parameters:
        raise Forbidden("What the service says of itself is not filtered.")
    return reply(views.discovered(list(known.values())))


def _one_of(known: Mapping[str, Json], name: str) -> Reply:
    found = {each.lower(): resource for each, resource in known.items()}.get(name.lower())
    if found is None:
        raise _NOTHING_HERE
    return reply(found)
