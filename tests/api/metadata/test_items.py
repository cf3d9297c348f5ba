"""Resources and folders that are encrypted to a shared key: made, changed, shared, taken away."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse
from tests.support.world import make
from tests.support.world.items import folders
from tests.support.world.items.metadata import (
    KEYS_SETTINGS,
    PERSONAL,
    V5_ON,
    allow_v5,
    described,
    expire,
    opened,
    shared,
    v5_resource,
)
from tests.support.world.items.resources import created, metadata, path, secrets, v4, v5
from tests.support.world.items.shares import add, put, remove
from tests.support.world.keys import message

OWNER = PermissionType.OWNER
RESOURCES, FOLDERS = "/resources.json", "/folders.json"
FOR_ANOTHER = {
    RESOURCES: {"metadata": {"isValidEncryptedResourceMetadata"}},
    FOLDERS: {"metadata": {"isValidEncryptedMetadata"}},
}
NO_KEY = {"metadata_key_id": {"metadata_key_exists", "isMetadataKeyNotExpired"}}


@pytest.fixture
def key(ada, betty):
    made = shared(ada, betty)
    allow_v5(ada)
    return made


def body_of(kind, key, text="about", **others):
    made = v5_resource(key, text) if kind == RESOURCES else described(key, text)
    return made | others


def own(kind, who, **others):
    return (v5(who) if kind == RESOURCES else metadata(who)) | others


def given(who):
    """What gives somebody a resource to read."""
    return {"permissions": [add(who)], "secrets": secrets(who)}


def refused(response):
    assert response.status == 400, response.json
    return {name: set(rules) for name, rules in response.body.items()}


def uses(store):
    rows = store.rows(MetadataUse.stored_as())
    return {(row["metadata_key_id"]["S"], row["item_id"]["S"]) for row in rows}


def at(kind, item):
    return path(item["id"]) if kind == RESOURCES else folders.path(item["id"])


def update(who, kind, item, body):
    """The change of an item to what a creation says, but for the secret."""
    return who.client.put(at(kind, item), {n: each for n, each in body.items() if n != "secrets"})


@pytest.fixture(params=[RESOURCES, FOLDERS])
def kind(request):
    return request.param


def test_metadata_for_a_shared_key_are_stored(betty, key, kind, store):
    response = betty.client.post(kind, body_of(kind, key, "mine"))

    assert response.status == 200
    shown = betty.client.get(at(kind, response.body)).body
    assert (shown["metadata_key_id"], shown["metadata_key_type"]) == (key.id, "shared_key")
    assert opened(key, shown["metadata"]) == "mine"
    assert uses(store) == {(key.id, shown["id"])}


def test_metadata_are_for_exactly_the_key_they_name(betty, key, kind, digest):
    before = digest()

    for text in (
        message("about", betty.key.public),
        message("about", key.public, betty.key.public),
    ):
        response = betty.client.post(kind, body_of(kind, key, metadata=text))
        assert refused(response) == FOR_ANOTHER[kind]
    assert digest() == before


def test_a_shared_key_is_alive(ada, betty, key, kind, digest):
    """IN16"""
    item = betty.client.post(kind, own(kind, betty)).body
    expire(ada, key)
    before = digest()

    expected = {"metadata_key_id": {"isMetadataKeyNotExpired"}}
    assert refused(betty.client.post(kind, body_of(kind, key))) == expected
    assert refused(update(betty, kind, item, body_of(kind, key))) == expected
    assert digest() == before
    ada.client.delete(key.path)
    expected = NO_KEY | FOR_ANOTHER[kind]
    assert refused(betty.client.post(kind, body_of(kind, key))) == expected
    assert refused(update(betty, kind, item, body_of(kind, key))) == expected


def test_a_key_that_nobody_knows_is_refused(betty, key, kind, digest):
    """IN16: a user's own key is no shared one."""
    before = digest()

    for id_ in (new_id(), betty.gpgkey_id):
        response = betty.client.post(kind, body_of(kind, key, metadata_key_id=id_))
        assert refused(response) == NO_KEY | FOR_ANOTHER[kind]
    assert digest() == before


def test_a_shared_key_is_no_users_own(betty, key, kind, digest):
    """IN15"""
    before = digest()

    response = betty.client.post(kind, body_of(kind, key, metadata_key_type="user_key"))

    assert refused(response) == NO_KEY | FOR_ANOTHER[kind]
    assert digest() == before


def test_a_shared_key_is_named(betty, key, kind, digest):
    before = digest()

    response = betty.client.post(kind, body_of(kind, key, metadata_key_id=None))

    assert (response.status, response.body) == (400, "")
    assert digest() == before


def test_without_personal_keys_the_shared_one_is_used(ada, betty, key, kind):
    item = betty.client.post(kind, own(kind, betty)).body
    ada.client.post(KEYS_SETTINGS, PERSONAL | {"allow_usage_of_personal_keys": False})

    expected = {"metadata_key_type": {"isMetadataKeyTypeAllowedBySettings"}}
    assert refused(betty.client.post(kind, own(kind, betty))) == expected
    assert refused(update(betty, kind, item, own(kind, betty))) == expected
    assert update(betty, kind, item, body_of(kind, key)).status == 200


def test_either_of_two_active_keys_is_used(ada, betty, key, kind, store):
    second = shared(ada, betty, number=2)

    first = betty.client.post(kind, body_of(kind, key)).body
    other = betty.client.post(kind, body_of(kind, second)).body
    assert uses(store) == {(key.id, first["id"]), (second.id, other["id"])}
    assert update(betty, kind, first, body_of(kind, second)).status == 200

    assert uses(store) == {(second.id, first["id"]), (second.id, other["id"])}


