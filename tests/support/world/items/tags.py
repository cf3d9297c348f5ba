"""Tags of tests: what requests are made of, and what people see."""

from __future__ import annotations

from typing import Any

from tests.support.wire.client import Response
from tests.support.world.items.metadata import SharedKey, allow_v5, described
from tests.support.world.items.resources import metadata, path
from tests.support.world.make import Somebody


def tag(who: Somebody, resource_id: str, *entries: Any) -> Response:
    """Ask that a resource have these tags."""
    return who.client.post(f"/tags/{resource_id}.json", {"tags": list(entries)})


def tagged(who: Somebody, resource_id: str, *entries: Any) -> dict[Any, str]:
    """Let a resource have these tags; the identifiers by slug, or by metadata."""
    response = tag(who, resource_id, *entries)
    assert response.status == 200, response.json
    return {row.get("slug") or row["metadata"]: row["id"] for row in response.body}


def slugs(who: Somebody, resource_id: str) -> list[str]:
    """The tags of a resource, as its view shows them."""
    shown = who.client.get(f"{path(resource_id)}?contain[tag]=1").body["tags"]
    return [row["slug"] for row in shown]


def listed(who: Somebody, resource_id: str) -> list[Any]:
    """The same as the list shows them."""
    rows = who.client.get("/resources.json?contain[tag]=1").body
    [found] = [row["tags"] for row in rows if row["id"] == resource_id]
    return found


def index(who: Somebody) -> list[Any]:
    response = who.client.get("/tags.json")
    assert response.status == 200, response.json
    return response.body


def rename(who: Somebody, tag_id: str, slug: Any) -> Response:
    return who.client.put(f"/tags/{tag_id}.json", {"slug": slug})


def allow_v5_tags(admin: Somebody, **others: Any) -> None:
    allow_v5(admin, **{"allow_creation_of_v5_tags": True, **others})


def own(who: Somebody, text: str = "secret", **others: Any) -> dict[str, Any]:
    """A new tag for somebody's own key."""
    return {**metadata(who, text), "is_shared": False, **others}


def common(key: SharedKey, text: str = "secret", **others: Any) -> dict[str, Any]:
    """A new tag for a shared metadata key."""
    return {**described(key, text), "is_shared": True, **others}
