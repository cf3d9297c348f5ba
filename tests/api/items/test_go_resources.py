"""Resources as the Go command line asks for them: what it sends, and what it needs in answers.

Every body has `resource_type`, an empty object; empty texts are left out; updates have a secret
for each user whom the list of who has access names. It checks secrets against the definition of
the resource's type, before it writes and after it reads.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.support.world import make
from tests.support.world.items.folders import folder
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, UPDATE = 1, 7
V2 = "api-version=v2"
TYPE = "password-and-description"


def answered(response: Any) -> Any:
    assert (response.status, response.header["status"]) == (200, "success"), response.json
    return response.body


def type_id(who: Somebody, slug: str = TYPE) -> str:
    types = answered(who.client.get(f"/resource-types.json?{V2}"))
    return str(next(each["id"] for each in types if each["slug"] == slug))


def secret(who: Somebody, text: str) -> dict[str, Any]:
    return {"user_id": who.id, "data": message(text, who.key.public)}


def create(who: Somebody, **members: Any) -> Any:
    sent = {
        "name": "mail",
        "resource_type": {},
        "resource_type_id": type_id(who),
        "secrets": [{"data": message("first", who.key.public)}],
        **members,
    }
    return answered(who.client.post(f"/resources.json?{V2}", sent))


def require_decoded(found: Any) -> None:
    """Refuse what its struct for a resource does not take."""
    for name in ("id", "name", "resource_type_id", "created_by", "modified_by"):
        assert isinstance(found[name], str)
    for name in ("created", "modified"):
        assert datetime.fromisoformat(found[name]).tzinfo is not None
    for name in ("username", "uri", "description", "folder_parent_id", "expired"):
        assert found[name] is None or isinstance(found[name], str)
    assert found["deleted"] is False
    for each in found.get("secrets", ()):
        assert each["data"].startswith("-----BEGIN PGP MESSAGE-----")
    if "permission" in found:
        assert isinstance(found["permission"]["type"], int)


def test_create_resource_and_list_resource(ada: Somebody) -> None:
    work = folder(ada, name="work")

    made = create(ada, username="ada", uri="https://mail.example.com", folder_parent_id=work)

    require_decoded(made)
    assert made["description"] is None
    listed = answered(ada.client.get(f"/resources.json?{V2}&filter[has-parent][]={work}"))
    assert [each["id"] for each in listed] == [made["id"]]
    require_decoded(listed[0])


@pytest.mark.parametrize("option", ["is-favorite", "is-owned-by-me", "is-shared-with-me"])
def test_list_resource_filters_by_a_word(ada: Somebody, option: str) -> None:
    """Its filters are booleans; those that are not set are left out, the others are `true`."""
    made = create(ada)["id"]
    answered(ada.client.post(f"/favorites/resource/{made}.json"))

    found = answered(ada.client.get(f"/resources.json?{V2}&filter[{option}]=true"))

    assert [each["id"] for each in found] == ([] if option == "is-shared-with-me" else [made])


def test_get_resource_reads_it_its_type_and_its_secret(ada: Somebody) -> None:
    made = create(ada)["id"]

    found = answered(ada.client.get(f"/resources/{made}.json?{V2}"))
    kind = answered(ada.client.get(f"/resource-types/{found['resource_type_id']}.json?{V2}"))
    read = answered(ada.client.get(f"/secrets/resource/{made}.json?{V2}"))

    require_decoded(found)
    assert kind["slug"] == TYPE
    assert kind["definition"]
    assert isinstance(read["data"], str)


def test_get_resource_permission(ada: Somebody, betty: Somebody) -> None:
    made = make.resource(ada, {betty: READ})

    rows = answered(ada.client.get(f"/permissions/resource/{made}.json?{V2}"))

    assert {(each["aro_foreign_key"], each["type"]) for each in rows} == {
        (ada.id, 15),
        (betty.id, READ),
    }
    for each in rows:
        assert datetime.fromisoformat(each["created"]).tzinfo is not None
        assert datetime.fromisoformat(each["modified"]).tzinfo is not None


def test_update_resource_encrypts_for_whom_the_list_names(ada: Somebody, betty: Somebody) -> None:
    made = make.resource(ada, {betty: READ})
    query = f"{V2}&filter[has-access][]={made}"
    users = answered(ada.client.get(f"/users.json?{query}"))
    assert {each["id"] for each in users} == {ada.id, betty.id}
    for each in users:
        assert each["gpgkey"]["armored_key"].startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")
    by_id = {who.id: who for who in (ada, betty)}
    sent = {
        "name": "renamed",
        "resource_type": {},
        "resource_type_id": type_id(ada),
        "secrets": [secret(by_id[each["id"]], "second") for each in users],
    }

    changed = answered(ada.client.put(f"/resources/{made}.json?{V2}", sent))

    require_decoded(changed)
    read = answered(betty.client.get(f"/secrets/resource/{made}.json?{V2}"))
    assert read["data"] == next(s["data"] for s in sent["secrets"] if s["user_id"] == betty.id)


@pytest.mark.parametrize("expired", ["2027-01-02T03:04:05Z", None])
def test_update_of_an_expiry_sends_nothing_else(ada: Somebody, expired: str | None) -> None:
    made = create(ada, username="ada", uri="https://mail.example.com")
    sent = {"resource_type": {}, "resource_type_id": made["resource_type_id"], "expired": expired}

    answered(ada.client.put(f"/resources/{made['id']}.json?{V2}", sent))

    kept = answered(ada.client.get(f"/resources/{made['id']}.json?{V2}"))
    assert (kept["name"], kept["username"]) == ("mail", "ada")
    assert kept["uri"] == "https://mail.example.com"
    assert (kept["expired"] is None) is (expired is None)


def test_delete_resource(ada: Somebody) -> None:
    made = create(ada)["id"]

    answered(ada.client.delete(f"/resources/{made}.json?{V2}"))

    assert ada.client.get(f"/resources/{made}.json?{V2}").status == 404
