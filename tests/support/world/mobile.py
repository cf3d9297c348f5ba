"""Mobile transfers, as clients begin and continue them."""

from __future__ import annotations

from typing import Any

from tests.support.world.make import Somebody

PAGES = 3
NEW = {"hash": "0123456789abcdef" * 8, "total_pages": PAGES}
SECOND = {"status": "in progress", "current_page": 1}
LAST = {"status": "complete", "current_page": PAGES - 1}


def begun(who: Somebody, **changes: Any) -> dict[str, Any]:
    """A transfer that was begun, with its token."""
    response = who.client.post("/mobile/transfers.json", {**NEW, **changes})
    assert response.status == 200, response.json
    return dict(response.body)


def token_of(transfer: dict[str, Any]) -> str:
    return str(transfer["authentication_token"]["token"])


def path(transfer: dict[str, Any]) -> str:
    """Where its user finds it."""
    return f"/mobile/transfers/{transfer['id']}.json"


def path_of_phone(transfer: dict[str, Any]) -> str:
    """Where the phone finds it."""
    return f"/mobile/transfers/{transfer['id']}/{token_of(transfer)}.json"
