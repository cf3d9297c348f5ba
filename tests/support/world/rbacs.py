"""What roles are allowed, as administrators say it."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.ids import named_id
from chalicelib.domain.users import roles
from tests.support.wire.client import Response
from tests.support.world.make import Somebody

GROUPS_ADD = "GroupsAdd.addPost"


def setting(name: str, function: str, role_id: str = roles.USER.id) -> dict[str, Any]:
    """An entry of the body: what is named is allowed to a role, or denied."""
    return {"id": named_id(f"rbacs.id.{role_id}.{name}"), "control_function": function}


def put(who: Somebody, *settings: dict[str, Any]) -> Response:
    response = who.client.put("/rbacs.json", list(settings))
    assert response.status == 200, response.json
    return response


def let_found(administrator: Somebody, role_id: str = roles.USER.id) -> None:
    """Let whoever has a role make groups."""
    put(administrator, setting(GROUPS_ADD, "Allow", role_id))


def function_of(who: Somebody, name: str) -> str:
    """What somebody is told that they are allowed of this."""
    found = who.client.get("/rbacs/me.json").body
    [function] = [
        entry["control_function"]
        for entry in found
        if (entry["ui_action"] or entry["action"])["name"] == name
    ]
    return str(function)
