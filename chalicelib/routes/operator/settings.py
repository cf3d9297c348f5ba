"""What clients ask before all else: who is this server, and what can it do."""

from __future__ import annotations

from chalicelib.domain.actor import Access, Actor
from chalicelib.services.users.policies import policies
from chalicelib.services.users.policies.policies import LANGUAGE
from chalicelib.views.operator import settings as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Bare, Reply

endpoints = Endpoints(__name__)


@endpoints.get(
    "/settings.json",
    action="SettingsIndex.index",
    access=Access.ANYONE,
    query=Options(contains=frozenset({"header"}), default_contains=frozenset({"header"})),
    view=views.settings,
)
def index(actor: Actor | None, query: Query) -> Reply | Bare:
    """Show what the server is and what it can do; to guests only what signing in takes."""
    shown = views.Asked(actor, policies.read(LANGUAGE).says["value"])
    return Reply(shown) if query.contains("header") else Bare(shown)
