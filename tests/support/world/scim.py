"""What a directory sends that provisions people and groups, and who lets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.directory.scim import words
from chalicelib.domain.ids import new_id
from tests.support.wire.client import Client, Response
from tests.support.world.make import Somebody

SETTINGS = "/scim/settings.json"
SETTING_ID = "0f2b1f6e-5a0c-4f4d-9f6d-6d0a3a0f8a11"
TOKEN = f"pb_{'t0ken-' * 7}x"
OTHER_TOKEN = f"pb_{'0ther_' * 7}y"
TYPE = "application/scim+json"


def settings_body(user_id: str, token: str = TOKEN) -> dict[str, Any]:
    return {"setting_id": SETTING_ID, "secret_token": token, "scim_user_id": user_id}


def settled(by: Somebody, who: Somebody | None = None) -> str:
    """The identifier of the settings by which a directory may provision."""
    answer = by.client.post(SETTINGS, settings_body((who or by).id))
    assert answer.status == 200, answer.content
    return str(answer.body["id"])


class Directory(Client):
    """A directory that provisions: it knows the token, and speaks of paths below the base."""

    setting_id = SETTING_ID

    def request(self, method: str, path: str, **options: Any) -> Response:
        headers = {"accept": TYPE, "content-type": TYPE, **(options.pop("headers", None) or {})}
        where = path if path.startswith("/scim/") else f"/scim/v2/{self.setting_id}{path}"
        sent = {name: value for name, value in headers.items() if value is not None}
        return super().request(method, where, headers=sent, **options)

    def patch(self, path: str, *operations: Mapping[str, Any], **options: Any) -> Response:
        body = {"schemas": [words.PATCH], "Operations": list(operations)}
        return self.request("PATCH", path, json=body, **options)

    def made(self, name: str, /, **more: Any) -> dict[str, Any]:
        """A person who was provisioned, as they are shown."""
        answer = self.post("/Users", person(name, **more))
        assert answer.status == 201, answer.content
        return dict(answer.json)

    def grouped(self, name: str, *members: str) -> dict[str, Any]:
        """A group that was provisioned, as it is shown."""
        answer = self.post("/Groups", team(name, *members))
        assert answer.status == 201, answer.content
        return dict(answer.json)

    def found(self, user_id: str) -> dict[str, Any]:
        answer = self.get(f"/Users/{user_id}")
        assert answer.status == 200, answer.content
        return dict(answer.json)


def directory(by: Somebody, who: Somebody | None = None) -> Directory:
    settled(by, who)
    return Directory(TOKEN)


def person(name: str, /, **more: Any) -> dict[str, Any]:
    return {
        "schemas": [words.USER],
        "userName": name,
        "externalId": f"x-{name}",
        "name": {"givenName": name.title(), "familyName": "Lovelace"},
        "emails": [{"value": f"{name}@example.com", "type": "work", "primary": True}],
        "active": True,
        **more,
    }


def team(name: str, /, *members: str, **more: Any) -> dict[str, Any]:
    entries = [{"value": member} for member in members]
    return {"schemas": [words.GROUP], "displayName": name, "members": entries, **more}


def replace(path: str | None, value: Any) -> dict[str, Any]:
    return {"op": "replace", **({} if path is None else {"path": path}), "value": value}


def add(path: str | None, value: Any) -> dict[str, Any]:
    return {**replace(path, value), "op": "add"}


def remove(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


def nobody() -> str:
    """The identifier of a user who never was."""
    return new_id()
