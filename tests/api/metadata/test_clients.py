"""Encrypted metadata as deployed clients ask for them: what they send, and what they take.

The Go command line decodes into structs (a date that is "" ends it, booleans are booleans), takes
the last key of the list, and wants its own copy signed by its user's key. The extension checks each
member by a schema, and sends whole records where a part would do.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pysequoia
import pytest

from tests.support.wire.client import Response
from tests.support.world.items.metadata import (
    KEYS,
    KEYS_SETTINGS,
    PERSONAL,
    TYPES,
    TYPES_SETTINGS,
    V5_ON,
    SharedKey,
    allow_v5,
    body_of,
    content,
    described,
    expiry,
    opened,
    pair,
    shared,
)
from tests.support.world.items.resources import PGP, V5_DEFAULT, metadata
from tests.support.world.keys import message, open_sealed
from tests.support.world.make import Somebody

V2 = "api-version=v2"


def answered(response: Response) -> Any:
    assert (response.status, response.header["status"]) == (200, "success"), response.json
    return response.body


def signed(text: str, who: Somebody) -> str:
    """What a client makes for itself: signed and encrypted."""
    own = pysequoia.Cert.from_bytes(who.key.public.encode())
    signer = pysequoia.Tsk.from_bytes(who.key.private.encode()).signer()
    return pysequoia.encrypt(text.encode(), recipients=[own], signer=signer).decode()


def require_moments(row: dict[str, Any], *may_be_null: str) -> None:
    for name in ("created", "modified", *may_be_null):
        if name not in may_be_null or row.get(name) is not None:
            assert datetime.fromisoformat(row[name]).tzinfo is not None


# The Go command line


@pytest.fixture
def key(ada: Somebody, betty: Somebody) -> SharedKey:
    made = shared(ada, betty)
    allow_v5(ada)
    return made


def test_go_asks_for_settings_keys_and_session_keys_when_it_signs_in(betty, key):
    announced = answered(betty.client.get(f"/settings.json?{V2}"))["passbolt"]["plugins"]
    assert announced["metadata"]["enabled"] is True
    types = answered(betty.client.get(f"{TYPES_SETTINGS}?{V2}"))
    keys = answered(betty.client.get(f"{KEYS_SETTINGS}?{V2}"))
    assert {type(value) for value in keys.values()} == {bool}
    assert types.keys() == TYPES.keys()

    query = "contain[metadata_private_keys]=1&filter[deleted]=0&filter[expired]=0"
    listed = answered(betty.client.get(f"{KEYS}?{V2}&{query}"))
    last = listed[-1]
    require_moments(last, "expired", "deleted")
    [own] = last["metadata_private_keys"]
    assert own["user_id"] == betty.id
    require_moments(own)
    assert answered(betty.client.get(f"/metadata/session-keys.json?{V2}")) == []


def test_go_takes_its_copy_once_its_browser_has_signed_it(ada, betty, key):
    """The command line trusts a copy that its user's own key has signed."""
    query = f"{KEYS}?{V2}&contain[metadata_private_keys]=1"
    [copy] = answered(betty.client.get(query))[-1]["metadata_private_keys"]
    where = f"/metadata/keys/private/{copy['id']}.json"

    answered(betty.client.put(f"{where}?{V2}", {"data": signed(content(key), betty)}))

    [copy] = answered(betty.client.get(query))[-1]["metadata_private_keys"]
    text = open_sealed(copy["data"], betty.key.private, betty.key.public)
    assert key.fingerprint in text


@pytest.mark.parametrize("kind", ["personal", "shared"])
def test_go_creates_and_updates_v5_resources(betty, key, kind):
    about = metadata(betty) if kind == "personal" else described(key)
    sent = {
        **about,
        "resource_type_id": V5_DEFAULT,
        "resource_type": {},
        "secrets": [{"data": PGP}],
    }

    made = answered(betty.client.post(f"/resources.json?{V2}", sent))
    shown = answered(betty.client.get(f"/resources/{made['id']}.json?{V2}"))
    require_moments(shown, "expired")
    update = {name: shown[name] for name in shown if name in (*sent, "id", "created", "modified")}
    update |= {"resource_type": {}, "metadata": about["metadata"]}
    answered(betty.client.put(f"/resources/{made['id']}.json?{V2}", update))
    expires = {name: shown[name] for name in ("resource_type_id", *about)}
    touched = {**expires, "expired": "2027-01-01T00:00:00Z"}
    answered(betty.client.put(f"/resources/{made['id']}.json?{V2}", touched))

    after = answered(betty.client.get(f"/resources/{made['id']}.json?{V2}"))
    assert after["expired"] == "2027-01-01T00:00:00+00:00"
    assert after["metadata_key_id"] == shown["metadata_key_id"]


def test_go_shares_a_v5_resource_after_it_has_put_the_whole(ada, betty, key):
    sent = {**metadata(betty), "resource_type_id": V5_DEFAULT, "secrets": [{"data": PGP}]}
    made = answered(betty.client.post(f"/resources.json?{V2}", sent))
    shown = answered(betty.client.get(f"/resources/{made['id']}.json?{V2}"))

    answered(betty.client.put(f"/resources/{made['id']}.json?{V2}", {**shown, **described(key)}))
    body = {
        "permissions": [{"is_new": True, "aro": "User", "aro_foreign_key": ada.id, "type": 1}],
        "secrets": [{"user_id": ada.id, "data": message("s", ada.key.public)}],
    }
    answered(betty.client.put(f"/share/resource/{made['id']}.json?{V2}", body))

    seen = answered(ada.client.get(f"/resources/{made['id']}.json?{V2}"))
    assert opened(key, seen["metadata"]) == "about"


