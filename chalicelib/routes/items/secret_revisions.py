"""Secret revisions: which secrets a resource has and had, as far as they are kept."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.secret_revisions import RevisionsSettings, read_settings
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import ResourceId
from chalicelib.services.items.resources import secret_revisions
from chalicelib.tables.users import people
from chalicelib.views.items import secret_revisions as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)


@endpoints.get(
    "/secret-revisions/resource/{resource_id}.json",
    action="SecretRevisionsResourceGet.get",
    access=Access.USER,
    query=Options(contains=frozenset({"creator", "creator.profile", "secret"})),
)
def index(actor: Actor, resource_id: ResourceId, query: Query) -> list[views.RevisionJson]:
    """List the revisions of a resource in which the caller has a secret: the active one."""
    find = secret_revisions.with_secrets if query.contains("secret") else secret_revisions.of
    shown = [views.revision(each) for each in find(actor, resource_id)]
    _add_creators(shown, query)
    return shown


def _add_creators(shown: list[views.RevisionJson], query: Query) -> None:
    has_profile = query.contains("creator.profile")
    if has_profile or query.contains("creator"):
        add = views.add_creators_with_profile if has_profile else views.add_creators
        add(shown, people.by_id(each["created_by"] for each in shown))


@endpoints.get(
    "/secret-revisions/settings.json",
    action="SecretRevisionsSettingsGet.get",
    access=Access.USER,
    view=views.settings,
)
def view_settings() -> RevisionsSettings:
    """Show how many revisions are kept."""
    return secret_revisions.SETTINGS


@endpoints.route(
    "/secret-revisions/settings.json",
    ("POST", "PUT"),
    action="SecretRevisionsSettingsPost.post",
    access=Access.ADMIN,
    body=RevisionsSettings,
    view=views.settings,
)
def save_settings(body: Draft[RevisionsSettings]) -> RevisionsSettings:
    """Accept the settings that hold anyway; others are refused, since no history is kept."""
    return read_settings(body)


@endpoints.delete(
    "/secret-revisions/settings.json",
    action="SecretRevisionsSettingsDelete.delete",
    access=Access.ADMIN,
    view=nothing,
)
def delete_settings() -> None:
    """Go back to the settings of a new organisation, which always hold."""
