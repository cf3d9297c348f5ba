"""The settings of a directory, as administrators send them."""

from __future__ import annotations

from typing import Any

from tests.support.company.company import Company
from tests.support.world.make import Somebody

SETTINGS = "/directorysync/settings.json"
TEST = "/directorysync/settings/test.json"


def form(who: Somebody, *companies: Company, **further: Any) -> dict[str, Any]:
    """What an administrator sends who lets the directories of these companies be asked."""
    domains = {f"domain{n or ''}": company.domain() for n, company in enumerate(companies)}
    return {
        "enabled": True,
        "domains": domains,
        "default_user": who.id,
        "default_group_admin_user": who.id,
        **further,
    }


def saved(who: Somebody, *companies: Company, **further: Any) -> dict[str, Any]:
    """Save such settings; return what is shown of them."""
    response = who.client.put(SETTINGS, json=form(who, *companies, **further))
    assert response.status == 200, response.json
    shown: dict[str, Any] = who.client.get(SETTINGS).body
    return shown
