"""What clients ask before all else: who is this server, and what can it do."""

from __future__ import annotations

from chalicelib.domain.actor import Access, Actor
from chalicelib.views import settings as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply

endpoints = Endpoints(__name__)


@endpoints.get(
    "/settings.json",
    action="SettingsIndex.index",
    access=Access.ANYONE,
    query=Options(contains=frozenset({"header"}), default_contains=frozenset({"header"})),
)
def index(actor: Actor | None, query: Query) -> Reply:
    body = views.for_guests() if actor is None else views.for_users()
    return Reply(body, is_bare=not query.contains("header"))