@pytest.mark.parametrize("kind", ["personal", "shared"])
def test_go_creates_and_updates_v5_folders(betty, key, kind):
    about = metadata(betty) if kind == "personal" else described(key)

    made = answered(betty.client.post(f"/folders.json?{V2}", about))
    answered(betty.client.put(f"/folders/{made['id']}.json?{V2}", {**about, "id": made["id"]}))

    shown = answered(betty.client.get(f"/folders/{made['id']}.json?{V2}"))
    require_moments(shown)
    assert shown["metadata_key_type"] == about["metadata_key_type"]


def test_go_keeps_its_session_keys(betty, time):
    first = message("one", betty.key.public)
    made = answered(betty.client.post(f"/metadata/session-keys.json?{V2}", {"data": first}))
    time.pass_by(minutes=1)
    update = {"data": message("two", betty.key.public), "modified": made["modified"]}

    where = f"/metadata/session-keys/{made['id']}.json?{V2}"
    after = answered(betty.client.put(where, update))

    assert set(after) >= {"id", "user_id", "data", "created", "modified"}
    assert betty.client.put(where, update | {"data": first}).status == 409
    assert answered(betty.client.delete(where)) is None


def test_terraform_upgrades_what_it_has(ada, betty, key):
    made = answered(ada.client.post(f"/folders.json?{V2}", {"name": "work"}))
    row = {"id": made["id"], "modified": made["modified"], "modified_by": made["modified_by"]}

    where = f"/metadata/upgrade/folders.json?{V2}"
    assert answered(ada.client.post(where, [row | described(key)])) == []


# The browser extension


def test_the_extension_turns_metadata_on_for_a_first_administrator(ada):
    setup = answered(ada.client.get("/metadata/setup/settings.json?api-version=v2"))
    assert setup == {"enable_encrypted_metadata_on_install": True}
    new = pair()

    [made] = answered(ada.client.post(f"{KEYS}?{V2}", body_of(new, ada, None, signer=ada)))
    answered(ada.client.post(f"{KEYS_SETTINGS}?{V2}", PERSONAL))
    defaults = {name: "v5" for name in TYPES if name.startswith("default_")}
    switches = {name: True for name in TYPES if "_v5_" in name and name.startswith("allow_c")}
    answered(ada.client.post(f"{TYPES_SETTINGS}?{V2}", {**TYPES, **switches, **defaults}))

    assert {"fingerprint", "armored_key", "metadata_private_keys"} <= made.keys()
    assert made["metadata_private_keys"][0].keys() >= {"user_id", "data"}
    shown = answered(ada.client.get(f"{TYPES_SETTINGS}?{V2}"))
    assert shown["default_resource_types"] == "v5"


def test_the_extension_rotates_until_nothing_is_left(ada, betty, key):
    sent = {**described(key), "resource_type_id": V5_DEFAULT, "secrets": [{"data": PGP}]}
    made = [answered(betty.client.post(f"/resources.json?{V2}", sent)) for _ in range(3)]
    new = pair(2)
    [created] = answered(ada.client.post(f"{KEYS}?{V2}", body_of(new, ada, betty, signer=ada)))
    follows = replace(new, id=created["id"])
    moment = {"expired": "2026-11-21T11:59:59.123Z"}
    assert answered(ada.client.put(f"{key.path}?{V2}", expiry(key) | moment)) is None

    rows = answered(ada.client.get(f"/metadata/rotate-key/resources.json?{V2}"))
    assert len(rows) == len(made)
    while rows:
        whole = [{**row, **described(follows), "personal": False} for row in rows]
        rows = answered(ada.client.post(f"/metadata/rotate-key/resources.json?{V2}", whole))
    assert answered(ada.client.delete(f"{key.path}?{V2}")) is None

    query = f"{KEYS}?{V2}&contain[metadata_private_keys]=1&contain[creator.profile]=1"
    shown = {each["id"]: each for each in answered(ada.client.get(query))}
    assert shown[key.id]["deleted"] is not None
    assert shown[follows.id]["creator"]["profile"]["first_name"] == "Ada"


def test_the_extension_upgrades_what_is_personal_and_then_what_is_shared(ada, betty, key):
    answered(ada.client.post(f"{TYPES_SETTINGS}?{V2}", V5_ON))
    mine = answered(
        betty.client.post(f"/resources.json?{V2}", {"name": "mail", "secrets": [{"data": PGP}]})
    )
    query = f"/metadata/upgrade/resources.json?{V2}&contain[permissions]=1&filter[is-shared]=0"
    [row] = answered(ada.client.get(query))
    [permission] = row["permissions"]
    assert permission["aro_foreign_key"] == betty.id

    own = {**row, **metadata(betty), "metadata_key_id": None}
    assert answered(ada.client.post(query, [own])) == []

    shown = answered(betty.client.get(f"/resources/{mine['id']}.json?{V2}"))
    assert (shown["metadata_key_type"], shown["metadata_key_id"]) == ("user_key", betty.gpgkey_id)