def test_an_item_goes_from_its_users_key_to_the_shared_one_and_back(betty, key, kind, store):
    item = betty.client.post(kind, own(kind, betty)).body
    assert uses(store) == set()
    assert update(betty, kind, item, body_of(kind, key)).status == 200
    assert uses(store) == {(key.id, item["id"])}
    assert update(betty, kind, item, own(kind, betty)).status == 200

    assert uses(store) == set()


def test_a_shared_item_is_for_no_users_own_key(ada, betty, key, digest):
    """IN14"""
    item = created(ada, v5_resource(key))
    assert put(ada, item["id"], given(betty)).status == 200
    before = digest()

    body = metadata(ada) | {"resource_type_id": item["resource_type_id"]}
    errors = refused(ada.client.put(path(item["id"]), body))

    assert errors == {"metadata_key_type": {"isMetadataKeyTypeSharedOnSharedItem"}}
    assert digest() == before


def test_what_is_for_the_shared_key_is_shared(ada, betty, key):
    """IN13: what is for a user's own key is not."""
    mine, ours = created(ada, v5(ada)), created(ada, v5_resource(key))

    assert put(ada, mine["id"], given(betty)).status == 400
    assert put(ada, ours["id"], given(betty)).status == 200
    seen = betty.client.get(path(ours["id"])).body
    assert opened(key, seen["metadata"]) == "about"


def test_settings_say_which_formats_are_made(ada, betty, key, kind, digest):
    """IN21"""
    name = kind.strip("/").removesuffix(".json")
    clear = v4() if kind == RESOURCES else {"name": "work"}
    default = {"resources": "default_resource_types", "folders": "default_folder_type"}[name]
    allow_v5(ada, **{f"allow_creation_of_v4_{name}": False, default: "v5"})
    before = digest()

    response = betty.client.post(kind, clear)

    assert (response.status, response.body) == (400, "")
    assert digest() == before
    allow_v5(ada, **{f"allow_creation_of_v5_{name}": False})
    before = digest()
    response = betty.client.post(kind, body_of(kind, key))
    assert (response.status, response.body) == (400, "")
    assert digest() == before


def test_settings_say_what_becomes_the_other(ada, betty, key, kind, digest):
    """IN21"""
    clear = v4() if kind == RESOURCES else {"name": "work"}
    old = betty.client.post(kind, clear).body
    new = betty.client.post(kind, body_of(kind, key)).body
    allow_v5(ada, allow_v4_v5_upgrade=False, allow_v5_v4_downgrade=False)
    before = digest()

    up = refused(update(betty, kind, old, body_of(kind, key)))
    down = refused(update(betty, kind, new, clear))

    assert up == {"metadata": {"v4_to_v5_upgrade_allowed"}}
    assert {"v5_to_v4_downgrade_allowed"} in down.values()
    assert digest() == before
    allow_v5(ada)
    assert update(betty, kind, old, body_of(kind, key)).status == 200
    assert update(betty, kind, new, clear).status == 200


def test_folders_in_clear_are_noted_until_they_are_not(betty, key, store):
    work = folders.folder(betty)
    assert uses(store) == {(CLEAR, work)}
    assert betty.client.put(folders.path(work), described(key)).status == 200
    assert uses(store) == {(key.id, work)}
    assert betty.client.put(folders.path(work), {"name": "work"}).status == 200
    assert uses(store) == {(CLEAR, work)}
    betty.client.delete(folders.path(work))

    assert uses(store) == set()


def test_what_goes_with_a_folder_uses_no_key(betty, key, store):
    work = betty.client.post(FOLDERS, described(key)).body["id"]
    created(betty, v5_resource(key, folder_parent_id=work))
    folders.folder(betty, "in it", work)

    assert betty.client.delete(f"{folders.path(work)}?cascade=1").status == 200

    assert uses(store) == set()


def test_what_goes_with_a_user_uses_no_key(ada, betty, key, store):
    created(betty, v5_resource(key))
    betty.client.post(FOLDERS, described(key))
    folders.folder(betty)

    assert ada.client.delete(f"/users/{betty.id}.json").status == 200

    assert uses(store) == set()


def test_what_goes_with_a_group_uses_no_key(ada, betty, key, store):
    team = make.group(betty)
    item = created(betty, v5_resource(key))
    body = {"permissions": [add(team, OWNER), remove(item["id"], betty)]}
    assert put(betty, item["id"], body).status == 200

    assert ada.client.delete(f"/groups/{team.id}.json").status == 200

    assert uses(store) == set()


def test_the_list_tells_whose_key_items_are_for(betty, key):
    mine, ours, old = created(betty, v5(betty)), created(betty, v5_resource(key)), created(betty)

    def ids(query):
        return {row["id"] for row in betty.client.get(f"{RESOURCES}?{query}").body}

    assert ids("filter[metadata_key_type]=user_key") == {mine["id"]}
    assert ids("filter[metadata_key_type]=shared_key") == {ours["id"]}
    assert ids("") == {mine["id"], ours["id"], old["id"]}
    assert betty.client.get(f"{RESOURCES}?filter[metadata_key_type]=other").status == 400


def test_new_settings_count_at_once(ada, betty, key):
    assert ada.client.post("/metadata/types/settings.json", V5_ON).status == 200
    assert betty.client.post(RESOURCES, v5_resource(key)).status == 200
