"""What requests that delete groups and users are made of, and what is stored afterwards."""

from __future__ import annotations

from typing import Any

from chalicelib.tables.items.holdings import Holding
from tests.support.wire.client import Response
from tests.support.world.groups import membership
from tests.support.world.items.resources import stored
from tests.support.world.make import Somebody, Team

TRANSFER_REFUSED = "The transfer is not authorized"
NO_PERMISSION = "The permissions identifiers must be valid UUID."
NO_MEMBERSHIP = "The groups users identifiers must be valid UUID."


def path_of(gone: Somebody | Team) -> str:
    return f"/groups/{gone.id}" if isinstance(gone, Team) else f"/users/{gone.id}"


def delete(who: Somebody, gone: Somebody | Team, **transfer: Any) -> Response:
    """Ask for the deletion of a user or group, with a transfer where one is given."""
    body = {"transfer": transfer} if transfer else None
    return who.client.request("DELETE", f"{path_of(gone)}.json", json=body)


def dry_run(who: Somebody, gone: Somebody | Team) -> Response:
    return who.client.delete(f"{path_of(gone)}/dry-run.json")


def owner(resource_id: str, holder: Somebody | Team) -> dict[str, str]:
    """The entry of a transfer that makes somebody with access an owner."""
    permission = stored(resource_id).permissions[holder.id]
    return {"id": permission.id, "aco_foreign_key": resource_id}


def manager(team: Team, member: Somebody) -> dict[str, str]:
    """The entry of a transfer that makes a member a manager."""
    return {"id": membership(team, member).id, "group_id": team.id}


def held_by(who: Somebody) -> set[str]:
    """All items a user holds."""
    return {row["item_id"]["S"] for row in Holding.whole(who.id)}


def holders_of(resource_id: str) -> dict[str, int]:
    """Who may do what with a resource."""
    return {holder: int(each.type) for holder, each in stored(resource_id).permissions.items()}


def causes(response: Response) -> dict[str, set[str]]:
    """What stands in the way of a deletion, by kind."""
    assert response.status == 400, response.json
    return {
        kind: {each["id"] for each in things}
        for kind, cause in response.body["errors"].items()
        for things in cause.values()
    }
